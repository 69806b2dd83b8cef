"""What ``antiphon serve`` makes of its settings."""

from antiphon.cli.serve import _brain
from antiphon.engine.llm import Llm
from antiphon.settings import BrainSettings, LlmEndpointSettings


def test_who_answers() -> None:
    assert _brain(BrainSettings()) is None
    short = _brain(BrainSettings(llm_url="http://a/v1", llm_model="big", llm_first_token_s=9.0))
    assert isinstance(short, Llm)
    (endpoint,) = short._endpoints
    assert (endpoint.url, endpoint.model, endpoint.first_token_s) == ("http://a/v1", "big", 9.0)
    several = tuple(LlmEndpointSettings(url=f"http://{name}/v1", model=name) for name in ("big", "small"))
    brain = _brain(BrainSettings(endpoints=several))
    assert isinstance(brain, Llm)
    assert [one.model for one in brain._endpoints] == ["big", "small"]
