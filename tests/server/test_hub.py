"""What a caller is given for what it asks."""

from dataclasses import replace

import pytest

from antiphon.core.errors import NotFound
from antiphon.core.speech import SpeechConfig
from antiphon.server.app import create_app
from antiphon.server.auth import Principal
from antiphon.server.hub import Choice, Hub
from antiphon.server.lines import Line

from .support import ScriptedEngine, settings

ADA = Principal("ada")


class Counting(ScriptedEngine):
    """Counts how often it is asked who speaks."""

    asked = 0

    def resolve(self, config: SpeechConfig) -> tuple[ScriptedEngine, SpeechConfig]:
        self.asked += 1
        return super().resolve(config)


def hub_of(engine: ScriptedEngine) -> Hub:
    hub = create_app(settings(), engine).hub
    hub.lifecycle.ready()
    return hub


def opened(hub: Hub, config: SpeechConfig, choice: Choice | None = None) -> Line:
    return hub.open_line(config, lambda: None, ADA, "r", "/tts/websocket", choice=choice)


def test_who_asks_for_the_same_again_is_given_the_same_without_a_search() -> None:
    engine = Counting()
    hub = hub_of(engine)
    asked, choice = SpeechConfig("alloy"), Choice()
    for _ in range(3):
        opened(hub, asked, choice)
    assert engine.asked == 1
    assert [stream.config for stream in engine.streams] == [replace(asked, voice="v", owner="ada")] * 3
    other = replace(asked, speed=1.5)
    for config in (other, asked):
        opened(hub, config, choice)
    assert engine.asked == 3
    assert [stream.config.speed for stream in engine.streams[3:]] == [1.5, 1.0]
    for _ in range(2):
        opened(hub, asked)  # by somebody who keeps nothing
    assert engine.asked == 5


def test_a_refusal_is_no_choice() -> None:
    engine = Counting()
    hub = hub_of(engine)
    known, unknown, choice = SpeechConfig("v"), SpeechConfig("nobody"), Choice()
    opened(hub, known, choice)
    for _ in range(2):
        with pytest.raises(NotFound):
            opened(hub, unknown, choice)
    opened(hub, known, choice)
    assert [stream.config.voice for stream in engine.streams] == ["v", "v"]
    assert hub.admission.streams == 2
