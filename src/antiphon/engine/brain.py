"""The rule brain: answers without a model, a key or a network, by rules declared in a file.

It has the shape of a language model (a request in; text deltas, tool calls and an end out), keeps nothing between
answers and executes nothing. Asked what it is, it says so: fixed rules, no language model.
"""

import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from datetime import date

from antiphon.core.brain import BrainDone, BrainEvent, BrainRequest, Message, TextDelta, ToolCall
from antiphon.engine.brain_book import Book
from antiphon.engine.brain_match import Matcher
from antiphon.engine.brain_talk import Call, Move, Rules, Say, Talk


class RuleBrain:
    """Answers by a :class:`Book`. ``today`` gives the caller's date, by which "tomorrow" is understood."""

    name = "rules"

    def __init__(self, book: Book, today: Callable[[], date]) -> None:
        self._book = book
        self._matcher = Matcher(book)
        self._today = today

    async def stream(self, request: BrainRequest) -> AsyncGenerator[BrainEvent, None]:
        """The events of :meth:`answer`, in the shape of a model's stream."""
        for event in self.answer(request):
            yield event

    def answer(self, request: BrainRequest) -> list[BrainEvent]:
        """The whole answer: deltas of a word each, or a tool call, and the end. The same messages on the same day give
        the same answer."""
        moves = self._moves(request.messages)
        offered = {tool.name for tool in request.tools} if request.tool_choice != "none" else set()
        events: list[BrainEvent] = []
        said: list[str] = []
        for move in moves:
            if isinstance(move, Say):
                said.append(move.text)
            elif move.tool in offered:
                events.append(self._tool_call(request.messages, move, len(events)))
            elif move.tool == self._book.handover_tool:
                said.append(self._book.phrases.no_handover)
            else:
                said.append(self._book.phrases.no_tool)
        deltas = [TextDelta(word) for word in re.findall(r"\s*\S+", " ".join(said))]
        return [*deltas, *events, BrainDone("tool_calls" if events else "stop", output_tokens=len(deltas))]

    def _moves(self, messages: Sequence[Message]) -> list[Move]:
        """What to do next: one move, or one per result when several tools were called together."""
        if all(message.role == "system" for message in messages):
            return [Say(self._book.phrases.greeting)]  # asked to speak first
        rules = Rules(self._book, self._matcher, self._today())
        talk, moves, calls, heard = Talk(), list[Move](), dict[str, ToolCall](), ""
        for message in messages:
            if message.role == "user":
                talk, move = rules.hear(talk, message.content, heard)
                moves, heard = [move], ""
            elif message.role == "assistant":
                calls |= {call.call_id: call for call in message.tool_calls}
                heard = message.content
                # What another brain, or the conversation itself, has said can be repeated as well.
                said = _said(moves)
                if heard and not said.startswith(heard):
                    talk = replace(talk, reply=heard)
                moves = [Say(said[len(heard) :])] if said.startswith(heard) else []
            elif message.role == "tool" and message.call_id in calls:
                call = calls.pop(message.call_id)
                before = [move for move in moves if isinstance(move, Say) and move.text]
                talk, move = rules.result(talk, call.name, _arguments(call), message.content)
                moves, heard = [*before, move], ""
        return [move for move in moves if not isinstance(move, Say) or move.text]

    def _tool_call(self, messages: Sequence[Message], move: Call, index: int) -> ToolCall:
        taken = {call.call_id for message in messages for call in message.tool_calls}
        number = len(messages) + index
        while f"rule_{number}" in taken:
            number += 1
        return ToolCall(f"rule_{number}", move.tool, json.dumps(move.arguments, ensure_ascii=False))


def _said(moves: Sequence[Move]) -> str:
    return " ".join(move.text for move in moves if isinstance(move, Say))


def _arguments(call: ToolCall) -> dict[str, object]:
    try:
        value = json.loads(call.arguments or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
