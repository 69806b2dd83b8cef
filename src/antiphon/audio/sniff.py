"""What bytes really are, whatever was promised: static in the ear and nonsense in the transcript come from believing.

A container says so in its first bytes. Raw PCM does not, but speech is smooth: read in the right encoding, neighbouring
samples are alike; in a wrong one they are noise.
"""

import numpy as np

from antiphon.audio import pcm
from antiphon.core.errors import InvalidInput

_LEAST_SAMPLES = 400
_ROUGH = 0.4
_SMOOTH = 0.6
_TIMES = 3.5


def container_of(data: pcm.Buffer) -> str | None:
    """Container that these first bytes announce (wav, mp3, opus, ogg, flac, aac, mp4, webm); None for raw samples."""
    head = bytes(data[:64])
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        return "wav"
    if head[:4] == b"fLaC":
        return "flac"
    if head[:4] == b"OggS":
        return "opus" if b"OpusHead" in head else "ogg"
    if head[4:8] == b"ftyp":
        return "mp4"
    if head[:4] == b"\x1aE\xdf\xa3":
        return "webm"
    if head[:3] == b"ID3":
        return "mp3"
    if len(head) >= 4 and head[0] == 0xFF and head[2] != 0xFF:
        if head[1] & 0xF6 == 0xF0 and head[2] >> 2 & 0x0F < 13:
            return "aac"
        if head[1] & 0xE6 == 0xE2 and head[1] & 0x18 != 0x08 and head[2] >> 4 not in (0, 15) and head[2] & 0x0C != 0x0C:
            return "mp3"
    return None


def roughness(data: pcm.Buffer, encoding: str) -> float:
    """Mean square of the step between samples over the mean square of samples: near 0 smooth, 2 white noise.

    Silence, and less than 400 samples, count as smooth (0): nothing can be said of them.
    """
    size = pcm.bytes_per_sample(encoding)
    samples = pcm.decode(bytes(data[: len(data) - len(data) % size]), encoding).astype(np.float64)
    samples = np.clip(samples, -1.0, 1.0)
    power = float(np.mean(np.square(samples))) if len(samples) >= _LEAST_SAMPLES else 0.0
    if power < 1e-8:
        return 0.0
    return float(np.mean(np.square(np.diff(samples)))) / power


def mismatch(data: pcm.Buffer, encoding: str) -> str | None:
    """Why ``data`` can hardly be raw ``encoding``, and what it looks like instead; None if nothing speaks against it.

    Judges some tenths of a second of speech. Careful: it objects only where the promised encoding gives noise and
    another one gives a smooth wave.
    """
    container = container_of(data)
    if container is not None:
        return f"{encoding} was promised, but these bytes begin like a {container} file"
    promised = roughness(data, encoding)
    if promised < _ROUGH:
        return None
    rough = {other: roughness(data, other) for other in pcm.ENCODINGS if other != encoding}
    # all zeros after decoding is no evidence
    smooth = {other: value for other, value in rough.items() if 0.0 < value < min(_SMOOTH, promised / _TIMES)}
    if not smooth:
        return None
    likely = min(smooth, key=lambda other: smooth[other])
    return f"{encoding} was promised, but these bytes look like {likely}"


def require(data: pcm.Buffer, encoding: str) -> None:
    """Raise ``InvalidInput`` where :func:`mismatch` objects."""
    objection = mismatch(data, encoding)
    if objection is not None:
        raise InvalidInput(objection, "encoding")
