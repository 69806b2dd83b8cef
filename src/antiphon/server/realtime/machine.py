"""A Realtime socket whose conversation is recorded: the dialect's own machine with a log beside it. Pure."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from antiphon.audio.pcm import bytes_per_sample
from antiphon.core.brain import BrainDone, BrainEvent, BrainFailed, TextDelta, ToolCall
from antiphon.core.errors import AntiphonError
from antiphon.core.event import Event, Failed
from antiphon.core.hearing import EAR_RATE_HZ, HearingConfig
from antiphon.core.turns import TurnEvent
from antiphon.dialog.conversation_events import Moment
from antiphon.dialog.conversation_log import Observed
from antiphon.protocol import openai_realtime_events as wire
from antiphon.protocol.actions import AgentAction, Ask, CloseSocket, Key, Open, Push
from antiphon.protocol.openai_realtime import NORMAL, RESTART, TRY_LATER, RealtimeSocket
from antiphon.protocol.openai_realtime_session import Settings
from antiphon.server.agent import AgentLog
from antiphon.server.lifecycle import Unready
from antiphon.server.realtime.answers import RealtimeAnswers
from antiphon.server.realtime.notes import Given, Notes
from antiphon.server.realtime.turns import RealtimeTurns
from antiphon.server.realtime.voice import RealtimeVoice

MOST_AUDIO_S: Final = 10.0
"""Of a piece of audio that is longer only its end is recorded: nobody said it just now, and the loop has other work."""

_log = logging.getLogger("antiphon")
_ENDS = {NORMAL: "the session was too long", RESTART: "restart", TRY_LATER: "no place was free"}

BeginLogs = Callable[[Settings, float], Sequence[AgentLog]]
"""What keeps records of a session with these settings, which began at this time."""


@dataclass(slots=True)
class _Ear:
    """One stream of listening. ``begun``: sample of the session (16 kHz) that is its first."""

    config: HearingConfig
    begun: int
    heard_bytes: int = 0

    @property
    def sample_bytes(self) -> int:
        return bytes_per_sample(self.config.encoding)

    @property
    def end(self) -> int:
        return self.begun + self.heard_bytes // self.sample_bytes * EAR_RATE_HZ // self.config.sample_rate_hz


class RecordedSocket:
    """See :class:`antiphon.server.machine.AgentMachine` for what the shell calls; :meth:`gone` comes last.

    A session has a record once there is audio or a question. A fault in it ends the record, and not the conversation.
    """

    def __init__(self, socket: RealtimeSocket, begin: BeginLogs) -> None:
        self._socket = socket
        self._begin = begin
        self._logs: Sequence[AgentLog] | None = None
        self._began_s: float | None = None
        self._notes = Notes(self._observe)
        self._voice = RealtimeVoice(self._notes.tell, self._say)
        self._answers = RealtimeAnswers(self._notes, self._voice)
        self._turns = RealtimeTurns(self._notes, self._answers, lambda: socket.settings.input.turn_detection)
        self._ears: dict[Key, _Ear] = {}
        self._heard = 0  # samples of the user's audio, at 16 kHz
        self._reason = ""
        self._broken = False
        socket.watch(self._told)

    @property
    def due_s(self) -> float | None:
        dues = [self._socket.due_s]
        if not self._broken:
            dues += [self._answers.due_s, self._voice.due_s]
        return min((due_s for due_s in dues if due_s is not None), default=None)

    def receive(self, frame: str | bytes, now_s: float) -> Sequence[AgentAction]:
        self._at(now_s)
        return self._done(self._socket.receive(frame, now_s))

    def deliver(self, key: Key, event: Event | TurnEvent | BrainEvent, now_s: float) -> Sequence[AgentAction]:
        self._at(now_s, event)
        if not isinstance(event, TextDelta | ToolCall | BrainDone | BrainFailed):
            self._keep(lambda: self._hear(key, event))
        return self._done(self._socket.deliver(key, event, now_s))

    def refused(self, key: Key, error: AntiphonError, now_s: float) -> Sequence[AgentAction]:
        failed = Failed(str(error), fatal=True) if self._voice.owns(key) or key in self._ears else None
        self._at(now_s, failed or BrainFailed(str(error)))
        return self._done(self._socket.refused(key, error, now_s))

    def tick(self, now_s: float) -> Sequence[AgentAction]:
        self._at(now_s)
        return self._done(self._socket.tick(now_s))

    def drain(self, now_s: float) -> Sequence[AgentAction]:
        self._at(now_s)
        return self._done(self._socket.drain(now_s))

    def close(self, reason: AntiphonError) -> Sequence[AgentAction]:
        self._reason = self._reason or ("restart" if isinstance(reason, Unready) else "the server failed")
        self._notes.given = None
        return self._done(self._socket.close(reason))

    def gone(self, now_s: float, lost: bool) -> None:
        """The socket is gone. ``lost``: its connection broke, nobody said goodbye."""
        self._at(now_s)
        self._keep(lambda: self._end(lost and not self._reason))

    # The record

    def _at(self, now_s: float, given: Given | None = None) -> None:
        """What happens from here on happens now, because of what the socket is ``given``."""
        self._notes.at, self._notes.given = Moment(now_s, self._heard), given
        self._began_s = now_s if self._began_s is None else self._began_s
        if self._logs is not None:
            self._keep(self._tick)

    def _tick(self) -> None:
        self._voice.tick(self._notes.at.now_s)
        self._answers.tick()

    def _hear(self, key: Key, event: Event | TurnEvent) -> None:
        ear = self._ears.get(key)
        if ear is not None:
            self._turns.heard(event, ear.begun)
        elif not isinstance(event, TurnEvent) and self._voice.hear(key, event):
            self._answers.spoke()

    def _told(self, event: wire.ServerEvent, key: Key | None) -> None:
        self._keep(lambda: self._turns.told(event))
        self._keep(lambda: self._answers.told(event, key))

    def _done(self, actions: Sequence[AgentAction]) -> Sequence[AgentAction]:
        """The socket's wishes, as far as they say what goes on."""
        for action in actions:
            if isinstance(action, Ask | Open | Push | CloseSocket):
                self._keep(lambda action=action: self._wished(action))  # type: ignore[misc]
        return actions

    def _wished(self, action: Ask | Open | Push | CloseSocket) -> None:
        match action:
            case Ask() if self._answers.begins(self._socket.response_of(action.key)):
                messages = action.request.messages
                after_tool = bool(messages) and messages[-1].role == "tool"
                self._answers.ask(self._turns.answered(messages), after_tool)
            case Open(config=HearingConfig() as config):
                self._ears[action.key] = _Ear(config, self._heard)
            case Push(item=bytes() as data) if (ear := self._ears.get(action.key)) is not None:
                self._listen(ear, data)
            case CloseSocket():
                self._reason = self._reason or _ENDS.get(action.code, "the server failed")
            case _:
                pass

    def _listen(self, ear: _Ear, data: bytes) -> None:
        """A piece of the user's audio."""
        most = round(MOST_AUDIO_S * ear.config.sample_rate_hz) * ear.sample_bytes
        skipped = max(0, len(data) - most) // ear.sample_bytes * ear.sample_bytes
        ear.heard_bytes += skipped
        at, self._heard = Moment(self._notes.at.now_s, ear.end), ear.end
        for log in self._begun():
            log.user_audio(at, data[skipped:], ear.config.encoding, ear.config.sample_rate_hz)
        ear.heard_bytes += len(data) - skipped
        self._heard = ear.end
        self._notes.at = Moment(at.now_s, self._heard)

    def _observe(self, at: Moment, entry: Observed) -> None:
        for log in self._begun():
            log.observe(at, entry)

    def _say(self, speech_id: str, start_sample: int, data: bytes) -> None:
        for log in self._begun():
            log.agent_audio(self._notes.at, speech_id, start_sample, data)

    def _begun(self) -> Sequence[AgentLog]:
        if self._logs is None:
            began_s = self._notes.at.now_s if self._began_s is None else self._began_s
            self._logs = self._begin(self._socket.settings, began_s)
        return self._logs

    def _end(self, lost: bool) -> None:
        if self._logs is None:
            return
        self._reason = self._reason or ("the client was lost" if lost else "the client closed")
        turn = self._turns.end() or self._answers.turn
        if lost:
            self._notes.note(turn, "client.lost", "", "network")
        self._notes.note(turn, "ended", self._reason)
        self._close_logs()

    def _close_logs(self) -> None:
        logs, self._logs = self._logs or (), ()
        for log in logs:
            log.end(self._notes.at, self._reason)

    def _keep(self, record: Callable[[], object]) -> None:
        if self._broken:
            return
        try:
            record()
        except Exception:  # whoever keeps records must not end a call
            self._broken, self._reason = True, "the record failed"
            _log.exception("the record of a Realtime session failed; it is given up for this session")
            with suppress(Exception):
                self._close_logs()
