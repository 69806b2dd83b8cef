"""The ear of one agent socket: opened, replaced when it breaks, and its positions made the conversation's. Pure."""

from collections import deque
from dataclasses import replace
from typing import Final, TypeVar

from antiphon.audio.pcm import bytes_per_sample
from antiphon.core.event import Event
from antiphon.core.hearing import EAR_RATE_HZ, HearingConfig, Listened
from antiphon.core.turns import TurnEvent
from antiphon.protocol.actions import AgentAction, Cancel, Configure, Key, Open, Push
from antiphon.protocol.native_messages import AudioShape
from antiphon.server.agent.plan import AgentPlan

MUTE_S: Final = 5.0
"""An ear that was given audio and has said nothing for so long is replaced. It says something every 100 ms or so."""
_MUTE_SAMPLES = EAR_RATE_HZ
REPLAY_S: Final = 10.0
"""So much of what a mute ear did not listen to is given to the next one."""
_FAILURES, _FAILURES_S = 3, 30.0

Turn = TypeVar("Turn", bound=TurnEvent)


class AgentHearing:
    """``before``: samples (16 kHz) of the conversation that were heard by earlier sockets."""

    def __init__(self, key: Key, shape: AudioShape, plan: AgentPlan, before: int) -> None:
        self.key = key
        self.shape = shape
        self._plan = plan
        self._before = before
        self._turns = plan.turns  # those that the ear was told
        self._size = bytes_per_sample(shape.encoding)
        self._socket_bytes = 0
        self._from = 0  # where in the socket's audio this ear began, in samples
        self._skip = 0  # bytes of a sample that an earlier ear had the first part of
        self._unheard = bytearray()  # the end of the socket's audio, from a whole sample on: not listened to so far
        self._unheard_limit = round(REPLAY_S * shape.sample_rate_hz) * self._size
        self._spoke = True  # this ear has said something, or has been given nothing twice
        self._listened = 0  # of the socket's audio
        self._alive_s: float | None = None
        self._failures: deque[float] = deque(maxlen=_FAILURES)

    @property
    def due_s(self) -> float | None:
        """When silence of the ear means that it is dead, if it owes anything."""
        owes = self._samples - self._listened > _MUTE_SAMPLES
        return self._alive_s + MUTE_S if owes and self._alive_s is not None else None

    @property
    def offset_samples(self) -> int:
        """What makes the ear's positions the conversation's."""
        return self._before + self._from

    def open(self) -> list[AgentAction]:
        config = HearingConfig(
            language=self._plan.language,
            encoding=self.shape.encoding,
            sample_rate_hz=self.shape.sample_rate_hz,
            keyterms=self._plan.keyterms,
            turns=True,
            expected_digits=self._plan.expected_digits,
        )
        self._turns = self._plan.turns
        return [Open(self.key, config), Configure(self.key, self._turns)]

    def expect(self, answer: bool) -> list[AgentAction]:
        """A turn begins. ``answer``: to a question for yes or no, to which "All right." is one."""
        turns = replace(self._plan.turns, opener_s=None) if answer else self._plan.turns
        if turns == self._turns:
            return []
        self._turns = turns
        return [Configure(self.key, turns)]

    def reopen(self, key: Key, now_s: float, *, replay: bool = False) -> list[AgentAction] | None:
        """Another ear listens from here on, or (``replay``) to what the one before did not; None: they all break.

        What has just silenced an ear is not given to a third one: it may be the audio's doing.
        """
        if len(self._failures) == _FAILURES and now_s - self._failures[0] < _FAILURES_S:
            return None
        self._failures.append(now_s)
        old, self.key = self.key, key
        again = bytes(self._unheard) if replay and self._spoke else b""
        self._spoke = not again
        self._alive_s = now_s
        if again:
            self._from = self._listened = self._at_ear_rate(self._socket_bytes - len(again))
            return [Cancel(old), *self.open(), Push(key, again)]
        self._unheard.clear()
        self._from = self._listened = self._samples
        self._skip = -self._socket_bytes % self._size
        return [Cancel(old), *self.open()]

    def push(self, data: bytes, now_s: float) -> tuple[list[AgentAction], int]:
        """What to do with a piece of audio, and how many samples (16 kHz) longer it makes what was heard."""
        before = self._samples
        self._socket_bytes += len(data)
        if self._alive_s is None or before == self._listened:
            self._alive_s = now_s
        rest, self._skip = data[self._skip :], max(0, self._skip - len(data))
        self._unheard += rest
        self._forget(self._unheard_limit)
        return ([Push(self.key, rest)] if rest else []), self._samples - before

    def heard(self, event: Event | TurnEvent, now_s: float) -> None:
        self._alive_s, self._spoke = now_s, True
        if isinstance(event, Listened):
            self._listened = max(self._listened, self._from + event.at_sample)
            self._forget((self._samples - self._listened) * self.shape.sample_rate_hz // EAR_RATE_HZ * self._size)

    def mute(self, now_s: float) -> bool:
        due_s = self.due_s
        return due_s is not None and now_s >= due_s

    def in_socket(self, event: Turn) -> Turn:
        """With its position in this socket's audio."""
        return replace(event, at_sample=event.at_sample + self._from)

    def in_conversation(self, event: Turn) -> Turn:
        return replace(event, at_sample=event.at_sample + self.offset_samples)

    def _forget(self, keep_bytes: int) -> None:
        """All but about the last ``keep_bytes``, rather more than less; what is kept begins with a whole sample."""
        more = len(self._unheard) - max(0, keep_bytes) - self._size
        if more > 0:
            del self._unheard[: more // self._size * self._size]

    def _at_ear_rate(self, count_bytes: int) -> int:
        return count_bytes // self._size * EAR_RATE_HZ // self.shape.sample_rate_hz

    @property
    def _samples(self) -> int:
        return self._at_ear_rate(self._socket_bytes)
