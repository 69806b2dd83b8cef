"""Puts sessions away for the next process, on a thread of its own, and finds those that earlier ones put away."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from antiphon.core.clock import unix_time_s
from antiphon.core.errors import AtCapacity
from antiphon.settings import Settings
from antiphon.store.sessions import BEAT_S, SessionStore, SessionsUnavailable, StillRunning

log = logging.getLogger("antiphon")

Done = Callable[[], None]
_RETRY_S = 1.0


@dataclass(slots=True)
class _Wish:
    """``data`` None: it is over."""

    tokens: tuple[str, ...] = ()
    data: bytes | None = None
    running: bool = False
    done: list[Done] = field(default_factory=list)


class SessionKeeper:
    """``always``: also while they run, in case this process dies. ``window_s``: how long clients may take to come back.

    Of each session only the latest state waits to be written. ``report`` is told of trouble, once until all is well.
    """

    def __init__(
        self,
        store: SessionStore,
        window_s: float,
        unix_time_s: Callable[[], float],
        report: Callable[[str], None],
        *,
        always: bool = False,
    ) -> None:
        self.always = always
        self._store = store
        self._window_s = window_s
        self._unix_time_s = unix_time_s
        self._report = report
        self._wishes: dict[str, _Wish] = {}
        self._changed = threading.Condition()
        self._closing = False
        self._told = False
        self._thread = threading.Thread(target=self._work, name="sessions", daemon=True)
        self._thread.start()

    def keep(
        self, session: str, tokens: Sequence[str], data: bytes, *, running: bool = False, done: Done | None = None
    ) -> None:
        """``running``: this process goes on with it, nobody else may as long as this one lives. ``done`` is called on
        the keeper's thread when it is on disk, or cannot be."""
        self._wish(session, _Wish(tuple(tokens), data, running, [] if done is None else [done]))

    def drop(self, session: str) -> None:
        """It is over: nothing of it is kept."""
        self._wish(session, _Wish())

    def take(self, token: str, accept: Callable[[bytes], bool]) -> bytes | None:
        """What an earlier process put away for this token; None: nothing that the caller accepts. Raises
        ``AtCapacity`` where another process has yet to let go of it. Waits for the disk: nothing for the loop. Of those
        who ask at once, one gets it."""
        try:
            return self._store.take(token, accept)
        except StillRunning as error:
            raise AtCapacity(str(error), retry_after_s=_RETRY_S) from None
        except SessionsUnavailable as error:
            self._trouble(error)
            return None

    def close(self, timeout_s: float = 5.0) -> bool:
        """Write what waits, and let go of all. False: the disk hangs."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _wish(self, session: str, wish: _Wish) -> None:
        with self._changed:
            before = self._wishes.pop(session, None)
            if before is not None:
                wish.done = before.done + wish.done
            self._wishes[session] = wish
            self._changed.notify()

    def _work(self) -> None:
        beat_s = float("-inf")
        while True:
            now_s = self._unix_time_s()
            if not beat_s <= now_s < beat_s + BEAT_S:  # a wall clock may also be set back
                beat_s = now_s
                self._try(lambda: self._store.tidy(self._unix_time_s() + self._window_s + 2 * BEAT_S))
            with self._changed:
                if not self._wishes and not self._closing:
                    self._changed.wait(BEAT_S)
                if not self._wishes:
                    if self._closing:
                        break
                    continue
                session = next(iter(self._wishes))
                wish = self._wishes.pop(session)
            self._grant(session, wish)
        self._store.close()

    def _grant(self, session: str, wish: _Wish) -> None:
        data = wish.data
        if data is None:
            self._try(lambda: self._store.drop(session))
        else:
            beats_s = 2 * BEAT_S if wish.running else 0.0
            until_s = self._unix_time_s() + self._window_s + beats_s
            self._try(lambda: self._store.put(session, wish.tokens, data, until_s, running=wish.running))
        for done in wish.done:
            done()

    def _try(self, do: Callable[[], None]) -> None:
        try:
            do()
            self._told = False
        except SessionsUnavailable as error:
            self._trouble(error)

    def _trouble(self, error: SessionsUnavailable) -> None:
        if not self._told:
            self._told = True
            self._report(f"{error}; sessions do not outlive this process")


@contextmanager
def session_keeper(settings: Settings, may: bool) -> Iterator[SessionKeeper | None]:
    """As the settings want it. ``may``: whether the boundaries allow it."""
    agent = settings.agent
    if agent.keep_sessions == "no" or not may or agent.resume_window_s == 0:
        yield None
        return
    store = SessionStore(agent.sessions, unix_time_s)
    always = agent.keep_sessions == "crash"
    keeper = SessionKeeper(store, agent.resume_window_s, unix_time_s, log.warning, always=always)
    try:
        yield keeper
    finally:
        if not keeper.close():
            log.warning("agent.sessions: the disk did not take the last sessions in time")
