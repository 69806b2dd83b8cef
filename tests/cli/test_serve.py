"""What ``antiphon serve`` makes of its settings."""

from typing import Any

import pytest

from antiphon.cli.serve import _brain, build_house
from antiphon.engine.llm import Llm
from antiphon.settings import BrainSettings, LlmEndpointSettings, Settings


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


def test_what_the_ear_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr("antiphon.cli.serve.build", lambda *places, **named: given.update(named))
    build_house(Settings())
    assert given["turn_level"] is None
    build_house(Settings(stt={"turn_level": 0.7}))  # type: ignore[arg-type]
    assert given["turn_level"] == 0.7
