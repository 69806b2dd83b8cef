"""What the bench speaks: distinct texts from a seed, and the committed sentence list for word error rates.

Pure. No text of a run repeats, so no cache (ours or a peer's) can help; the hash of the list goes into every report.
"""

import hashlib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import islice
from typing import Literal, TypeAlias

from antiphon.bench import phrases

TextKind: TypeAlias = Literal["words25", "words5", "agent", "answer3", "mixed"]
"""``words25``/``words5``: one sentence of exactly 25 or 5 words. ``agent``: one sentence of an agent's turn, 5-30
words. ``answer3``: a three-sentence answer. ``mixed``: one sentence with figures, dates, money or codes."""

Split: TypeAlias = Literal["tune", "report", "all"]

MAX_ATTEMPTS = 10_000


@dataclass(frozen=True, slots=True)
class Workload:
    """A list of distinct texts and where it came from."""

    kind: str
    seed: int
    texts: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """Hash of the texts, in order."""
        return text_hash(self.texts)


def generate(kind: TextKind, count: int, seed: int) -> Workload:
    """``count`` distinct texts. The same (kind, count, seed) gives the same texts; a longer list begins with a shorter.

    Raises ``ValueError`` for an unknown kind, or if the kind cannot give that many distinct texts.
    """
    return Workload(kind, seed, tuple(islice(distinct(kind, seed), count)))


def distinct(kind: TextKind, seed: int) -> Iterator[str]:
    """Distinct texts without end: the same as :func:`generate`, for runs whose length is not known at the start.

    Raises ``ValueError`` for an unknown kind, or when the phrases have no more to give.
    """
    if kind not in _WRITERS:
        raise ValueError(f"unknown kind of text {kind!r}; known: {', '.join(_WRITERS)}")
    return _distinct(kind, seed)


def _distinct(kind: TextKind, seed: int) -> Iterator[str]:
    rng = random.Random(f"antiphon-bench:{kind}:{seed}")
    seen: set[str] = set()
    misses = 0
    while misses < MAX_ATTEMPTS:
        text = _WRITERS[kind](rng)
        if text in seen:
            misses += 1
            continue
        seen.add(text)
        misses = 0
        yield text
    raise ValueError(f"only {len(seen)} distinct texts of kind {kind!r} can be written")


def text_hash(texts: Iterable[str]) -> str:
    """sha256 over the texts, each ended by a newline."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\n")
    return digest.hexdigest()


def wer_sentences(split: Split = "report") -> tuple[str, ...]:
    """Sentences of the committed list ``data/wer300.txt``: tune on one half, report on the other, ``all`` for both.

    The list is fixed: changing it makes error rates of different versions incomparable.
    """
    return tuple(text for part, text in _wer_list() if split in ("all", part))


def wer_list_hash() -> str:
    return text_hash(f"{part}\t{text}" for part, text in _wer_list())


def tokens(text: str) -> tuple[str, ...]:
    """``text`` cut the way a language model streams it: words with their leading space, longer words in pieces of at
    most five letters. Joined, they are ``text`` again."""
    pieces: list[str] = []
    for index, word in enumerate(text.split(" ")):
        whole = word if index == 0 else " " + word
        step = 6 if len(whole) > 8 else len(whole)
        pieces.extend(whole[at : at + step] for at in range(0, len(whole), max(step, 1)))
    return tuple(piece for piece in pieces if piece)


@cache
def _wer_list() -> tuple[tuple[str, str], ...]:
    lines = resources.files("antiphon.bench").joinpath("data/wer300.txt").read_text("utf-8").splitlines()
    pairs = [line.split("\t", 1) for line in lines if line and not line.startswith("#")]
    return tuple((part, text) for part, text in pairs)


def _fill(rng: random.Random, template: str) -> str:
    values = _Fillers(rng)
    return template.format_map(values)


class _Fillers(dict[str, str]):
    """Slot values, drawn when the template asks for them."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self._rng = rng

    def __missing__(self, slot: str) -> str:
        if slot in phrases.SLOTS:
            return self._rng.choice(phrases.SLOTS[slot])
        return self._figure(slot)

    def _figure(self, slot: str) -> str:
        draw = self._rng.randint
        match slot:
            case "dom":
                return str(draw(1, 28))
            case "mm":
                return str(draw(1, 12))
            case "gate" | "hour":
                return str(draw(1, 12))
            case "minute":
                return f"{draw(0, 11) * 5:02d}"
            case "ampm":
                return self._rng.choice(("a.m.", "p.m."))
            case "year":
                return str(draw(1990, 2030))
            case "order":
                return str(draw(10_000, 99_999))
            case "dollars" | "count":
                return str(draw(11, 980))
            case "cents":
                return f"{draw(1, 99):02d}"
            case "percent" | "degrees":
                return str(draw(2, 99))
            case "four":
                return f"{draw(0, 9999):04d}"
            case "three":
                return f"{draw(100, 999)}"
            case "thousands":
                return str(draw(1, 99))
            case "weight" | "decimal":
                return f"{draw(1, 40)}.{draw(1, 9)}"
            case "letters":
                return "".join(self._rng.choices("ABDKLNRSU", k=2))
            case "ordinal":
                day = draw(1, 28)
                suffix = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
                return f"{day}{suffix}"
            case _:
                raise KeyError(slot)


def _words25(rng: random.Random) -> str:
    return _long_sentence(rng, 25)


def _agent(rng: random.Random) -> str:
    if rng.random() < 0.7:
        return _long_sentence(rng, rng.randint(18, 30))
    return _fill(rng, rng.choice(phrases.CLOSERS + phrases.SHORT))


def _long_sentence(rng: random.Random, words: int) -> str:
    """A sentence of exactly ``words`` words: an optional lead, a core, one or two tails, a comma where one breathes."""
    for _ in range(MAX_ATTEMPTS):
        lead = _fill(rng, rng.choice(phrases.LEADS)) if rng.random() < 0.6 else ""
        core = _fill(rng, rng.choice(phrases.CORES))
        tails = [_fill(rng, tail) for tail in rng.sample(phrases.TAILS, rng.choice((1, 1, 2)))]
        text = core + "".join((", " if rng.random() < _comma_chance(tail) else " ") + tail for tail in tails)
        text = f"{lead} {text}" if lead else text
        if len(text.split()) == words:
            return text[0].upper() + text[1:] + "."
    raise ValueError(f"no sentence of {words} words can be built from the phrases")


def _comma_chance(tail: str) -> float:
    return 0.2 if tail.startswith(("because", "if ", "unless", "while", "so that")) else 0.75


def _words5(rng: random.Random) -> str:
    for _ in range(MAX_ATTEMPTS):
        text = _fill(rng, rng.choice(phrases.SHORT))
        if len(text.split()) == 5:
            return text
    raise ValueError("no sentence of 5 words can be built from the phrases")


def _answer3(rng: random.Random) -> str:
    middle = _long_sentence(rng, rng.randint(18, 26))
    return " ".join((_fill(rng, rng.choice(phrases.OPENERS)), middle, _fill(rng, rng.choice(phrases.CLOSERS))))


def _mixed(rng: random.Random) -> str:
    return _fill(rng, rng.choice(phrases.MIXED)).replace("m..", "m.")


_WRITERS = {"words25": _words25, "words5": _words5, "agent": _agent, "answer3": _answer3, "mixed": _mixed}
