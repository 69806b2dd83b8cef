"""OpenAI's chat completions, both ways, without any I/O: requests out, deltas in.

Source: the OpenAI API reference (Create chat completion, streaming), and what compatible servers make of it: tool
calls without ids or indices, whole arguments in one piece, ``stop`` as the reason of a tool call, thoughts in the text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.core.brain import BrainDone, BrainEvent, BrainRequest, Message, TextDelta, ToolCall, ToolSpec
from antiphon.core.errors import InvalidInput
from antiphon.engine.llm_sse import BrokenStream

_REASONS = {
    "stop": "stop", "end_turn": "stop", "eos": "stop", "eos_token": "stop", "stop_sequence": "stop",
    "tool_calls": "tool_calls", "tool_call": "tool_calls", "function_call": "tool_calls", "tool_use": "tool_calls",
    "length": "length", "max_tokens": "length", "model_length": "length",
}  # fmt: skip
_THOUGHT, _THOUGHT_END = "<think>", "</think>"


def encode_request(
    request: BrainRequest, model: str, extra: Mapping[str, Any], *, usage: bool = True
) -> dict[str, Any]:
    """The JSON body. ``extra`` is added, and wins. Raises ``InvalidInput`` for messages no server would take."""
    check_messages(request.messages)
    body: dict[str, Any] = {
        "model": model,
        "stream": True,
        "messages": [_message(m) for m in request.messages if m.role != "assistant" or m.content or m.tool_calls],
    }
    if usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        plain = request.tool_choice in ("auto", "none", "required")
        named = {"type": "function", "function": {"name": request.tool_choice}}
        body["tool_choice"] = request.tool_choice if plain else named
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    return {**body, **extra}


def check_messages(messages: Sequence[Message]) -> None:
    """Raises ``InvalidInput`` unless each tool call is followed by its result before anything else is said."""
    if not messages:
        raise InvalidInput("the request has no messages", "messages")
    due: set[str] = set()
    for message in messages:
        if message.role == "tool":
            if message.call_id not in due:
                raise InvalidInput(f"a tool result answers {message.call_id!r}, which was not called", "messages")
            due.discard(message.call_id)
        elif due:
            raise InvalidInput(f"the tool calls {sorted(due)} have no result before the next message", "messages")
        due |= {call.call_id for call in message.tool_calls}
    if due:
        raise InvalidInput(f"the tool calls {sorted(due)} have no result", "messages")


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    encoded: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        encoded["content"] = message.content or None
        encoded["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments or "{}"},
            }
            for call in message.tool_calls
        ]
    return encoded


def _tool(tool: ToolSpec) -> dict[str, Any]:
    try:
        parameters = json.loads(tool.parameters)
    except ValueError as error:
        raise InvalidInput(f"the parameters of tool {tool.name!r} are not JSON: {error}", "tools") from error
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


@dataclass(slots=True)
class _Fragment:
    call_id: str = ""
    name: str = ""
    arguments: str = ""

    def is_whole(self) -> bool:
        try:
            return isinstance(json.loads(self.arguments), dict)
        except ValueError:
            return False


@dataclass(slots=True)
class DeltaDecoder:
    """Turns the payloads of one answer into brain events.

    ``taken`` are the call ids of the conversation so far: a model that names every call ``call_0``, or none, still
    gives ids that are unique. ``reason`` is set when the model has finished; usage may follow it.
    """

    taken: set[str] = field(default_factory=set)
    reason: str = ""
    begun: bool = False
    """The first token is there: text, or a part of a call; thoughts are not."""
    ended: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    alive: int = 0
    """Counts payloads that carried something (text, thoughts, parts of calls); what a watchdog looks at."""
    _calls: dict[int, _Fragment] = field(default_factory=dict)
    _text: "_Thoughtless" = field(default_factory=lambda: _Thoughtless())

    def feed(self, payload: str) -> list[BrainEvent]:
        """Raises :class:`BrokenStream` for what is no delta, an error in the stream, or broken tool arguments."""
        if payload.strip() == "[DONE]":
            self.ended = True
            return []
        try:
            chunk = json.loads(payload)
        except ValueError as error:
            raise BrokenStream(f"the model's stream has a line that is not JSON: {payload[:80]!r}") from error
        if not isinstance(chunk, dict):
            raise BrokenStream(f"the model's stream has a line that is no object: {payload[:80]!r}")
        if chunk.get("error"):
            raise BrokenStream(f"the model's server reports: {error_text(chunk)}")
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self.input_tokens = usage.get("prompt_tokens") or 0
            self.output_tokens = usage.get("completion_tokens") or 0
        choices = chunk.get("choices")
        return self._choice(choices[0]) if isinstance(choices, list) and choices else []

    def done(self) -> BrainDone:
        return BrainDone(self.reason, self.input_tokens, self.output_tokens)

    def _choice(self, choice: Any) -> list[BrainEvent]:
        # A server that does not stream sends the whole answer as ``message``.
        delta = (choice.get("delta") or choice.get("message") or {}) if isinstance(choice, dict) else None
        if not isinstance(delta, dict):
            raise BrokenStream("the model's stream has a choice without a delta")
        events: list[BrainEvent] = []
        text = _text_of(delta.get("content"))
        fragments = delta.get("tool_calls") or []
        if delta.get("function_call"):
            fragments = [{"index": 0, "function": delta["function_call"]}]
        if text or fragments or delta.get("reasoning_content") or delta.get("reasoning"):
            self.alive += 1
            self.begun = self.begun or bool(text or fragments)
        spoken = self._text.feed(text)
        if spoken:
            events.append(TextDelta(spoken))
        for fragment in fragments:
            self._collect(fragment)
        finish = choice.get("finish_reason")
        if finish and not self.reason:
            events += self._finish(str(finish))
        return events

    def _collect(self, piece: Any) -> None:
        if not isinstance(piece, dict):
            raise BrokenStream("the model's stream has a tool call that is no object")
        function = piece.get("function") or {}
        call_id, name = piece.get("id") or "", function.get("name") or ""
        arguments = function.get("arguments")
        fragment = self._calls.setdefault(self._place(piece.get("index"), call_id, name), _Fragment())
        fragment.call_id = fragment.call_id or call_id
        # Some servers repeat the name with each piece, some cut it.
        if name and name != fragment.name:
            fragment.name += name
        fragment.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""

    def _place(self, index: Any, call_id: str, name: str) -> int:
        """To which call a piece belongs, whether or not the server counts them."""
        newest = max(self._calls, default=-1)
        place = index if isinstance(index, int) else max(newest, 0)
        known = self._calls.get(place)
        if known is None:
            return place
        other_id = bool(call_id and known.call_id and call_id != known.call_id)
        another = not call_id and name and known.is_whole()
        if not (other_id or another):
            return place
        same_id = [at for at, call in self._calls.items() if call_id and call.call_id == call_id]
        return same_id[0] if same_id else newest + 1

    def _finish(self, finish: str) -> list[BrainEvent]:
        if finish == "content_filter":
            raise BrokenStream("the provider's content filter stopped the answer")
        if finish == "error":
            raise BrokenStream("the provider stopped the answer because of an error of its own")
        reason = _REASONS.get(finish.lower(), "stop")
        held = self._text.finish()
        events: list[BrainEvent] = [TextDelta(held)] if held else []
        for place in sorted(self._calls):
            events.append(self._call(place, self._calls[place], cut=reason == "length"))
        self.reason = "tool_calls" if self._calls else "stop" if reason == "tool_calls" else reason
        return events

    def _call(self, place: int, fragment: _Fragment, *, cut: bool) -> ToolCall:
        if not fragment.name:
            raise BrokenStream("the model asked for a tool without a name")
        fragment.arguments = fragment.arguments.strip() or "{}"
        if not fragment.is_whole():
            why = "were cut off by the length limit" if cut else "are not a JSON object"
            raise BrokenStream(f"the arguments that the model gave for tool {fragment.name!r} {why}")
        call_id, number = fragment.call_id, place
        while not call_id or call_id in self.taken:
            call_id = f"call_{len(self.taken)}_{number}"
            number += 1
        self.taken.add(call_id)
        return ToolCall(call_id, fragment.name, fragment.arguments)


class _Thoughtless:
    """Leaves out a leading ``<think>...</think>``, however it is cut: thoughts are not to be spoken."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def feed(self, text: str) -> str:
        if self._state == "text":
            return text
        self._held += text
        if self._state == "start":
            begun = self._held.lstrip()
            if begun.startswith(_THOUGHT):
                self._state = "thought"
            elif begun and not _THOUGHT.startswith(begun):
                self._state = "text"
                return self.finish()
        if self._state == "thought" and _THOUGHT_END in self._held:
            self._state = "after"
            self._held = self._held.split(_THOUGHT_END, 1)[1]
        if self._state == "after" and self._held.strip():
            self._state = "text"
            return self.finish().lstrip()
        return ""

    def finish(self) -> str:
        held, self._held = self._held, ""
        return held if self._state in ("start", "text") else ""


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") in ("text", None)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def error_text(body: Any) -> str:
    """What an error body says, whatever its shape; one line of at most 300 characters."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or json.dumps(error)
    return " ".join(str(error).split())[:300]
