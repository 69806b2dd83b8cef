"""How soon a session is taken up again on a new socket."""

RESUME_PAUSES_S = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Between attempts; the last one repeats."""
SETTLED_S = 5.0
"""A socket that is lost sooner than this was no success: from the third in a row on, the pauses grow as if it had not
been there."""


class Comebacks:
    """Times are monotonic seconds."""

    def __init__(self) -> None:
        self._taken_up_s = 0.0
        self._short_lived = 0  # sockets in a row
        self._attempt = 0

    def taken_up(self, now_s: float) -> None:
        """There is a socket."""
        self._taken_up_s = now_s

    def lost(self, now_s: float) -> None:
        """There is none any more."""
        settled = now_s - self._taken_up_s >= SETTLED_S
        self._short_lived = 0 if settled else self._short_lived + 1
        self._attempt = max(0, self._short_lived - 2)

    def pause_s(self) -> float:
        """Before the next attempt."""
        pause_s = RESUME_PAUSES_S[min(self._attempt, len(RESUME_PAUSES_S) - 1)]
        self._attempt += 1
        return pause_s
