"""`cartesia` (Python): the two listening sockets and whole recordings, sync and async."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from .required import required
from .running import Server, strict
from .spoken import QUESTION, RATE_HZ, WISH, assert_understood, assert_words_in_time, chunks, pcm, wav

cartesia = required("cartesia")

PACE = 3.0
"""Times real time."""
LISTEN: dict[str, Any] = {"model": "ink-2", "encoding": "pcm_s16le", "sample_rate": RATE_HZ}


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Any]:
    with strict(cartesia.Cartesia, server.http, server.key) as made:
        yield made


@pytest.fixture(scope="module")
def speech(server: Server) -> bytes:
    return pcm(server, QUESTION, WISH)


def text_of(events: list[Any]) -> str:
    return "".join(event.text for event in events if event.type == "transcript" and event.is_final)


def test_manual_finalize(client: Any, server: Server) -> None:
    """Two utterances of one socket, each finalized by the client; frames of an odd length on purpose."""
    with client.stt.manual_finalize.websocket(**LISTEN, keyterm=["Sunday", "table for two"]) as socket:
        answers: list[list[Any]] = []
        for sentence in (QUESTION, WISH):
            for chunk in chunks(pcm(server, sentence, pause_s=0.2), 3_201):
                socket.send_raw(chunk)
            socket.send("finalize")
            answers.append([])
            for event in socket:
                answers[-1].append(event)
                if event.type == "flush_done":
                    break
        socket.send("close")
        answers.append(list(socket))  # ends when the server has closed, and not before
    for events, sentence in zip(answers, (QUESTION, WISH), strict=False):
        assert_understood(text_of(events), sentence)
        assert events[-1].type == "flush_done"
        assert events[-2].is_final
    assert [event.type for event in answers[2]] == ["done"]
    whole = "".join(text_of(events) for events in answers)
    assert_understood(whole, QUESTION, WISH)
    assert len({event.request_id for events in answers for event in events}) == 1


def test_manual_finalize_of_nothing(client: Any) -> None:
    with client.stt.manual_finalize.websocket(**LISTEN) as socket:
        socket.send("finalize")
        socket.send("finalize")
        socket.send_raw(bytes(2 * RATE_HZ))
        socket.send("finalize")
        socket.send("close")
        assert [event.type for event in socket] == ["flush_done", "flush_done", "flush_done", "done"]


def test_auto_finalize(server: Server, speech: bytes) -> None:
    """Two sentences with a second between them are two turns."""

    async def main() -> list[Any]:
        events: list[Any] = []
        async with (
            asyncio.timeout(30),
            cartesia.AsyncCartesia(api_key=server.key, base_url=server.http) as client,
            client.stt.auto_finalize.websocket(**LISTEN, turn_eager_end_threshold=0.5) as socket,
        ):

            async def send() -> None:
                for chunk in chunks(speech):
                    await socket.send_raw(chunk)
                    await asyncio.sleep(0.1 / PACE)
                await socket.send({"type": "config", "turn": {"end_timeout_ms": 1000}})
                await socket.send({"type": "close"})

            sending = asyncio.create_task(send())
            async for event in socket:
                assert event.type != "error", event
                events.append(event)
            await sending
        return events

    events = asyncio.run(main())
    assert events[0].type == "connected"
    assert_turns([(event.type, getattr(event, "transcript", None)) for event in events[1:]], QUESTION, WISH)


def assert_turns(told: list[tuple[str, str | None]], *sentences: str) -> None:
    """What the socket promises: start first, text that only grows, an end or a resume after each eager end."""
    state, transcript, turns = "idle", "", list[str]()
    for kind, text in told:
        match kind:
            case "turn.start":
                assert state == "idle"
                state, transcript = "speaking", ""
            case "turn.update":
                assert state == "speaking"
                assert text is not None
                assert text.startswith(transcript)
                assert text != transcript
                transcript = text
            case "turn.eager_end":
                assert state == "speaking"
                assert text is not None
                assert text.startswith(transcript)
                state, transcript = "eager", text
            case "turn.resume":
                assert state == "eager"
                state = "speaking"
            case "turn.end":
                assert state in ("speaking", "eager")
                assert text is not None
                assert text.startswith(transcript)
                state = "idle"
                turns.append(text)
    assert state == "idle"
    assert len(turns) == len(sentences), turns
    for turn, sentence in zip(turns, sentences, strict=True):
        assert_understood(turn, sentence)
    assert_understood("".join(turns), *sentences)
    assert any(kind == "turn.update" for kind, _ in told)


def test_bad_thresholds_are_an_error_and_not_a_reconnection(client: Any) -> None:
    with client.stt.auto_finalize.websocket(
        **LISTEN, turn_eager_end_threshold=0.3, turn_end_threshold=0.4
    ) as socket:
        event = socket.recv()
    assert event.type == "error"
    assert event.status_code == 400


def test_a_bad_key_is_refused_at_the_handshake(secured: Server) -> None:
    client = cartesia.Cartesia(api_key="wrong", base_url=secured.http, max_retries=0)
    options = {"ssl": secured.trust}
    with (
        pytest.raises(Exception, match="401"),
        client.stt.auto_finalize.websocket(**LISTEN, websocket_connection_options=options),
    ):
        pass


def test_transcribe(client: Any, speech: bytes) -> None:
    answer = client.stt.transcribe(
        file=("speech.wav", wav(speech)), model="ink-whisper", language="en", timestamp_granularities=["word"]
    )
    assert answer.type == "transcript"
    assert_understood(answer.text, QUESTION, WISH)
    seconds = len(speech) / 2 / RATE_HZ
    assert answer.duration == pytest.approx(seconds, abs=0.1)
    words = [(word.word, word.start, word.end) for word in answer.words]
    assert_words_in_time(words, answer.text, seconds)


def test_transcribe_raw_samples(client: Any, speech: bytes) -> None:
    raw = {"encoding": "pcm_s16le", "sample_rate": RATE_HZ}
    answer = client.stt.transcribe(file=("speech.raw", speech), model="ink-2", **raw)
    assert_understood(answer.text, QUESTION, WISH)
    assert answer.words is None


def test_what_is_no_recording_is_a_bad_request(client: Any) -> None:
    with pytest.raises(cartesia.BadRequestError, match="recording"):
        client.stt.transcribe(file=("speech.wav", b"this is no audio at all"), model="ink-whisper")
