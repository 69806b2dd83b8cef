"""What ``antiphon check`` says of the graphs, those too that are loaded when their voice is first asked for."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from antiphon.cli import check_engines
from antiphon.cli.check_engines import graph_finding, speech
from antiphon.cli.finding import Finding
from antiphon.core.speech import Rendered
from antiphon.models.session import Graph, Provider, Sessions
from antiphon.settings import Settings


def graph(provider: Provider, reason: str = "", *, by_choice: bool = False, **ran: int) -> Finding:
    session = type("Session", (), {})()
    asked: Provider = "cuda" if reason or provider == "cuda" else "cpu"
    found = Graph("ssm decoder", session, asked, provider, reason, by_choice)
    with patch.object(Graph, "operations", lambda _: dict(ran)):
        return graph_finding(found)


def test_where_each_graph_really_runs() -> None:
    assert graph("cpu", cpu=438) == Finding("ok", "graph", "ssm decoder: cpu (438 operations)")
    assert graph("cuda", cuda=430, cpu=8).message == "ssm decoder: cuda (430 operations, 8 on the CPU)"
    missing = graph("cpu", "no driver", cpu=438)
    assert (missing.verdict, missing.message) == ("slow", "ssm decoder: cpu (438 operations), not cuda: no driver")
    assert graph("cpu", "int8", by_choice=True, cpu=1).verdict == "note"


class LateVoice:
    """Opens its graph at the first word."""

    sample_rate_hz = 16_000

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def speak(self, *_: object) -> Any:
        self._sessions.graphs.append(Graph("late text", SimpleNamespace(), "cpu", "cpu"))
        yield Rendered(np.zeros(16_000, np.float32))


def test_a_graph_that_opens_at_the_first_word_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: object, sessions: Sessions, **__: object) -> Any:
        late = SimpleNamespace(name="late", voices=[SimpleNamespace(id="v")], voice=LateVoice(sessions))
        registry = SimpleNamespace(
            warm_up=lambda: None,
            engines={"late": late},
            default_voice=SimpleNamespace(engine="late"),
            resolve=lambda config: (late, config),
            voice=lambda voice: SimpleNamespace(name="Late"),
        )
        return SimpleNamespace(registry=registry, close=lambda: None)

    monkeypatch.setattr(check_engines, "build", build)
    monkeypatch.setattr(check_engines, "_ear", lambda house, samples: Finding("ok", "ear", "heard"))
    with patch.object(Graph, "operations", lambda _: {"cpu": 7}):
        found = list(speech(Settings()))
    assert found[-1] == Finding("ok", "graph", "late text: cpu (7 operations)")
    assert [finding.subject for finding in found] == ["voice", "ear", "graph"]
