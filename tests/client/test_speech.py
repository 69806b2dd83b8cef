"""The client of the native speech socket against the real server, its voice scripted."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from antiphon.client import (
    Refused,
    SessionLost,
    SessionOver,
    SpeechAudio,
    SpeechEvent,
    SpeechOptions,
    SpeechStream,
    Unreachable,
    resume,
    speak,
)
from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Failed, Saved, Timed, Warned, WordTimes
from antiphon.core.speech import Prosody
from antiphon.protocol import native_speech_messages as wire
from antiphon.protocol.native_messages import AudioShape, ErrorMessage
from tests.server.movable import MovableEngine
from tests.server.support import RATE_HZ, ScriptedEngine, Served, audio, run, serving, settings, until

START = wire.Start(voice="v")
KEYED = {"tts": {"snapshot_key": "a key of the whole fleet"}}


def options(**start: Any) -> SpeechOptions:
    return SpeechOptions(wire.Start(voice="v", **start))


def served(scenario: Callable[[Served], Awaitable[None]], engine: ScriptedEngine | None = None) -> None:
    async def test() -> None:
        async with serving(engine or MovableEngine(), settings(**KEYED)) as server:
            await scenario(server)

    run(test())


async def next_of(stream: SpeechStream, kind: type[Any]) -> Any:
    async with asyncio.timeout(5):
        async for event in stream:
            if isinstance(event, kind):
                return event
    raise AssertionError(f"the stream ended without {kind.__name__}")


async def all_of(stream: SpeechStream) -> list[SpeechEvent]:
    async with asyncio.timeout(5):
        return [event async for event in stream]


def test_text_in_audio_words_and_markers_out() -> None:
    async def scenario(server: Served) -> None:
        shape = AudioShape("pcm_s16le", RATE_HZ)
        async with speak(server.url, options(output=shape, speed=1.5)) as stream:
            (voice,) = server.engine.streams
            assert voice.config.speed == 1.5
            for delta in ("Hel", "lo."):
                await stream.send(delta)
            await stream.change(emotion="calm")
            await stream.send(" Bye.")
            await stream.flush("one")
            await stream.end()
            await until(lambda: len(voice.flushes) == 2)
            assert voice.pushed == ["Hel", "lo.", Prosody(emotion="calm"), " Bye."]
            voice.say(WordTimes((Timed("Hello.", 0, 480),), (), RATE_HZ), audio(), Warned("no such emotion"))
            voice.flushes[:1], (last,) = [], voice.flushes[1:]
            voice.flushes = [("flush one", False)]
            voice.end()
            voice.flushes = [last]
            voice.say(audio(bytes(20)))
            voice.end()
            events = await all_of(stream)
            assert [type(event) for event in events] == [
                wire.Words, SpeechAudio, wire.WarningMessage, wire.Flushed, SpeechAudio, wire.Done,
            ]  # fmt: skip
            assert events[1] == SpeechAudio(0, 480, b"\1\0" * 480)
            assert events[3] == wire.Flushed(id="one", sample=480)
            assert events[4] == SpeechAudio(480, 10, bytes(20))
            assert events[5] == wire.Done(samples=490, reason="completed")
            assert stream.sample == 490
            assert await all_of(stream) == []
            with pytest.raises(SessionOver):
                await stream.send("more")
            with pytest.raises(SessionOver):
                await stream.save()
            await stream.cancel()

    served(scenario)


def test_a_cancel_is_followed_by_done_and_leaving_frees_the_place() -> None:
    async def scenario(server: Served) -> None:
        async with speak(server.url, options()) as stream:
            await stream.cancel()
            assert (await next_of(stream, wire.Done)).reason == "cancelled"
        async with speak(server.url, options()):
            voice = server.engine.streams[-1]
        await until(lambda: voice.closed)

    served(scenario)


def test_a_stream_is_saved_and_goes_on_at_another_server() -> None:
    async def scenario(first: Served) -> None:
        async with serving(MovableEngine(), settings(**KEYED)) as second:
            async with speak(first.url, options()) as stream:
                voice = first.engine.streams[-1]
                voice.say(audio())
                saving = asyncio.create_task(stream.save())
                await until(lambda: voice.saves)
                voice.say(audio(bytes(200)), Saved("v", b"the rest"))
                snapshot = await saving
                assert (snapshot.sample, snapshot.expires_in_s) == (580, 300.0)
                assert "the rest" not in repr(snapshot)
                events = await all_of(stream)
                assert [type(event) for event in events] == [SpeechAudio, SpeechAudio, wire.Done]
                assert events[-1].reason == "saved"
            for given in (snapshot, snapshot.data):
                async with resume(second.url, given) as moved:
                    assert (moved.sample, moved.ended) == (580, False)
                    second.engine.streams[-1].say(audio())
                    heard = await next_of(moved, SpeechAudio)
                    assert (heard.start_sample, heard.samples) == (580, 480)
            assert [snapshot for snapshot, _, _ in second.engine.resumed] == [b"the rest"] * 2

    served(scenario)


def test_a_snapshot_comes_also_where_nobody_takes_what_was_made() -> None:
    async def scenario(server: Served) -> None:
        start = SpeechOptions(START, most_events=2)
        async with speak(server.url, start) as stream:
            voice = server.engine.streams[-1]
            voice.say(*[audio()] * 10)
            saving = asyncio.create_task(stream.save())
            await until(lambda: voice.saves)
            voice.say(Saved("v", b"x"))
            assert (await saving).sample == 4800
            assert len(await all_of(stream)) == 11

    served(scenario)


def test_a_voice_that_cannot_be_saved_is_told_and_goes_on() -> None:
    async def scenario(server: Served) -> None:
        async with speak(server.url, options()) as stream:
            for _ in range(2):
                with pytest.raises(Refused, match="cannot save") as told:
                    await stream.save()
                assert told.value.code == "not_saved"
            server.engine.streams[-1].say(audio())
            assert (await next_of(stream, SpeechAudio)).samples == 480

    served(scenario, ScriptedEngine())


def test_a_stream_that_is_over_before_it_could_be_saved() -> None:
    async def scenario(server: Served) -> None:
        async with speak(server.url, options()) as stream:
            voice = server.engine.streams[-1]
            await stream.end()
            await until(lambda: voice.flushes)
            saving = asyncio.create_task(stream.save())
            await until(lambda: voice.saves)
            voice.end()
            with pytest.raises(SessionOver, match="before it could be saved"):
                await saving
            assert (await next_of(stream, wire.Done)).reason == "completed"

    served(scenario)


def test_refusals_are_one_clear_error() -> None:
    async def scenario(server: Served) -> None:
        server.engine.refuse = AtCapacity("the engine is full")
        with pytest.raises(Refused, match="full") as told:
            async with speak(server.url, options()):
                pass
        assert (told.value.code, told.value.may_retry) == ("at_capacity", True)
        with pytest.raises(Refused, match="none of a stream") as told:
            async with resume(server.url, bytes(200)):
                pass
        assert told.value.code == "bad_snapshot"
        with pytest.raises(InvalidInput, match="speed"):
            async with speak(server.url, options(speed=100.0)):
                pass

    served(scenario)

    async def nobody() -> None:
        with pytest.raises(Unreachable):
            async with speak("http://127.0.0.1:9", options()):
                pass

    run(nobody())


def test_what_goes_wrong_on_the_way() -> None:
    async def scenario(server: Served) -> None:
        async with speak(server.url, options()) as stream:
            server.engine.streams[-1].say(Failed("one piece"), Failed("the rest", fatal=True))
            events = await all_of(stream)
            assert [type(event) for event in events] == [ErrorMessage, ErrorMessage, wire.Done]
            assert events[-1].reason == "failed"
        async with speak(server.url, options()) as stream:
            saving = asyncio.create_task(stream.save())
            await until(lambda: server.engine.streams[-1].saves)
            for guest in list(server.app.hub.lifecycle._guests):
                guest.drop()
            with pytest.raises(SessionLost):
                await saving
            with pytest.raises(SessionLost):
                await all_of(stream)
        async with speak(server.url, options()) as stream:
            for guest in list(server.app.hub.lifecycle._guests):
                guest.cut()
            with pytest.raises(Refused, match="shutting down"):
                await all_of(stream)

    served(scenario)
