"""What a scripted caller hears, and what it makes of an answer that does not come."""

import asyncio
import re
from collections.abc import Awaitable, Callable

import pytest

from antiphon.bench.conversation_call import Arrived, Question
from antiphon.bench.recording import Take
from antiphon.bench.target.caller import SHAPE, CallLog
from antiphon.bench.target.native import NativeWire
from antiphon.client import SimulatedPlayer
from antiphon.core.clock import ManualClock, MonotonicClock
from antiphon.core.errors import EngineFailed
from antiphon.protocol import native_messages as wire

from ..client.agent_server import AgentServer, Peer, agent_server

SECOND = bytes(SHAPE.sample_bytes * SHAPE.sample_rate_hz)


def speaking(clock: ManualClock) -> tuple[CallLog, SimulatedPlayer]:
    """Half a second into a reply of one second, all of which is there."""
    log, player = CallLog(clock), SimulatedPlayer(clock, SHAPE)
    clock.advance(1.0)
    log.note(clock.now_s(), wire.ReplyStarted(reply_id="r"))
    player.push("r", SECOND)
    player.end("r")
    log.note(clock.now_s(), Arrived("r", 0, SHAPE.sample_rate_hz))
    log.note(clock.now_s(), wire.ReplyEnded(reply_id="r", samples=SHAPE.sample_rate_hz, reason="completed"))
    clock.advance(0.5)
    return log, player


def test_the_agent_is_silent_when_its_last_sample_has_been_heard() -> None:
    clock = ManualClock(100.0)
    log, player = speaking(clock)
    heard = log.heard(clock.now_s(), player)
    assert (heard.quiet_since_s, heard.began_s, heard.sounding) == (None, 101.0, True)
    clock.advance(1.0)
    heard = log.heard(clock.now_s(), player)
    assert (heard.quiet_since_s, heard.sounding) == (102.0, False)


def test_an_agent_that_pauses_has_not_finished() -> None:
    clock = ManualClock(100.0)
    log, player = speaking(clock)
    player.pause("r", 0)
    clock.advance(2.0)
    heard = log.heard(clock.now_s(), player)
    assert (heard.quiet_since_s, heard.sounding) == (None, False)
    player.go_on("r")
    assert log.heard(clock.now_s(), player).sounding
    clock.advance(1.0)
    assert log.heard(clock.now_s(), player).quiet_since_s == 104.0


def asked(answer: Callable[[Peer], Awaitable[None]]) -> Take:
    async def main() -> Take:
        async with agent_server() as server:
            return await talk(server)

    async def talk(server: AgentServer) -> Take:
        wire_ = NativeWire(server.url, MonotonicClock())
        asking = asyncio.create_task(wire_.ask(Question("How much?", "be brief", "tokens"), 3))
        peer = await server.peer()
        start = await peer.ready()
        assert (start.agent.feed, start.agent.instructions) == ("tokens", "be brief")
        assert (await peer.told(wire.Say)).text == "How much?"
        await answer(peer)
        return await asking

    return asyncio.run(main())


def test_an_answer_is_taken_to_its_end() -> None:
    take = asked(lambda peer: peer.say("r", SECOND, end=True))
    assert (take.error, take.index, take.audio_s) == ("", 3, 1.0)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda peer: peer.do(peer.machine.fail(EngineFailed("no brain"), fatal=False)), "the server says: .*no brain"),
        (lambda peer: peer.do(peer.machine.close("agent")), "ended without an answer"),
    ],
)
def test_no_answer_is_a_failure_at_once(answer: Callable[[Peer], Awaitable[None]], error: str) -> None:
    take = asked(answer)
    assert re.search(error, take.error)
    assert take.chunks == ()
