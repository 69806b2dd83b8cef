"""A conversation as two channels: the caller as spoken, the agent as heard. Pure.

Both tracks begin at the same moment of the client's clock, so that a distance between them is a time that a listener
would have measured.
"""

import io
import wave
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from antiphon.audio.pcm import decode, encode
from antiphon.audio.resample import resample
from antiphon.client.playback import Piece
from antiphon.core.frame import Samples
from antiphon.protocol.native_messages import AudioShape


@dataclass(frozen=True, slots=True)
class TwoChannels:
    """``caller`` and ``agent`` ``[samples]`` at ``rate_hz``, of the same length. Sample 0 is ``begin_s`` (monotonic
    seconds of the client)."""

    rate_hz: int
    begin_s: float
    caller: Samples = field(repr=False)
    agent: Samples = field(repr=False)

    @property
    def length_s(self) -> float:
        return len(self.agent) / self.rate_hz

    def sample(self, at_s: float) -> int:
        """The sample of a moment, within the recording."""
        return min(max(round((at_s - self.begin_s) * self.rate_hz), 0), len(self.agent))

    def wav(self) -> bytes:
        """A WAV file, 16 bit, caller left, agent right."""
        both = np.stack((self.caller, self.agent), axis=1).reshape(-1)
        out = io.BytesIO()
        with wave.open(out, "wb") as file:
            file.setnchannels(2)
            file.setsampwidth(2)
            file.setframerate(self.rate_hz)
            file.writeframes(encode(both, "pcm_s16le"))
        return out.getvalue()


def agent_track(pieces: Iterable[Piece], shape: AudioShape, begin_s: float, samples: int) -> Samples:
    """What a simulated player that keeps its samples let one hear, ``[samples]`` from ``begin_s`` on."""
    track = np.zeros(samples, np.float32)
    rate_hz = shape.sample_rate_hz
    for piece in pieces:
        sound = decode(bytes(piece.data), shape.encoding)
        faded = min(round(piece.faded_s * rate_hz), len(sound))
        if faded:
            sound = sound.copy()
            sound[len(sound) - faded :] *= np.linspace(1.0, 0.0, faded, dtype=np.float32)
        at = round((piece.start_s - begin_s) * rate_hz)
        first, last = max(at, 0), min(at + len(sound), samples)
        if first < last:
            track[first:last] += sound[first - at : last - at]
    return track


def two_channels(
    caller: Samples, caller_rate_hz: int, pieces: Iterable[Piece], shape: AudioShape, begin_s: float
) -> TwoChannels:
    """``caller``: all that the microphone gave, from ``begin_s`` on. As long as the caller's track."""
    rate_hz = shape.sample_rate_hz
    spoken = resample(np.asarray(caller, np.float32), caller_rate_hz, rate_hz)
    return TwoChannels(rate_hz, begin_s, spoken, agent_track(pieces, shape, begin_s, len(spoken)))
