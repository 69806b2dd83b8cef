"""The client against a real server with the embedded models, and `antiphon talk` as a user runs it."""

import asyncio
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

from antiphon.client import (
    AgentSession,
    Heard,
    Refused,
    ReplyAudio,
    SessionOptions,
    SimulatedPlayer,
    SocketLost,
    Unreachable,
    connect,
)
from antiphon.core.clock import MonotonicClock
from antiphon.protocol import native_messages as wire

from .running import Server

LIMIT_S = 60.0


async def spoken(session: AgentSession) -> tuple[str, Heard]:
    """The next reply, when all of it that will be heard was heard."""
    text = dict[str, str]()
    async with asyncio.timeout(LIMIT_S):
        async for event in session:
            if isinstance(event, wire.ReplyText):
                text[event.reply_id] = text.get(event.reply_id, "") + event.delta
            elif isinstance(event, Heard) and event.over:
                return text.get(event.reply_id, ""), event
    raise AssertionError("the session ended")


def test_a_typed_conversation_is_heard_by_the_clock(server: Server) -> None:
    async def talk() -> None:
        clock = MonotonicClock()
        player = SimulatedPlayer(clock, wire.AudioShape(), keep=True)
        async with connect(server.http, player=player, clock=clock) as session:
            greeting, heard = await spoken(session)
            assert greeting
            assert heard.sample > 12_000
            await session.send_text("Please repeat what you said.")
            answer, heard = await spoken(session)
            assert answer
            pieces = list(player.pieces)
            assert sum(len(piece.data) for piece in pieces) == 2 * sum(piece.samples for piece in pieces)
            ends_s = [piece.start_s + piece.samples / 24_000 for piece in pieces]
            assert clock.now_s() >= max(ends_s) - 0.01  # nothing is called heard before it sounded

    asyncio.run(talk())


def test_a_button_stops_the_agent_and_says_how_much_was_heard(server: Server) -> None:
    async def talk() -> None:
        options = SessionOptions(agent=wire.AgentSettings(greeting="One, two, three, four, five, six. " * 6))
        async with asyncio.timeout(LIMIT_S), connect(server.http, options) as session:
            received = 0
            async for event in session:
                if isinstance(event, ReplyAudio):
                    received += event.samples
                    if received > 48_000:
                        break
            await asyncio.sleep(0.5)
            await session.interrupt()
            _, heard = await spoken(session)
            assert 6_000 < heard.sample < received

    asyncio.run(talk())


def test_a_lost_socket_is_taken_up_without_a_second_greeting(server: Server) -> None:
    async def talk() -> None:
        async with asyncio.timeout(LIMIT_S), connect(server.http) as session:
            await spoken(session)
            first = session.session_id
            assert session._socket is not None
            session._socket.transport.abort()
            seen = list[str]()
            async for event in session:
                seen.append(type(event).__name__)
                if isinstance(event, wire.Ready) and event.resumed:
                    break
            assert SocketLost.__name__ in seen
            assert session.session_id == first
            await session.send_text("What can you do?")
            text, _ = await spoken(session)
            assert "repeat" in text

    asyncio.run(talk())


def test_keys_and_trust(secured: Server) -> None:
    async def talk() -> None:
        with pytest.raises(Unreachable, match="trust"):
            async with connect(secured.http, SessionOptions(api_key=secured.key)):
                pass
        with pytest.raises(Refused) as refused:
            async with connect(secured.http, SessionOptions(api_key="wrong", tls=secured.trust)):
                pass
        assert refused.value.status in (401, 403)
        async with connect(secured.http, SessionOptions(api_key=secured.key, tls=secured.trust)) as session:
            assert (await spoken(session))[0]

    asyncio.run(talk())


def test_talk_in_typed_lines_and_a_wav(server: Server, tmp_path: Path) -> None:
    out = tmp_path / "talk.wav"
    command = [sys.executable, "-m", "antiphon", "talk", server.http, "--typed", "--wav", str(out)]
    done = subprocess.run(
        command, input="hello\nwhat can you do\n", capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("you:")] == ["you:   hello", "you:   what can you do"]
    assert sum(line.startswith("agent:") for line in lines) == 3
    assert any("[turn 2, from its written: reply +" in line for line in lines)
    with wave.open(str(out)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert len(samples) > 3 * 24_000
    assert np.abs(samples).max() > 3_000
