"""What clients of ``/v1/realtime`` do to the items of their conversation."""

from collections.abc import Callable

from antiphon.protocol import openai_realtime_client as client
from antiphon.protocol import openai_realtime_events as wire
from antiphon.protocol.actions import AgentAction, Send
from antiphon.protocol.openai_realtime_client import BadEvent
from antiphon.protocol.openai_realtime_items import Conversation, Entry, Item, item_from
from antiphon.protocol.openai_realtime_listening import Listening
from antiphon.protocol.openai_realtime_plan import named


class ItemCommands:
    """Each returns what the client is told. Raise ``BadEvent`` for what cannot be done."""

    def __init__(
        self,
        conversation: Conversation,
        listening: Listening,
        send: Callable[[wire.ServerEvent], Send],
        new_id: Callable[[], str],
    ) -> None:
        self._conversation = conversation
        self._listening = listening
        self._send = send
        self._new_id = new_id

    def create(self, event: client.CreateItem) -> list[AgentAction]:
        item = item_from(event.item, event.item.id or f"item_{self._new_id()}")
        if self._conversation.get(item.id) is not None or item.id == self._listening.turn_item_id:
            message = f"Item with id '{item.id}' already exists."
            raise BadEvent(message, "item.id", "item_create_duplicate_item_id")
        after = event.previous_item_id
        if after not in (None, "root") and self._conversation.get(after or "") is None:
            message = f"previous_item_id: there is no item with id '{after}'"
            raise BadEvent(message, "previous_item_id", "item_create_invalid_previous_item_id")
        self._conversation.check_room(item)
        previous = self._conversation.add(Entry(item), after)
        return self._show(item, previous)

    def retrieve(self, item_id: str) -> list[AgentAction]:
        item = named(self._conversation, item_id, "retrieve").item
        return [self._send(wire.ItemRetrieved(item=item))]

    def delete(self, item_id: str) -> list[AgentAction]:
        named(self._conversation, item_id, "delete")
        return self.drop(item_id)

    def drop(self, item_id: str) -> list[AgentAction]:
        """Of an item that is there; the client is told."""
        self._conversation.remove(item_id)
        self._listening.forget(item_id)
        return [self._send(wire.ItemDeleted(item_id=item_id))]

    def truncate(self, event: client.TruncateItem) -> list[AgentAction]:
        entry = named(self._conversation, event.item_id, "truncate")
        if entry.item.role != "assistant":
            raise BadEvent("item_id: only an assistant's message has audio that can be truncated", "item_id")
        if event.content_index != 0 or event.audio_end_ms < 0:
            name = "audio_end_ms" if event.content_index == 0 else "content_index"
            raise BadEvent(f"{name}: there is nothing at this place of the item", name)
        end_ms = min(event.audio_end_ms, entry.audio_ms)
        entry.cut(end_ms)
        return [self._send(wire.ItemTruncated(item_id=event.item_id, content_index=0, audio_end_ms=end_ms))]

    def _show(self, item: Item, previous: str | None) -> list[AgentAction]:
        return [
            self._send(wire.ItemAdded(previous_item_id=previous, item=item)),
            self._send(wire.ItemDone(previous_item_id=previous, item=item)),
        ]
