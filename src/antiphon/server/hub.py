"""What every route shares: one value, made once, passed down. No globals."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Protocol

from antiphon.core.clock import Clock
from antiphon.core.engine import Engine, Stream, Wake
from antiphon.core.errors import AntiphonError, AtCapacity
from antiphon.core.event import Audio, Event, Warned
from antiphon.core.speech import SpeechConfig, VoiceInfo
from antiphon.server.admission import Admission, Place
from antiphon.server.auth import Gate, Principal
from antiphon.server.journal import (
    AudioSent,
    Entry,
    Journal,
    Outcome,
    Refused,
    StreamEnded,
    StreamOpened,
    StreamWarned,
    TextPushed,
)
from antiphon.server.lifecycle import Lifecycle, Unready
from antiphon.server.observe import Metrics
from antiphon.settings import Settings


class Voices(Protocol):
    """What the server needs of the registry of engines."""

    @property
    def default_voice(self) -> VoiceInfo: ...

    def voices(self) -> tuple[VoiceInfo, ...]: ...

    def voice(self, name: str) -> VoiceInfo: ...

    def resolve(self, config: SpeechConfig) -> "tuple[Engine[SpeechConfig], SpeechConfig]": ...


@dataclass(slots=True)
class Line:
    """An open stream with its place and its page in the journal. ``end`` may come from anywhere, more than once."""

    number: int
    stream: Stream
    config: SpeechConfig
    _place: Place
    _journal: Callable[[Entry], None]
    _clock: Clock
    failure: str = ""
    """Why it failed, if it did; decides the outcome that is logged."""
    is_open: bool = True

    def pushed(self, text: str) -> None:
        self._journal(TextPushed(self._clock.now_s(), self.number, len(text)))

    def pulled(self, event: Event) -> None:
        """To be told of every event that is about to leave."""
        if isinstance(event, Audio):
            seconds = event.samples / event.sample_rate_hz
            sent = AudioSent(self._clock.now_s(), self.number, len(event.data), seconds, event.compute_s)
            self._journal(sent)
        elif isinstance(event, Warned):
            self._journal(StreamWarned(self._clock.now_s(), self.number, event.message))

    def end(self, outcome: Outcome) -> None:
        if self.is_open:
            self.is_open = False
            self.stream.close()
            self._place.release()
            final: Outcome = "failed" if self.failure else outcome
            self._journal(StreamEnded(self._clock.now_s(), self.number, final, self.failure))


@dataclass(frozen=True, slots=True)
class Hub:
    settings: Settings
    voices: Voices
    clock: Clock
    journal: Journal
    metrics: Metrics
    admission: Admission
    gate: Gate
    lifecycle: Lifecycle
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def open_line(
        self, config: SpeechConfig, wake: Wake, principal: Principal, request_id: str, route: str
    ) -> Line:
        """Take a stream for a caller. Raises ``Unready``, ``AtCapacity``, ``NotFound``, ``InvalidInput``."""
        place: Place | None = None
        try:
            self.lifecycle.require_ready()
            lead_s = self.settings.engine.lead_s if config.lead_s is None else config.lead_s
            engine, config = self.voices.resolve(replace(config, owner=principal.name, lead_s=lead_s))
            place = self.admission.open_stream(principal.name, principal.max_streams)
            stream = engine.open_stream(config, wake)
        except AntiphonError as error:
            if place is not None:
                place.release()
            self.refuse(error, request_id, route)
            raise
        except BaseException:
            if place is not None:
                place.release()
            raise
        number = next(self._numbers)
        now_s = self.clock.now_s()
        self.journal.log(StreamOpened(now_s, number, request_id, route, principal.name, engine.name, config.voice))
        return Line(number, stream, config, place, self.journal.log, self.clock)

    def refuse(self, error: AntiphonError, request_id: str, route: str, reason: str | None = None) -> None:
        """Journal a refusal; the caller is told by whoever speaks its protocol."""
        self.journal.log(Refused(self.clock.now_s(), request_id, route, reason or _reason(error), str(error)))


def _reason(error: AntiphonError) -> str:
    if isinstance(error, AtCapacity):
        return "streams"
    return "unready" if isinstance(error, Unready) else "invalid"
