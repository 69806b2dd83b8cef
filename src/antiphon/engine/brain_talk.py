"""The rule brain's side of a conversation as a fold: (what is known, what comes next) -> (what is known, a move).

Nothing is remembered outside of :class:`Talk`, and a Talk is made anew from the messages for every answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from antiphon.engine.brain_acts import Act, acts_in, consents, is_short
from antiphon.engine.brain_book import Book, Intent
from antiphon.engine.brain_evidence import ACCEPT, MARGIN, asked_about, clear_one, fitting_one, placed
from antiphon.engine.brain_match import Guess, Matcher
from antiphon.engine.brain_reply import and_list, choose, fill, result_values
from antiphon.engine.brain_slots import read_slots
from antiphon.engine.brain_words import Token, split_at_corrections, tokens_of

_CONFIRM = "?confirm"
_HANDOVER = "?handover"
_WHICH = "?which"
_HEARD_ENOUGH = 0.6


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]


Move = Say | Call


@dataclass(frozen=True, slots=True)
class Talk:
    """What is known: the intent at hand, its slots, what was asked last (``awaiting``), whether its tool was called
    (``done``), the last reply, values that later intents may take over (``memory``), and a request that waits for the
    end of another one (``paused``)."""

    intent: Intent | None = None
    slots: Mapping[str, str] = field(default_factory=dict)
    memory: Mapping[str, str] = field(default_factory=dict)
    awaiting: str = ""
    rivals: tuple[Intent, ...] = ()
    done: bool = False
    reply: str = ""
    misses: int = 0
    paused: "Talk | None" = None


class Rules:
    """A book's rules for a given day."""

    def __init__(self, book: Book, matcher: Matcher, today: date) -> None:
        self._book = book
        self._matcher = matcher
        self._today = today
        self._phrases = book.phrases

    def hear(self, talk: Talk, text: str, heard_reply: str) -> tuple[Talk, Move]:
        """What the caller said. ``heard_reply``: as much of the last reply as the caller has heard."""
        tokens = tokens_of(text)
        acts = acts_in(tokens)
        guesses = placed(self._guesses(tokens), text, self._today)
        clear = clear_one(guesses) or fitting_one(guesses, text, self._today)
        if clear is None and not talk.awaiting and talk.paused is None:
            clear = asked_about(guesses, text, tokens, self._today)
        for rule in (self._aside, self._answered, self._asked, self._amended, self._small_talk):
            outcome = rule(talk, text, tokens, acts, clear, heard_reply)
            if outcome is not None:
                return outcome
        return self._lost(talk, text, guesses)

    def result(self, talk: Talk, tool: str, arguments: Mapping[str, Any], content: str) -> tuple[Talk, Move]:
        """What a tool gave back."""
        result = result_values(content)
        error = result.get("error")
        if tool == self._book.handover_tool:
            return self._say(talk, self._phrases.no_handover if error else self._phrases.handover)
        intent = self._book.of_tool(tool)
        slots = {name: str(value) for name, value in arguments.items()}
        talk = replace(
            talk, intent=intent or talk.intent, slots=slots, memory=self._kept(talk, intent, slots), done=True
        )
        values = {**slots, **result}
        replies = [r for r in intent.reply if not error or "error" in r.when] if intent else []
        reply = choose(replies, values)
        if reply is not None:
            said = fill(reply.say, values, self._today)
        elif error:
            said = fill(self._phrases.failed, {"error": error if isinstance(error, str) else ""}, self._today)
        else:
            said = fill(
                self._phrases.result,
                {"text": result.get("text", and_list([str(v) for v in result.values()]))},
                self._today,
            )
        return self._say(replace(talk, awaiting="", misses=0), said)

    # The rules, in the order in which they are asked.

    def _aside(
        self, talk: Talk, text: str, tokens: tuple[Token, ...], acts: frozenset[Act], clear: Intent | None, heard: str
    ) -> tuple[Talk, Move] | None:
        """Words about the conversation itself: forget it, a person please, who are you, say that again."""
        if "drop" in acts and is_short(tokens):
            intent = talk.intent if talk.awaiting == _CONFIRM else None
            dropped = self._fill(intent.declined or self._phrases.declined, talk) if intent else self._phrases.dropped
            return self._say(replace(talk, intent=None, awaiting="", misses=0), dropped)
        if "handover" in acts and (clear is None or is_short(tokens)):
            return replace(talk, awaiting="", misses=0), Call(self._book.handover_tool, {"reason": text})
        if "identity" in acts and clear is None:
            return talk, Say(self._phrases.identity)
        if "repeat" in acts and clear is None and len(tokens) <= 9:
            return talk, Say(talk.reply or heard or self._phrases.nothing_said)
        return None

    def _answered(
        self, talk: Talk, text: str, tokens: tuple[Token, ...], acts: frozenset[Act], clear: Intent | None, heard: str
    ) -> tuple[Talk, Move] | None:
        """An answer to what was asked last."""
        intent = talk.intent
        if talk.awaiting == _HANDOVER and "yes" in acts and clear is None:
            return replace(talk, awaiting="", misses=0), Call(self._book.handover_tool, {"reason": "not understood"})
        if talk.awaiting == _HANDOVER and "no" in acts and clear is None and is_short(tokens):
            return self._say(replace(talk, awaiting="", misses=0), self._phrases.anything_else)
        if talk.awaiting == _WHICH:
            chosen = self._chosen(talk, tokens)
            if chosen is not None:
                return self._begin(talk, chosen, text)
        if intent is None or not talk.awaiting or (clear is not None and clear is not intent):
            return None
        values = read_slots(text, intent.slot, self._today, talk.awaiting)
        changed = {name: value for name, value in values.items() if talk.slots.get(name) != value}
        if changed:
            return self._proceed(replace(talk, slots={**talk.slots, **changed}))
        if talk.awaiting == _CONFIRM:
            if "no" in acts or "drop" in acts:
                return self._say(
                    replace(talk, awaiting="", intent=None), self._fill(intent.declined or self._phrases.declined, talk)
                )
            # A yes to a question that was hardly heard is a yes to something else.
            if consents(tokens, restated=clear is intent) and len(heard) >= _HEARD_ENOUGH * len(talk.reply):
                return self._call(talk)
            if "yes" in acts or clear is intent:
                return self._proceed(talk)
        return None

    def _asked(
        self, talk: Talk, text: str, tokens: tuple[Token, ...], acts: frozenset[Act], clear: Intent | None, heard: str
    ) -> tuple[Talk, Move] | None:
        """A request."""
        if clear is None:
            return None
        if clear is talk.intent and not talk.done:
            values = read_slots(text, clear.slot, self._today)
            return self._proceed(replace(talk, slots={**talk.slots, **values}))
        return self._begin(talk, clear, text)

    def _amended(
        self, talk: Talk, text: str, tokens: tuple[Token, ...], acts: frozenset[Act], clear: Intent | None, heard: str
    ) -> tuple[Talk, Move] | None:
        """A correction of, or a variation on, what was just done ("no, Thursday", "and 4712?")."""
        paused = talk.paused
        if paused is not None and paused.intent is not None and not talk.awaiting:
            answer = read_slots(text, paused.intent.slot, self._today, paused.awaiting)
            if paused.awaiting in answer:
                resumed = replace(paused, memory={**paused.memory, **talk.memory}, slots={**paused.slots, **answer})
                return self._proceed(resumed)
        # "Thanks, see you on Friday" corrects nothing.
        parting = bool(acts & {"thanks", "goodbye"}) and "no" not in acts
        if talk.intent is None or not talk.done or len(tokens) > 12 or parting:
            return None
        values = read_slots(text, talk.intent.slot, self._today)
        changed = {name: value for name, value in values.items() if talk.slots.get(name) != value}
        return self._proceed(replace(talk, slots={**talk.slots, **changed})) if changed else None

    def _small_talk(
        self, talk: Talk, text: str, tokens: tuple[Token, ...], acts: frozenset[Act], clear: Intent | None, heard: str
    ) -> tuple[Talk, Move] | None:
        say, phrases = self._say, self._phrases
        if "wait" in acts and is_short(tokens):
            return talk, Say(phrases.wait)
        if talk.awaiting and talk.awaiting != _HANDOVER:
            return None
        rested = replace(talk, misses=0, awaiting="")
        if "goodbye" in acts:
            return say(rested, phrases.goodbye)
        if "no" in acts and is_short(tokens):
            return say(rested, phrases.all_done)
        if "thanks" in acts:
            return say(rested, phrases.thanks)
        if "help" in acts:
            return say(rested, self._abilities(phrases.help))
        if "greeting" in acts and is_short(tokens):
            return say(rested, phrases.greeting)
        if ("yes" in acts or "ack" in acts) and is_short(tokens):
            return say(rested, phrases.anything_else)
        return None

    def _lost(self, talk: Talk, text: str, guesses: list[Guess]) -> tuple[Talk, Move]:
        """Not understood: ask which of two, ask again, and at last offer a person."""
        noted: dict[str, str] = {}
        for intent in self._book.intent:
            noted |= read_slots(text, [slot for slot in intent.slot if slot.carry], self._today)
        talk = replace(talk, memory={**talk.memory, **noted})
        if noted and not talk.awaiting:
            fitting = [i for i in self._book.intent if any(slot.name in noted for slot in i.slot)]
            return self._say(replace(talk, misses=0), self._abilities(self._phrases.noted, fitting))
        talk = replace(talk, misses=talk.misses + 1)
        if len(guesses) > 1 and guesses[1].score >= ACCEPT - MARGIN and not talk.awaiting:
            first, second = guesses[0].intent, guesses[1].intent
            question = fill(self._phrases.which, {"first": _title(first), "second": _title(second)}, self._today)
            return self._say(replace(talk, awaiting=_WHICH, rivals=(first, second)), question)
        if talk.misses >= 3:
            return self._say(replace(talk, awaiting=_HANDOVER), self._phrases.offer_handover)
        if talk.intent is not None and talk.awaiting:
            return self._proceed(talk)
        return self._say(
            talk, self._abilities(self._phrases.unknown) if talk.misses == 1 else self._phrases.still_unknown
        )

    # What the rules are made of.

    def _guesses(self, tokens: tuple[Token, ...]) -> list[Guess]:
        """Of a corrected utterance the last part decides, if it names a request of its own."""
        for part in reversed(split_at_corrections(tokens)[1:]):
            guesses = self._matcher.guess(part)
            clear = clear_one(guesses)
            if clear is not None and guesses[0].score >= 0.9:
                return guesses
        return self._matcher.guess(tokens)

    def _chosen(self, talk: Talk, tokens: tuple[Token, ...]) -> Intent | None:
        words = {token.text for token in tokens}
        if words & {"first", "former"}:
            return talk.rivals[0]
        if words & {"second", "latter"}:
            return talk.rivals[1]
        guesses = [guess for guess in self._matcher.guess(tokens) if guess.intent in talk.rivals]
        return guesses[0].intent if guesses else None

    def _begin(self, talk: Talk, intent: Intent, text: str) -> tuple[Talk, Move]:
        carried = {slot.name: talk.memory[slot.name] for slot in intent.slot if slot.carry and slot.name in talk.memory}
        slots = {**carried, **read_slots(text, intent.slot, self._today)}
        asked = talk.intent is not None and talk.awaiting in {slot.name for slot in talk.intent.slot}
        paused = replace(talk, paused=None) if asked and talk.intent is not intent else None
        fresh = replace(talk, intent=intent, slots=slots, done=False, awaiting="", rivals=(), misses=0, paused=paused)
        return self._proceed(fresh)

    def _proceed(self, talk: Talk) -> tuple[Talk, Move]:
        """Ask for what is missing, then for confirmation, then for the tool."""
        intent = talk.intent
        assert intent is not None
        talk = replace(talk, memory=self._kept(talk, intent, talk.slots))
        for slot in intent.slot:
            if slot.required and slot.name not in talk.slots:
                misses = talk.misses if talk.awaiting == slot.name else 0
                return self._say(replace(talk, awaiting=slot.name, misses=misses), self._fill(slot.ask, talk))
        if intent.confirm:
            return self._say(replace(talk, awaiting=_CONFIRM, misses=0), self._fill(intent.confirm, talk))
        return self._call(talk)

    def _call(self, talk: Talk) -> tuple[Talk, Move]:
        intent = talk.intent
        assert intent is not None
        talk = replace(talk, awaiting="", done=True, misses=0)
        if not intent.tool:
            reply = choose(intent.reply, talk.slots)
            return self._say(talk, self._fill(reply.say if reply else "", talk))
        numbers = {slot.name for slot in intent.slot if slot.type == "number"}
        arguments = {name: int(value) if name in numbers else value for name, value in talk.slots.items()}
        return talk, Call(intent.tool, arguments)

    def _kept(self, talk: Talk, intent: Intent | None, slots: Mapping[str, str]) -> dict[str, str]:
        carried = {slot.name for slot in intent.slot if slot.carry} if intent else set()
        return {**talk.memory, **{name: value for name, value in slots.items() if name in carried}}

    def _fill(self, template: str, talk: Talk) -> str:
        return fill(template, talk.slots, self._today)

    def _abilities(self, template: str, intents: Sequence[Intent] = ()) -> str:
        titles = [_title(intent) for intent in intents or self._book.intent]
        return fill(template, {"abilities": and_list(titles, "or")}, self._today)

    def _say(self, talk: Talk, text: str) -> tuple[Talk, Move]:
        return replace(talk, reply=text), Say(text)


def _title(intent: Intent) -> str:
    return intent.said_as or intent.name.replace("_", " ")
