"""Clients of the agent socket who are careless or hostile: each gets an answer, none gets a traceback."""

from typing import Any

import pytest

from antiphon.server.agent.sessions import AgentSessions
from antiphon.server.hub import Hub
from antiphon.server.journal import Crashed
from antiphon.server.routes.agent import SOCKET

from ..routes.test_agent import closed_with, messages_until, nothing_is_held, quiet, start, tell
from ..support import ScriptedEngine, run, serving, until

ENDLESS = int("1" + "0" * 400)
"""A number that no float can hold."""


@pytest.mark.parametrize(
    ("agent", "about"),
    [
        ({"tools": [{"name": "a", "timeout_ms": ENDLESS}]}, "timeout above 0 and up to 600000 ms"),
        ({"turn": {"end_timeout_ms": ENDLESS}}, "from 640 to 11200"),
        ({"turn": {"end_timeout_ms": -ENDLESS}}, "from 640 to 11200"),
    ],
    ids=["a tool's timeout", "a turn's timeout", "a negative one"],
)
def test_a_number_without_measure_is_an_error_of_the_client(agent: dict[str, Any], about: str) -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), quiet()) as served:
            async with served.socket(path=SOCKET) as socket:
                answer = await start(socket, agent=agent)
                assert (answer["code"], answer["fatal"]) == ("invalid_message", True)
                assert about in answer["message"]
                assert await closed_with(socket) == 1008
            await until(lambda: nothing_is_held(served))
            assert not served.diary.of(Crashed)

    run(test())


def test_reports_and_positions_without_measure_are_refused_and_the_session_goes_on() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), quiet()) as served, served.socket(path=SOCKET) as socket:
            assert (await start(socket))["type"] == "ready"
            for fields in ({"sample": ENDLESS}, {"sample": 1, "underruns": ENDLESS}):
                await tell(socket, "played", reply_id="r", **fields)
                [answer] = await messages_until(socket, "error")
                assert (answer["code"], answer["fatal"]) == ("invalid_message", False)
            await tell(socket, "close")
            assert await closed_with(socket) == 1000
            assert not served.diary.of(Crashed)

    run(test())


def test_a_start_that_echo_cancellation_cannot_serve_leaves_no_session_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("livekit", reason="the extra aec is not installed")
    made: list[AgentSessions] = []

    def make(hub: Hub) -> AgentSessions:
        made.append(AgentSessions(hub))
        return made[-1]

    monkeypatch.setattr("antiphon.server.routes.agent.AgentSessions", make)

    async def test() -> None:
        async with serving(ScriptedEngine(), quiet(agent={"echo_cancellation": True})) as served:
            [sessions] = made
            odd = {"encoding": "pcm_s16le", "sample_rate_hz": 47_999}
            for _ in range(3):
                async with served.socket(path=SOCKET) as socket:
                    assert "cannot resample 47999 Hz" in (await start(socket, input=odd))["message"]
                    assert await closed_with(socket) == 1008
            await until(lambda: nothing_is_held(served))
            assert len(sessions) == 0
            async with served.socket(path=SOCKET) as socket:
                token = (await start(socket))["resume_token"]
            async with served.socket(path=SOCKET) as socket:  # what is wrong with a resume does not end the session
                assert (await start(socket, resume=token, input=odd))["fatal"]
            await until(lambda: sessions.waiting == 1)
            async with served.socket(path=SOCKET) as socket:
                assert (await start(socket, resume=token))["resumed"]
            assert not served.diary.of(Crashed)

    run(test())
