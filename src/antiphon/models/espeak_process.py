"""The server's end of a process that runs :mod:`antiphon.models.espeak_child`."""

import json
import select
import subprocess
from collections.abc import Mapping
from typing import Any

_PATIENCE_S = 10.0
"""A call takes milliseconds; what takes this long will not come back."""


class Gone(OSError):
    """The process has ended."""


class EspeakProcess:
    """One process, for one call at a time. Raises ``Gone``, ``TimeoutError`` or ``ValueError`` when it has failed."""

    def __init__(self, command: tuple[str, ...]) -> None:
        # It ends with us: at the end of its standard input it leaves.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self._read = bytearray()

    def call(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except OSError as error:
            raise Gone("its process ended") from error
        return self.answer()

    def answer(self) -> tuple[dict[str, Any], bytes]:
        """The next one; the first comes unasked."""
        while b"\n" not in self._read:
            self._more()
        line, _, rest = bytes(self._read).partition(b"\n")
        self._read = bytearray(rest)
        reply: dict[str, Any] = json.loads(line)
        size = int(reply.get("bytes", 0))
        while len(self._read) < size:
            self._more()
        audio = bytes(self._read[:size])
        self._read.clear()
        return reply, audio

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _more(self) -> None:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], _PATIENCE_S)[0]:
            raise TimeoutError(f"no answer within {_PATIENCE_S:g} s")
        data = self._process.stdout.read(1 << 16)
        if not data:
            raise Gone("its process ended")
        self._read += data
