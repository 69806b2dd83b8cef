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
from typing import Final

import msgspec

from antiphon.core.brain import BrainDone, BrainEvent, BrainFailed, TextDelta, ToolCall
from antiphon.core.errors import AntiphonError, AtCapacity, InvalidInput
from antiphon.core.event import Event, Failed, Warned
from antiphon.core.hearing import HearingConfig
from antiphon.core.turns import TurnEnded, TurnEvent, TurnStarted, TurnUpdated
from antiphon.protocol import openai_realtime_client as client
from antiphon.protocol import openai_realtime_events as wire
from antiphon.protocol.actions import AgentAction, CloseSocket, Key, Note, Send
from antiphon.protocol.openai_realtime_buffer import InputBuffer
from antiphon.protocol.openai_realtime_client import BadEvent, ResponseOrder, decode_client_event
from antiphon.protocol.openai_realtime_items import Content, Conversation, Entry, Item, item_from, messages_of
from antiphon.protocol.openai_realtime_patch import changed, changed_output, checked_tokens, checked_tools, modality_of
from antiphon.protocol.openai_realtime_reply import Plan, Reply
from antiphon.protocol.openai_realtime_session import (
    ServerVad,
    Settings,
    audio_format,
    bytes_per_ms,
    endpoint_settings,
)

NORMAL, BROKEN, RESTART, TRY_LATER = 1000, 1011, 1012, 1013
"""WebSocket close codes."""

MIN_COMMIT_MS: Final = 100


@dataclass(frozen=True, slots=True)
class RealtimeLimits:
    """Bounds of one socket.

    ``max_replies``: responses at once, those outside the conversation included. ``words_wait_s``: how long a response
    waits for the words of a commit. ``max_session_s``: from ``session.created`` to the close.
    """

    max_frame_chars: int = 16 << 20
    max_audio_bytes: int = 15 << 20
    max_replies: int = 8
    max_items: int = 2_000
    max_conversation_chars: int = 4_000_000
    words_wait_s: float = 5.0
    max_session_s: float = 86_400.0


@dataclass(slots=True)
class _Turn:
    item_id: str
    start_ms: int
    sent: str = ""


class RealtimeSocket:
    """The machine of one WebSocket. ``settings``: the session as it begins (``id`` and ``expires_at`` filled in by the
    caller); ``new_id`` mints the rest of ids; ``owner`` is whom admission counts streams for.

    No method raises for anything that a client sent, a stream or a brain said.
    """

    def __init__(
        self, settings: Settings, limits: RealtimeLimits, new_id: Callable[[], str], owner: str = ""
    ) -> None:
        self._settings = settings
        self._limits = limits
        self._new_id = new_id
        self._owner = owner
        self._keys = itertools.count(1)
        self._event_numbers = itertools.count(1)
        self._conversation = Conversation(limits.max_items, limits.max_conversation_chars)
        self._conversation_id = f"conv_{new_id()}"
        self._buffer = InputBuffer(self._keys)
        self._turn: _Turn | None = None
        self._awaited: dict[str, tuple[float, int]] = {}  # item -> when to give up on its words, its length in ms
        self._replies: dict[str, Reply] = {}
        self._owed = False
        self._idle: tuple[float, int] | None = None  # when the silence is too long, and where it began
        self._spoke = False
        self._begun_s: float | None = None
        self._draining = False
        self._over = False

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def due_s(self) -> float | None:
        """When to call :meth:`tick` at the latest (monotonic seconds); None: no need. May be early, never late."""
        if self._over:
            return None
        if self._begun_s is None:
            return 0.0
        waits = [deadline_s for deadline_s, _ in self._awaited.values()]
        if self._idle is not None:
            waits.append(self._idle[0])
        return min([self._begun_s + self._limits.max_session_s, *waits])

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
        if self._buffer.owns(key):
            actions += self._hear(key, event, now_s)
        elif (reply := self._reply_of(key)) is not None:
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
        if self._buffer.owns(key):
            code = TRY_LATER if isinstance(error, AtCapacity) else BROKEN
            return [*self.close(error), CloseSocket(code)]
        reply = self._reply_of(key)
        return [] if reply is None else reply.fail(error) + self._settle(now_s)

    def tick(self, now_s: float) -> list[AgentAction]:
        """Greet at first; later give up on what does not come."""
        actions = self._begin(now_s)
        if self._over or self._begun_s is None:
            return actions
        if now_s >= self._begun_s + self._limits.max_session_s:
            message = "The session has reached its maximum length. Open another one."
            return [*actions, *self._shut(message, "session_expired"), CloseSocket(NORMAL)]
        for item_id in [item_id for item_id, (due_s, _) in self._awaited.items() if now_s >= due_s]:
            actions += self._no_words(item_id, "the audio was not understood in time")
        if self._idle is not None and now_s >= self._idle[0]:
            actions += self._time_out(now_s)
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
        actions: list[AgentAction] = self._buffer.close()
        for reply in self._replies.values():
            actions += reply.fail(message)
        self._over = True
        self._replies.clear()
        error = wire.ErrorBody(type="server_error", code=code, message=message)
        return [*actions, self._send(wire.ErrorEvent(error=error))]

    def _settle(self, now_s: float) -> list[AgentAction]:
        """What follows from what has just been done: questions that can be put, ends, a turn that is still owed."""
        actions: list[AgentAction] = []
        for reply in list(self._replies.values()):
            if reply.over:
                del self._replies[reply.id]
                actions += self._after(reply, now_s)
        if self._owed and self._active is None and self._turn is None and not self._draining:
            actions += self._reply(self._plan(None))
        for reply in self._replies.values():
            context = self._conversation if reply.plan.context is None else reply.plan.context
            if not reply.asked and not any(entry.awaits_words for entry in context):
                actions += reply.ask(messages_of(context, reply.plan.instructions))
        while (surplus := self._conversation.surplus()) is not None:
            actions += self._delete(surplus)
        if self._draining and not self._replies and not self._over:
            self._over = True
            actions += [*self._buffer.close(), CloseSocket(RESTART)]
        return actions

    def _after(self, reply: Reply, now_s: float) -> list[AgentAction]:
        detection = self._settings.input.turn_detection
        timeout_ms = detection.idle_timeout_ms if isinstance(detection, ServerVad) else None
        if timeout_ms is not None and reply.plan.in_conversation and reply.first_audio_s is not None:
            played_s = max(now_s, reply.first_audio_s + reply.audio_ms / 1000)
            self._idle = (played_s + timeout_ms / 1000, self._buffer.total_ms)
        return []

    # What clients ask for

    def _obey(self, event: client.AnyClientEvent, now_s: float) -> list[AgentAction]:
        if self._settings.kind == "transcription" and isinstance(
            event, client.CreateItem | client.TruncateItem | client.CreateResponse | client.CancelResponse
        ):
            raise BadEvent("a transcription session has no conversation and gives no responses", "type")
        match event:
            case client.AppendAudio():
                return self._append(event.audio)
            case client.SessionUpdate():
                return self._update(event)
            case client.CommitAudio():
                return self._commit(now_s)
            case client.ClearAudio():
                return self._clear()
            case client.CreateItem():
                return self._create_item(event)
            case client.RetrieveItem():
                return [self._send(wire.ItemRetrieved(item=self._entry(event.item_id, "retrieve").item))]
            case client.DeleteItem():
                self._entry(event.item_id, "delete")
                return self._delete(event.item_id)
            case client.TruncateItem():
                return self._truncate(event)
            case client.CreateResponse():
                return self._create_response(event.response or ResponseOrder())
            case client.CancelResponse():
                return self._cancel(event.response_id)
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
        actions: list[AgentAction] = []
        if after.input.turn_detection is None and self._turn is not None:
            # From here on the client says where turns end: what is being said goes to its next commit.
            self._turn = None
        if after.input.turn_detection is None:
            self._idle = None
        elif self._settings.input.turn_detection is None:
            # Turns begin with a fresh stream: one that listened meanwhile would count committed words again.
            actions += self._buffer.retire(None)
        self._settings = after
        return [*actions, self._send(wire.SessionUpdated(session=after.echo()))]

    def _append(self, data: bytes) -> list[AgentAction]:
        if len(data) > self._limits.max_audio_bytes:
            raise BadEvent(f"audio: at most {self._limits.max_audio_bytes} bytes, not {len(data)}", "audio")
        if not data or self._draining:
            return []
        heard = self._settings.input
        form = audio_format(heard.format)
        transcription = heard.transcription
        config = HearingConfig(
            language=transcription.language if transcription and transcription.language else "en",
            encoding=form.encoding,
            sample_rate_hz=form.sample_rate_hz,
            turns=True,
            owner=self._owner,
        )
        turns = None if heard.turn_detection is None else endpoint_settings(heard.turn_detection)
        return self._buffer.append(data, config, turns, bytes_per_ms(heard.format))

    def _commit(self, now_s: float) -> list[AgentAction]:
        fresh_ms = self._buffer.fresh_ms
        by_client = self._settings.input.turn_detection is None
        if fresh_ms < MIN_COMMIT_MS or not (by_client or self._turn):
            message = (
                f"Error committing input audio buffer: buffer too small. Expected at least {MIN_COMMIT_MS}ms of "
                f"audio, but buffer only has {fresh_ms if by_client else 0}.00ms of audio."
            )
            raise BadEvent(message, None, "input_audio_buffer_commit_empty")
        if self._turn is not None:
            item_id, self._turn = self._turn.item_id, None
            stopped = wire.SpeechEnded(audio_end_ms=self._buffer.total_ms, item_id=item_id)
            actions: list[AgentAction] = [self._send(stopped), *self._buffer.retire(item_id)]
        else:
            item_id = self._mint("item")
            actions = self._buffer.mark(item_id)
        self._awaited[item_id] = (now_s + self._limits.words_wait_s, fresh_ms)
        return actions + self._commit_item(item_id, awaits_words=True)

    def _clear(self) -> list[AgentAction]:
        by_client = self._settings.input.turn_detection is None
        actions = self._buffer.mark(None) if by_client else self._buffer.retire(None)
        self._turn = None
        self._buffer.committed()
        return [*actions, self._send(wire.Cleared())]

    def _create_item(self, event: client.CreateItem) -> list[AgentAction]:
        item = item_from(event.item, event.item.id or self._mint("item"))
        if self._conversation.get(item.id) is not None or (self._turn is not None and self._turn.item_id == item.id):
            message = f"Item with id '{item.id}' already exists."
            raise BadEvent(message, "item.id", "item_create_duplicate_item_id")
        after = event.previous_item_id
        if after not in (None, "root") and self._conversation.get(after or "") is None:
            message = f"previous_item_id: there is no item with id '{after}'"
            raise BadEvent(message, "previous_item_id", "item_create_invalid_previous_item_id")
        self._conversation.check_room(item)
        previous = self._conversation.add(Entry(item), after)
        return self._show(item, previous)

    def _show(self, item: Item, previous: str | None) -> list[AgentAction]:
        return [
            self._send(wire.ItemAdded(previous_item_id=previous, item=item)),
            self._send(wire.ItemDone(previous_item_id=previous, item=item)),
        ]

    def _entry(self, item_id: str, verb: str) -> Entry:
        entry = self._conversation.get(item_id)
        if entry is None:
            message = f"Error: there is no item with id '{item_id[:200]}'."
            raise BadEvent(message, "item_id", f"item_{verb}_invalid_item_id")
        return entry

    def _delete(self, item_id: str) -> list[AgentAction]:
        self._conversation.remove(item_id)
        self._awaited.pop(item_id, None)
        return [self._send(wire.ItemDeleted(item_id=item_id))]

    def _truncate(self, event: client.TruncateItem) -> list[AgentAction]:
        entry = self._entry(event.item_id, "truncate")
        if entry.item.role != "assistant":
            raise BadEvent("item_id: only an assistant's message has audio that can be truncated", "item_id")
        if event.content_index != 0 or event.audio_end_ms < 0:
            name = "audio_end_ms" if event.content_index == 0 else "content_index"
            raise BadEvent(f"{name}: there is nothing at this place of the item", name)
        end_ms = min(event.audio_end_ms, entry.audio_ms)
        entry.cut_ms = end_ms if entry.cut_ms is None else min(end_ms, entry.cut_ms)
        for part in entry.item.content or ():
            if part.type == "output_audio" and isinstance(part.transcript, str):
                part.transcript = entry.heard_text(part.transcript)
        return [self._send(wire.ItemTruncated(item_id=event.item_id, content_index=0, audio_end_ms=end_ms))]

    # Responses

    @property
    def _active(self) -> Reply | None:
        """The response of the conversation itself, of which there is one at a time."""
        return next((reply for reply in self._replies.values() if reply.plan.in_conversation), None)

    def _create_response(self, order: ResponseOrder) -> list[AgentAction]:
        order.check()
        plan = self._plan(order)
        active = self._active
        if plan.in_conversation and active is not None:
            message = (
                f"Conversation already has an active response in progress: {active.id}. "
                "Wait until the response is finished before creating a new one."
            )
            raise BadEvent(message, None, "conversation_already_has_active_response")
        if len(self._replies) >= self._limits.max_replies or self._draining:
            raise BadEvent("there are too many responses at once; wait for one to end", None, "server_overloaded")
        return self._reply(plan)

    def _reply(self, plan: Plan) -> list[AgentAction]:
        if plan.in_conversation:
            self._owed = False
            self._idle = None
        reply = Reply(
            plan,
            self._mint("resp"),
            next(self._keys),
            next(self._keys),
            self._conversation,
            self._send,
            self._new_id,
        )
        self._replies[reply.id] = reply
        return reply.create()

    def _plan(self, order: ResponseOrder | None) -> Plan:
        """Raises ``InvalidInput``."""
        session = self._settings
        order = order or ResponseOrder()
        given = order.audio.output if order.audio is not None else None
        asked = order.instructions if order.instructions is not None else session.instructions
        tools = session.tools if order.tools is None else checked_tools(order.tools)
        limit = session.max_output_tokens if order.max_output_tokens is None else order.max_output_tokens
        in_conversation = order.conversation != "none"
        return Plan(
            modality=session.modality if order.output_modalities is None else modality_of(order.output_modalities),
            output=session.output if given is None else changed_output(session.output, given),
            instructions=asked,
            tools=tools,
            tool_choice=session.tool_choice if order.tool_choice is None else order.tool_choice,
            max_output_tokens=checked_tokens(limit),
            metadata=order.metadata,
            context=self._context(order),
            in_conversation=in_conversation,
            conversation_id=self._conversation_id if in_conversation else None,
            owner=self._owner,
        )

    def _context(self, order: ResponseOrder) -> tuple[Entry, ...] | None:
        if not isinstance(order.input, list):
            return None
        entries: list[Entry] = []
        for given in order.input:
            if given.type != "item_reference":
                entries.append(Entry(item_from(given, given.id or self._mint("item"))))
            else:
                entries.append(self._entry(given.id or "", "reference"))
        return tuple(entries)

    def _cancel(self, response_id: str | None) -> list[AgentAction]:
        reply = self._active if response_id is None else self._replies.get(response_id)
        if reply is None:
            message = "Cancellation failed: no active response found"
            raise BadEvent(message, None, "response_cancel_not_active")
        return reply.cancel("client_cancelled")

    def _reply_of(self, key: Key) -> Reply | None:
        return next((r for r in self._replies.values() if key in (r.brain_key, r.voice_key)), None)

    # Turns and words

    def _hear(self, key: Key, event: Event | TurnEvent | BrainEvent, now_s: float) -> list[AgentAction]:
        if isinstance(event, Warned):
            return [Note(event.message, key)]
        if isinstance(event, Failed):
            return self._lose(key, event.message) if event.fatal else [Note(event.message, key)]
        if self._buffer.is_live(key) and self._settings.input.turn_detection is not None:
            match event:
                case TurnStarted():
                    return self._start_turn(event.at_sample)
                case TurnUpdated():
                    return self._grow_turn(event.transcript)
                case TurnEnded():
                    return self._end_turn(event.at_sample, event.transcript)
        found, actions = self._buffer.hear(key, event)  # type: ignore[arg-type]
        for words in found:
            actions += self._know(words.item_id, words.text)
        return actions

    def _start_turn(self, at_sample: int) -> list[AgentAction]:
        detection = self._settings.input.turn_detection
        if self._turn is not None or detection is None:
            return []
        padding_ms = detection.prefix_padding_ms if isinstance(detection, ServerVad) else 0
        start_ms = max(0, self._buffer.at_ms(at_sample) - padding_ms)
        self._turn = _Turn(self._mint("item"), start_ms)
        self._owed = False  # what is being said now is answered instead
        self._idle = None
        actions: list[AgentAction] = []
        active = self._active
        if active is not None and detection.interrupt_response:
            actions = active.cancel("turn_detected")
        return [self._send(wire.SpeechBegan(audio_start_ms=start_ms, item_id=self._turn.item_id)), *actions]

    def _grow_turn(self, transcript: str) -> list[AgentAction]:
        turn = self._turn
        if turn is None or self._settings.kind != "transcription":
            return []
        delta = _more(turn.sent, transcript)
        turn.sent += delta
        return [self._send(wire.TranscriptionDelta(item_id=turn.item_id, delta=delta))] if delta else []

    def _end_turn(self, at_sample: int, transcript: str) -> list[AgentAction]:
        actions = [] if self._turn is not None else self._start_turn(at_sample) if transcript.strip() else []
        turn, self._turn = self._turn, None
        detection = self._settings.input.turn_detection
        if turn is None or detection is None:
            return actions
        self._buffer.forget()
        end_ms = max(turn.start_ms, self._buffer.at_ms(at_sample))
        actions.append(self._send(wire.SpeechEnded(audio_end_ms=end_ms, item_id=turn.item_id)))
        actions += self._commit_item(turn.item_id, awaits_words=False)
        actions += self._transcribe(turn.item_id, transcript.strip(), end_ms - turn.start_ms, turn.sent)
        if self._settings.kind == "realtime" and detection.create_response and transcript.strip():
            self._owed = True  # at once, or when the response that may not be interrupted is over
        return actions

    def _commit_item(self, item_id: str, *, awaits_words: bool) -> list[AgentAction]:
        self._buffer.committed()
        content = [Content(type="input_audio", transcript=None)]
        item = Item(id=item_id, type="message", role="user", content=content)
        previous = self._conversation.add(Entry(item, awaits_words=awaits_words))
        return [self._send(wire.Committed(previous_item_id=previous, item_id=item_id)), *self._show(item, previous)]

    def _know(self, item_id: str, text: str) -> list[AgentAction]:
        """The words of a commit have come."""
        _, length_ms = self._awaited.pop(item_id, (0.0, 0))
        return self._transcribe(item_id, text, length_ms, "")

    def _transcribe(self, item_id: str, text: str, length_ms: int, sent: str) -> list[AgentAction]:
        entry = self._conversation.get(item_id)
        if entry is None:
            return []
        entry.awaits_words = False
        entry.item.content = [Content(type="input_audio", transcript=text)]
        if self._settings.kind == "realtime" and self._settings.input.transcription is None:
            return []
        delta = _more(sent, text)
        actions: list[AgentAction] = []
        if delta:
            actions.append(self._send(wire.TranscriptionDelta(item_id=item_id, delta=delta)))
        usage = wire.Duration(max(0, length_ms) / 1000)
        return [*actions, self._send(wire.TranscriptionCompleted(item_id=item_id, transcript=text, usage=usage))]

    def _no_words(self, item_id: str, why: str) -> list[AgentAction]:
        self._awaited.pop(item_id, None)
        entry = self._conversation.get(item_id)
        if entry is None:
            return []
        entry.awaits_words = False
        if self._settings.kind == "realtime" and self._settings.input.transcription is None:
            return []
        return [self._send(wire.TranscriptionFailed(item_id=item_id, error=wire.TranscriptionError(message=why)))]

    def _lose(self, key: Key, why: str) -> list[AgentAction]:
        live = self._buffer.is_live(key)
        lost, actions = self._buffer.lose(key)
        if live and self._turn is not None:
            turn, self._turn = self._turn, None
            stopped = wire.SpeechEnded(audio_end_ms=max(turn.start_ms, self._buffer.total_ms), item_id=turn.item_id)
            actions += [self._send(stopped), *self._commit_item(turn.item_id, awaits_words=False)]
            lost.append(turn.item_id)
        for item_id in lost:
            actions += self._no_words(item_id, why)
        return [*actions, Note(f"listening broke off and begins anew: {why}", key)]

    def _time_out(self, now_s: float) -> list[AgentAction]:
        """Nobody has spoken for too long after a response: the brain is asked to go on."""
        begun_ms = self._idle[1] if self._idle is not None else 0
        self._idle = None
        if self._turn is not None or self._active is not None:
            return []
        item_id = self._mint("item")
        end_ms = self._buffer.total_ms
        timeout = wire.IdleTimeout(audio_start_ms=min(begun_ms, end_ms), audio_end_ms=end_ms, item_id=item_id)
        actions: list[AgentAction] = [self._send(timeout), *self._commit_item(item_id, awaits_words=False)]
        actions += self._transcribe(item_id, "", end_ms - begun_ms, "")
        self._owed = True
        return actions

    # Words of the house

    def _mint(self, kind: str) -> str:
        return f"{kind}_{self._new_id()}"

    def _send(self, event: wire.ServerEvent, key: Key | None = None) -> Send:
        stamped = msgspec.structs.replace(event, event_id=f"event_{next(self._event_numbers)}")
        return Send(msgspec.json.encode(stamped).decode(), key)

    def _error(self, message: str, code: str, param: str | None, event_id: str | None) -> Send:
        body = wire.ErrorBody(code=code, message=message, param=param, event_id=event_id)
        return self._send(wire.ErrorEvent(error=body))


def _more(sent: str, transcript: str) -> str:
    """What the transcript has beyond what was sent; nothing where it was revised."""
    text = transcript.strip()
    return text[len(sent) :] if text.startswith(sent) else ""
