"""One epoch of one stream of the state-space voice: its text, its track, its place among the others."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from antiphon.audio.container import Encoder, open_encoder
from antiphon.audio.shape import GainRamp, Limiter
from antiphon.core.engine import Wake
from antiphon.core.event import Audio, Event, Flushed, PhonemeTimes, Warned, WordTimes
from antiphon.core.frame import Samples
from antiphon.core.speech import SpeechConfig
from antiphon.engine.outbox import Outbox
from antiphon.engine.ssm_reading import Flush, Sounds, SsmReading
from antiphon.models.hibari_words import Times
from antiphon.models.ssm_knobs import Knobs, knobs_for
from antiphon.models.ssm_sound import SAMPLE_RATE_HZ
from antiphon.models.ssm_track import Held, Mark, Silence, SsmTrack
from antiphon.text.phonemes import check_pieces
from antiphon.text.unit import Unit

RAMP_STEPS = (2, 4, 8)
"""Steps (25 ms) of a stream's packets: little while the listener waits, then more."""


@dataclass(eq=False)
class SsmRun:
    """``epoch`` is the outbox's. A worker that holds it (``busy``) may touch all but ``reading``, ``outbox`` and the
    times, which the lanes' lock guards."""

    config: SpeechConfig
    track: SsmTrack
    outbox: Outbox
    wake: Wake
    reading: SsmReading
    epoch: int = 0
    on_last: Callable[[], None] = lambda: None
    """Called when the audio of the last flush is made."""
    busy: bool = False
    ended: bool = False
    """No more of it is wanted: cancelled or closed."""
    saving: int = 0
    """It is to be saved, in at most so many bytes, as soon as no worker holds it; it takes nothing any more."""
    asked_s: float = 0.0
    dry_s: float = float("-inf")
    """When the listener will have heard all that was made."""
    encoder: Encoder = field(init=False)
    gain: GainRamp = field(init=False)
    limit: Limiter = field(init=False)
    volume: float = field(init=False)
    warned: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.encoder = open_encoder(self.config.format, SAMPLE_RATE_HZ)
        self.volume = self.config.volume
        self.gain = GainRamp(SAMPLE_RATE_HZ, self.volume)
        self.limit = Limiter(SAMPLE_RATE_HZ)

    # -- what the lanes ask ----------------------------------------------------------------------

    @property
    def deadline_s(self) -> float:
        return max(self.dry_s, self.asked_s)

    @property
    def ready_s(self) -> float:
        return float("-inf") if self.config.lead_s is None else self.dry_s - self.config.lead_s

    def wanted_steps(self, now_s: float) -> int:
        left_s = self.dry_s - now_s
        return RAMP_STEPS[0] if left_s <= 0 else RAMP_STEPS[1] if left_s < 0.14 else RAMP_STEPS[2]

    def has_work(self) -> bool:
        if self.busy or self.ended or self.outbox.full:
            return False
        head = self.track.head
        return bool(self.reading.inbox) or (head is not None and (not _held(head) or self.track.steps_ready(1) > 0))

    def wants_text(self, steps: int) -> bool:
        """Whether text has to be read before a packet of ``steps`` can be made."""
        if not self.reading.inbox or (self.track.head is not None and not _held(self.track.head)):
            return False
        return not self.track.ahead(steps)[1]

    # -- what a worker does ----------------------------------------------------------------------

    def act(self, entry: Unit | Flush | Sounds) -> list[Event]:
        """Take one entry of the inbox onto the track. Raises ``EngineFailed``, ``InvalidInput``."""
        match entry:
            case Sounds(names):
                listed = ", ".join(f"[{name}]" for name in names)
                return [Warned(f"voice engine 'ssm' cannot make {listed}; it is left out")]
            case Flush(marker, last):
                self.track.mark(marker, last)
                return []
        check_pieces(entry.pieces)
        knobs, events = self._knobs(entry)
        self.track.speak(entry, knobs)
        return events

    def packet(self, samples: Samples, spent_s: float) -> list[Event]:
        """Events of samples that were just made; their track has moved on already."""
        return [*self._times(self.track.times()), *self._audio(samples, spent_s)]

    def pass_head(self) -> tuple[list[Event], bool]:
        """Events of what is at the head of the track and is no sound; and whether the last marker came by."""
        events: list[Event] = []
        while (head := self.track.head) is not None and not _held(head):
            if isinstance(head, Mark):
                self.track.queue.popleft()
                events += self._times(self.track.times(to_the_end=True))
                tail = self.encoder.finish() if head.last else self.encoder.flush()
                if tail:
                    events.append(Audio(tail, self.track.at_sample, 0, SAMPLE_RATE_HZ))
                events.append(Flushed(head.marker))
                if head.last:
                    self.on_last()
                    return events, True
            elif isinstance(head, Silence):
                # In pieces: silence is cheap to make, but not to hold.
                whole = head.samples
                piece = head.samples = min(whole, SAMPLE_RATE_HZ)
                self.track.silence()
                if whole > piece:
                    head.samples = whole - piece
                    self.track.queue.appendleft(head)
                events += self.packet(_silent(piece), 0.0)
                if whole > piece:
                    break
        return events, False

    def _audio(self, samples: Samples, spent_s: float) -> list[Event]:
        data = self.encoder.push(self.limit.push(self.gain.push(samples)))
        return [Audio(data, self.track.at_sample - len(samples), len(samples), SAMPLE_RATE_HZ, spent_s)]

    def set_volume(self) -> None:
        """Before the samples of a packet: the volume that they were asked to have."""
        if (volume := self.track.next_volume) != self.volume:
            self.volume = volume
            self.gain.set(volume)

    def _times(self, times: Times) -> list[Event]:
        events: list[Event] = []
        if times.words and self.config.words:
            events.append(WordTimes(times.words, times.normalized, SAMPLE_RATE_HZ))
        if times.phonemes and self.config.phonemes:
            events.append(PhonemeTimes(times.phonemes, SAMPLE_RATE_HZ))
        return events

    def _knobs(self, unit: Unit) -> tuple[Knobs, list[Event]]:
        events: list[Event] = []
        if (notice := self.encoder.notice) and "format" not in self.warned:
            self.warned.add("format")
            events.append(Warned(notice))
        knobs = knobs_for(unit.speed, unit.emotion)
        if knobs is None:
            knobs = Knobs(unit.speed)
            if "emotion" not in self.warned:
                self.warned.add("emotion")
                name = (unit.emotion or "")[:40]
                events.append(Warned(f"voice engine 'ssm' does not know emotion {name!r}; it is spoken neutrally"))
        return knobs, events



def _held(item: object) -> bool:
    return isinstance(item, Held)


def _silent(count: int) -> Samples:
    return np.zeros(count, np.float32)
