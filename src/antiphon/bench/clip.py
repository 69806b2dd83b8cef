"""A recording that is played to an ear, and what is known about it beforehand. Pure.

*True end of speech* is the end of the last 10 ms window above -40 dB of the clean file's speech level
(``audio.activity``), and at least 6 dB above the file's own floor: where a room is louder than -40 dB, it would have no
end otherwise. A recording without any quiet has no floor: the threshold is never above
-20 dB. It is found once, in the clean recording; noise and rooms that are added later do not move it.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from antiphon.audio import pcm
from antiphon.audio.activity import WINDOW_S, speech_level_dbfs, window_power
from antiphon.audio.resample import resample
from antiphon.core.frame import Samples

EAR_RATE_HZ = 16_000
SPEECH_DB = 40.0
FLOOR_QUANTILE = 0.03
FLOOR_DB = 6.0
FLOOR_LIMIT_DB = 20.0


@dataclass(frozen=True, slots=True)
class ClipWord:
    """A word and its exact time, in seconds from the start of the clip."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Clip:
    """What is played.

    ``samples`` [n] mono at ``rate_hz``, sent as ``encoding``. ``speech``: first sample of the speech and the first one
    after it (None: nothing is said). ``reference``: what is said; None where nobody knows, "" where nothing is said.
    ``group``, ``kind``: under which names it is counted. ``words``: where exact times are known. ``pauses``:
    [start, end) inside the speech, during which a turn must not end. ``ends_turn``: whether the speech is a finished
    turn.
    """

    name: str
    samples: Samples = field(repr=False)
    rate_hz: int = EAR_RATE_HZ
    encoding: str = "pcm_s16le"
    speech: tuple[int, int] | None = None
    reference: str | None = None
    group: str = "clean"
    kind: str = ""
    words: tuple[ClipWord, ...] = ()
    pauses: tuple[tuple[int, int], ...] = ()
    ends_turn: bool = True

    @property
    def text(self) -> str:
        """What the player calls it."""
        return self.name

    @property
    def audio_s(self) -> float:
        return len(self.samples) / self.rate_hz

    @property
    def true_start_s(self) -> float | None:
        return None if self.speech is None else self.speech[0] / self.rate_hz

    @property
    def true_end_s(self) -> float | None:
        return None if self.speech is None else self.speech[1] / self.rate_hz

    @property
    def data(self) -> bytes:
        """The audio as it stands on the wire."""
        return pcm.encode(self.samples, self.encoding)

    def with_samples(self, samples: Samples, group: str) -> "Clip":
        """The same speech at the same places, sounding otherwise."""
        if len(samples) != len(self.samples):
            raise ValueError(f"{self.name} has {len(self.samples)} samples, not {len(samples)}")
        return replace(self, samples=np.asarray(samples, np.float32), group=group)

    def until_true_end(self) -> "Clip":
        """Without what follows the last word: what a client has sent when it finalizes at the true end."""
        return self if self.speech is None else replace(self, samples=self.samples[: self.speech[1]])

    def at_rate(self, rate_hz: int) -> "Clip":
        """Resampled, with all places moved along."""
        if rate_hz == self.rate_hz:
            return self

        def moved(sample: int) -> int:
            return round(sample * rate_hz / self.rate_hz)

        return replace(
            self,
            samples=resample(self.samples, self.rate_hz, rate_hz),
            rate_hz=rate_hz,
            speech=None if self.speech is None else (moved(self.speech[0]), moved(self.speech[1])),
            pauses=tuple((moved(start), moved(end)) for start, end in self.pauses),
        )


def speech_span(samples: Samples, rate_hz: int, whole: Samples | None = None) -> tuple[int, int] | None:
    """First sample of the speech in a clean recording, and the first one after its true end; None for silence.

    ``whole``: the recording of which ``samples`` are a part, whose level and floor then count.
    """
    of = samples if whole is None else whole
    level = speech_level_dbfs(of, rate_hz)
    if not np.isfinite(level) or not len(samples):
        return None
    power = window_power(samples, rate_hz)
    floor = float(np.quantile(window_power(of, rate_hz), FLOOR_QUANTILE)) * 10 ** (FLOOR_DB / 10)
    threshold = min(max(10 ** ((level - SPEECH_DB) / 10), floor), 10 ** ((level - FLOOR_LIMIT_DB) / 10))
    loud = np.flatnonzero(power > threshold)
    if not len(loud):
        return None
    window = max(1, round(rate_hz * WINDOW_S))
    return int(loud[0]) * window, min((int(loud[-1]) + 1) * window, len(samples))


def clips_hash(clips: Iterable[Clip]) -> str:
    """sha256 over names, references and audio, in order: the identity of a workload."""
    digest = hashlib.sha256()
    for clip in clips:
        digest.update(f"{clip.name}\t{clip.group}\t{clip.reference}\t{clip.rate_hz}\t{clip.encoding}\n".encode())
        digest.update(clip.data)
    return digest.hexdigest()
