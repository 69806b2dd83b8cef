"""What a scripted model says next in a scenario, from the messages alone: the same messages, the same answer. Pure."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from antiphon.bench.scenario import Answer, Scenario
from antiphon.core.brain import Message

NO_ANSWER = "Sorry, I did not get that. Could you say it again?"
_MARK = "scenario: "


@dataclass(frozen=True, slots=True)
class Scripted:
    """Text, then perhaps a call, or the end of the stream in its midst."""

    say: str = ""
    call: str = ""
    arguments: str = "{}"
    breaks: bool = False


def instructions_for(scenario: Scenario) -> str:
    """By these the endpoint knows which script it is to follow."""
    return _MARK + scenario.name


def scenario_of(messages: Sequence[Message], scenarios: Sequence[Scenario]) -> Scenario | None:
    system = " ".join(message.content for message in messages if message.role == "system")
    return next((one for one in scenarios if _MARK + one.name in system), None)


def next_answer(scenario: Scenario, messages: Sequence[Message]) -> Scripted:
    """Answers the user's last words, or the result behind them; goes on where an answer broke off."""
    heard, result, tool, begun = _situation(messages)
    if scenario.greeting and not any(message.role == "user" for message in messages):
        return _said(Answer(), scenario.greeting, begun)  # asked to speak first
    for answer in scenario.answers:
        if answer.after != tool or not re.search(answer.heard, heard, re.IGNORECASE):
            continue
        if answer.call:
            arguments = _arguments(answer, heard)
            if arguments is None:
                continue
            return Scripted(call=answer.call, arguments=json.dumps(arguments))
        return _said(answer, _filled(answer.say, result), begun)
    return _said(Answer(), NO_ANSWER, begun)


def _situation(messages: Sequence[Message]) -> tuple[str, str, str, str]:
    """The user's last words; the result, and the tool, that came after them; what the answer has said already."""
    heard = result = tool = begun = ""
    asked: dict[str, str] = {}
    for message in messages:
        match message.role:
            case "user":
                heard, result, tool, begun = message.content, "", "", ""
            case "assistant":
                asked |= {call.call_id: call.name for call in message.tool_calls}
                begun = "" if message.tool_calls else message.content
            case "tool":
                result, tool, begun = message.content, asked.get(message.call_id, ""), ""
            case _:
                pass
    return heard, result, tool, begun


def _arguments(answer: Answer, heard: str) -> dict[str, str] | None:
    values: dict[str, str] = {}
    for name, pattern in answer.arguments.items():
        found = re.findall(pattern, heard, re.IGNORECASE)
        if not found:
            return None
        last = found[-1]
        values[name] = (last if isinstance(last, str) else next(part for part in last if part)).lower()
    return values


def _said(answer: Answer, text: str, begun: str) -> Scripted:
    words, said = text.split(), begun.split()
    if said and words[: len(said)] == said:
        return Scripted(say=" " + " ".join(words[len(said) :]))
    if answer.breaks_after and not said:
        return Scripted(say=" ".join(words[: answer.breaks_after]), breaks=True)
    return Scripted(say=text)


def _filled(text: str, result: str) -> str:
    try:
        fields = json.loads(result) if result else {}
    except ValueError:
        fields = {}
    for name, value in fields.items() if isinstance(fields, dict) else ():
        text = text.replace("{" + name + "}", str(value))
    return text
