"""Words as the rule brain compares them: tokens with their place, light stems, and likeness by character trigrams.

All of it is language, none of it a domain: what a business calls its things stands in the brain's file.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\d{1,2}:\d{2}|\d{4}-\d{2}-\d{2}|\d+(?:st|nd|rd|th)?|[^\W\d_]+(?:['’][^\W\d_]+)*"
)
_MOST_TOKENS = 150
_MOST_CHARS = 4_000
_UNLIKE = 4
"""A word so many times as long as another one is not like it, whatever its letters."""
_STRONG = re.compile(r"[.!?;,:—–]")

CORRECTIONS = (
    ("no", "wait"), ("wait", "no"), ("oh", "no"), ("no", "sorry"), ("i", "mean"), ("i", "meant"), ("make", "that"),
    ("scratch", "that"), ("strike", "that"), ("let", "me", "rephrase"), ("or", "rather"), ("better", "yet"),
    ("hang", "on"), ("my", "mistake"), ("no",), ("nope",), ("sorry",), ("actually",), ("correction",),
)  # fmt: skip
"""What speakers say between a slip and what they meant; the longer first."""


def word_set(words: str) -> frozenset[str]:
    """The words of a line."""
    return frozenset(words.split())


STOP_WORDS = word_set(
    "a an the i you he she it we they me my your his her its our their this that these those is am are was were "
    "be been being do does did have has had will would can could shall should may might must to of in on at for "
    "from by with and or but so if then than as just please um uh er hi hello hey there here not no yes ok okay "
    "i'm i'd i've i'll it's that's let's what's you're we're don't some any very really well like want need get "
    "got say tell give"
)
"""Words that carry the shape of a sentence. They count, but little."""

PLAIN_WORDS = STOP_WORDS | word_set(
    "about above after again against along always before between both down each ever every everything few first "
    "from how into last least less more most much never next now off often once only other out over own quite "
    "same since still such than their them there thing things think through today too under until up upon was way "
    "what when where which while who whole whom why within without yet day days time times week number able back "
    "call know make made right left see sure take thank thanks going done one's something nothing anything "
    "somebody anybody nobody"
)
"""Words too common to be a recogniser's slip for another one."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word: as ``text`` (lower case), its ``stem``, and whether punctuation stands before it."""

    text: str
    stem: str
    after_break: bool = False


@lru_cache(maxsize=512)
def tokens_of(text: str) -> tuple[Token, ...]:
    """Split what was heard into tokens: words, runs of digits, clock times, dates and e-mail addresses.

    Of a very long text the last 4,000 characters and 150 tokens count.
    """
    found, end = [], 0
    lowered = text[-_MOST_CHARS:].lower().replace("’", "'")
    lowered = re.sub(r"(?<=\d),(?=\d{3}\b)", "", lowered)
    for match in _TOKEN.finditer(lowered):
        word = match.group()
        found.append(Token(word, stem_of(word), bool(_STRONG.search(lowered[end : match.start()]))))
        end = match.end()
    return tuple(found[-_MOST_TOKENS:])


@lru_cache(maxsize=4096)
def stem_of(word: str) -> str:
    """A light English stem: plural, -ing, -ed, -ation endings; enough to join the forms of one word, no more."""
    word = word.removesuffix("'s")
    if len(word) <= 3 or not word.isalpha():
        return word
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return _tidy(word[: -len(ending)] + ("y" if ending in ("ies", "ied") else ""))
    return _tidy(word)


def _tidy(stem: str) -> str:
    # Doubled consonants ("stopp-ed") and the mute e ("mov-ing", "move") meet in one form.
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in ("aeious" if len(stem) > 5 else "aeiouls"):
        stem = stem[:-1]
    return stem.removesuffix("e") if len(stem) > 3 else stem


def trigrams(word: str) -> frozenset[str]:
    padded = f"^{word}$"
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


@lru_cache(maxsize=16384)
def likeness(one: str, other: str) -> float:
    """0 to 1: how much two words look alike; 1 for equal. Dice over trigrams, or one slip in a long word."""
    if one == other:
        return 1.0
    short, long = sorted((len(one), len(other)))
    if short < 4 or long > _UNLIKE * short:
        return 0.0
    first, second = trigrams(one), trigrams(other)
    dice = 2 * len(first & second) / (len(first) + len(second))
    if 1 - 1.5 * (long - short) / long <= dice:  # each letter more is a slip: counting them would change nothing
        return dice
    return max(dice, 1 - 1.5 * _distance(one, other) / long)


def _distance(one: str, other: str) -> int:
    """Edits between two words, a swap of neighbours being one."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, char in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, twin in enumerate(other, 1):
            cost = min(row[j - 1] + 1, before[j] + 1, before[j - 1] + (char != twin))
            if i > 1 and j > 1 and char == other[j - 2] and one[i - 2] == twin:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def find_phrase(words: Sequence[str], phrase: Sequence[str], start: int = 0) -> int:
    """Where ``phrase`` begins in ``words``, or -1."""
    if not phrase or phrase[0] not in words:
        return -1
    size = len(phrase)
    return next((i for i in range(start, len(words) - size + 1) if tuple(words[i : i + size]) == tuple(phrase)), -1)


def split_at_corrections(tokens: Sequence[Token]) -> list[tuple[Token, ...]]:
    """Cut an utterance where its speaker corrects himself; the later part counts more. Empty parts are left out."""
    words = [token.text for token in tokens]
    parts: list[tuple[Token, ...]] = []
    start = at = 0
    while at < len(words):
        cue = next((c for c in CORRECTIONS if tuple(words[at : at + len(c)]) == c), None)
        if cue is None or _is_no_correction(tokens, at, cue):
            at += 1
            continue
        parts.append(tuple(tokens[start:at]))
        at = start = at + len(cue)
    parts.append(tuple(tokens[start:]))
    return [part for part in parts if part]


def _is_no_correction(tokens: Sequence[Token], at: int, cue: tuple[str, ...]) -> bool:
    # "no longer", "there is no rush": a determiner, not a correction.
    if cue != ("no",):
        return False
    follows = tokens[at + 1].text if at + 1 < len(tokens) else ""
    return follows in ("longer", "more", "one", "rush", "hurry", "idea", "need", "matter", "problem")
