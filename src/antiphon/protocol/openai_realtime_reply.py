"""One response of a Realtime socket: from ``response.created`` to the one ``response.done`` that it always gets.

Text goes to the voice as the brain says it, and to the client as the transcript at the same time; audio follows. Only
deltas of audio and transcript are sent under the voice's key, so that what is still queued when the response is
cancelled is dropped while the events that close it are not.
"""

from collections.abc import Callable
from typing import Final, TypeAlias, TypedDict

from msgspec import UNSET

from antiphon.core.brain import BrainDone, BrainEvent, BrainFailed, Message, TextDelta, ToolCall
from antiphon.core.errors import AntiphonError, AtCapacity, InvalidInput
from antiphon.core.event import Audio, Event, Failed, Flushed, WordTimes
from antiphon.protocol import openai_realtime_events as wire
from antiphon.protocol.actions import AgentAction, Ask, Cancel, Close, Flush, Key, Open, Push, Send
from antiphon.protocol.openai_realtime_items import Content, Conversation, Entry, Item, ItemStatus
from antiphon.protocol.openai_realtime_plan import Plan
from antiphon.protocol.openai_realtime_session import bytes_per_ms

END: Final = "end"
"""Marker of the voice's last flush."""

CHUNK_MS: Final = 200
"""Longest piece of audio in one delta."""


class _Place(TypedDict):
    response_id: str
    item_id: str
    output_index: int


SendEvent: TypeAlias = Callable[[wire.ServerEvent, Key | None], Send]


class Reply:
    """``send`` stamps and encodes an event. ``new_id`` mints ids of items. No method raises; once :attr:`over`, every
    one returns nothing."""

    def __init__(
        self,
        plan: Plan,
        reply_id: str,
        brain_key: Key,
        voice_key: Key,
        conversation: Conversation,
        send: SendEvent,
        new_id: Callable[[], str],
    ) -> None:
        self.plan = plan
        self.id = reply_id
        self.brain_key = brain_key
        self.voice_key = voice_key
        self.asked = False
        self.over = False
        self.first_audio_s: float | None = None
        self._conversation = conversation
        self._send = send
        self._new_id = new_id
        self._items: list[Entry] = []
        self._message: Entry | None = None
        self._text = ""
        self._audio_bytes = 0
        self._voice_open = False
        self._done: BrainDone | None = None

    @property
    def audio_ms(self) -> int:
        return self._audio_bytes // bytes_per_ms(self.plan.output.format)

    @property
    def has_audio(self) -> bool:
        return self._audio_bytes > 0

    def create(self) -> list[AgentAction]:
        return [self._send(wire.ResponseCreated(response=self._response("in_progress")), None)]

    def ask(self, messages: tuple[Message, ...]) -> list[AgentAction]:
        """Put the question, once."""
        self.asked = True
        return [Ask(self.brain_key, self.plan.request(messages))]

    def think(self, event: BrainEvent, now_s: float) -> list[AgentAction]:
        """What the brain says."""
        if self.over or self._done is not None:
            return []
        match event:
            case TextDelta():
                return self._say(event.text)
            case ToolCall():
                return self._call(event)
            case BrainDone():
                self._done = event
                if self._voice_open:
                    return [Flush(self.voice_key, END, last=True)]
                return self._complete()
            case BrainFailed():
                return self.fail(event.message)

    def speak(self, event: Event, now_s: float) -> list[AgentAction]:
        """What the voice makes of it."""
        message = self._message
        if self.over or message is None:
            return []
        match event:
            case Audio():
                if self.first_audio_s is None:
                    self.first_audio_s = now_s
                end_ms = (event.start_sample + event.samples) * 1000 // event.sample_rate_hz
                message.made_ms = max(message.made_ms, end_ms)
                return self._play(message, event.data)
            case WordTimes():
                rate = event.sample_rate_hz
                message.words += [(word.text, word.end_sample * 1000 // rate) for word in event.words]
                return []
            case Flushed(marker=marker) if marker == END and self._done is not None:
                return self._complete()
            case Failed():
                return self.fail(event.message)
            case _:
                return []

    def cancel(self, reason: wire.Reason) -> list[AgentAction]:
        return self._stop(wire.StatusDetails(type="cancelled", reason=reason))

    def fail(self, error: str | AntiphonError) -> list[AgentAction]:
        if isinstance(error, InvalidInput):
            fault = wire.StatusError(type="invalid_request_error", code="invalid_value", message=str(error))
        elif isinstance(error, AtCapacity):
            fault = wire.StatusError(code="server_overloaded", message=str(error))
        else:
            fault = wire.StatusError(message=str(error))
        return self._stop(wire.StatusDetails(type="failed", error=fault))

    def _say(self, text: str) -> list[AgentAction]:
        actions: list[AgentAction] = []
        if self._message is None:
            text = text.lstrip()
            if not text:
                return []
            actions += self._begin_message()
        if not text:
            return actions
        self._text += text
        place = self._place()
        if self.plan.modality == "text":
            return [*actions, self._send(wire.OutputTextDelta(**place, delta=text), None)]
        if not self._voice_open:
            self._voice_open = True
            actions.append(Open(self.voice_key, self.plan.voice()))
        actions.append(self._send(wire.TranscriptDelta(**place, delta=text), self.voice_key))
        actions.append(Push(self.voice_key, text))
        return actions

    def _begin_message(self) -> list[AgentAction]:
        item = Item(id=f"item_{self._new_id()}", type="message", status="in_progress", role="assistant", content=[])
        self._message = Entry(item)
        actions = self._begin(self._message)
        part = (
            wire.Part(type="audio", transcript="") if self.plan.modality == "audio" else wire.Part(type="text", text="")
        )
        return [*actions, self._send(wire.PartAdded(**self._place(), part=part), None)]

    def _begin(self, entry: Entry) -> list[AgentAction]:
        index = len(self._items)
        self._items.append(entry)
        added = wire.OutputItemAdded(response_id=self.id, output_index=index, item=entry.item)
        actions: list[AgentAction] = [self._send(added, None)]
        if self.plan.in_conversation:
            previous = self._conversation.add(entry)
            actions.append(self._send(wire.ItemAdded(previous_item_id=previous, item=entry.item), None))
        return actions

    def _end(self, entry: Entry, status: ItemStatus) -> list[AgentAction]:
        entry.item.status = status
        actions: list[AgentAction] = []
        if self.plan.in_conversation:
            previous = self._conversation.previous(entry.item.id)
            actions.append(self._send(wire.ItemDone(previous_item_id=previous, item=entry.item), None))
        index = self._items.index(entry)
        done = wire.OutputItemDone(response_id=self.id, output_index=index, item=entry.item)
        return [*actions, self._send(done, None)]

    def _call(self, call: ToolCall) -> list[AgentAction]:
        item = Item(
            id=f"item_{self._new_id()}",
            type="function_call",
            status="in_progress",
            name=call.name,
            call_id=call.call_id,
            arguments="",
        )
        entry = Entry(item)
        actions = self._begin(entry)
        item.arguments = call.arguments
        place = self._place(entry)
        delta = wire.ArgumentsDelta(**place, call_id=call.call_id, delta=call.arguments)
        done = wire.ArgumentsDone(**place, call_id=call.call_id, name=call.name, arguments=call.arguments)
        actions += [self._send(delta, None), self._send(done, None)]
        return actions + self._end(entry, "completed")

    def _play(self, message: Entry, data: bytes) -> list[AgentAction]:
        self._audio_bytes += len(data)
        message.audio_ms = self.audio_ms
        size = CHUNK_MS * bytes_per_ms(self.plan.output.format)
        place = self._place()
        return [
            self._send(wire.AudioDelta(**place, delta=data[start : start + size]), self.voice_key)
            for start in range(0, len(data), size)
        ]

    def _complete(self) -> list[AgentAction]:
        cut = self._done is not None and self._done.reason == "length"
        details = wire.StatusDetails(type="incomplete", reason="max_output_tokens") if cut else None
        actions: list[AgentAction] = [Close(self.voice_key)] if self._voice_open else []
        actions += self._end_message("incomplete" if cut else "completed")
        return actions + self._finish("incomplete" if cut else "completed", details)

    def _stop(self, details: wire.StatusDetails) -> list[AgentAction]:
        if self.over:
            return []
        actions: list[AgentAction] = []
        if self.asked and self._done is None:
            actions.append(Cancel(self.brain_key))
        if self._voice_open:
            actions.append(Cancel(self.voice_key))
        message = self._message
        if message is not None and self.plan.modality == "audio":
            # What was never made was never heard; how much less it was, the client says by truncating.
            message.cut_ms = message.audio_ms if message.cut_ms is None else min(message.audio_ms, message.cut_ms)
        actions += self._end_message("incomplete")
        return actions + self._finish(details.type, details)

    def _end_message(self, status: ItemStatus) -> list[AgentAction]:
        message = self._message
        if message is None:
            return []
        place = self._place()
        text = self._text
        if self.plan.modality == "text":
            message.item.content = [Content(type="output_text", text=text)]
            events: list[wire.ServerEvent] = [
                wire.OutputTextDone(**place, text=text),
                wire.PartDone(**place, part=wire.Part(type="text", text=text)),
            ]
        else:
            message.item.content = [Content(type="output_audio", transcript=text)]
            events = [
                wire.AudioDone(**place),
                wire.TranscriptDone(**place, transcript=text),
                wire.PartDone(**place, part=wire.Part(type="audio", transcript=text)),
            ]
        return [*(self._send(event, None) for event in events), *self._end(message, status)]

    def _finish(self, status: wire.Status, details: wire.StatusDetails | None) -> list[AgentAction]:
        self.over = True
        return [self._send(wire.ResponseDone(response=self._response(status, details)), None)]

    def _response(self, status: wire.Status, details: wire.StatusDetails | None = None) -> wire.Response:
        plan, done = self.plan, self._done
        usage = None if status == "in_progress" else wire.Usage.of(*_tokens(done))
        output = wire.ResponseOutputAudio(plan.output.format, plan.output.voice)
        return wire.Response(
            id=self.id,
            status=status,
            status_details=details,
            output=[entry.item for entry in self._items],
            conversation_id=plan.conversation_id if plan.in_conversation else None,
            output_modalities=[plan.modality],
            max_output_tokens=plan.max_output_tokens,
            audio=wire.ResponseAudio(output) if plan.modality == "audio" else UNSET,
            usage=usage,
            metadata=plan.metadata,
        )

    def _place(self, entry: Entry | None = None) -> _Place:
        entry = entry or self._message
        assert entry is not None
        return {"response_id": self.id, "item_id": entry.item.id, "output_index": self._items.index(entry)}


def _tokens(done: BrainDone | None) -> tuple[int, int]:
    return (0, 0) if done is None else (done.input_tokens, done.output_tokens)
