"""An agent socket that takes the agent's own voice out of what its client sends."""

import pytest

from antiphon.server.agent import echo
from antiphon.server.agent.echo import SessionEcho, require_echo
from antiphon.settings import AgentSettings, SettingsError

from ...dialog.talking import tokens
from .world import AgentWorld


class Spied(SessionEcho):
    def __init__(self, *shape: object) -> None:
        super().__init__(*shape)  # type: ignore[arg-type]
        self.agent, self.user, self.clears = bytearray(), bytearray(), 0

    def left(self, data: bytes) -> None:
        self.agent += data
        super().left(data)

    def heard(self, data: bytes) -> bytes:
        self.user += data
        return super().heard(data)

    def cleared(self) -> None:
        self.clears += 1
        super().cleared()


@pytest.fixture
def spied(monkeypatch: pytest.MonkeyPatch) -> list[Spied]:
    made: list[Spied] = []

    def make(*shape: object) -> Spied:
        made.append(Spied(*shape))
        return made[-1]

    monkeypatch.setattr("antiphon.server.agent.voices.SessionEcho", make)
    return made


def test_it_knows_what_was_sent_and_what_came_and_forgets_what_was_dropped(spied: list[Spied]) -> None:
    world = AgentWorld(lambda _: tokens("This is a long answer that nobody will hear to its very end."))
    world.settings = world.settings.model_copy(
        update={"agent": AgentSettings(greeting="Good morning to you.", echo_cancellation=True, echo_delay_ms=40)}
    )
    world.connect()
    world.run(3.0)
    (first,) = spied
    greeting = b"".join(bytes(said) for said in world.diary.said.values())
    assert greeting
    assert bytes(first.agent) == greeting
    assert len(first.user) >= 3.0 * 32_000 - 3_200
    assert world.diary.heard_bytes == len(first.user)
    ended_s = world.says(3.0, "tell me a story")
    world.run(ended_s + 1.0)
    assert first.clears == 0
    world.send("interrupt")
    assert first.clears == 1


def test_a_new_socket_begins_anew(spied: list[Spied]) -> None:
    world = AgentWorld(lambda _: tokens("Hello."), {"echo_cancellation": True})
    world.connect()
    world.run(0.5)
    world.lose()
    world.come_back()
    assert len(spied) == 2


def test_off_unless_asked_for(spied: list[Spied]) -> None:
    AgentWorld(lambda _: tokens("Hello.")).connect()
    assert not spied


def test_without_the_extra_the_server_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(echo, "available", lambda: False)
    require_echo(AgentSettings())
    with pytest.raises(SettingsError, match=r"pip install 'antiphon\[aec\]'"):
        require_echo(AgentSettings(echo_cancellation=True))
