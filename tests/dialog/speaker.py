"""A scripted ear in virtual media time: says what an ear would, and keeps what the endpoint answers."""

from dataclasses import dataclass, field

from antiphon.core.hearing import EAR_RATE_HZ, Heard, Listened, SpeechStarted, SpeechStopped, TurnScored
from antiphon.core.turns import (
    EndpointSettings,
    TurnEagerEnded,
    TurnEnded,
    TurnEvent,
    TurnResumed,
    TurnStarted,
    TurnUpdated,
)
from antiphon.dialog.endpoint import Endpoint

FRAME_S = 0.032
_NAMES = {TurnStarted: "start", TurnUpdated: "update", TurnEagerEnded: "eager", TurnResumed: "resume", TurnEnded: "end"}


@dataclass
class Speaker:
    """Media and wall time run together unless told otherwise. All times in seconds."""

    endpoint: Endpoint = field(default_factory=Endpoint)
    at_s: float = 0.0
    now_s: float = 0.0
    said: list[tuple[float, TurnEvent]] = field(default_factory=list)
    paused_s: float | None = None

    @classmethod
    def with_settings(cls, settings: EndpointSettings) -> "Speaker":
        return cls(Endpoint(settings))

    @property
    def samples(self) -> int:
        return round(self.at_s * EAR_RATE_HZ)

    @property
    def events(self) -> list[TurnEvent]:
        return [event for _, event in self.said]

    @property
    def story(self) -> list[str]:
        return [_NAMES[type(event)] for event in self.events]

    @property
    def transcripts(self) -> list[str]:
        return [event.transcript for event in self.events if isinstance(event, TurnEnded)]

    @property
    def transcripts_so_far(self) -> list[str]:
        return [event.transcript for event in self.events if isinstance(event, TurnUpdated)]

    def time_of(self, kind: type, number: int = 0) -> float:
        return [at for at, event in self.said if isinstance(event, kind)][number]

    def talk(self, seconds: float) -> None:
        if self.paused_s is not None or not self.said:
            self._give(SpeechStarted(self.samples))
        self.paused_s = None
        self._listen(seconds, speech=True)

    def pause(self, seconds: float = 0.0) -> None:
        if self.paused_s is None:
            self.paused_s = self.at_s
            self._give(SpeechStopped(self.samples))
        self._listen(seconds, speech=False)

    def interim(self, text: str, stable: int | None = None) -> None:
        self._give(Heard(text, len(text) if stable is None else stable, False, end_sample=self.samples))

    def final(self, text: str, end_s: float | None = None) -> None:
        end = self.samples if end_s is None else round(end_s * EAR_RATE_HZ)
        self._give(Heard(text, len(text), True, end_sample=end))

    def score(self, likelihood: float) -> None:
        silence_s = 0.0 if self.paused_s is None else max(self.at_s - self.paused_s, FRAME_S)
        self._give(TurnScored(self.samples, likelihood, round(silence_s * EAR_RATE_HZ)))

    def stall(self, seconds: float) -> None:
        """No audio comes; only the wall clock goes on."""
        end_s = self.now_s + seconds
        while (deadline := self.endpoint.deadline_s) is not None and deadline <= end_s:
            self.now_s = max(self.now_s, deadline)
            self._keep(self.endpoint.tick(self.now_s))
        self.now_s = end_s
        self._keep(self.endpoint.tick(self.now_s))

    def close(self) -> None:
        self._keep(self.endpoint.close())

    def _listen(self, seconds: float, speech: bool) -> None:
        end_s = self.at_s + seconds
        while self.at_s < end_s:
            step = min(FRAME_S, end_s - self.at_s)
            self.at_s += step
            self.now_s += step
            self._give(Listened(self.samples, speech))

    def _give(self, event: Heard | Listened | SpeechStarted | SpeechStopped | TurnScored) -> None:
        self._keep(self.endpoint.handle(event, self.now_s))

    def _keep(self, events: list[TurnEvent]) -> None:
        self.said += [(self.at_s, event) for event in events]
