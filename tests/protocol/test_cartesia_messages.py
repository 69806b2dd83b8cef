"""Server messages: their shape by the public SDK's own types, how audio is cut, and what a message costs."""

import base64
import itertools
import json
from typing import Any

import pytest
from cartesia.types import WebsocketResponse
from cartesia.types.tts_sse_event import TTSSSEEvent
from msgspec import UNSET
from pydantic import TypeAdapter

from antiphon.core.errors import AtCapacity
from antiphon.core.event import Audio, Failed, Flushed, PhonemeTimes, Timed, WordTimes
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import SpeechConfig
from antiphon.protocol.cartesia_http import SpeechOrder, SseSpeech
from antiphon.protocol.cartesia_messages import (
    SAMPLE_BYTES,
    Chunk,
    Done,
    ErrorMessage,
    FlushDone,
    MessageWriter,
    Timestamps,
    decode_server_message,
    encode_server_message,
    error_message,
)

SDK: TypeAdapter[Any] = TypeAdapter(WebsocketResponse)
SDK_SSE: TypeAdapter[Any] = TypeAdapter(TTSSSEEvent)
F32 = AudioFormat("raw", "pcm_f32le", 44_100)
S16 = AudioFormat("raw", "pcm_s16le", 24_000)


def writer(audio: AudioFormat = S16, *, normalized: bool = False, **asked: bool) -> MessageWriter:
    wanted = {"words": True, "phonemes": True, **asked}
    return MessageWriter("c", audio, **wanted, normalized=normalized, flush_ids=True)


def chunks(frames: list[bytes]) -> list[bytes]:
    return [base64.b64decode(json.loads(frame)["data"]) for frame in frames]


def test_the_sdk_reads_every_message() -> None:
    write = writer()
    frames = [
        *write.write(Audio(b"\1\2" * 480, 0, 480, 24_000, 0.002)),
        *write.write(WordTimes((Timed("Hi.", 0, 480),), (), 24_000)),
        *write.write(PhonemeTimes((Timed("h", 0, 100), Timed("aɪ", 100, 480)), 24_000)),
        write.flush_done(1),
        write.done(),
        encode_server_message(error_message(AtCapacity("full"), "2026-08-14", "r", "c")),
    ]
    read = [SDK.validate_json(frame, strict=True) for frame in frames]
    assert [message.type for message in read] == [
        "chunk", "timestamps", "phoneme_timestamps", "flush_done", "done", "error",
    ]  # fmt: skip
    assert all(message.context_id == "c" for message in read)
    assert read[0].audio == b"\1\2" * 480
    assert read[0].step_time == 2.0
    assert read[1].word_timestamps.words == ["Hi."]
    assert read[2].phoneme_timestamps.end == [0.0042, 0.02]
    assert read[3].flush_id == 1
    assert read[5].error == "Too many requests: full"


def test_the_sdk_reads_every_sse_event() -> None:
    order = SpeechOrder(SpeechConfig("v", format=S16, words=True, phonemes=True), "Hi.", context_id="c")
    speech, broken = (SseSpeech(order, "2025-04-16", "r") for _ in range(2))
    frames = [
        *speech.deliver(WordTimes((Timed("Hi.", 0, 480),), (), 24_000)),
        *speech.deliver(PhonemeTimes((Timed("h", 0, 100),), 24_000)),
        *speech.deliver(Audio(b"\1\2" * 480, 0, 480, 24_000)),
        *speech.deliver(Flushed("end")),
        *broken.deliver(Failed("it broke")),
    ]
    read = [SDK_SSE.validate_json(frame.split(b"data: ")[1], strict=True) for frame in frames]
    assert [message.type for message in read] == ["timestamps", "phoneme_timestamps", "chunk", "done", "error"]
    assert all(message.context_id == "c" for message in read)
    assert read[4].done is True


def test_our_own_decoder_reads_what_the_encoder_wrote() -> None:
    for message in (
        Chunk(context_id="c", step_time=1.5, data=b"\0\1\2", flush_id=1),
        FlushDone(context_id="c", flush_id=3),
        Done(context_id="c"),
        ErrorMessage(context_id="c", done=True, error="x"),
    ):
        assert decode_server_message(encode_server_message(message)) == message


def test_decoder_takes_the_real_servers_extra_keys() -> None:
    frame = '{"type":"done","context_id":"c","done":true,"status_code":200,"new":{"x":1}}'
    assert decode_server_message(frame) == Done(context_id="c", status_code=200)


@pytest.mark.parametrize(
    ("audio", "width"),
    [(F32, 4), (S16, 2), (AudioFormat("raw", "pcm_mulaw", 8000), 1), (AudioFormat("raw", "pcm_alaw", 48_000), 1)],
)
def test_F8_F21_long_audio_is_cut_at_samples_into_pieces_of_at_most_200_ms(audio: AudioFormat, width: int) -> None:
    for samples in (1, 7, audio.sample_rate_hz // 5, audio.sample_rate_hz // 5 + 1, audio.sample_rate_hz * 3 + 17):
        data = bytes(at % 251 for at in range(samples * width))
        frames = writer(audio).write(Audio(data, 0, samples, 24_000, 0.5))
        pieces = chunks(frames)
        assert b"".join(pieces) == data
        assert all(len(piece) % width == 0 for piece in pieces)
        assert all(0 < len(piece) <= audio.sample_rate_hz // 5 * width for piece in pieces)
        assert max(map(len, pieces)) - min(map(len, pieces)) < 6 * width
        assert all(len(frame) < 512 * 1024 for frame in frames)
        assert [json.loads(frame)["step_time"] for frame in frames] == [500.0] + [0.0] * (len(frames) - 1)


@pytest.mark.parametrize(
    "audio", [F32, S16, AudioFormat("raw", "pcm_mulaw", 8000), AudioFormat("raw", "pcm_s16le", 8000)]
)
def test_audio_that_comes_encoded_makes_the_same_messages(audio: AudioFormat) -> None:
    width, rate = SAMPLE_BYTES[audio.encoding], audio.sample_rate_hz
    for samples in (1, 2, 3, rate // 5, rate // 5 + 1, 2 * (rate // 5), rate * 3 + 17):
        data = bytes(at % 251 for at in range(samples * width))
        ready = b'"' + base64.b64encode(data) + b'"'
        plain = writer(audio).write(Audio(data, 0, samples, 24_000, 0.5))
        assert writer(audio).write(Audio(data, 0, samples, 24_000, 0.5, ready)) == plain


def test_the_encoding_that_comes_with_the_audio_is_what_is_sent() -> None:
    rate = S16.sample_rate_hz
    silence = bytes(2 * 3 * rate)
    marked = b'"' + b"abcd" * (len(silence) // 3) + b'"'
    frames = writer().write(Audio(silence, 0, 3 * rate, 24_000, 0.0, marked))
    assert len(frames) == 15
    assert '"' + "".join(json.loads(frame)["data"] for frame in frames) + '"' == marked.decode()


def test_no_message_without_audio() -> None:
    assert writer().write(Audio(b"", 0, 100, 24_000)) == []


def test_F18_times_are_seconds_of_the_context_and_words_as_written() -> None:
    event = WordTimes(
        (Timed("$5", 24_000, 36_000), Timed("now.", 36_000, 48_001)),
        (Timed("five", 24_000, 30_000), Timed("dollars", 30_000, 36_000), Timed("now", 36_000, 48_001)),
        24_000,
    )
    [written] = writer().write(event)
    assert json.loads(written)["word_timestamps"] == {"words": ["$5", "now."], "start": [1.0, 1.5], "end": [1.5, 2.0]}
    [spoken] = writer(normalized=True).write(event)
    assert json.loads(spoken)["word_timestamps"]["words"] == ["five", "dollars", "now"]


def test_times_never_go_back_at_any_rate() -> None:
    rate = 22_050
    timed = tuple(Timed("w", at, at + 1) for at in range(0, 5000, 7))
    [frame] = writer().write(WordTimes(timed, (), rate))
    starts = json.loads(frame)["word_timestamps"]["start"]
    assert all(a <= b for a, b in itertools.pairwise(starts))


def test_times_only_if_asked_for() -> None:
    times = WordTimes((Timed("Hi", 0, 1),), (), 24_000)
    assert writer(words=False).write(times) == []
    assert writer(phonemes=False).write(PhonemeTimes((Timed("h", 0, 1),), 24_000)) == []
    assert writer().write(WordTimes((), (), 24_000)) == []


def test_optional_keys_are_left_out_and_never_null() -> None:
    write = MessageWriter(UNSET, S16, words=True, phonemes=False, normalized=False, flush_ids=False)
    frames = [
        *write.write(Audio(b"\0\0", 0, 1, 24_000)),
        *write.write(WordTimes((Timed("Hi", 0, 1),), (), 24_000)),
        write.done(),
        encode_server_message(error_message(AtCapacity("full"), "2026-08-14", "r")),
    ]
    for frame in frames:
        message = json.loads(frame)
        assert None not in message.values()
        assert not {"context_id", "flush_id"} & set(message)


def test_timestamps_decode() -> None:
    [frame] = writer().write(WordTimes((Timed("Hi", 0, 12_000),), (), 24_000))
    message = decode_server_message(frame)
    assert isinstance(message, Timestamps)
    assert message.word_timestamps.end == [0.5]
