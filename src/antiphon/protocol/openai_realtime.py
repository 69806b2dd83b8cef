"""OpenAI's ``/v1/realtime`` (GA) as a pure machine: a conversation by speech, or a session that only transcribes.

What the public documents leave open is settled so:

* The stream of listening is opened by the first audio, so that settings sent right after connecting cost nothing.
* ``session.created`` is due at once (``tick``), and precedes the answer to anything that was sent before it was read.
* Words of a turn are known when it ends: ``...transcription.completed`` comes before ``response.created``. After a
  ``commit`` they come later, and a response that was asked for meanwhile waits for them before the brain is asked.
* A turn without words is committed like any other and answered by nothing.
* A turn that ends while a response is running that may not be interrupted is answered after it, once.
* ``truncate`` beyond the end means the end. What a cancelled response had not spoken is not in the brain's history.
* A stream of listening that breaks is replaced; the transcription of its items fails, the session goes on.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from antiphon.core.brain import BrainDone, BrainEvent, BrainFailed, TextDelta, ToolCall
from antiphon.core.errors import AntiphonError, AtCapacity, InvalidInput
from antiphon.core.event import Event, Warned
from antiphon.core.turns import TurnEnded, TurnEvent, TurnStarted, TurnUpdated
from antiphon.protocol import openai_realtime_client as client
from antiphon.protocol import openai_realtime_events as wire
from antiphon.protocol.actions import AgentAction, CloseSocket, Key, Note, Send
from antiphon.protocol.openai_realtime_client import BadEvent, ResponseOrder, decode_client_event
from antiphon.protocol.openai_realtime_commands import ItemCommands
from antiphon.protocol.openai_realtime_items import Conversation
from antiphon.protocol.openai_realtime_listening import Listening
from antiphon.protocol.openai_realtime_patch import changed
from antiphon.protocol.openai_realtime_responses import Responses
from antiphon.protocol.openai_realtime_session import Settings

NORMAL, BROKEN, RESTART, TRY_LATER = 1000, 1011, 1012, 1013
"""WebSocket close codes."""


@dataclass(frozen=True, slots=True)
class RealtimeLimits:
    """Bounds of one socket.

    ``max_frame_chars`` leaves room for ``max_audio_bytes`` in base64. ``max_replies``: responses at once, those outside
    the conversation included. ``words_wait_s``: how long a response waits for the words of a commit.
    ``max_session_s``: from ``session.created`` to the close.
    """

    max_frame_chars: int = 21 << 20
    max_audio_bytes: int = 15 << 20
    max_replies: int = 8
    max_items: int = 2_000
    max_conversation_chars: int = 4_000_000
    words_wait_s: float = 5.0
    max_session_s: float = 86_400.0


class RealtimeSocket:
    """The machine of one WebSocket. ``settings``: the session as it begins (``id`` and ``expires_at`` filled in by the
    caller); ``new_id`` mints the rest of ids; ``owner`` is whom admission counts streams for.

    No method raises for anything that a client sent, a stream or a brain said.
    """

    def __init__(self, settings: Settings, limits: RealtimeLimits, new_id: Callable[[], str], owner: str = "") -> None:
        self._settings = settings
        self._limits = limits
        self._new_id = new_id
        self._keys = itertools.count(1)
        self._event_numbers = itertools.count(1)
        self._conversation = Conversation(limits.max_items, limits.max_conversation_chars)
        self._responses = Responses(
            self._conversation,
            self._keys,
            self._send,
            new_id,
            lambda: self._listening.replying(),
            most=limits.max_replies,
            owner=owner,
        )
        self._listening = Listening(
            settings,
            self._conversation,
            self._keys,
            self._send,
            new_id,
            self._responses.interrupt,
            words_wait_s=limits.words_wait_s,
            max_audio_bytes=limits.max_audio_bytes,
            owner=owner,
        )
        self._items = ItemCommands(self._conversation, self._listening, self._send, new_id)
        self._spoke = False
        self._begun_s: float | None = None
        self._draining = False
        self._over = False
        self._told: Callable[[wire.ServerEvent, Key | None], None] = lambda event, key: None

    def watch(self, told: Callable[[wire.ServerEvent, Key | None], None]) -> None:
        """``told`` is called with every event of ours as it is made, and with the stream that it speaks for."""
        self._told = told

    @property
    def settings(self) -> Settings:
        return self._settings

    def response_of(self, key: Key) -> str:
        """The response that a question or a stream of speech belongs to, while it lasts; "" for none."""
        reply = self._responses.of(key)
        return "" if reply is None else reply.id

    @property
    def due_s(self) -> float | None:
        """When to call :meth:`tick` at the latest (monotonic seconds); None: no need. May be early, never late."""
        if self._over:
            return None
        if self._begun_s is None:
            return 0.0
        end_s = self._begun_s + self._limits.max_session_s
        due_s = self._listening.due_s
        return end_s if due_s is None else min(end_s, due_s)

    def receive(self, frame: str | bytes, now_s: float) -> list[AgentAction]:
        """A frame from the client."""
        actions = self._begin(now_s)
        if self._over:
            return actions
        event_id: str | None = None
        try:
            if isinstance(frame, bytes):
                raise BadEvent("binary frames are not understood here; send JSON as text frames")
            if len(frame) > self._limits.max_frame_chars:
                raise BadEvent(f"an event may have {self._limits.max_frame_chars} characters, not {len(frame)}")
            event = decode_client_event(frame)
            event_id = event.event_id
            actions += self._obey(event, now_s)
        except BadEvent as error:
            actions.append(self._error(str(error), error.code, error.param, error.event_id or event_id))
        except InvalidInput as error:
            actions.append(self._error(str(error), "invalid_value", error.param, event_id))
        return actions + self._settle(now_s)

    def deliver(self, key: Key, event: Event | TurnEvent | BrainEvent, now_s: float) -> list[AgentAction]:
        """An event of a stream or a brain, or what was decided about turns; of one that is gone: nothing."""
        if self._over:
            return []
        actions: list[AgentAction] = []
        if self._listening.owns(key):
            actions += self._listening.hear(key, event)
        elif (reply := self._responses.of(key)) is not None:
            if isinstance(event, Warned):
                return [Note(event.message, key)]
            if isinstance(event, TextDelta | ToolCall | BrainDone | BrainFailed):
                actions += reply.think(event, now_s) if key == reply.brain_key else []
            elif not isinstance(event, TurnStarted | TurnUpdated | TurnEnded) and key == reply.voice_key:
                actions += reply.speak(event, now_s)  # type: ignore[arg-type]
                self._spoke = self._spoke or reply.has_audio
        return actions + self._settle(now_s)

    def refused(self, key: Key, error: AntiphonError, now_s: float) -> list[AgentAction]:
        """The shell could not open the stream or put the question, or the stream would not take what was pushed."""
        if self._over:
            return []
        if self._listening.owns(key):
            code = TRY_LATER if isinstance(error, AtCapacity) else BROKEN
            return [*self.close(error), CloseSocket(code)]
        reply = self._responses.of(key)
        return [] if reply is None else reply.fail(error) + self._settle(now_s)

    def tick(self, now_s: float) -> list[AgentAction]:
        """Greet at first; later give up on what does not come."""
        actions = self._begin(now_s)
        if self._over or self._begun_s is None:
            return actions
        if now_s >= self._begun_s + self._limits.max_session_s:
            message = "The session has reached its maximum length. Open another one."
            return [*actions, *self._shut(message, "session_expired"), CloseSocket(NORMAL)]
        actions += self._listening.tick(now_s)
        return actions + self._settle(now_s)

    def drain(self, now_s: float) -> list[AgentAction]:
        """The server wants to leave: what is being answered is answered, then the socket closes."""
        if self._over or self._draining:
            return []
        self._draining = True
        return self._settle(now_s)

    def close(self, reason: AntiphonError) -> list[AgentAction]:
        """The socket is about to close, or has been closed by the client."""
        code = (
            "server_overloaded" if isinstance(reason, AtCapacity)
            else "invalid_value" if isinstance(reason, InvalidInput)
            else "server_error"
        )  # fmt: skip
        return self._shut(str(reason), code)

    # Beginning and end

    def _begin(self, now_s: float) -> list[AgentAction]:
        if self._begun_s is not None or self._over:
            return []
        self._begun_s = now_s
        return [self._send(wire.SessionCreated(session=self._settings.echo()))]

    def _shut(self, message: str, code: str) -> list[AgentAction]:
        if self._over:
            return []
        actions: list[AgentAction] = [*self._listening.close(), *self._responses.fail(message)]
        self._over = True
        error = wire.ErrorBody(type="server_error", code=code, message=message)
        return [*actions, self._send(wire.ErrorEvent(error=error))]

    def _settle(self, now_s: float) -> list[AgentAction]:
        """What follows from what has just been done: questions that can be put, ends, a turn that is still owed."""
        actions: list[AgentAction] = []
        for reply in self._responses.ended():
            if reply.plan.in_conversation and reply.first_audio_s is not None:
                self._listening.await_speech(max(now_s, reply.first_audio_s + reply.audio_ms / 1000))
        listening, responses = self._listening, self._responses
        if listening.owed and responses.active is None and listening.turn_item_id is None and not self._draining:
            actions += responses.answer(self._settings)
        actions += responses.ask()
        while (surplus := self._conversation.surplus()) is not None:
            actions += self._items.drop(surplus)
        if self._draining and not responses and not self._over:
            self._over = True
            actions += [*self._listening.close(), CloseSocket(RESTART)]
        return actions

    # What clients ask for

    def _obey(self, event: client.AnyClientEvent, now_s: float) -> list[AgentAction]:
        if self._settings.kind == "transcription" and isinstance(
            event, client.CreateItem | client.TruncateItem | client.CreateResponse | client.CancelResponse
        ):
            raise BadEvent("a transcription session has no conversation and gives no responses", "type")
        match event:
            case client.AppendAudio():
                return [] if self._draining else self._listening.append(event.audio)
            case client.SessionUpdate():
                return self._update(event)
            case client.CommitAudio():
                return self._listening.commit(now_s)
            case client.ClearAudio():
                return self._listening.clear()
            case client.CreateItem():
                return self._items.create(event)
            case client.RetrieveItem():
                return self._items.retrieve(event.item_id)
            case client.DeleteItem():
                return self._items.delete(event.item_id)
            case client.TruncateItem():
                return self._items.truncate(event)
            case client.CreateResponse():
                order = event.response or ResponseOrder()
                return self._responses.create(self._settings, order, leaving=self._draining)
            case client.CancelResponse():
                return self._responses.cancel(event.response_id)
            case client.ClearOutput():
                return [Note("output_audio_buffer.clear: the client plays, so there is nothing to clear")]

    def _update(self, event: client.SessionUpdate) -> list[AgentAction]:
        patch = event.session
        if patch.type and patch.type != self._settings.kind:
            message = f"session.type: this is a {self._settings.kind} session, which cannot become another"
            raise BadEvent(message, "session.type")
        after = changed(self._settings, patch)
        if self._spoke and after.output.voice != self._settings.output.voice:
            message = "Cannot update a conversation's voice if assistant audio is present."
            raise BadEvent(message, "session.audio.output.voice", "cannot_update_voice")
        self._settings = after
        return [*self._listening.configure(after), self._send(wire.SessionUpdated(session=after.echo()))]

    # Words of the house

    def _send(self, event: wire.ServerEvent, key: Key | None = None) -> Send:
        self._told(event, key)
        stamped = msgspec.structs.replace(event, event_id=f"event_{next(self._event_numbers)}")
        return Send(msgspec.json.encode(stamped), key)

    def _error(self, message: str, code: str, param: str | None, event_id: str | None) -> Send:
        body = wire.ErrorBody(code=code, message=message, param=param, event_id=event_id)
        return self._send(wire.ErrorEvent(error=body))
