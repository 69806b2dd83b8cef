"""What a response is to be: the session's settings with what its own order changes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from antiphon.core.brain import BrainRequest, Message, ToolSpec
from antiphon.core.speech import SpeechConfig
from antiphon.protocol.openai_realtime_client import BadEvent, ResponseOrder
from antiphon.protocol.openai_realtime_items import Conversation, Entry, item_from
from antiphon.protocol.openai_realtime_patch import changed_output, checked_tokens, checked_tools, modality_of
from antiphon.protocol.openai_realtime_session import (
    MaxTokens,
    Modality,
    OutputAudio,
    Settings,
    ToolByName,
    ToolChoice,
    WireTool,
    audio_format,
)

LEAD_S: Final = 5.0
"""How far ahead of its playback audio is made: the client plays it, and may be interrupted."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a response is to be: the session's settings with the order's own. ``context`` replaces the conversation."""

    modality: Modality
    output: OutputAudio
    instructions: str
    tools: tuple[WireTool, ...]
    tool_choice: ToolChoice
    max_output_tokens: MaxTokens
    metadata: dict[str, str] | None = None
    context: tuple[Entry, ...] | None = None
    in_conversation: bool = True
    conversation_id: str | None = None
    owner: str = ""

    def request(self, messages: tuple[Message, ...]) -> BrainRequest:
        """The question that goes to the brain."""
        choice = self.tool_choice.name if isinstance(self.tool_choice, ToolByName) else self.tool_choice
        limit = None if self.max_output_tokens == "inf" else self.max_output_tokens
        return BrainRequest(messages, tuple(_spec(tool) for tool in self.tools), choice, limit)

    def voice(self) -> SpeechConfig:
        """How the answer is spoken."""
        return SpeechConfig(
            voice=self.output.voice,
            language="",
            format=audio_format(self.output.format),
            speed=self.output.speed,
            words=True,
            lead_s=LEAD_S,
            owner=self.owner,
        )


def plan_for(
    session: Settings, order: ResponseOrder, context: tuple[Entry, ...] | None, conversation_id: str, owner: str
) -> Plan:
    """``context``: the entries that the order's ``input`` names. Raises ``InvalidInput``."""
    order.check()
    given = order.audio.output if order.audio is not None else None
    limit = session.max_output_tokens if order.max_output_tokens is None else order.max_output_tokens
    in_conversation = order.conversation != "none"
    return Plan(
        modality=session.modality if order.output_modalities is None else modality_of(order.output_modalities),
        output=session.output if given is None else changed_output(session.output, given),
        instructions=session.instructions if order.instructions is None else order.instructions,
        tools=session.tools if order.tools is None else checked_tools(order.tools),
        tool_choice=session.tool_choice if order.tool_choice is None else order.tool_choice,
        max_output_tokens=checked_tokens(limit),
        metadata=order.metadata,
        context=context,
        in_conversation=in_conversation,
        conversation_id=conversation_id if in_conversation else None,
        owner=owner,
    )


def context_of(order: ResponseOrder, conversation: Conversation, new_id: Callable[[], str]) -> tuple[Entry, ...] | None:
    """The entries that the order's ``input`` gives or names; None: it has none. Raises ``InvalidInput``."""
    if not isinstance(order.input, list):
        return None
    entries: list[Entry] = []
    for given in order.input:
        if given.type != "item_reference":
            entries.append(Entry(item_from(given, given.id or f"item_{new_id()}")))
        else:
            entries.append(named(conversation, given.id or "", "reference"))
    return tuple(entries)


def named(conversation: Conversation, item_id: str, verb: str) -> Entry:
    """The entry that a client names to ``verb`` it. Raises ``BadEvent``."""
    entry = conversation.get(item_id)
    if entry is None:
        message = f"Error: there is no item with id '{item_id[:200]}'."
        raise BadEvent(message, "item_id", f"item_{verb}_invalid_item_id")
    return entry


def _spec(tool: WireTool) -> ToolSpec:
    parameters = {"type": "object", "properties": {}} if tool.parameters is None else tool.parameters
    return ToolSpec(tool.name, tool.description or "", msgspec.json.encode(parameters).decode())
