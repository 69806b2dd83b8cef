"""What every codec offers to the stream encoder that stands before it."""

from typing import Protocol

from antiphon.core.frame import Samples


class Codec(Protocol):
    """Turns samples at its own rate into bytes. Used for one stream, then thrown away."""

    def encode(self, samples: Samples) -> bytes:
        """Bytes that are ready: whole frames; possibly none yet."""
        ...

    def finish(self) -> bytes:
        """The end of the stream, codec tail included. Called once."""
        ...
