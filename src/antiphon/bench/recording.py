"""What the player writes down while audio arrives, and the finished take that everything else is computed from."""

from dataclasses import dataclass

from antiphon.core.clock import Clock


class Recording:
    """Notes of one request on the hot path: append a stamp, append the bytes, nothing else.

    Stamps are the client's monotonic clock, taken when the event loop hands over the message, before it is decoded.
    """

    __slots__ = (
        "_clock",
        "behind_s",
        "ended_s",
        "error",
        "index",
        "issued_s",
        "last_text_s",
        "marks",
        "payloads",
        "scheduled_s",
        "stamps_s",
        "started_s",
        "status",
        "text",
    )

    def __init__(self, clock: Clock, index: int, text: str, scheduled_s: float) -> None:
        self._clock = clock
        self.index = index
        self.text = text
        self.scheduled_s = scheduled_s
        self.issued_s = clock.now_s()
        self.started_s: float | None = None
        self.last_text_s: float | None = None
        self.ended_s: float | None = None
        self.marks: dict[str, float] = {}
        self.behind_s = 0.0
        self.stamps_s: list[float] = []
        self.payloads: list[bytes] = []
        self.status = 0
        self.error = ""

    def now_s(self) -> float:
        return self._clock.now_s()

    def sent(self) -> None:
        """Call just before text goes out. The first call starts the clock of the request."""
        now_s = self._clock.now_s()
        if self.started_s is None:
            self.started_s = now_s
        self.last_text_s = now_s

    def mark(self, name: str) -> None:
        """Note when something else than text is done to the server, such as a command."""
        self.marks[name] = self._clock.now_s()

    def behind(self, seconds: float) -> None:
        """What is sent in real time was this late. The worst is kept."""
        self.behind_s = max(self.behind_s, seconds)

    def chunk(self, payload: bytes) -> None:
        self.stamps_s.append(self._clock.now_s())
        self.payloads.append(payload)

    def chunk_at(self, stamp_s: float, payload: bytes) -> None:
        """A chunk whose arrival was stamped before it was known whose it is (several contexts on one socket)."""
        self.stamps_s.append(stamp_s)
        self.payloads.append(payload)

    def end(self) -> None:
        """The server said that all was sent."""
        self.ended_s = self._clock.now_s()

    def fail(self, error: str, status: int = 0) -> None:
        """The request did not come to its end: refused, broken off, or too late."""
        self.ended_s = self._clock.now_s()
        self.error = error or "failed"
        self.status = status


@dataclass(frozen=True, slots=True)
class Take:
    """One request as it was heard.

    Times are monotonic seconds of the client. ``scheduled_s``: when it should have started; ``issued_s``: when the
    player got to it; ``started_s``: just before the first byte of text was sent, connection open (None: never sent);
    ``last_text_s``: just before the last piece of text was sent; ``stamps_s[i]``: arrival of ``chunks[i]``;
    ``ended_s``: arrival of the end-of-output mark, or of the failure.
    ``chunks``: signed 16-bit little-endian mono PCM at ``sample_rate_hz``. ``wire_bytes``: payload as it arrived.
    ``compute_s``: compute time that the server stated, if it did. ``error`` is empty when all went well;
    ``status`` then is 0, else the HTTP-like status that the server gave.
    """

    index: int
    text: str
    scheduled_s: float
    issued_s: float
    started_s: float | None
    last_text_s: float | None
    stamps_s: tuple[float, ...]
    chunks: tuple[bytes, ...]
    ended_s: float | None
    sample_rate_hz: int
    wire_bytes: int = 0
    compute_s: float | None = None
    error: str = ""
    status: int = 0

    @property
    def pcm(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def audio_s(self) -> float:
        return sum(len(chunk) for chunk in self.chunks) / 2 / self.sample_rate_hz
