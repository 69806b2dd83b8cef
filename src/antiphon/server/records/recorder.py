"""Keeps conversations on disk, each kind of data apart: what was said, retrieved and generated, times and decisions,
and the audio where it is asked for. Never stalls a call."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from antiphon.dialog.conversation_actions import CancelSpeech, ContinueSpeech, PauseSpeech
from antiphon.dialog.conversation_events import Moment
from antiphon.dialog.conversation_log import Observed, PlayedTo, SpeechOpened
from antiphon.dialog.turn_record import TurnRecord
from antiphon.server.agent import AgentSessionFacts
from antiphon.server.records import turn_shape
from antiphon.server.records.audio import CallAudio
from antiphon.server.records.disk import DiskQueue, Job, LineFile, Report, expire
from antiphon.server.records.kept_audio import KeptAudio, discard_abandoned
from antiphon.settings import Kind, RecordSettings
from antiphon.text.redact import Redactor

_MARGIN_SAMPLES = 8_000
"""Audio this far around a turn with personal data is silenced with it: 0.5 s."""

_ENTRY_BYTES = 96
"""About what a decision takes in the log."""


class Recorder:
    """Records every session into ``root``. ``keep_days``: how long each kind may be kept.

    ``report`` is told of trouble (a full disk), once; ``unix_time_s`` says what day it is.
    """

    def __init__(
        self,
        root: Path,
        settings: RecordSettings,
        keep_days: Mapping[Kind, float],
        unix_time_s: Callable[[], float],
        report: Report,
        *,
        max_bytes: int = 16 << 20,
        reserve_bytes: int = 16 << 20,
    ) -> None:
        """``max_bytes``: of work that may wait for the disk; ``reserve_bytes``: more, for what must not be left out."""
        self.root = root
        self.settings = settings
        self.kinds = tuple(kind for kind in settings.kinds if keep_days[kind] > 0)
        self._keep_days = {str(kind): days for kind, days in keep_days.items()}
        self._unix_time_s = unix_time_s
        self._report = report
        self._audio: set[KeptAudio] = set()  # only ever touched on the disk's thread
        self.queue = DiskQueue(report, max_bytes, self._tidy, reserve_bytes)

    def session(self, facts: AgentSessionFacts) -> "SessionRecording":
        return SessionRecording(self, facts)

    def expire(self) -> int:
        """Delete what is too old; returns how many files."""
        return expire(self.root, self._keep_days, self._unix_time_s())

    def close(self, timeout_s: float = 5.0) -> bool:
        """Write what waits, and stop. What hangs is seen to by the next recorder of this folder."""
        return self.queue.close(timeout_s, self._end_all)

    def begin_audio(self, audio: KeptAudio) -> None:
        audio.begin()
        self._audio.add(audio)

    def end_audio(self, audio: KeptAudio) -> None:
        self._audio.discard(audio)
        audio.end()

    def _tidy(self) -> None:
        self.expire()
        for audio in [audio for audio in self._audio if audio.doomed]:
            self.end_audio(audio)
        if self.settings.redact:
            gone = discard_abandoned(self.root / "audio")
            if gone:
                self._report(
                    f"recording: deleted {gone} audio file{'s' if gone > 1 else ''} a dead process left unfinished:"
                    " what is personal had not all been silenced"
                )

    def _end_all(self) -> None:
        """Sessions whose end nobody told: their last turn was not read through."""
        for audio in list(self._audio):
            audio.doomed = audio.doomed or self.settings.redact
            self.end_audio(audio)


class SessionRecording:
    """One session's files. Called on the event loop; all that touches the disk, and all that reads through the text of
    a turn, is done on the disk's thread."""

    def __init__(self, recorder: Recorder, facts: AgentSessionFacts) -> None:
        self._facts = facts
        self._queue = recorder.queue
        self._kinds = recorder.kinds
        # Remembers names as it goes, so it too is only ever used on the disk's thread.
        self._clean: turn_shape.Clean = Redactor() if recorder.settings.redact else str
        limit = recorder.settings.max_file_bytes
        self._files: dict[Kind, LineFile] = {
            kind: LineFile(recorder.root / kind, facts.session_id, limit) for kind in self._kinds if kind != "audio"
        }
        self._redact = recorder.settings.redact
        self._recorder = recorder
        self._fine = True
        self._audio: KeptAudio | None = None
        if "audio" in self._kinds:
            self._audio = KeptAudio(recorder.root / "audio", facts, recorder.settings.max_audio_s)
            if not self._submit(partial(recorder.begin_audio, self._audio)):
                self._audio = None
        self._line(
            "log",
            facts.began_s,
            lambda: {
                "event": "begin",
                "route": facts.route,
                "brain": facts.brain,
                "voice": facts.voice,
                "language": facts.language,
                "key": facts.principal,
            },
        )

    def turn(self, moment: Moment, record: TurnRecord) -> None:
        now_s = moment.now_s
        clean = turn_shape.CleanTurn(record, self._facts.began_s, self._clean)
        if self._redact:
            self._owe(partial(self._read_through, moment, record, clean), _text_bytes(record))
        if record.user_text:
            self._line("transcript", now_s, lambda: clean.transcript, len(record.user_text))
        if record.reply_text:
            self._line("generated", now_s, lambda: clean.generated, len(record.reply_text) + len(record.heard_text))
        for index, tool in enumerate(record.tools):
            self._line("retrieved", now_s, partial(clean.result, index), len(tool.arguments) + len(tool.content))
        self._line("log", now_s, lambda: {"event": "turn", **clean.log}, _ENTRY_BYTES * (8 + len(record.ledger)))

    def observe(self, moment: Moment, entry: Observed) -> None:
        now_s = moment.now_s
        match entry:
            case SpeechOpened():
                self._on_audio(lambda audio: audio.opened(entry.speech_id, entry.rate_hz, entry.encoding))
            case PlayedTo():
                self._on_audio(lambda audio: audio.played(now_s, entry.speech_id, entry.sample))
            case PauseSpeech():
                self._on_audio(lambda audio: audio.paused(now_s, entry.speech_id))
            case ContinueSpeech():
                self._on_audio(lambda audio: audio.went_on(now_s, entry.speech_id))
            case CancelSpeech():
                self._on_audio(lambda audio: audio.cancelled(now_s, entry.speech_id, entry.fade_ms))
            case _:
                pass

    def user_audio(self, moment: Moment, data: bytes, encoding: str, rate_hz: int) -> None:
        self._on_audio(lambda audio: audio.user(moment.now_s, moment.sample, data, encoding, rate_hz), len(data))

    def agent_audio(self, moment: Moment, speech_id: str, start_sample: int, data: bytes) -> None:
        self._on_audio(lambda audio: audio.agent(moment.now_s, speech_id, data), len(data))

    def end(self, moment: Moment, reason: str) -> None:
        self._line("log", moment.now_s, lambda: {"event": "end", "reason": self._clean(reason)}, len(reason))
        if self._audio is not None:
            self._owe(partial(self._recorder.end_audio, self._audio))
        self._submit(self._settle)

    def _line(self, kind: Kind, now_s: float, values: Callable[[], dict[str, Any]], cost_bytes: int = 0) -> None:
        """``values`` is called on the disk's thread."""
        file = self._files.get(kind)
        if file is not None:
            self._submit(partial(self._write, file, now_s, values), cost_bytes)

    def _write(self, file: LineFile, now_s: float, values: Callable[[], dict[str, Any]]) -> None:
        facts = self._facts
        unix_s = facts.began_unix_s + now_s - facts.began_s
        at = {"session": facts.session_id, "unix_s": round(unix_s, 3), "after_s": round(now_s - facts.began_s, 3)}
        file.write(json.dumps({**at, **values()}, ensure_ascii=False, default=str), unix_s)

    def _submit(self, job: Job, cost_bytes: int = 0, *, owed: bool = False) -> bool:
        def run() -> None:
            try:
                job()
            except BaseException:
                self._fine = False
                raise

        return self._queue.submit(run, cost_bytes + 256, owed=owed)

    def _owe(self, job: Job, cost_bytes: int = 0) -> None:
        """Something without which the audio may not stay."""
        if not self._submit(job, cost_bytes, owed=True) and self._audio is not None and self._redact:
            self._audio.doomed = True

    def _on_audio(self, do: Callable[[CallAudio], object], cost_bytes: int = 0) -> None:
        if self._audio is not None:
            self._submit(partial(self._audio.do, do), cost_bytes)

    def _read_through(self, moment: Moment, record: TurnRecord, clean: turn_shape.CleanTurn) -> None:
        """Before any of it is written, and even if none of it is: what comes later may have the same names."""
        if self._audio is None:
            _ = clean.retrieved
            return
        try:
            _ = clean.retrieved
        except BaseException:  # nobody knows what is in it
            self._audio.discard()
            raise
        user, agent = clean.transcript["text"] != record.user_text, clean.generated["text"] != record.reply_text
        if user or agent:
            self._audio.silence(lambda audio: _silence(audio, moment, record, user, agent))

    def _settle(self) -> None:
        if self._fine:
            self._queue.recovered()


def _silence(audio: CallAudio, moment: Moment, record: TurnRecord, user: bool, agent: bool) -> None:
    """Whoever said something personal in this turn is not heard saying it."""
    if user:
        start, stop = record.speech
        until = stop + _MARGIN_SAMPLES if stop > start else moment.sample
        audio.mute_user(start - _MARGIN_SAMPLES, until)
    if agent:
        audio.mute_agent(*record.speeches)


def _text_bytes(record: TurnRecord) -> int:
    tools = sum(len(tool.arguments) + len(tool.content) for tool in record.tools)
    return len(record.user_text) + len(record.reply_text) + len(record.heard_text) + tools
