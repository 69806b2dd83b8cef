"""What a rule brain knows, declared in a TOML file: intents with examples, slots, the tool to call, and replies."""

import tomllib
from pathlib import Path
from typing import Literal

import msgspec

from antiphon.core.errors import InvalidInput

SlotType = Literal["id", "number", "date", "time", "part", "email", "name", "choice"]


class Slot(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A value that an intent needs. ``digits``: the lengths an ``id`` may have. ``options``: for ``choice``, what the
    tool gets -> how it may be said. ``carry``: a value from earlier in the conversation will do."""

    name: str
    type: SlotType
    ask: str = ""
    required: bool = True
    carry: bool = False
    digits: tuple[int, ...] = ()
    options: dict[str, list[str]] = {}


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``say`` is a template over slots and the tool's result; used when every field of ``when`` has its value."""

    say: str
    when: dict[str, str | int | bool] = {}


class Intent(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Something callers ask for. ``keywords`` (words or phrases) weigh more than words of ``examples``. ``tool`` is
    called with the slots' values once all required ones are known, and ``confirm`` (a question), if any, is answered.
    ``said_as`` names it in a clarifying question. ``when_asked``: a question that says all it requires, and names no
    request, means this one; for what changes nothing."""

    name: str
    examples: list[str]
    keywords: list[str] = []
    said_as: str = ""
    when_asked: bool = False
    slot: list[Slot] = []
    tool: str = ""
    confirm: str = ""
    declined: str = ""
    reply: list[Reply] = []


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the brain says on its own account; each can be set in the file."""

    greeting: str = "Hello! How can I help you?"
    goodbye: str = "Goodbye, and thank you for calling."
    thanks: str = "You are welcome. Is there anything else?"
    identity: str = (
        "I am an automated assistant that works by fixed rules. I am not a person, and I am not a language model."
    )
    help: str = "You can {abilities}."
    unknown: str = "Sorry, I did not understand that. Do you want to {abilities}?"
    still_unknown: str = "I still do not understand, I am sorry. Could you say it another way?"
    offer_handover: str = "I still do not understand, I am sorry. Shall I put you through to a person?"
    noted: str = "All right. Do you want to {abilities}?"
    which: str = "Do you want to {first}, or {second}?"
    nothing_said: str = "I have not said anything yet."
    wait: str = "Take your time."
    dropped: str = "All right, I will leave it. Is there anything else?"
    declined: str = "All right, I will leave it as it is."
    anything_else: str = "What else can I do for you?"
    all_done: str = "All right. Goodbye!"
    no_tool: str = "I am sorry, I cannot do that at the moment."
    failed: str = "I am sorry, that did not work. {error}"
    no_handover: str = "I am sorry, I cannot put you through to a person from here."
    handover: str = "I am putting you through to a person now."
    result: str = "Here is what I found: {text}"


class Book(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole file. ``synonyms``: word -> words that mean the same here. ``handover_tool``: called, with the reason,
    when a caller wants a person."""

    intent: list[Intent]
    synonyms: dict[str, list[str]] = {}
    phrases: Phrases = Phrases()
    handover_tool: str = "handover"

    def named(self, name: str) -> Intent | None:
        return next((intent for intent in self.intent if intent.name == name), None)

    def of_tool(self, tool: str) -> Intent | None:
        return next((intent for intent in self.intent if intent.tool == tool), None)


def parse_book(text: str) -> Book:
    """Read a brain's file. Raises ``InvalidInput`` that names the field at fault."""
    try:
        book = msgspec.convert(tomllib.loads(text), Book)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InvalidInput(f"the brain's file is not valid: {error}") from error
    if not book.intent:
        raise InvalidInput("the brain's file declares no [[intent]]", "intent")
    seen: set[str] = set()
    for intent in book.intent:
        if intent.name in seen:
            raise InvalidInput(f"two intents are named {intent.name!r}; give each its own name", "intent.name")
        seen.add(intent.name)
        if not intent.tool and not intent.reply:
            raise InvalidInput(f"intent {intent.name!r} needs a tool or a reply", "intent.reply")
        for slot in intent.slot:
            if slot.required and not slot.ask:
                raise InvalidInput(f"slot {slot.name!r} of {intent.name!r} is required, so it needs `ask`", "slot.ask")
            if slot.type == "choice" and not slot.options:
                raise InvalidInput(f"slot {slot.name!r} of {intent.name!r} is a choice without options", "slot.options")
    return book


def load_book(path: Path) -> Book:
    """Read a brain's file from disk. Raises ``InvalidInput`` if it is missing or not valid."""
    try:
        return parse_book(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"cannot read the brain's file {path}: {error.strerror}") from error
