"""Where someone speaks: hysteresis over the voice activity detector's probabilities. Pure; positions are samples."""

from collections import deque
from dataclasses import dataclass

from antiphon.core.hearing import SpeechStarted, SpeechStopped

FRAME_SAMPLES = 512
"""32 ms at 16 kHz."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Speech begins when ``confirm`` of the last ``confirm_of`` frames reach ``start`` (96 ms) and one of them ``sure``
    (noises hover, voices do not), and a pause when ``pause`` frames in a row (128 ms) stay below ``stop``. An onset is
    traced back over frames of at least ``onset``.
    """

    start: float = 0.5
    sure: float = 0.65
    stop: float = 0.35
    onset: float = 0.15
    confirm: int = 3
    confirm_of: int = 5
    pause: int = 4
    max_trace: int = 4


class Segmenter:
    """One stream's speech and pauses. Frames are pushed in order; :meth:`skip` leaves out samples that were dropped."""

    def __init__(self, thresholds: Thresholds | None = None) -> None:
        self._limits = thresholds or Thresholds()
        self.position = 0
        """Samples looked at so far."""
        self.speaking = False
        self.quiet_from: int | None = 0
        """Where the silence that goes on began; None inside speech."""
        self._recent: deque[tuple[int, float]] = deque(maxlen=self._limits.confirm_of + self._limits.max_trace)

    @property
    def silence_samples(self) -> int:
        """Length of the silence that goes on."""
        return 0 if self.quiet_from is None else self.position - self.quiet_from

    @property
    def onset(self) -> int | None:
        """Where speech may have begun that is not confirmed yet."""
        if self.speaking or not self._voiced():
            return None
        return self._trace()

    def push(self, probability: float) -> list[SpeechStarted | SpeechStopped]:
        """One frame of :data:`FRAME_SAMPLES`."""
        at, limits = self.position, self._limits
        self.position += FRAME_SAMPLES
        self._recent.append((at, probability))
        if not self.speaking:
            sure = any(probability >= limits.sure for _, probability in list(self._recent)[-limits.confirm_of :])
            if not sure or len(self._voiced()) < limits.confirm:
                return []
            self.speaking, self.quiet_from = True, None
            return [SpeechStarted(self._trace())]
        if probability >= limits.stop:
            self.quiet_from = None
            return []
        if self.quiet_from is None:
            self.quiet_from = at
        if self.silence_samples < limits.pause * FRAME_SAMPLES:
            return []
        self.speaking = False
        self._recent.clear()
        return [SpeechStopped(self.quiet_from)]

    def skip(self, to: int) -> None:
        """Forget everything; the next frame begins at sample ``to``."""
        self.position = to
        self.speaking, self.quiet_from = False, to
        self._recent.clear()

    def _voiced(self) -> list[int]:
        recent = list(self._recent)[-self._limits.confirm_of :]
        return [at for at, probability in recent if probability >= self._limits.start]

    def _trace(self) -> int:
        """The first voiced frame, and back from there over frames in which the detector was not sure of silence."""
        start = self._voiced()[0]
        for at, probability in reversed(self._recent):
            if at < start and probability < self._limits.onset:
                break
            start = min(start, at)
        return start
