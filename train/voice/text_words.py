"""Everyday English words by part of speech, and their forms.

Nouns, adjectives and adverbs are those that hibari's tagger knows as nothing else and whose pronunciation its
dictionary gives (about 3,700, 1,700 and 500): the reader is sure of them. Verbs are listed here.
"""

# ruff: noqa: SIM905  # lists of words are easier to read as text

import gzip
import json
import random
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

_KEEP_OUT = frozenset(
    "sex sexual sexuality porn pornography rape rapist cocaine heroin cannabis marijuana nazi genocide terrorist "
    "terrorism murder murderer suicide homicide massacre slaughter torture abuse bomb bomber bombing corpse brutality "
    "slave slavery racist racism prostitute prostitution penis vagina vaginal penile erotic nude nudity bastard bitch "
    "whore holocaust lynching incest semen orgasm fetus abortion jihad executioner assassin assassination homosexual "
    "homosexuality racial ethnic fascist fascism obscene genital heterosexual bloody urine semite semitic intercourse "
    "sexist lesbian bisexual libido orgy fecal feces pedophile sodomy hooker erection arousal condom "
    "suicidal genocidal".split()
)

VERBS = (
    "accept add admire adjust answer approve arrange attach avoid bake balance borrow bottle brush burn call carry "
    "carve cancel change charge chase check clean climb close collect compare confirm connect consider cook copy "
    "correct count cover crack create cross damage decorate defend delay deliver describe design destroy discover "
    "discuss divide drop earn empty enjoy enter examine exchange explain explore fasten fetch fill film finish fix "
    "fold follow forgive gather grab greet guard guess guide handle hang heat help hide hire hurry identify ignore "
    "improve include inspect invent invite join judge jump kick label launch lift list load lock love mail manage "
    "mark measure melt mention miss mix move name need notice number observe offer open order organize pack paint "
    "park pass paste phone pick place plan plant polish postpone pour praise prefer prepare present press print "
    "produce promise protect publish pull punish push raise reach record recover reduce refuse remember remove rent "
    "repair repeat replace reply report request rescue restore return review rinse rob roll rub save scratch search "
    "select serve shape share sharpen shorten shout sign sketch slice smell soften solve spill spray squeeze stack "
    "stamp start stir stop store stretch study suggest supply support surround switch taste thank tie touch trace "
    "trade train trap trim trust try turn type unload unlock unpack use visit wait warm warn wash watch water weigh "
    "welcome whip whisper widen wipe wrap yank zip abandon absorb acquire adapt adopt announce appreciate assemble "
    "attract bother capture celebrate challenge chop combine complete compose conceal consult contain control "
    "convince cultivate deserve display double dust encourage escort estimate evaluate exhibit expand extend file "
    "flood forward frame freshen frighten furnish grease hammer harvest imagine imitate impress inherit inflate "
    "inform install introduce justify kneel lengthen locate magnify memorize moisten nudge obtain operate overlook "
    "pardon persuade photograph pinch plow preserve provoke purchase question quote recognize recommend recycle "
    "reflect refresh register reject release rely renovate reserve reveal sample scrub seal shelter shovel signal "
    "soak sort spot steer strengthen submit surprise survey tackle tease thicken toast transfer translate transport "
    "treasure tug underline update upgrade vacuum value volunteer"
).split()

_DOUBLED = frozenset("drop grab hop nap pat plan rob rub stir stop tap trim trap tug unzip wrap zip whip".split())
_IRREGULAR = {"hang": "hung", "hide": "hid", "kneel": "knelt"}
_INTRANSITIVE = frozenset("wait hurry kneel rely reply volunteer jump".split())
_PLAIN_AN = ("hour", "honest", "honor", "heir")
_PLAIN_A = ("uni", "use", "usu", "eu", "one", "once", "ura", "uku", "ubi", "ute", "uti")


class Deck:
    """Deals its cards in a random order, all of them before any comes again."""

    def __init__(self, cards: Iterable[str], rng: random.Random) -> None:
        self._cards = list(dict.fromkeys(cards))
        self._rng = rng
        self._left: list[str] = []

    def deal(self) -> str:
        if not self._left:
            self._left = self._cards[:]
            self._rng.shuffle(self._left)
        return self._left.pop()

    def __len__(self) -> int:
        return len(self._cards)


def _asset(name: str) -> Any:
    return json.loads(gzip.decompress((files("hibari") / "assets" / name).read_bytes()))


@cache
def _by_tag() -> dict[str, tuple[str, ...]]:
    tags: dict[str, str] = _asset("tagger.json.gz")["tagdict"]
    known: dict[str, Any] = _asset("lexicon_us_gold.json.gz")
    found: dict[str, list[str]] = {"NN": [], "JJ": [], "RB": [], "NNP": []}
    for word, tag in sorted(tags.items()):
        proper = tag == "NNP"
        shaped = word.istitle() if proper else word.islower()
        fits = word.isascii() and word.isalpha() and shaped and 3 <= len(word) <= 14
        if tag in found and fits and isinstance(known.get(word), str) and word.lower() not in _KEEP_OUT:
            found[tag].append(word)
    return {tag: tuple(words) for tag, words in found.items()}


def nouns() -> tuple[str, ...]:
    return _by_tag()["NN"]


def adjectives() -> tuple[str, ...]:
    return _by_tag()["JJ"]


def adverbs() -> tuple[str, ...]:
    return tuple(word for word in _by_tag()["RB"] if word.endswith("ly"))


def proper_names() -> tuple[str, ...]:
    """Names of places and people that the dictionary knows."""
    return _by_tag()["NNP"]


def verbs() -> tuple[str, ...]:
    """Verbs that take an object."""
    return tuple(verb for verb in dict.fromkeys(VERBS) if verb not in _INTRANSITIVE)


def plural(noun: str) -> str:
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    if noun.endswith("man"):
        return noun[:-2] + "en"
    return noun + "s"


def past(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return f"{verb}{verb[-1]}ed" if verb in _DOUBLED else verb + "ed"


def progressive(verb: str) -> str:
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return f"{verb}{verb[-1]}ing" if verb in _DOUBLED else verb + "ing"


def third(verb: str) -> str:
    return plural(verb)


def with_article(words: str) -> str:
    """``words`` after "a" or "an"."""
    low = words.lower()
    vowel = low.startswith(_PLAIN_AN) or (low[0] in "aeiou" and not low.startswith(_PLAIN_A))
    return f"{'an' if vowel else 'a'} {words}"
