"""The conversation of a Realtime socket: its items in order, what was heard of each, and a brain's view of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from antiphon.core.brain import Message, ToolCall
from antiphon.core.errors import InvalidInput

ItemRole: TypeAlias = Literal["system", "user", "assistant"]
ItemType: TypeAlias = Literal["message", "function_call", "function_call_output"]
ItemStatus: TypeAlias = Literal["in_progress", "completed", "incomplete"]

MAX_ID_CHARS: Final = 512
NO_RESULT: Final = '{"error":"no result came"}'
"""What a brain is told of a call whose result it would otherwise invent."""


class Content(msgspec.Struct, kw_only=True):
    """One part of a message. ``transcript`` is null until it is known; audio is never sent back."""

    type: Literal["input_text", "input_audio", "input_image", "output_text", "output_audio"]
    text: str | UnsetType = UNSET
    transcript: str | UnsetType | None = UNSET
    image_url: str | UnsetType = UNSET
    detail: Literal["auto", "low", "high"] | UnsetType = UNSET


class Item(msgspec.Struct, kw_only=True):
    """As it stands on the wire; the keys depend on ``type``."""

    id: str
    object: str = "realtime.item"
    type: ItemType
    status: ItemStatus = "completed"
    role: ItemRole | UnsetType = UNSET
    content: list[Content] | UnsetType = UNSET
    name: str | UnsetType = UNSET
    call_id: str | UnsetType = UNSET
    arguments: str | UnsetType = UNSET
    output: str | UnsetType = UNSET


class GivenContent(msgspec.Struct, kw_only=True, frozen=True):
    type: Literal["text", "audio", "input_text", "input_audio", "input_image", "output_text", "output_audio"] | None = (
        None
    )
    text: str | None = None
    transcript: str | None = None
    audio: str | None = None
    image_url: str | None = None
    detail: Literal["auto", "low", "high"] | None = None


class GivenItem(msgspec.Struct, kw_only=True, frozen=True):
    """An item as a client gives it. ``item_reference`` only in the ``input`` of a response."""

    type: Literal["message", "function_call", "function_call_output", "item_reference"]
    id: str | None = None
    role: ItemRole | None = None
    content: list[GivenContent] | None = None
    name: str | None = None
    call_id: str | None = None
    arguments: str | None = None
    output: Any = None


def item_from(given: GivenItem, item_id: str) -> Item:
    """Raises ``InvalidInput`` where something is missing that the type needs."""
    if not item_id or len(item_id) > MAX_ID_CHARS:
        raise InvalidInput(f"item.id: from 1 to {MAX_ID_CHARS} characters", "item.id")
    match given.type:
        case "message":
            if given.role is None:
                raise InvalidInput("item.role: this field is required", "item.role")
            role = given.role
            content = [_content(part, role) for part in given.content or ()]
            return Item(id=item_id, type="message", role=role, content=content)
        case "function_call":
            if not given.name:
                raise InvalidInput("item.name: this field is required", "item.name")
            return Item(
                id=item_id,
                type="function_call",
                name=given.name,
                call_id=_call_id(given.call_id or item_id),
                arguments=given.arguments or "{}",
            )
        case "function_call_output":
            if not given.call_id:
                raise InvalidInput("item.call_id: this field is required", "item.call_id")
            output = given.output if isinstance(given.output, str) else msgspec.json.encode(given.output).decode()
            return Item(id=item_id, type="function_call_output", call_id=_call_id(given.call_id), output=output)
        case _:
            raise InvalidInput("item.type: item_reference is only understood in the input of a response", "item.type")


def _call_id(call_id: str) -> str:
    if len(call_id) > MAX_ID_CHARS:
        raise InvalidInput(f"item.call_id: at most {MAX_ID_CHARS} characters", "item.call_id")
    return call_id


def _content(given: GivenContent, role: ItemRole) -> Content:
    side = "output" if role == "assistant" else "input"
    if given.type == "input_image":
        if role != "user":
            raise InvalidInput("item.content: an image is only understood in a message of the user", "item.content")
        return Content(type="input_image", image_url=given.image_url or "", detail=given.detail or UNSET)
    if given.type is not None and given.type.endswith("audio"):
        if role == "system":
            raise InvalidInput("item.content: a system message is text", "item.content")
        return Content(type="output_audio" if side == "output" else "input_audio", transcript=given.transcript)
    text = given.text if given.text is not None else given.transcript
    return Content(type="output_text" if side == "output" else "input_text", text=text or "")


@dataclass(slots=True)
class Entry:
    """An item and what is known about it beyond the wire.

    ``audio_ms``: how much audio was made of it, and ``made_ms`` where in it the voice was with that: bytes may lag a
    little behind. ``words``: each with the millisecond it ends at. ``cut_ms``: where the listener stopped hearing it,
    None if nobody said so. ``awaits_words``: its transcript is still to come.
    """

    item: Item
    audio_ms: int = 0
    made_ms: int = 0
    words: list[tuple[str, int]] = field(default_factory=list)
    cut_ms: int | None = None
    awaits_words: bool = False
    chars: int = 0
    """Of its text before the first cut."""

    @property
    def text(self) -> str:
        parts = () if isinstance(self.item.content, UnsetType) else self.item.content
        return " ".join(text for part in parts if (text := _text_of(part).strip()))

    def cut(self, end_ms: int) -> None:
        """The listener stopped hearing it there; the transcript says so too."""
        self.cut_ms = end_ms if self.cut_ms is None else min(end_ms, self.cut_ms)
        self.chars = max(self.chars, len(self.text))
        for part in self.item.content or ():
            if part.type == "output_audio" and isinstance(part.transcript, str):
                part.transcript = self.heard_text(part.transcript)

    def heard_text(self, text: str) -> str:
        """What of ``text`` had been spoken at ``cut_ms``: whole words, with what stands between them.

        Without word times, in proportion to the time, rounded down to a word.
        """
        if self.cut_ms is None or (self.cut_ms >= self.audio_ms and self.item.status == "completed"):
            return text
        if self.words:
            end, cut_ms = 0, self.cut_ms if self.cut_ms < self.audio_ms else max(self.cut_ms, self.made_ms)
            for word, end_ms in self.words:
                if end_ms > cut_ms:
                    break
                found = text.find(word, end)
                end = found + len(word) if found >= 0 else end
            return text[:end]
        if self.audio_ms <= 0:
            return ""
        end = min(len(text), max(self.chars, len(text)) * self.cut_ms // self.audio_ms)
        if end < len(text) and not text[end].isspace():
            end = max(text.rfind(" ", 0, end), 0)
        return text[:end].rstrip()


def _text_of(part: Content) -> str:
    if isinstance(part.text, str):
        return part.text
    return part.transcript if isinstance(part.transcript, str) else ""


class Conversation:
    """Items in order. ``max_items``: when a client would exceed it it is refused; the server's own push out the
    oldest. ``max_chars`` of all that clients gave."""

    def __init__(self, max_items: int = 2_000, max_chars: int = 4_000_000) -> None:
        self._entries: list[Entry] = []
        self._by_id: dict[str, Entry] = {}
        self._max_items = max_items
        self._max_chars = max_chars
        self._chars = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def get(self, item_id: str) -> Entry | None:
        return self._by_id.get(item_id)

    @property
    def last_id(self) -> str | None:
        return self._entries[-1].item.id if self._entries else None

    def check_room(self, item: Item) -> None:
        """Raises ``InvalidInput``."""
        if len(self._entries) >= self._max_items or self._chars + _size(item) > self._max_chars:
            raise InvalidInput("the conversation is full: delete items first", "item")

    def add(self, entry: Entry, after: str | None = None) -> str | None:
        """Put it behind ``after`` (an id that exists, "root" for the front, None for the end); returns the id of the
        item it now follows."""
        place = len(self._entries)
        if after == "root":
            place = 0
        elif after is not None:
            place = self._entries.index(self._by_id[after]) + 1
        self._entries.insert(place, entry)
        self._by_id[entry.item.id] = entry
        self._chars += _size(entry.item)
        return self._entries[place - 1].item.id if place else None

    def previous(self, item_id: str) -> str | None:
        entry = self._by_id.get(item_id)
        place = self._entries.index(entry) if entry is not None else 0
        return self._entries[place - 1].item.id if place else None

    def remove(self, item_id: str) -> None:
        entry = self._by_id.pop(item_id)
        self._entries.remove(entry)
        self._chars = max(0, self._chars - _size(entry.item))

    def surplus(self) -> str | None:
        """The oldest item where there are more than there may be."""
        return self._entries[0].item.id if len(self._entries) > self._max_items else None


def _size(item: Item) -> int:
    parts = () if isinstance(item.content, UnsetType) else item.content
    sizes = [len(text) for part in parts for text in (part.text, part.image_url) if isinstance(text, str)]
    return sum(sizes) + sum(len(text) for text in (item.arguments, item.output) if isinstance(text, str))


def messages_of(entries: Iterable[Entry], instructions: str) -> tuple[Message, ...]:
    """The history as a brain wants it: every call has its result right behind it, a result without a call is left
    out, and so is what has no words."""
    entries = list(entries)
    outputs = {
        entry.item.call_id: entry.item.output for entry in entries if entry.item.type == "function_call_output"
    }
    messages = [Message("system", instructions)] if instructions.strip() else []
    calls: list[ToolCall] = []

    def settle() -> None:
        if calls:
            messages.append(Message("assistant", "", tuple(calls)))
            messages.extend(_result(call, outputs) for call in calls)
            calls.clear()

    known: set[str] = set()
    for entry in entries:
        item = entry.item
        if item.type == "function_call":
            call_id, name, arguments = item.call_id, item.name, item.arguments
            if isinstance(call_id, str) and isinstance(name, str) and call_id not in known:
                known.add(call_id)
                calls.append(ToolCall(call_id, name, arguments if isinstance(arguments, str) and arguments else "{}"))
        elif item.type == "message":
            settle()
            text = entry.heard_text(entry.text) if item.role == "assistant" else entry.text
            if text.strip() and not isinstance(item.role, UnsetType):
                messages.append(Message(item.role, text.strip()))
    settle()
    return tuple(messages)


def _result(call: ToolCall, outputs: "dict[str | UnsetType, str | UnsetType]") -> Message:
    output = outputs.get(call.call_id)
    return Message("tool", output if isinstance(output, str) else NO_RESULT, call_id=call.call_id)

