"""The streaming ear behind the engine contract: bytes in, words, pauses and turn scores out."""

import logging
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from antiphon.audio.input import EarInput
from antiphon.core.engine import StepModel, Wake
from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Event, Failed, Flushed, Marker, Warned
from antiphon.core.hearing import EAR_RATE_HZ, HearingConfig
from antiphon.engine.ear import Recogniser
from antiphon.engine.outbox import Outbox
from antiphon.engine.places import Place, Places
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.scorer import TurnScorer
from antiphon.engine.stt_dictation import Senses
from antiphon.engine.stt_listen import Listener
from antiphon.engine.stt_segment import FRAME_SAMPLES
from antiphon.text.languages import base_language

_log = logging.getLogger(__name__)

MAX_BACKLOG_S = 30.0
"""Audio that may wait to be looked at. A caller that sends faster than real time keeps an eye on ``backlog_s``."""
BEHIND_S = 1.0
"""With more waiting than this, audio comes from a file or the machine is too slow: no interims."""
MAX_KEYTERMS, MAX_KEYTERM_CHARS = 100, 1_200

_PIECE_S = 0.25


class SttEngine:
    """Recognisers for some languages, one voice activity detector, and ``capacity`` places.

    The first recogniser is the default one; ``config.model`` selects another by its name, the language decides else.
    """

    name = "stt"

    def __init__(
        self,
        recognisers: Sequence[Recogniser],
        vad: StepModel,
        scheduler: Scheduler,
        capacity: int = 64,
        scorer: TurnScorer | None = None,
    ) -> None:
        if not recognisers:
            raise ValueError("an ear needs at least one recogniser")
        self.recognisers = tuple(recognisers)
        self._vad = vad
        self._scheduler = scheduler
        self._scorer = scorer
        self.places = Places(capacity, "places of the ear")

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(code for recogniser in self.recognisers for code in recogniser.languages))

    def open_stream(self, config: HearingConfig, wake: Wake) -> "SttStream":
        """Raises ``AtCapacity``; ``InvalidInput`` for an unknown encoding, rate or language, or too many keyterms."""
        recogniser = self.recogniser(config)
        if len(config.keyterms) > MAX_KEYTERMS or sum(map(len, config.keyterms)) > MAX_KEYTERM_CHARS:
            raise InvalidInput(
                f"at most {MAX_KEYTERMS} keyterms with {MAX_KEYTERM_CHARS} characters in all", "keyterm"
            )
        source = EarInput(config.encoding, config.sample_rate_hz)
        if config.turns and self._scorer is None:
            raise InvalidInput("this ear has no model that judges turns; use manual finalize", "turns")
        senses = Senses(self._vad, recogniser, self._scorer)
        return SttStream(senses, source, config, self._scheduler, wake, self.places.take())

    def warm_up(self) -> None:
        for recogniser in self.recognisers:
            recogniser.warm_up()
        self._vad.step(np.zeros((1, FRAME_SAMPLES), np.float32), self._vad.init_state(1), np.ones(1, np.bool_))
        if self._scorer is not None:
            self._scorer.warm_up()

    def close(self) -> None:
        """Nothing to give back: the scheduler owns the threads and streams own their places."""

    def recogniser(self, config: HearingConfig) -> Recogniser:
        """Who would hear ``config``. Raises ``InvalidInput`` for a language that nobody knows."""
        language = base_language(config.language) if config.language else ""
        named = [one for one in self.recognisers if one.name == config.model]
        able = [one for one in named or self.recognisers if not language or language in one.languages]
        if not able:
            known = ", ".join(named[0].languages if named else self.languages)
            raise InvalidInput(
                f"{named[0].name if named else 'this ear'} does not understand language {config.language!r}, but "
                f"{known}; other languages need a multilingual recogniser (models pull whisper-base, extra 'whisper')",
                "language",
            )
        if not language:  # find out: whoever knows several
            return max(able, key=lambda one: len(one.languages))
        return able[0]


@dataclass(slots=True)
class _Bytes:
    data: bytes
    at_s: float


@dataclass(slots=True)
class _Flush:
    marker: Marker
    last: bool
    at_s: float


@dataclass(slots=True)
class _Skip:
    """A cancel; ``data_bytes`` were dropped unseen."""

    data_bytes: int
    at_s: float


class SttStream:
    """Bytes in (``push``); see :class:`antiphon.core.engine.Stream`. A task of the scheduler: one quantum at a time.

    The place is given back when the last flush is done, or on close.
    """

    def __init__(
        self, senses: Senses, source: EarInput, config: HearingConfig, scheduler: Scheduler, wake: Wake, place: Place
    ) -> None:
        self._source = source
        self._listener = Listener(senses, config, scheduler.clock, lambda: scheduler.backlog() == 0)
        self._scheduler = scheduler
        self._clock = scheduler.clock
        self._wake = wake
        self._place = place
        self._lock = threading.RLock()
        self._outbox = Outbox()
        self._inbox: deque[_Bytes | _Flush | _Skip] = deque()
        self._inbox_bytes = 0
        self._active = False
        self._closed = False
        self._ended = False
        self._due_s = float("-inf")
        self.compute_s = 0.0
        """Worker seconds spent on this stream."""

    # -- the caller's side ------------------------------------------------------------------

    @property
    def backlog_s(self) -> float:
        """Audio that was pushed but not looked at yet."""
        return self._inbox_bytes / self._source.bytes_per_s + self._listener.waiting_samples / EAR_RATE_HZ

    def push(self, item: bytes) -> None:
        """Audio as declared, in pieces of any size. Raises ``AtCapacity`` (and takes nothing) if 30 s wait."""
        if not item:
            return
        with self._lock:
            if self._closed or self._ended:
                return
            if self._inbox and self.backlog_s >= MAX_BACKLOG_S:
                raise AtCapacity(f"more than {MAX_BACKLOG_S:.0f} s of audio wait to be heard; send it more slowly")
            self._inbox.append(_Bytes(bytes(item), self._clock.now_s()))
            self._inbox_bytes += len(item)
            self._activate()

    def flush(self, marker: Marker, *, last: bool = False) -> None:
        """All that was pushed becomes final, then ``Flushed(marker)``."""
        with self._lock:
            if self._closed or self._ended:
                return
            self._ended = last
            self._inbox.append(_Flush(marker, last, self._clock.now_s()))
            self._activate()

    def pull(self, limit: int | None = None) -> list[Event]:
        with self._lock:
            events = self._outbox.take(limit)
            self._activate()
            return events

    def tick(self, now_s: float) -> float | None:
        """Nothing here waits for the clock: silence that is to end something must be sent."""
        return None

    def cancel(self) -> None:
        """Forget what was heard since the last final, and all that waits. Positions go on."""
        with self._lock:
            self._outbox.next_epoch()
            self._inbox.clear()
            self._inbox.append(_Skip(self._inbox_bytes, self._clock.now_s()))
            self._inbox_bytes = 0
            self._activate()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._outbox.next_epoch()
            self._inbox.clear()
            self._inbox_bytes = 0
        self._place.release()

    def _activate(self) -> None:
        if self._active or self._closed or self._outbox.full or not self._has_work():
            return
        self._active = True
        self._scheduler.post(self)

    def _has_work(self) -> bool:
        return bool(self._inbox) or self._listener.busy(self._behind)

    @property
    def _behind(self) -> bool:
        return self.backlog_s > BEHIND_S

    # -- the workers' side ------------------------------------------------------------------

    def deadline_s(self) -> float:
        with self._lock:
            first = self._inbox[0] if self._inbox else None
            job_s = self._listener.deadline_s(self._behind)
        audio_s = self._due_s if first is None else max(self._due_s, first.at_s)
        return audio_s if job_s is None else min(audio_s, job_s)

    def ready_s(self) -> float:
        return float("-inf")

    def run(self) -> bool:
        with self._lock:
            epoch, item = self._outbox.epoch, self._take()
            behind = self._behind
        began_s = self._clock.now_s()
        events, finished = self._work(item, behind)
        self.compute_s += self._clock.now_s() - began_s
        with self._lock:
            woken = self._outbox.put(epoch, events)
            more = not self._closed and not self._outbox.full and self._has_work()
            self._active = more
        if finished is not None and finished[1]:
            self._place.release()
        if woken:
            self._wake()
        return more

    def _take(self) -> _Bytes | _Flush | _Skip | None:
        """The next item of the inbox if the listener is ready for it: audio in pieces, a flush after all before it."""
        if not self._inbox or self._closed:
            return None
        item = self._inbox[0]
        if isinstance(item, _Skip):
            return self._inbox.popleft()
        if not self._listener.looked_at_all:
            return None
        if isinstance(item, _Flush):
            return self._inbox.popleft()
        size = max(1, int(_PIECE_S * self._source.bytes_per_s))
        if len(item.data) > size:
            self._inbox[0] = _Bytes(item.data[size:], item.at_s)
            item = _Bytes(item.data[:size], item.at_s)
        else:
            self._inbox.popleft()
        self._inbox_bytes -= len(item.data)
        # Media comes due at the pace of real time: who sends a file at once stands back behind those who speak now.
        self._due_s = max(self._due_s, item.at_s) + len(item.data) / self._source.bytes_per_s
        return item

    def _work(
        self, item: _Bytes | _Flush | _Skip | None, behind: bool
    ) -> tuple[list[Event], tuple[Marker, bool] | None]:
        listener, events = self._listener, list[Event]()
        try:
            match item:
                case _Bytes():
                    self._source.arrived(len(item.data), item.at_s)
                    listener.hear(self._source.push(item.data))
                    events.extend(Warned(message) for message in self._source.warnings())
                case _Flush():
                    listener.hear(self._source.flush())
                    listener.finish(item.marker, last=item.last)
                case _Skip():
                    listener.skip(int(item.data_bytes / self._source.bytes_per_s * EAR_RATE_HZ))
            more, finished = listener.step(behind)
            return [*events, *more], finished
        except Exception:
            _log.exception("a stream of the ear failed")
            events.append(Failed("the ear failed on this piece of audio; the rest goes on"))
            owed = listener.abandon() or ((item.marker, item.last) if isinstance(item, _Flush) else None)
            return ([*events, Flushed(owed[0])] if owed else events), owed

