"""The microphone, through whichever recorder this machine has."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from antiphon.core.errors import InvalidInput

RECORDERS = (
    ("pw-record", ["--raw", "--format=s16", "--rate={rate}", "--channels=1", "-"]),
    ("parec", ["--raw", "--format=s16le", "--rate={rate}", "--channels=1", "--latency-msec=50"]),
    ("arecord", ["-q", "-t", "raw", "-f", "S16_LE", "-r", "{rate}", "-c", "1"]),
    ("rec", ["-q", "-t", "raw", "-e", "signed", "-b", "16", "-r", "{rate}", "-c", "1", "-"]),
    ("ffmpeg", ["-loglevel", "error", "-f", "alsa", "-i", "default", "-f", "s16le", "-ar", "{rate}", "-ac", "1", "-"]),
)
_PIECE_BYTES = 3_200


def recorder(rate_hz: int) -> list[str] | None:
    """The command that writes 16-bit mono samples to its standard output; None where there is none."""
    for name, arguments in RECORDERS:
        if path := shutil.which(name):
            return [path, *(argument.format(rate=rate_hz) for argument in arguments)]
    return None


@contextmanager
def microphone(rate_hz: int) -> Iterator[Iterator[bytes]]:
    """Pieces of raw ``pcm_s16le``. Raises ``InvalidInput`` where nothing here can record."""
    command = recorder(rate_hz)
    if command is None:
        names = ", ".join(name for name, _ in RECORDERS)
        raise InvalidInput(f"no recorder found ({names}); pipe raw samples in instead: antiphon hear -")
    # A session of its own: Ctrl-C is for us, and the recorder is ended when the last words are written down.
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            yield _pieces(process, process.stdout)
        finally:
            process.terminate()


def _pieces(process: "subprocess.Popen[bytes]", output: IO[bytes]) -> Iterator[bytes]:
    """Raises ``InvalidInput`` where the recorder gave nothing."""
    recorded = False
    while piece := output.read(_PIECE_BYTES):
        recorded = True
        yield piece
    if not recorded and process.wait() > 0:
        raise InvalidInput(f"{process.args[0]!r} could not record (exit code {process.returncode})")  # type: ignore[index]
