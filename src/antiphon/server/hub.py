"""What every route shares: one value, made once, passed down. No globals."""

from dataclasses import dataclass, field, replace
from itertools import count
from typing import Protocol

from antiphon.audio.pcm import bytes_per_sample
from antiphon.core.brain import Brain
from antiphon.core.clock import Clock
from antiphon.core.engine import Engine, Resuming, Stream, Wake
from antiphon.core.errors import AntiphonError, AtCapacity
from antiphon.core.hearing import HearingConfig
from antiphon.core.speech import SpeechConfig, VoiceInfo
from antiphon.protocol.http import NotSupported
from antiphon.server.admission import Admission, Place
from antiphon.server.agent import NO_TOOLS, MakeAgentLog, SessionKeeper, ToolSource
from antiphon.server.auth import Gate, Principal
from antiphon.server.dictionaries import Dictionaries
from antiphon.server.journal import Journal, Refused, StreamOpened
from antiphon.server.lifecycle import Lifecycle, Unready
from antiphon.server.lines import EarLine, EarStream, Line
from antiphon.server.observe import Metrics
from antiphon.settings import Settings


class Ear(Protocol):
    """An engine that listens."""

    name: str

    def open_stream(self, config: HearingConfig, wake: Wake) -> EarStream: ...


class Engines(Protocol):
    """What the server needs of the registry of engines."""

    @property
    def default_voice(self) -> VoiceInfo: ...

    def voices(self) -> tuple[VoiceInfo, ...]: ...

    def voice(self, name: str) -> VoiceInfo: ...

    def resolve(self, config: SpeechConfig) -> "tuple[Engine[SpeechConfig], SpeechConfig]": ...

    def ears(self) -> tuple[str, ...]:
        """Names of the recognisers."""
        ...

    def listener(self, config: HearingConfig) -> tuple[Ear, HearingConfig]: ...


@dataclass(slots=True)
class Choice:
    """What a caller's last settings led to. Clients ask for the same again and again, and hand over the same value."""

    asked: SpeechConfig | None = None
    engine: Engine[SpeechConfig] | None = None
    given: SpeechConfig | None = None


@dataclass(frozen=True, slots=True)
class Hub:
    settings: Settings
    voices: Engines
    brain: Brain
    clock: Clock
    journal: Journal
    metrics: Metrics
    admission: Admission
    gate: Gate
    lifecycle: Lifecycle
    dictionaries: Dictionaries
    tools: ToolSource = NO_TOOLS
    """What agents can do."""
    agent_logs: tuple[MakeAgentLog, ...] = ()
    """Who keeps records of conversations."""
    keeper: SessionKeeper | None = None
    """Who puts agents' sessions away for the next process; None: they end with this one."""
    _numbers: "count[int]" = field(default_factory=lambda: count(1))
    _lines: dict[int, Line] = field(default_factory=dict)
    """The open ones."""

    def open_line(
        self,
        config: SpeechConfig | HearingConfig,
        wake: Wake,
        principal: Principal,
        request_id: str,
        route: str,
        *,
        finishing: bool = False,
        snapshot: bytes = b"",
        choice: Choice | None = None,
    ) -> Line:
        """Take a stream for a caller; ``finishing`` one even while the server leaves. ``snapshot``: of a stream of
        speech to go on with; ``config`` only names its voice. ``choice``: of this caller, kept for its next stream.

        Raises ``Unready``, ``AtCapacity``, ``NotFound``, ``InvalidInput``.
        """
        place: Place | None = None
        stream: Stream
        ear: EarStream | None = None
        try:
            if not finishing:
                self.lifecycle.require_ready()
            if isinstance(config, SpeechConfig):
                engine, config = self._choose(config, principal, Choice() if choice is None else choice)
                if config.dictionary:
                    said = self.dictionaries.pronunciations(principal.name, config.dictionary)
                    config = replace(config, pronunciations=said)
                place = self.admission.open_stream(principal.name, principal.max_streams)
                stream = _resumed(engine, config, wake, snapshot) if snapshot else engine.open_stream(config, wake)
                name, voice = engine.name, config.voice
            else:
                listener, config = self.voices.listener(replace(config, owner=principal.name))
                place = self.admission.open_stream(principal.name, principal.max_streams)
                stream = ear = listener.open_stream(config, wake)
                name, voice = listener.name, ""
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
        self.journal.log(StreamOpened(now_s, number, request_id, route, principal.name, name, voice))
        if ear is None or isinstance(config, SpeechConfig):
            line = Line(number, stream, place, self.journal, self.clock, self._lines)
        else:
            bytes_per_s = bytes_per_sample(config.encoding) * config.sample_rate_hz
            line = EarLine(number, ear, place, self.journal, self.clock, self._lines, ear=ear, bytes_per_s=bytes_per_s)
        self._lines[number] = line
        return line

    def _choose(
        self, config: SpeechConfig, principal: Principal, choice: Choice
    ) -> tuple[Engine[SpeechConfig], SpeechConfig]:
        if choice.asked is config and choice.engine is not None and choice.given is not None:
            return choice.engine, choice.given
        leads = [lead_s for lead_s in (self.settings.engine.lead_s, config.lead_s) if lead_s is not None]
        owned = replace(config, owner=principal.name, lead_s=min(leads, default=None))
        choice.engine, choice.given = self.voices.resolve(owned)
        choice.asked = config
        return choice.engine, choice.given

    def metrics_text(self) -> bytes:
        """Up to this moment: streams that last tell what they have not told yet, so that their chunks need not."""
        for line in list(self._lines.values()):
            line.settle()
        return self.metrics.text()

    def refuse(self, error: AntiphonError, request_id: str, route: str, reason: str | None = None) -> None:
        """Journal a refusal; the caller is told by whoever speaks its protocol."""
        self.journal.log(Refused(self.clock.now_s(), request_id, route, reason or _reason(error), str(error)))


def _resumed(engine: Engine[SpeechConfig], config: SpeechConfig, wake: Wake, snapshot: bytes) -> Stream:
    if not isinstance(engine, Resuming):
        raise NotSupported(f"voice engine {engine.name!r} cannot go on with a saved stream", "snapshot")
    return engine.resume(snapshot, wake, owner=config.owner, lead_s=config.lead_s)


def _reason(error: AntiphonError) -> str:
    if isinstance(error, AtCapacity):
        return "streams"
    return "unready" if isinstance(error, Unready) else "invalid"
