"""The text that the voice learns from: some 12,000 utterances, generated from our own sentences and word lists.

``lines(seed)`` is deterministic: the same seed and the same version of hibari's word lists give the same lines in the
same order. Decks deal every word before any comes twice, so rare words are as frequent as common ones.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from train.voice import text_lines as phrases
from train.voice import text_names as names
from train.voice import text_numbers as numbers
from train.voice import text_turns as turns
from train.voice import text_words as words

COUNTS = {
    "agent": 2700,
    "number": 2200,
    "name": 1150,
    "question": 1400,
    "short": 2000,
    "words": 2000,
    "long": 600,
    "paragraph": 420,
}
_SLOT = re.compile(r"\{(\w+)\}")
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_LONG_WORDS = (20, 50)
_MAX_CHARS = 420


@dataclass(frozen=True, slots=True)
class Line:
    """``kind`` is one of ``data.KINDS``; ``text`` is as a program would send it."""

    kind: str
    text: str


class Writer:
    """Fills templates."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        deck = self._deck
        first, last, noun, adj, verb = (
            deck(cards) for cards in (names.FIRST, names.LAST, words.nouns(), words.adjectives(), words.verbs())
        )
        thing, dish = deck(turns.THINGS), deck(turns.DISHES)
        letter: Callable[[], str] = lambda: rng.choice(numbers.LETTERS)  # noqa: E731

        def of(make: Callable[[random.Random], str]) -> Callable[[], str]:
            return lambda: make(rng)

        self._slots: dict[str, Callable[[], str]] = {
            "first": first,
            "last": last,
            "noun": noun,
            "adj": adj,
            "verb": verb,
            "thing": thing,
            "adv": deck(words.adverbs()),
            "proper": deck(words.proper_names()),
            "city": deck(names.CITIES),
            "title": deck(names.TITLES),
            "day": deck(numbers.DAYS),
            "month": deck(numbers.MONTHS),
            "place": deck(turns.PLACES),
            "device": deck(turns.DEVICES),
            "dish": dish,
            "color": deck(turns.COLORS),
            "account": deck(turns.ACCOUNTS),
            "part": deck(("morning", "afternoon", "evening")),
            "nouns": lambda: words.plural(noun()),
            "verbed": lambda: words.past(verb()),
            "verbing": lambda: words.progressive(verb()),
            "verbs": lambda: words.third(verb()),
            "a_noun": lambda: words.with_article(noun()),
            "a_adj_noun": lambda: words.with_article(f"{adj()} {noun()}"),
            "a_thing": lambda: words.with_article(thing()),
            "things": lambda: words.plural(_single(thing())),
            "dish_pl": lambda: words.plural(dish()),
            "street": lambda: f"{rng.choice(names.STREETS)} {rng.choice(names.STREET_KINDS)}",
            "company": lambda: f"{rng.choice(names.COMPANIES)} {rng.choice(names.COMPANY_KINDS)}",
            "spelled_last": lambda: numbers.spelled(last().replace("'", ""), rng),
            "spelled_first": lambda: numbers.spelled(first(), rng),
            "spelled_noun": lambda: numbers.spelled(noun(), rng),
            "a_letter": letter,
            **{
                name: of(getattr(numbers, name))
                for name in (
                    "number", "small", "count", "money", "date", "year", "clock", "digits", "phone", "letters", "code",
                    "as_in", "percent", "measure", "ordinal", "fraction",
                )
            },
        }  # fmt: skip

    def fill(self, template: str) -> str:
        """One reading of a template, with a capital at the start of every sentence."""
        chosen = _CHOICE.sub(lambda found: self._rng.choice(found[1].split("|")), template)
        filled = _SLOT.sub(lambda found: self._slots[found[1]](), chosen)
        return re.sub(r"(^|[.!?] )([a-z])", lambda found: found[1] + found[2].upper(), filled)

    def long(self) -> str:
        """A sentence of 20 to 50 words."""
        while True:
            text = self.fill(self._rng.choice(phrases.OPENERS)) + " " if self._rng.random() < 0.5 else ""
            text += self.fill_inside(self._rng.choice(phrases.CLAUSES))
            for _ in range(self._rng.randint(1, 2)):
                text += self._rng.choice(phrases.JOINS) + self.fill_inside(self._rng.choice(phrases.CLAUSES))
            text = text[0].upper() + text[1:] + "."
            if _LONG_WORDS[0] <= len(text.split()) <= _LONG_WORDS[1] and len(text) <= _MAX_CHARS:
                return text

    def paragraph(self) -> str:
        """Two to four sentences."""
        kinds = (turns.AGENT, turns.AGENT, phrases.WORDS, turns.QUESTION, phrases.NAME)
        while True:
            count = self._rng.randint(2, 4)
            text = " ".join(self.fill(self._rng.choice(self._rng.choice(kinds))) for _ in range(count))
            if len(text) <= _MAX_CHARS:
                return text

    def fill_inside(self, template: str) -> str:
        """One reading, as the middle of a sentence."""
        chosen = _CHOICE.sub(lambda found: self._rng.choice(found[1].split("|")), template)
        return _SLOT.sub(lambda found: self._slots[found[1]](), chosen)

    def _deck(self, cards: tuple[str, ...] | list[str]) -> Callable[[], str]:
        return words.Deck(cards, self._rng).deal


def lines(seed: int) -> list[Line]:
    """All lines, no two alike, kinds mixed."""
    rng = random.Random(seed)
    writer = Writer(rng)
    replies = re.findall(r"[^.!?]+[.!?]", phrases.REPLIES)
    made: dict[str, dict[str, None]] = {kind: {} for kind in COUNTS}
    made["short"].update(dict.fromkeys(reply.strip() for reply in replies))
    templates = {
        "agent": turns.AGENT,
        "number": phrases.NUMBER,
        "name": phrases.NAME,
        "question": turns.QUESTION,
        "short": phrases.SHORT,
        "words": phrases.WORDS,
    }
    for kind, wanted in COUNTS.items():
        mine = made[kind]
        deal = words.Deck(templates.get(kind, ("",)), rng).deal
        while len(mine) < wanted:
            if kind == "long":
                text = writer.long()
            elif kind == "paragraph":
                text = writer.paragraph()
            else:
                text = writer.fill(deal())
            if len(text) <= _MAX_CHARS:
                mine[text] = None
    every = [Line(kind, text) for kind, texts in made.items() for text in texts]
    rng.shuffle(every)
    return list({line.text: line for line in every}.values())


def _single(thing: str) -> str:
    """What of a thing takes the plural."""
    return thing.removeprefix("pair of ").removesuffix("s") if thing.startswith("pair of ") else thing
