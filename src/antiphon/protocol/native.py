"""The native agent socket as a pure machine: binary audio both ways, JSON for everything else.

A text frame is a JSON message. A binary frame says by its first byte what it is: ``{`` (0x7B) means that the whole
frame is a JSON message, 0x01 that the rest is audio. Nothing else is valid, so that samples which happen to look like
JSON never are taken for it.

The machine keeps the wire's promises whatever either side does: ``start`` comes first and once, nothing of a cleared
or ended reply leaves, a reply is heard no further than it was sent, a tool call is answered once. What a client says
goes to the conversation by :class:`Tell`; what the conversation decides comes in by the methods below.
"""

from dataclasses import dataclass
from typing import TypeAlias

from antiphon.core.errors import AntiphonError, AtCapacity, InvalidInput
from antiphon.core.event import WordTimes
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnEvent, TurnResumed, TurnStarted, TurnUpdated
from antiphon.protocol import native_messages as wire
from antiphon.protocol.actions import CloseSocket, Key, Note, Send
from antiphon.protocol.native_frames import AUDIO, WireAction, message_frame
from antiphon.protocol.native_reading import decode_message
from antiphon.protocol.native_replies import Replies

NORMAL, UNACCEPTABLE, BROKEN, RESTART, TRY_LATER = 1000, 1008, 1011, 1012, 1013
"""WebSocket close codes."""

ToConversation: TypeAlias = (
    wire.Start | wire.Say | wire.Interrupt | wire.ToolResult | wire.Played | wire.Dtmf | wire.Close
)


@dataclass(frozen=True, slots=True)
class Tell:
    """For the conversation, checked: a message, or audio in the declared input format (``bytes``)."""

    news: ToConversation | bytes


NativeAction: TypeAlias = Tell | WireAction


@dataclass(frozen=True, slots=True)
class NativeLimits:
    """Bounds of one socket. ``start_wait_s``: for the first message. ``chunk_s``: longest audio in one frame.
    ``turns_per_s``: what may be written (or keyed, up to a ``#``) to be answered, ``most_turns`` of it at once."""

    max_frame_bytes: int = 1 << 20
    start_wait_s: float = 10.0
    chunk_s: float = 0.1
    resume_window_s: float = 30.0
    most_turns: int = 10
    turns_per_s: float = 2.0


class NativeSocket:
    """The machine of one WebSocket. No method raises for anything that a client sent or a conversation decided."""

    def __init__(self, limits: NativeLimits) -> None:
        self._limits = limits
        self._started: wire.Start | None = None
        self._opened_s: float | None = None
        self._replies: Replies | None = None
        """From the start to the end."""
        self._calls: set[str] = set()
        self._draining = False
        self._over = False
        self._turns_left = float(limits.most_turns)
        self._turns_s: float | None = None

    @property
    def started(self) -> wire.Start | None:
        return self._started

    @property
    def due_s(self) -> float | None:
        """When to call :meth:`tick` at the latest (monotonic seconds); None: no need."""
        if self._over or self._started is not None:
            return None
        return 0.0 if self._opened_s is None else self._opened_s + self._limits.start_wait_s

    def tick(self, now_s: float) -> list[WireAction]:
        """Give up on a client that does not begin."""
        if self._over or self._started is not None:
            return []
        if self._opened_s is None:
            self._opened_s = now_s
        if now_s < self._opened_s + self._limits.start_wait_s:
            return []
        return self._break_off("start_expected", "the first message is 'start'; it did not come", UNACCEPTABLE)

    # From the client

    def receive(self, frame: str | bytes, now_s: float) -> list[NativeAction]:
        """A frame from the client."""
        if self._over:
            return []
        if self._opened_s is None:
            self._opened_s = now_s
        try:
            if len(frame) > self._limits.max_frame_bytes:
                raise InvalidInput(f"a frame may have {self._limits.max_frame_bytes} bytes, not {len(frame)}")
            if isinstance(frame, str) or frame[:1] == b"{":
                return self._obey(decode_message(frame), now_s)
            return self._audio(frame)
        except InvalidInput as error:
            if self._started is None:
                return [*self._break_off("invalid_message", str(error), UNACCEPTABLE, error.param)]
            return [self._error("invalid_message", str(error), error.param)]

    def _audio(self, frame: bytes) -> list[NativeAction]:
        if not frame or frame[0] != AUDIO:
            raise InvalidInput("a binary frame begins with 0x01 and has audio behind it, or is a JSON object")
        if self._started is None:
            raise InvalidInput("the first message is 'start'; audio comes after it")
        return [Tell(frame[1:])] if len(frame) > 1 else []

    def _obey(self, message: wire.AnyClientMessage, now_s: float) -> list[NativeAction]:
        if isinstance(message, wire.Start):
            if self._started is not None:
                raise InvalidInput("start: this session has begun already", "type")
            self._started = message
            self._replies = Replies(message.output, self._limits.chunk_s)
            return [Tell(message)]
        if self._started is None:
            raise InvalidInput(f"the first message is 'start', not '{message.__struct_config__.tag}'", "type")
        if self._hurries(message, now_s):
            about = f"{message.__struct_config__.tag}: at most {self._limits.turns_per_s:g} a second are answered"
            return [self._error("too_fast", about, "type")]
        match message:
            case wire.Played():
                return self._played(message)
            case wire.ToolResult():
                if message.call_id not in self._calls:
                    return [Note(f"a tool result that nobody waits for: {message.call_id[:200]}")]
                self._calls.discard(message.call_id)
                return [Tell(message)]
            case wire.Close():
                return [Tell(message), *self.close("client")]
            case _:
                return [Tell(message)]

    def _hurries(self, message: wire.AnyClientMessage, now_s: float) -> bool:
        """Whether it wants an answer sooner than anybody could write: each is paid for by all who are served."""
        turn = isinstance(message, wire.Say) or (isinstance(message, wire.Dtmf) and "#" in message.digits)
        if not turn:
            return False
        limits, before_s = self._limits, now_s if self._turns_s is None else self._turns_s
        self._turns_left = min(limits.most_turns, self._turns_left + max(0.0, now_s - before_s) * limits.turns_per_s)
        self._turns_s = now_s
        if self._turns_left < 1:
            return True
        self._turns_left -= 1
        return False

    def _played(self, report: wire.Played) -> list[NativeAction]:
        known = None if self._replies is None else self._replies.played(report)
        if known is None:
            return [Note(f"a report about a reply that is not known: {report.reply_id[:200]}")]
        return [Tell(known)]

    # From the conversation

    def ready(self, session_id: str, resume_token: str, *, resumed: bool) -> list[WireAction]:
        """The session has begun, or goes on."""
        if self._over or self._started is None:
            return []
        message = wire.Ready(
            session_id=session_id,
            resume_token=resume_token,
            resume_window_ms=round(self._limits.resume_window_s * 1000),
            resumed=resumed,
            input=self._started.input,
            output=self._started.output,
        )
        return [message_frame(message)]

    def turn(self, event: TurnEvent) -> list[WireAction]:
        """What was decided about the user's turn."""
        if self._over or self._started is None:
            return []
        match event:
            case TurnStarted():
                return [message_frame(wire.UserStarted(at_sample=self._at(event.at_sample)))]
            case TurnUpdated():
                return [message_frame(wire.UserUpdate(transcript=event.transcript))]
            case TurnEagerEnded():
                return [message_frame(wire.UserEagerEnd(transcript=event.transcript))]
            case TurnResumed():
                return [message_frame(wire.UserResumed())]
            case TurnEnded():
                at_sample = self._at(event.at_sample)
                return [message_frame(wire.UserEnded(transcript=event.transcript, at_sample=at_sample))]

    def begin_reply(self, reply_id: str, key: Key) -> list[WireAction]:
        """``key`` of its stream of speech. A reply that is still speaking ends here: one speaks at a time."""
        return [] if self._replies is None else self._replies.begin(reply_id, key)

    def text(self, reply_id: str, delta: str) -> list[WireAction]:
        return [] if self._replies is None else self._replies.text(reply_id, delta)

    def words(self, reply_id: str, times: WordTimes) -> list[WireAction]:
        return [] if self._replies is None else self._replies.words(reply_id, times)

    def audio(self, reply_id: str, data: bytes) -> list[WireAction]:
        """Whole samples in the declared output format."""
        return [] if self._replies is None else self._replies.audio(reply_id, data)

    def mark(self, reply_id: str) -> list[WireAction]:
        """Ask for a report of what was sent so far."""
        return [] if self._replies is None else self._replies.mark(reply_id)

    def end_reply(self, reply_id: str, *, failed: bool = False) -> list[WireAction]:
        """All of it has been sent."""
        return [] if self._replies is None else [*self._replies.end(reply_id, failed=failed), *self._leave()]

    def pause_reply(self, reply_id: str, fade_ms: int) -> list[WireAction]:
        """Someone may be interrupting: silence, but nothing is dropped."""
        return [] if self._replies is None else self._replies.pause(reply_id, fade_ms)

    def continue_reply(self, reply_id: str) -> list[WireAction]:
        """Nobody was."""
        return [] if self._replies is None else self._replies.go_on(reply_id)

    def clear(self, reply_id: str, fade_ms: int) -> list[WireAction]:
        """The user takes the floor: what was not sent is dropped here, what was not played there."""
        return [] if self._replies is None else [*self._replies.clear(reply_id, fade_ms), *self._leave()]

    def call_tool(self, call_id: str, name: str, arguments: str) -> list[WireAction]:
        if self._over or self._started is None or call_id in self._calls:
            return []
        self._calls.add(call_id)
        return [message_frame(wire.ToolAsked(call_id=call_id, name=name, arguments=arguments))]

    def cancel_tool(self, call_id: str) -> list[WireAction]:
        if self._over or call_id not in self._calls:
            return []
        self._calls.discard(call_id)
        return [message_frame(wire.ToolCancelled(call_id=call_id))]

    def hand_over(self, reason: str) -> list[WireAction]:
        return [] if self._over or self._started is None else [message_frame(wire.HandedOver(reason=reason))]

    def fail(self, error: AntiphonError, *, fatal: bool) -> list[WireAction]:
        """``fatal`` ends the session: 1013 where there was no place, 1008 for what can never be served, else 1011."""
        if self._over:
            return []
        code, close_code = (
            ("at_capacity", TRY_LATER) if isinstance(error, AtCapacity)
            else ("invalid_message", UNACCEPTABLE) if isinstance(error, InvalidInput)
            else ("server_error", BROKEN)
        )  # fmt: skip
        param = error.param if isinstance(error, InvalidInput) else None
        if fatal:
            return self._break_off(code, str(error), close_code, param)
        return [self._error(code, str(error), param)]

    def close(self, reason: str) -> list[WireAction]:
        """The session is over."""
        if self._over:
            return []
        return self._end(reason, NORMAL)

    def restart(self) -> list[WireAction]:
        """The server leaves now."""
        return [] if self._over else self._end("restart", RESTART)

    def drain(self, now_s: float) -> list[WireAction]:
        """The server wants to leave: the reply is sent to its end, then the client may resume elsewhere."""
        self._draining = True
        return self._leave()

    # Inside

    def _leave(self) -> list[WireAction]:
        speaking = self._replies is not None and self._replies.speaking
        return self._end("restart", RESTART) if self._draining and not speaking and not self._over else []

    def _end(self, reason: str, code: int) -> list[WireAction]:
        self._over, self._replies = True, None
        return [message_frame(wire.Closed(reason=reason)), CloseSocket(code)]

    def _break_off(self, code: str, message: str, close_code: int, param: str | None = None) -> list[WireAction]:
        self._over, self._replies = True, None
        error = wire.ErrorMessage(code=code, message=message, param=param, fatal=True)
        return [message_frame(error), CloseSocket(close_code)]

    def _at(self, ear_sample: int) -> int:
        rate_hz = EAR_RATE_HZ if self._started is None else self._started.input.sample_rate_hz
        return ear_sample * rate_hz // EAR_RATE_HZ

    def _error(self, code: str, message: str, param: str | None) -> Send:
        return message_frame(wire.ErrorMessage(code=code, message=message, param=param))
