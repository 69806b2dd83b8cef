"""Folds over the journal: log lines for people and for log collectors."""

import json
import logging
from collections.abc import Callable
from copy import copy
from typing import Any

import msgspec

from antiphon.server import journal
from antiphon.server.observe.tally import Tally
from antiphon.text.redact import redact

_WORDY = frozenset(("message", "trace", "detail"))
"""Values that may quote what somebody said or sent; the others are numbers, names of ours and ids."""

log = logging.getLogger("antiphon")


class LogLines:
    """One line per connection, refusal, stream, answer and request; text is never logged, only how much there was."""

    def fold(self, entry: journal.Entry, tally: Tally | None = None) -> None:
        """``tally``: of the entry's stream, see :func:`~antiphon.server.observe.tally.tallied`."""
        if tally is not None:
            if isinstance(entry, journal.StreamEnded):
                self._stream_line(entry, tally)
            return
        match entry:
            case journal.Crashed():
                _emit(logging.ERROR, "internal error", **_fields(entry))
            case journal.Refused():
                _emit(logging.WARNING, "refused", **_fields(entry))
            case journal.StreamWarned():
                _emit(logging.WARNING, "stream warning", **_fields(entry))
            case journal.Answered():
                self._answer_line(entry)
            case journal.RequestEnded():
                level = logging.DEBUG if entry.route in ("/health", "/ready", "/metrics") else logging.INFO
                _emit(level, "request", **_fields(entry))
            case journal.ConnectionOpened():
                _emit(logging.INFO, "connected", **_fields(entry))
            case journal.ConnectionClosed():
                _emit(logging.INFO, "disconnected", **_fields(entry))
            case journal.PhaseChanged():
                _emit(logging.INFO, "phase", **_fields(entry))

    @staticmethod
    def _answer_line(answered: journal.Answered) -> None:
        _emit(
            logging.WARNING if answered.outcome == "failed" else logging.INFO,
            "answer",
            request_id=answered.request_id,
            brain=answered.brain,
            outcome=answered.outcome,
            ttft_ms=None if answered.ttft_s is None else round(answered.ttft_s * 1000, 1),
            elapsed_s=round(answered.elapsed_s, 3),
            message=answered.message,
        )

    @staticmethod
    def _stream_line(ended: journal.StreamEnded, tally: Tally) -> None:
        level = logging.WARNING if ended.outcome == "failed" else logging.INFO
        if not log.isEnabledFor(level):
            return
        opened = tally.opened
        ttfb_ms = None if tally.ttfb_s is None else round(tally.ttfb_s * 1000, 1)
        _emit(
            level,
            "stream",
            request_id=opened.request_id,
            stream=opened.stream,
            route=opened.route,
            key=opened.key,
            engine=opened.engine,
            voice=opened.voice,
            outcome=ended.outcome,
            chars=tally.chars,
            audio_s=round(tally.audio_s, 3),
            compute_s=round(tally.compute_s, 3),
            ttfb_ms=ttfb_ms,
            turns=tally.turns or None,
            final_ms=round(tally.waited_s * 1000, 1) if tally.finals else None,
            elapsed_s=round(ended.at_s - opened.at_s, 3),
            message=ended.message,
        )


class LineFormat(logging.Formatter):
    """``json``: one object a line; otherwise ``time level name: message key=value ...``.

    ``clean`` takes personal data out of what may quote a caller: messages, traces, and lines of libraries.
    """

    def __init__(self, as_json: bool, clean: Callable[[str], str] = redact) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._as_json = as_json
        self._clean = clean

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = self._clean(record.message)
        return super().formatMessage(record)

    def formatException(self, info: Any) -> str:
        return self._clean(super().formatException(info))

    def format(self, record: logging.LogRecord) -> str:
        given: dict[str, object] = getattr(record, "values", {})
        values = {key: self._clean(str(value)) if key in _WORDY else value for key, value in given.items()}
        if self._as_json:
            said = self._clean(record.getMessage())
            head = {"time": self.formatTime(record), "level": record.levelname.lower(), "event": said}
            if record.exc_info:
                head["trace"] = self.formatException(record.exc_info)
            return json.dumps({**head, **values}, default=str)
        record = copy(record)
        record.exc_text = None  # another formatter may have left it, as it was
        trace = values.get("trace")
        pairs = [f"{key}={_quoted(value)}" for key, value in values.items() if key != "trace"]
        line = " ".join([super().format(record), *pairs])
        return f"{line}\n{trace}" if trace else line


def configure_logging(level: str, as_json: bool, *, redacted: bool = True) -> None:
    """Our lines and uvicorn's, in one format, on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormat(as_json, redact if redacted else str))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    log.setLevel(level.upper())
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
        logging.getLogger(name).setLevel(logging.WARNING)


def _is_news(record: logging.LogRecord) -> bool:
    """A body that we broke off on purpose is in the journal with its reason; a caller's bad bytes are no fault."""
    return not record.getMessage().startswith(
        ("ASGI callable returned without completing response", "Invalid UTF-8 sequence received from client", "Cancel ")
    )


def _emit(level: int, event: str, /, **values: object) -> None:
    if log.isEnabledFor(level):
        told = {key: value for key, value in values.items() if value not in ("", None)}
        log.log(level, event, extra={"values": told})


def _fields(entry: journal.Entry) -> dict[str, object]:
    values = msgspec.structs.asdict(entry)
    del values["at_s"]
    return values


def _quoted(value: object) -> str:
    text = str(value)
    return json.dumps(text) if not text or any(char in text for char in ' "=') or not text.isprintable() else text
