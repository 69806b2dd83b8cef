"""Takes the agent's own voice out of what is heard, for clients that cannot do it themselves (extra ``aec``).

The work is WebRTC's audio processing module (AEC3), as the ``livekit`` package ships it. It wants frames of exactly
10 ms of 16-bit samples, and one frame of what was played for each frame of what was heard; this module brings any
pieces into that form.
"""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples

FRAME_S = 0.01
RATES_HZ = (16_000, 24_000, 32_000, 48_000)
LONGEST_WAIT_S = 120.0
"""So much audio may be on its way to the listener; of what goes beyond, the echo is not taken out."""


class EchoCanceller:
    """One listener's echo. Belongs to one thread. About 0.2 ms of work for 10 ms of audio.

    Media time is that of what is heard: each sample of :meth:`heard` is one sample later. What was :meth:`played` is
    taken to sound back to back from the moment it is given, ``delay_ms`` later. The true delay may be up to 0.3 s
    longer (it is found by itself), but not shorter: give less rather than more.

    Output is as long as the input and 10 ms late (:attr:`latency_samples`), however both are cut into pieces.
    """

    def __init__(self, sample_rate_hz: int, delay_ms: int = 0) -> None:
        """Raises ``InvalidInput`` for a rate that is not of :data:`RATES_HZ`, and where the extra is not installed."""
        if sample_rate_hz not in RATES_HZ:
            rates = ", ".join(map(str, RATES_HZ))
            raise InvalidInput(f"echo cancellation works at {rates} Hz, not at {sample_rate_hz}", "sample_rate")
        if delay_ms < 0:
            raise InvalidInput(f"a delay of {delay_ms} ms: what is played cannot be heard before", "delay_ms")
        self.sample_rate_hz = sample_rate_hz
        self._frame = round(sample_rate_hz * FRAME_S)
        self._rtc = _library()
        self._apm = self._rtc.AudioProcessingModule(echo_cancellation=True)
        self._apm.set_stream_delay_ms(0)  # it finds the delay itself; what is known of it, the queue keeps back
        self._far: deque[NDArray[np.int16]] = deque()
        self._far_samples = 0
        self._delay_samples = round(sample_rate_hz * delay_ms / 1000)
        self._near = np.zeros(0, np.int16)
        self._out = [np.zeros(self._frame, np.int16)]

    @property
    def latency_samples(self) -> int:
        return self._frame

    @property
    def waiting_samples(self) -> int:
        """What was played and has, by the time of what is heard, not sounded yet."""
        return self._far_samples

    def played(self, samples: Samples) -> None:
        """These samples [n] of the agent went to the listener, behind those before them."""
        if not len(samples):
            return
        if not self._far_samples and self._delay_samples:
            self._wait(np.zeros(self._delay_samples, np.int16))
        self._wait(_to_int16(samples))

    def clear(self) -> None:
        """The listener dropped what it had not played yet."""
        self._far.clear()
        self._far_samples = 0

    def heard(self, samples: Samples) -> Samples:
        """What was heard [n], without the echo [n], :attr:`latency_samples` late."""
        near = np.concatenate((self._near, _to_int16(samples)))
        whole = len(near) - len(near) % self._frame
        for start in range(0, whole, self._frame):
            self._out.append(self._process(near[start : start + self._frame]))
        self._near = near[whole:]
        out = np.concatenate(self._out)
        self._out = [out[len(samples) :]]
        clean: Samples = out[: len(samples)].astype(np.float32) / 32_768.0
        return clean

    def _wait(self, samples: NDArray[np.int16]) -> None:
        room = int(LONGEST_WAIT_S * self.sample_rate_hz) - self._far_samples
        samples = samples[: max(0, room)]
        if len(samples):
            self._far.append(samples)
            self._far_samples += len(samples)

    def _process(self, near: NDArray[np.int16]) -> NDArray[np.int16]:
        self._apm.process_reverse_stream(self._wrap(self._take()))
        frame = self._wrap(near)
        self._apm.process_stream(frame)
        return np.array(frame.data, dtype=np.int16)

    def _take(self) -> NDArray[np.int16]:
        """The next 10 ms of what sounds at the listener's; silence where there is nothing."""
        frame = np.zeros(self._frame, np.int16)
        filled = 0
        while self._far and filled < self._frame:
            piece = self._far.popleft()
            count = min(len(piece), self._frame - filled)
            frame[filled : filled + count] = piece[:count]
            if count < len(piece):
                self._far.appendleft(piece[count:])
            filled += count
        self._far_samples -= filled
        return frame

    def _wrap(self, samples: NDArray[np.int16]) -> Any:
        return self._rtc.AudioFrame(bytearray(samples.tobytes()), self.sample_rate_hz, 1, self._frame)


def available() -> bool:
    """Whether the extra is installed."""
    try:
        _library()
    except InvalidInput:
        return False
    return True


def _library() -> Any:
    try:
        from livekit import rtc
    except ImportError:
        raise InvalidInput(
            "echo cancellation needs the extra 'aec' (pip install 'antiphon[aec]')", "echo_cancellation"
        ) from None
    return rtc


def _to_int16(samples: Samples) -> NDArray[np.int16]:
    clipped = np.clip(np.nan_to_num(np.asarray(samples, dtype=np.float32)), -1.0, 32_767 / 32_768)
    pcm: NDArray[np.int16] = np.rint(clipped * 32_768.0).astype(np.int16)
    return pcm
