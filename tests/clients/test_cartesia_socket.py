"""`cartesia` (Python), WebSocket contexts: sync, async, several at once, flush, cancel, errors."""

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from .heard import ANSWER, LONG, SAMPLE_BYTES, SHORT, Said, assert_said, assert_speech, raw_wave, tokens
from .required import required
from .running import Server
from .tap import tapped

cartesia = required("cartesia")

LIMIT_S = 30.0
RAW_24K = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}


@pytest.fixture(scope="module")
def voice(server: Server) -> str:
    with cartesia.Cartesia(api_key=server.key, base_url=server.http) as client:
        return str(client.voices.list(limit=1).data[0].id)


@pytest.fixture
def socket(server: Server) -> Iterator[Any]:
    with cartesia.Cartesia(api_key=server.key, websocket_base_url=server.ws) as client:  # noqa: SIM117
        with client.tts.websocket_connect() as connection:
            yield connection


@asynccontextmanager
async def async_socket(ws_url: str) -> AsyncIterator[Any]:
    async with cartesia.AsyncCartesia(api_key="any", websocket_base_url=ws_url) as client:  # noqa: SIM117
        async with asyncio.timeout(LIMIT_S), client.tts.websocket_connect() as connection:
            yield connection


def take(said: Said, event: Any, context_id: str, encoding: str = "pcm_s16le") -> None:
    """One event of a context that is asked for audio and words."""
    assert event.context_id == context_id
    assert event.type != "error", event
    said.types.append(event.type)
    assert event.done is (event.type == "done")
    assert event.status_code in (200, 206)
    if event.type == "chunk":
        assert event.audio
        assert len(event.audio) % SAMPLE_BYTES[encoding] == 0, "a chunk cuts a sample in two"
        assert isinstance(event.step_time, float)
        said.flush_ids.append(event.flush_id)
        said.audio += event.audio
    elif event.type == "timestamps":
        times = event.word_timestamps
        said.add_words(times.words, times.start, times.end)
    elif event.type == "flush_done":
        assert event.flush_done is True


def assert_ended_once(said: Said) -> None:
    assert said.types[-1] == "done"
    assert said.types.count("done") == 1


def test_sync_context_speaks_tokens_in_the_sdk_default_format(socket: Any, voice: str) -> None:
    context = socket.context(voice=voice, add_timestamps=True, timeout=LIMIT_S)
    for token in tokens(ANSWER):
        context.push(token)
    context.no_more_inputs()
    said = Said()
    for event in context.receive():
        take(said, event, context._context_id, "pcm_f32le")
    assert_ended_once(said)
    assert said.types.count("chunk") > 5, "not streamed"
    assert_said(said, "pcm_f32le", 44100, ANSWER)


def test_first_audio_comes_before_the_last_text(socket: Any, voice: str) -> None:
    """The socket streams: with the text still open, the first sentence is already heard."""
    context = socket.context(voice=voice, output_format=RAW_24K, timeout=LIMIT_S)
    for token in tokens(ANSWER):
        context.push(token)
    first = next(context.receive())
    assert first.type == "chunk"
    context.no_more_inputs()
    assert [event.type for event in context.receive()][-1] == "done"


async def speak(connection: Any, text: str, context_id: str, **options: Any) -> Said:
    """One context, pushed token by token; other tasks get their turn between tokens."""
    encoding = options.get("output_format", RAW_24K)["encoding"]
    context = connection.context(context_id, **{"add_timestamps": True, "output_format": RAW_24K, **options})
    said = Said()

    async def listen() -> None:
        async for event in context.receive():
            take(said, event, context_id, encoding)

    listening = asyncio.create_task(listen())
    for token in tokens(text):
        await context.push(token)
        await asyncio.sleep(0)
    await context.no_more_inputs()
    await listening
    assert_ended_once(said)
    return said


def test_async_contexts_share_a_socket_and_do_not_change_each_other(server: Server, voice: str) -> None:
    formats = {
        "a": ("pcm_s16le", 24000, ANSWER),
        "b": ("pcm_f32le", 16000, "The second caller asks for something else. It is not the same thing at all."),
        "c": ("pcm_mulaw", 8000, "On the phone, a third one. Can you hear me? Yes, I can."),
    }

    async def main() -> tuple[list[Said], list[Said]]:
        async with async_socket(server.ws) as connection:

            def one(name: str, group: str) -> Any:
                encoding, rate_hz, text = formats[name]
                asked = {"container": "raw", "encoding": encoding, "sample_rate": rate_hz}
                return speak(connection, text, f"{name}-{group}", voice=voice, output_format=asked)

            together = await asyncio.gather(*(one(name, "together") for name in formats))
            return together, [await one(name, "alone") for name in formats]

    together, alone = asyncio.run(main())
    for said, again, (encoding, rate_hz, text) in zip(together, alone, formats.values(), strict=True):
        assert_said(said, encoding, rate_hz, text)
        assert said.audio == again.audio, "speech depends on who else is served"
        assert (said.words, said.start_s, said.end_s) == (again.words, again.start_s, again.end_s)


def test_flush_speaks_what_is_there_and_numbers_the_pieces(socket: Any, voice: str) -> None:
    context = socket.context(voice=voice, add_timestamps=True, output_format=RAW_24K, timeout=LIMIT_S)
    said, flushed = Said(), []

    def listen_until_flushed() -> None:
        for event in context.receive():
            take(said, event, context._context_id)
            if event.type == "flush_done":
                flushed.append((event.flush_id, len(said.audio), said.flush_ids[:]))
                return

    for piece in ("Without a full stop ", "and then the rest "):
        context.push(piece)
        context.push("", flush=True)
        listen_until_flushed()
    context.push("of it.")
    context.no_more_inputs()
    for event in context.receive():
        take(said, event, context._context_id)
    assert_ended_once(said)
    assert_said(said, "pcm_s16le", 24000, "Without a full stop and then the rest of it.")
    assert [number for number, _, _ in flushed] == [1, 2]
    assert 0 < flushed[0][1] < flushed[1][1] < len(said.audio)
    assert set(flushed[0][2]) == {1}
    assert sorted(set(said.flush_ids)) == [1, 2, 3]
    assert said.flush_ids == sorted(said.flush_ids)


def test_cancel_midway_is_silent_at_once_and_the_socket_lives_on(server: Server, voice: str) -> None:
    async def main() -> None:
        async with tapped(server.ws) as tap, async_socket(tap.url) as connection:
            beside = asyncio.create_task(speak(connection, ANSWER, "beside", voice=voice))
            context = connection.context("cancelled", voice=voice, add_timestamps=True, output_format=RAW_24K)
            for token in tokens(LONG):
                await context.push(token)
            async for event in context.receive():
                if event.type == "chunk":
                    break
            await context.cancel()
            after = await speak(connection, SHORT, "after", voice=voice)
            assert_said(after, "pcm_s16le", 24000, SHORT)
            assert_said(await beside, "pcm_s16le", 24000, ANSWER)
            # Time for a straggler to show itself: another whole context.
            await speak(connection, SHORT, "later", voice=voice)
            tap.assert_silent_after_cancel("cancelled", "after")
            sent = sum(len(base64.b64decode(m["data"])) for m in tap.received("cancelled") if m["type"] == "chunk")
            letters = sum(character.isalnum() for character in LONG)
            assert sent / 48000 < letters * 0.035, "it was all made already: nothing was cut"
            assert tap.sockets == 1

    asyncio.run(main())


def test_sync_cancel_does_not_leak_into_the_next_context(socket: Any, voice: str) -> None:
    """The sync client hands leftovers of a cancelled context to whichever context is read; the server sends none."""
    first = socket.context(voice=voice, output_format=RAW_24K, timeout=LIMIT_S)
    first.push(LONG)
    for event in first.receive():
        if event.type == "chunk":
            break
    first.cancel()
    second = socket.context(voice=voice, add_timestamps=True, output_format=RAW_24K, timeout=LIMIT_S)
    second.push(SHORT)
    second.no_more_inputs()
    said = Said()
    for event in second.receive():
        if event.context_id == first._context_id:
            # Written before the cancel was read: nothing of the new context can have come yet.
            assert not said.types, "audio of a cancelled context among that of the next"
            assert event.type in ("chunk", "timestamps")
            continue
        take(said, event, second._context_id)
    assert_ended_once(said)
    assert_said(said, "pcm_s16le", 24000, SHORT)


def test_cancel_of_what_is_unknown_or_over_says_nothing(socket: Any, voice: str) -> None:
    context = socket.context("over", voice=voice, output_format=RAW_24K, timeout=LIMIT_S)
    context.push(SHORT)
    context.no_more_inputs()
    assert [event.type for event in context.receive()][-1] == "done"
    socket.send({"context_id": "over", "cancel": True})
    socket.send({"context_id": "never-seen", "cancel": True})
    again = socket.context("over", voice=voice, add_timestamps=True, output_format=RAW_24K, timeout=LIMIT_S)
    again.push(SHORT)
    again.no_more_inputs()
    said = Said()
    for event in again.receive():
        take(said, event, "over")
    assert_ended_once(said)
    assert_said(said, "pcm_s16le", 24000, SHORT)


def test_context_without_text_ends_without_audio(socket: Any, voice: str) -> None:
    for context_id, text in (("empty", None), ("blank", " ")):
        context = socket.context(context_id, voice=voice, output_format=RAW_24K, timeout=LIMIT_S)
        if text:
            context.push(text)
        context.no_more_inputs()
        assert [event.type for event in context.receive()] == ["done"]


def test_context_closed_with_the_voice_that_the_sdk_hard_codes(socket: Any) -> None:
    """`no_more_inputs()` of a context without a voice of its own names one that Antiphon has never heard of."""
    context = socket.context(timeout=LIMIT_S)
    context.no_more_inputs()
    assert [event.type for event in context.receive()] == ["done"]


def test_phonemes_and_a_change_of_pace(socket: Any, voice: str) -> None:
    lengths = {}
    for name, speed in (("slow", 0.7), ("fast", 1.4)):
        context = socket.context(
            voice={"mode": "id", "id": voice},
            output_format=RAW_24K,
            add_phoneme_timestamps=True,
            generation_config={"speed": speed, "volume": 0.8, "emotion": "happy"},
            language="en",
            timeout=LIMIT_S,
        )
        context.push(ANSWER)
        context.no_more_inputs()
        audio, starts, phonemes = bytearray(), [], []
        for event in context.receive():
            assert event.type in ("chunk", "phoneme_timestamps", "done"), event
            if event.type == "chunk":
                audio += event.audio
            elif event.type == "phoneme_timestamps":
                times = event.phoneme_timestamps
                assert len(times.phonemes) == len(times.start) == len(times.end)
                phonemes += times.phonemes
                starts += times.start
        lengths[name] = assert_speech(raw_wave(bytes(audio), "pcm_s16le", 24000), 24000, ANSWER)
        assert len(phonemes) > len(ANSWER.split())
        assert starts == sorted(starts)
        assert starts[-1] < lengths[name]
    assert lengths["slow"] / lengths["fast"] == pytest.approx(2.0, rel=0.15)


def test_errors_end_the_context_and_name_it(server: Server, voice: str) -> None:
    """The async client would wait for ever for an error without `context_id`."""
    wrong = {
        "voice": {"voice": "no-such-voice"},
        "rate": {"output_format": {**RAW_24K, "sample_rate": 12345}},
        "encoding": {"output_format": {**RAW_24K, "encoding": "pcm_s99"}},
        "container": {"output_format": {"container": "mp3", "sample_rate": 24000, "bit_rate": 64000}},
    }
    status = {"voice": 404, "rate": 400, "encoding": 400, "container": 400}

    async def main() -> None:
        async with async_socket(server.ws) as connection:
            for name, fault in wrong.items():
                context = connection.context(name, **{"voice": voice, "output_format": RAW_24K, **fault})
                await context.push(SHORT)
                events = [event async for event in context.receive()]
                assert [event.type for event in events] == ["error"], name
                error = events[0]
                assert error.status_code == status[name], error
                assert error.done is True
                assert error.context_id == name
                assert error.title
                assert error.message
                assert error.error_code
                assert error.request_id
            said = await speak(connection, SHORT, "well", voice=voice)
            assert_said(said, "pcm_s16le", 24000, SHORT)

    asyncio.run(main())


def test_older_way_of_calling_still_works(server: Server, voice: str) -> None:
    """The client's v2-style `websocket()`: one message, one answer."""
    with cartesia.Cartesia(api_key=server.key, websocket_base_url=server.ws) as client:
        socket = client.tts.websocket()
        common = {"model_id": "sonic-2", "output_format": RAW_24K}
        output = socket.send(transcript=ANSWER, voice={"id": voice}, stream=False, add_timestamps=True, **common)
        said = Said(bytearray(output.audio))
        said.add_words(*(output.word_timestamps[name] for name in ("words", "start", "end")))
        assert_said(said, "pcm_s16le", 24000, ANSWER)
        with pytest.raises(RuntimeError, match="no-such-voice"):
            list(socket.send(transcript=SHORT, voice={"id": "no-such-voice"}, **common))
        socket.close()
