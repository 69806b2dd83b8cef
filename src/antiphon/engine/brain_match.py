"""Which intent an utterance means: weighed evidence of words, not sentences learnt by heart.

Each intent is a bag of concepts (stems, joined by synonyms) taken from its examples and keywords. A concept weighs by
how few intents share it (inverse document frequency); words the brain has never seen are compared by their letters, so
that a recogniser's slip still counts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from antiphon.engine.brain_book import Book, Intent
from antiphon.engine.brain_dates import MONTHS, weekday_of
from antiphon.engine.brain_numbers import ORDINALS, SMALL
from antiphon.engine.brain_words import (
    PLAIN_WORDS,
    STOP_WORDS,
    Token,
    find_phrase,
    likeness,
    stem_of,
    tokens_of,
    word_set,
)

_PHRASE = 1.5
_KEYWORD = 1.0
_EXAMPLE = 0.75
_STOP = 0.15
_DAY = 0.4
_LIKE_ENOUGH = 0.6
_KEEP = 2048
_LONGEST_SLIP = 40
"""Of letters; nobody says a longer word, so none is a slip for one."""
_NOT = word_set("not don't doesn't won't can't cannot never didn't isn't without")
_NOT_REACH = 5
# These go with a "not" and say nothing else: "not any more" is "any more" all the same.
_WITH_NOT = word_set("any more anymore longer yet either ever")
_NOT_ENDS = frozenset(("but", "just", "only", "please", "instead", "and", "so", "it"))
_STOP_STEMS = frozenset(stem_of(word) for word in STOP_WORDS)
# "may" and "march" are verbs as often as months.
_MONTH_NAMES = frozenset(MONTHS) - {"may", "march"}
_DAY_WORDS = frozenset(("today", "tomorrow", "tonight", "weekend", "morning", "afternoon", "evening"))


@dataclass(frozen=True, slots=True)
class Guess:
    """An intent and the evidence for it; from 1.0 on it is one clear word's worth."""

    intent: Intent
    score: float


class Matcher:
    """The words of a book, weighed once."""

    def __init__(self, book: Book) -> None:
        self._class_of = {
            stem_of(word): stem_of(head)
            for head, words in book.synonyms.items()
            for word in (head, *words)
            if " " not in word
        }
        self._class_phrases = sorted(
            (
                (tuple(word.split()), stem_of(head))
                for head, words in book.synonyms.items()
                for word in words
                if " " in word
            ),
            key=lambda entry: -len(entry[0]),
        )
        self._intents = book.intent
        self._kept: dict[tuple[Token, ...], list[Guess]] = {}
        self._keyword_phrases: list[list[tuple[str, ...]]] = []
        self._bags: list[dict[str, float]] = []
        for intent in book.intent:
            self._keyword_phrases.append([tuple(word.lower().split()) for word in intent.keywords if " " in word])
            self._bags.append(self._bag(intent))
        self._rarity = self._weigh()
        self._vocabulary: list[str] = sorted(set().union(*self._bags) | set(self._class_of))

    def guess(self, tokens: tuple[Token, ...]) -> list[Guess]:
        """Intents by evidence, the strongest first; without those that have none."""
        # A conversation is read anew for each answer: what was weighed once is kept, so that its length costs little.
        known = self._kept.get(tokens)
        if known is None:
            if len(self._kept) >= _KEEP:
                self._kept.clear()
            known = self._kept[tokens] = self._guess(tokens)
        return known

    def _guess(self, tokens: Sequence[Token]) -> list[Guess]:
        words = [token.text for token in tokens]
        concepts = self._concepts(tokens, negations=True)
        guesses = []
        for intent, bag, phrases in zip(self._intents, self._bags, self._keyword_phrases, strict=True):
            score = sum(
                certainty * bag.get(concept, 0.0) * self._rarity.get(concept, 0.0)
                for concept, certainty in concepts.items()
            )
            score += sum(_PHRASE for phrase in phrases if _says(words, phrase))
            if score > 0:
                guesses.append(Guess(intent, round(score, 6)))
        return sorted(guesses, key=lambda guess: -guess.score)

    def _bag(self, intent: Intent) -> dict[str, float]:
        bag: dict[str, float] = {}
        for example in intent.examples:
            for concept in self._concepts(tokens_of(example), negations=False, known=False):
                bag[concept] = _EXAMPLE
        for keyword in intent.keywords:
            if " " not in keyword:
                for concept in self._concepts(tokens_of(keyword), negations=False, known=False):
                    bag[concept] = _KEYWORD
        return bag

    def _weigh(self) -> dict[str, float]:
        count = len(self._bags)
        rarity = {}
        for concept in set().union(*self._bags):
            owners = sum(concept in bag for bag in self._bags)
            rarity[concept] = (
                (_DAY if concept == "<day>" else 1.0) * math.log((count + 1) / owners) / math.log(count + 1)
            )
            if concept in _STOP_STEMS:
                rarity[concept] *= _STOP
        return rarity

    def _concepts(self, tokens: Sequence[Token], *, negations: bool, known: bool = True) -> dict[str, float]:
        """Concepts of an utterance -> certainty (1, or the likeness to the word it was taken for)."""
        negated = _negated(tokens) if negations else [False] * len(tokens)
        words = [token.text for token in tokens]
        found: dict[str, float] = {}
        at = 0
        while at < len(tokens):
            phrase = next((p for p in self._class_phrases if tuple(words[at : at + len(p[0])]) == p[0]), None)
            if phrase is not None:
                found[phrase[1]] = 1.0
                at += len(phrase[0])
                continue
            if not negated[at]:
                concept, certainty = self._concept(tokens[at], known=known)
                found[concept] = max(found.get(concept, 0.0), certainty)
            at += 1
        return found

    def _concept(self, token: Token, *, known: bool) -> tuple[str, float]:
        if weekday_of(token.text) is not None or token.text in _MONTH_NAMES or token.text in _DAY_WORDS:
            return "<day>", 1.0
        if token.text[:1].isdigit() or token.text in SMALL or token.text in ORDINALS:
            return "<number>", 1.0
        stem = self._class_of.get(token.stem, token.stem)
        if not known or stem in self._rarity or token.text in PLAIN_WORDS or not 4 <= len(stem) <= _LONGEST_SLIP:
            return stem, 1.0
        if not stem.isalpha():
            return stem, 1.0
        best = max(self._vocabulary, key=lambda word: likeness(word, token.stem))
        close = likeness(best, token.stem)
        return (self._class_of.get(best, best), close) if close >= _LIKE_ENOUGH else (stem, 1.0)


def _negated(tokens: Sequence[Token]) -> list[bool]:
    """Words in the reach of a "not": "don't move it, cancel it" speaks of moving, but does not ask for it."""
    marks = [False] * len(tokens)
    for at, token in enumerate(tokens):
        if token.text not in _NOT and not _is_kept_from(tokens, at):
            continue
        for reach in range(at + 1, min(at + 1 + _NOT_REACH, len(tokens))):
            if tokens[reach].after_break or (tokens[reach].text in _NOT_ENDS and reach > at + 1):
                break
            marks[reach] = tokens[reach].text not in _WITH_NOT
    return marks


def _is_kept_from(tokens: Sequence[Token], at: int) -> bool:
    # "stop it from being sent"
    return tokens[at].text == "from" and at + 1 < len(tokens) and tokens[at + 1].text.endswith("ing")


def _says(words: Sequence[str], phrase: tuple[str, ...]) -> bool:
    at = find_phrase(words, phrase)
    # "I don't want to stop it" does not say "I don't want it".
    denies_verb = not _NOT.isdisjoint(phrase) and tuple(words[at + len(phrase) : at + len(phrase) + 1]) == ("to",)
    return at >= 0 and not denies_verb
