"""The streams and questions that one socket has open: taken, listened to in turn, and given back."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

from antiphon.core.brain import BrainEvent
from antiphon.core.event import Event
from antiphon.protocol.actions import Ask, Key, Open
from antiphon.server.auth import Principal
from antiphon.server.hub import Choice, Hub
from antiphon.server.journal import Answered, Crashed, Outcome
from antiphon.server.session.channel import Channel
from antiphon.server.session.question import Question


class Channels:
    """By key. When one of them has something to say, ``news`` is called, or ``later`` where others may have as well, or
    where a brain's task is who calls."""

    def __init__(
        self,
        hub: Hub,
        principal: Principal,
        request_id: str,
        route: str,
        news: Callable[[], None],
        later: Callable[[], None],
    ) -> None:
        self._hub = hub
        self._principal = principal
        self._request_id = request_id
        self._route = route
        self._news = news
        self._later = later
        self._loop = asyncio.get_running_loop()
        self._choice = Choice()
        self._open: dict[Key, Channel] = {}
        self._ready: deque[Channel] = deque()
        self._questions: set[Question] = set()
        """Also those whose brain has yet to let go."""

    def __bool__(self) -> bool:
        return bool(self._open)

    def __iter__(self) -> Iterator[Channel]:
        return iter(list(self._open.values()))

    def get(self, key: Key) -> Channel | None:
        return self._open.get(key)

    @property
    def idle(self) -> bool:
        """None of them has said that it has something."""
        return not self._ready

    @property
    def hears(self) -> bool:
        return any(channel.hears for channel in self._open.values())

    @property
    def clogged(self) -> bool:
        return any(channel.line is not None and channel.line.clogged for channel in self._open.values())

    @property
    def answering(self) -> bool:
        return any(channel.question is not None for channel in self._open.values())

    def open(self, action: Open, *, finishing: bool) -> None:
        """Raises what :meth:`Hub.open_line` raises."""
        channel = Channel(action.key)

        def wake() -> None:
            """Called from workers. One signal at a time: a loop is woken by a system call."""
            if not channel.signalled:
                channel.signalled = True
                try:
                    self._loop.call_soon_threadsafe(self._woken, channel)
                except RuntimeError:  # the loop is closed: nobody listens any more
                    return

        channel.line = self._hub.open_line(
            action.config, wake, self._principal, self._request_id, self._route,
            finishing=finishing, snapshot=action.snapshot, choice=self._choice,
        )  # fmt: skip
        self._open[action.key] = channel

    def ask(self, action: Ask) -> None:
        channel = self._open[action.key] = Channel(action.key)
        wake = partial(self._queue, channel, self._later)
        question = channel.question = Question(self._hub.brain, action.request, wake, self._hub.clock)
        self._questions.add(question)
        question.when_gone(partial(self._questions.discard, question))

    def next(self) -> tuple[Channel, Event | BrainEvent] | None:
        """One event of the channel whose turn it is."""
        ready = self._ready
        while ready:
            channel = ready.popleft()
            event = channel.pull()
            if event is None or channel.through:
                channel.queued = False
            else:
                ready.append(channel)
            if event is not None:
                return channel, event
        return None

    def end(self, channel: Channel, outcome: Outcome) -> None:
        self._open.pop(channel.key, None)
        line, channel.line = channel.line, None
        question, channel.question = channel.question, None
        if line is not None:
            line.end(outcome)
        if question is not None:
            self._let_go(question, outcome)

    async def gone(self) -> None:
        """Wait until every brain has let go."""
        await asyncio.gather(*(question.gone() for question in self._questions))

    def _woken(self, channel: Channel) -> None:
        channel.signalled, channel.fresh = False, True
        self._queue(channel, self._news if len(self._open) == 1 else self._later)

    def _queue(self, channel: Channel, tell: Callable[[], None]) -> None:
        if channel.key in self._open and not channel.queued:
            channel.queued = True
            self._ready.append(channel)
            tell()

    def _let_go(self, question: Question, outcome: Outcome) -> None:
        now_s = self._hub.clock.now_s()
        question.cancel()
        if question.trace:
            self._hub.journal.log(Crashed(now_s, self._request_id, self._route, question.trace))
        ttft_s = None if question.first_s is None else question.first_s - question.began_s
        elapsed_s = now_s - question.began_s
        answered = Answered(now_s, self._request_id, question.brain, outcome, ttft_s, elapsed_s, question.failure)
        self._hub.journal.log(answered)
