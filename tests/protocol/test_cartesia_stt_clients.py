"""What the machines send, through the public clients' own models and parsers: scripted sessions, replayed."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from cartesia.types.stt import (
    STTAutoFinalizeWebsocketResponse,
    STTManualFinalizeWebsocketResponse,
)
from livekit.agents import APIConnectionError
from livekit.agents.stt import SpeechEventType
from livekit.plugins.cartesia._recognize_streams.auto_finalize_recognize_stream import AutoFinalizeRecognizeStream
from livekit.plugins.cartesia._recognize_streams.legacy_recognize_stream import LegacyRecognizeStream
from pipecat.services.cartesia.stt import CartesiaSTTService
from pipecat.services.cartesia.turns.stt import CartesiaTurnsRequestError, CartesiaTurnsSTTService
from pydantic import TypeAdapter

from antiphon.core.errors import AtCapacity, EngineFailed
from antiphon.core.event import Failed, Warned
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnResumed, TurnStarted, TurnUpdated
from antiphon.protocol.cartesia_stt_messages import decode_stt_message, decode_turns_message

from .ear_shell import QUERY, EarShell, final, heard, stt, turns


def dictation() -> EarShell:
    """Interims, finals, a retracted interim, errors, a warning, two finalizes in a row, and the close."""
    shell = stt()
    shell.start()
    shell.receive(b"\0\0" * 16000)
    shell.say(heard("Hello", 0.2, 0.6), heard("Hello there", 0.2, 0.9))
    shell.receive("finalize")
    shell.receive("finalize")
    shell.say(final("Hello there.", 0.2, 1.0))
    shell.flushed()
    shell.flushed()
    shell.receive("bogus")
    shell.say(Warned("very quiet"), heard(" Um", 1.5, 1.8))
    shell.receive("finalize")
    shell.flushed()
    shell.receive("close")
    shell.say(final(" Bye", 2.0, 2.5, words=False))
    shell.flushed()
    assert shell.closed == 1000
    return shell


def conversation() -> EarShell:
    shell = turns()
    shell.start()
    shell.say(TurnStarted(0), TurnUpdated("What", 0), TurnEagerEnded("What time", 0), TurnResumed(0))
    shell.say(TurnUpdated("What time is", 0), TurnEagerEnded("What time is it?", 0))
    shell.say(TurnEnded("What time is it?", 0, "model"))
    shell.receive("bogus")
    shell.say(TurnStarted(0), TurnEnded("", 0, "timeout"), TurnStarted(0), TurnUpdated(" Thanks", 0))
    shell.receive('{"type":"close"}')
    shell.flushed()
    assert shell.closed == 1000
    return shell


def refusals() -> list[EarShell]:
    shells = [stt("model=x"), turns(QUERY + "&turn_start_threshold=0"), turns(refuse=AtCapacity("full"))]
    for shell in shells:
        shell.start()
    return shells


def without_nulls(frame: dict[str, Any]) -> dict[str, Any]:
    assert None not in frame.values()
    return frame


def test_manual_finalize_messages_are_those_of_the_sdk() -> None:
    known: TypeAdapter[Any] = TypeAdapter(STTManualFinalizeWebsocketResponse)
    for frame in [*dictation().frames, *refusals()[0].frames]:
        if frame["type"] == "warning":
            continue  # our own
        # The SDK types words as lists; on its wire they are objects, which it takes unchecked.
        checked = known.validate_python(without_nulls({name: frame[name] for name in frame if name != "words"}))
        assert checked.type == frame["type"]
        assert checked.request_id == "req-1"


def test_auto_finalize_messages_are_those_of_the_sdk() -> None:
    known: TypeAdapter[Any] = TypeAdapter(STTAutoFinalizeWebsocketResponse)
    for frame in [*conversation().frames, *refusals()[1].frames, *refusals()[2].frames]:
        checked = known.validate_python(without_nulls(frame))
        assert (checked.type, checked.request_id) == (frame["type"], "req-1")


def test_our_own_client_reads_what_the_machines_write() -> None:
    for raw in dictation().raw:
        decode_stt_message(raw)
    for raw in conversation().raw:
        decode_turns_message(raw)


class Channel:
    closed = False

    def __init__(self) -> None:
        self.events: list[Any] = []

    def send_nowait(self, event: Any) -> None:
        self.events.append(event)


def livekit_legacy(shell: EarShell) -> list[Any]:
    """The plugin's own parser, without its socket."""
    channel = Channel()
    stream: Any = SimpleNamespace(
        _request_id="", _event_ch=channel, _speaking=False, _speech_duration=1.0, _last_speech_end_time=0.0,
        _language=None, start_time_offset=0.0,
    )  # fmt: skip
    for raw in shell.raw:
        LegacyRecognizeStream._process_stream_event(stream, json.loads(raw))
    assert stream._speaking is False, "every utterance it began has ended"
    return channel.events


def test_livekit_legacy_reads_a_dictation() -> None:
    events = livekit_legacy(dictation())
    finals = [event.alternatives[0] for event in events if event.type == SpeechEventType.FINAL_TRANSCRIPT]
    assert [said.text for said in finals] == ["Hello there.", "", " Bye"]
    assert [(said.start_time, said.end_time) for said in finals] == [(0.0, 1.0), (1.0, 1.0), (1.0, 2.5)]
    assert [str(word) for word in finals[0].words] == ["Hello", "there."]
    assert finals[0].words[1].start_time == pytest.approx(0.6)
    kinds = [event.type for event in events if event.type != SpeechEventType.RECOGNITION_USAGE]
    assert kinds.count(SpeechEventType.START_OF_SPEECH) == kinds.count(SpeechEventType.END_OF_SPEECH) == 3


def test_F33_livekit_legacy_finds_nothing_where_words_and_duration_are_absent() -> None:
    shell = stt()
    shell.start()
    shell.say(heard("Hi", 0, 0.2, words=False), final("Hi.", 0, 0, words=False))
    assert all("words" not in frame for frame in shell.frames)
    assert all("duration" not in frame for frame in shell.frames)
    assert livekit_legacy(shell)


def livekit_turns(shell: EarShell) -> list[Any]:
    channel = Channel()
    stream: Any = SimpleNamespace(
        _request_id="", _event_ch=channel, _speaking=False, _speech_duration=1.0, _current_transcript="",
        _language="en",
    )  # fmt: skip
    for name in ("_send_transcript_event", "_send_recognition_usage_event"):
        setattr(stream, name, getattr(AutoFinalizeRecognizeStream, name).__get__(stream))
    for raw in shell.raw:
        AutoFinalizeRecognizeStream._process_stream_event(stream, json.loads(raw))
    assert stream._speaking is False
    return channel.events


def test_livekit_turns_reads_a_conversation() -> None:
    events = livekit_turns(conversation())
    said = [
        (event.type.name, event.alternatives[0].text if event.alternatives else None)
        for event in events
        if event.type != SpeechEventType.RECOGNITION_USAGE
    ]
    assert said == [
        ("START_OF_SPEECH", None),
        ("INTERIM_TRANSCRIPT", "What"),
        ("PREFLIGHT_TRANSCRIPT", "What time"),
        ("INTERIM_TRANSCRIPT", "What time"),
        ("INTERIM_TRANSCRIPT", "What time is"),
        ("PREFLIGHT_TRANSCRIPT", "What time is it?"),
        ("FINAL_TRANSCRIPT", "What time is it?"),
        ("END_OF_SPEECH", None),
        ("START_OF_SPEECH", None),
        ("FINAL_TRANSCRIPT", ""),
        ("END_OF_SPEECH", None),
        ("START_OF_SPEECH", None),
        ("INTERIM_TRANSCRIPT", " Thanks"),
        ("FINAL_TRANSCRIPT", " Thanks"),
        ("END_OF_SPEECH", None),
    ]


def test_F32_livekit_reconnects_for_our_failures_only() -> None:
    bad_stt, bad_turns, _ = refusals()
    livekit_legacy(bad_stt)
    livekit_turns(bad_turns)
    for shell, read in ((stt(), livekit_legacy), (turns(), livekit_turns)):
        shell.start()
        shell.say(Failed("x", fatal=True))
        with pytest.raises(APIConnectionError):
            read(shell)
    down = turns()
    down.start()
    down.close(EngineFailed("shutting down"))
    with pytest.raises(APIConnectionError):
        livekit_turns(down)


class Pipecat:
    """Stands in for a pipecat service: the service's own methods, with what they push written down."""

    def __init__(self, service: type[Any]) -> None:
        self._service = service
        self._user_id = ""
        self._language = None
        self._request_id = None
        self._user_is_speaking = False
        self._turn_transcript = ""
        self._connection_established_event = asyncio.Event()
        self.frames: list[tuple[str, str]] = []
        self.errors: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_handle_", "_on_transcript", "_process_")) and name != "_handle_transcription":
            return getattr(self._service, name).__get__(self)
        return self._nothing

    async def _nothing(self, *_: Any, **__: Any) -> None:
        return None

    def _clear_eager_end_of_turn(self) -> None:
        self.frames.append(("eager resolved", ""))

    async def _push_eager_end_of_turn(self, text: str, **_: Any) -> None:
        self.frames.append(("eager", text))

    async def push_frame(self, frame: Any) -> None:
        self.frames.append((type(frame).__name__, frame.text))

    async def push_error(self, error_msg: str, **_: Any) -> None:
        self.errors.append(error_msg)


def test_pipecat_reads_a_dictation() -> None:
    service = Pipecat(CartesiaSTTService)

    async def read() -> None:
        for raw in dictation().raw:
            await CartesiaSTTService._process_response(service, json.loads(raw))  # type: ignore[arg-type, no-untyped-call]

    asyncio.run(read())
    assert service.frames == [
        ("InterimTranscriptionFrame", "Hello"),
        ("InterimTranscriptionFrame", "Hello there"),
        ("TranscriptionFrame", "Hello there."),
        ("InterimTranscriptionFrame", " Um"),
        ("TranscriptionFrame", " Bye"),
    ]
    assert len(service.errors) == 1
    assert "bogus" in service.errors[0]


def test_pipecat_turns_reads_a_conversation() -> None:
    service = Pipecat(CartesiaTurnsSTTService)

    async def read() -> None:
        for raw in conversation().raw:
            await CartesiaTurnsSTTService._handle_message(service, json.loads(raw))  # type: ignore[arg-type]

    asyncio.run(read())
    assert service._connection_established_event.is_set()
    assert service._request_id == "req-1"
    assert [frame for frame in service.frames if frame[0] != "eager resolved"] == [
        ("InterimTranscriptionFrame", "What"),
        ("eager", "What time"),
        ("InterimTranscriptionFrame", "What time is"),
        ("eager", "What time is it?"),
        ("TranscriptionFrame", "What time is it?"),
        ("InterimTranscriptionFrame", " Thanks"),
        ("TranscriptionFrame", " Thanks"),
    ]
    assert len(service.errors) == 1
    assert not service._user_is_speaking


@pytest.mark.parametrize(("which", "status"), [(1, 400), (2, 429)])
def test_F32_pipecat_is_told_why_it_was_not_connected(which: int, status: int) -> None:
    service = Pipecat(CartesiaTurnsSTTService)
    [raw] = refusals()[which].raw
    with pytest.raises(CartesiaTurnsRequestError) as caught:
        asyncio.run(CartesiaTurnsSTTService._handle_message(service, json.loads(raw)))  # type: ignore[arg-type]
    assert caught.value.status_code == status
