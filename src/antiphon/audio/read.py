"""Audio files back into samples: any container that libsndfile knows, and raw PCM."""

from io import BytesIO
from pathlib import Path

import numpy as np
import soundfile

from antiphon.audio import pcm
from antiphon.audio.flac import with_length
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples

_BLOCK_FRAMES = 65_536


def read(
    source: bytes | bytearray | memoryview | str | Path,
    *,
    encoding: str | None = None,
    sample_rate_hz: int | None = None,
    most_s: float | None = None,
) -> tuple[Samples, int]:
    """Whole file (its bytes, or its path) to mono samples [n] and their rate in Hz; several channels are averaged.

    With ``encoding`` and ``sample_rate_hz`` the source is raw PCM. ``most_s`` bounds the length. Raises
    ``InvalidInput`` for bytes that are no audio, and for more than ``most_s`` of it.
    """
    if (encoding is None) != (sample_rate_hz is None):
        raise InvalidInput("raw audio needs both its encoding and its sample rate", "encoding")
    data = Path(source).read_bytes() if isinstance(source, str | Path) else bytes(source)
    if encoding is not None and sample_rate_hz is not None:
        samples = pcm.decode(data[: len(data) - len(data) % pcm.bytes_per_sample(encoding)], encoding)
        _check_length(len(samples), sample_rate_hz, most_s)
        return samples, sample_rate_hz
    try:
        with soundfile.SoundFile(BytesIO(with_length(data))) as file:
            return _all_blocks(file, most_s), int(file.samplerate)
    except soundfile.LibsndfileError as error:
        raise InvalidInput(f"these bytes are no audio file that can be read: {error}", "file") from None


def _all_blocks(file: soundfile.SoundFile, most_s: float | None) -> Samples:
    """Read until the end comes: what a streamed file says about its own length may be 0 or absurd."""
    blocks: list[Samples] = []
    total = 0
    while True:
        block = file.read(_BLOCK_FRAMES, dtype="float32", always_2d=True)
        if not len(block):
            return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)
        total += len(block)
        _check_length(total, int(file.samplerate), most_s)
        blocks.append(block[:, 0].copy() if block.shape[1] == 1 else block.mean(axis=1, dtype=np.float32))


def _check_length(samples: int, rate_hz: int, most_s: float | None) -> None:
    if most_s is not None and samples > most_s * rate_hz:
        raise InvalidInput(f"this audio is longer than {most_s:g} s", "file")
