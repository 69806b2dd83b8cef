"""Texts as words with the marks that follow them.

Three sources, each a plain copy of a public repository: Project Gutenberg's books (public domain; one folder a book),
Taskmaster (people's requests and an assistant's answers; CC BY 4.0), PolyAI's task-specific datasets (what guests ask
of a restaurant and customers of a bank; CC BY 4.0). Nothing of the pauses that the scorer is judged by is in them:
``without`` leaves out what shares seven words in a row with a given text.
"""

import argparse
import csv
import json
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from antiphon.models.utterance_pieces import normalised, plain

NONE, SOFT, END, DONE, LOOSE = range(5)
"""What follows a word: nothing, a comma, a sentence's end, the end of all that somebody said; and a semicolon, a colon
or a dash, after which a reader may well sound as if a sentence were done: any of the second and third."""

_MARKS = {",": SOFT, ";": LOOSE, ":": LOOSE, "-": LOOSE, ".": END, "?": END, "!": END}
_WRITTEN = re.compile(r"[0-9]+(?:[.:][0-9]+)*[A-Za-z]*|[A-Za-z]+[A-Za-z0-9]*(?:'[A-Za-z]+)*|[.?!,;:-]")
"""The tokens of the utterance model before small letters and zeros."""
_SHARED = 7


@dataclass(frozen=True, slots=True)
class Said:
    """``words``, as they are written, and, for each, its mark. ``closed``: its end is the end of what somebody said."""

    words: tuple[str, ...]
    marks: tuple[int, ...]
    closed: bool


def read(text: str) -> tuple[list[str], list[int]]:
    """Words with their capitals and digits, and the mark after each."""
    text = plain(text.replace("--", " - ").replace("_", " "))
    words: list[str] = []
    marks: list[int] = []
    for token in _WRITTEN.findall(text):
        if token in _MARKS:
            if marks and marks[-1] in (NONE, SOFT, LOOSE):
                marks[-1] = _MARKS[token]
        else:
            words.append(token)
            marks.append(NONE)
    return words, marks


def arguments(parser: argparse.ArgumentParser) -> None:
    """Where the sources lie, and what is to be left out of them."""
    parser.add_argument("--books", type=Path, required=True)
    parser.add_argument("--taskmaster", type=Path, required=True)
    parser.add_argument("--polyai", type=Path, required=True)
    parser.add_argument("--not-in", type=Path, help="texts, one a line: what shares seven words with one is left out")


def sayings(args: argparse.Namespace) -> Iterator[Said]:
    """All sources, in a fixed order."""
    barred = args.not_in.read_text("utf-8").splitlines() if args.not_in else []
    return without((*books(args.books), *taskmaster(args.taskmaster), *requests(args.polyai)), barred)


def shown(said: Said, rng: random.Random) -> list[str]:
    """The mark that is shown after each word: a recogniser's are now lost, now made up."""
    bare, wild = rng.random() < 0.3, rng.random() < 0.3
    found = []
    for mark in said.marks:
        if mark == NONE:
            found.append(("." if rng.random() < 0.5 else ",") if wild and rng.random() < 0.04 else "")
        elif bare or rng.random() < 0.1:
            found.append("")
        else:
            found.append({SOFT: ",", END: ".", DONE: ""}.get(mark, rng.choice(",.")))
    return found


def as_heard(said: Said, rng: random.Random) -> tuple[str, list[int], tuple[str, ...]]:
    """The text, where its words end, and the mark shown after each. Marks as by :func:`shown`."""
    marks = shown(said, rng)
    text, ends, begins = "", [], True
    for word, mark in zip(said.words, marks, strict=True):
        text += (" " if text else "") + (word[0].upper() + word[1:] if begins else word)
        ends.append(len(text))
        text += mark
        begins = mark == "."
    return text, ends, tuple(marks)


def books(folder: Path) -> Iterator[Said]:
    """One paragraph after another, each cut into runs of at most sixty words that begin with a sentence."""
    for book in sorted(folder.iterdir()):
        texts = sorted(book.glob("*.txt"), key=lambda path: ("-" in path.stem, path.name))
        if not texts:
            continue
        text = texts[0].read_text("utf-8", errors="replace").replace("\r", "")
        text = text.split("*** START OF", 1)[-1].split("*** END OF", 1)[0]
        for paragraph in re.split(r"\n\s*\n", text):
            words, marks = read(paragraph)
            if len(words) < 4 or marks[-1] != END:
                continue  # headings, verses
            start = 0
            for at, mark in enumerate(marks):
                if mark == END and (at + 1 - start >= 30 or at + 1 == len(marks)):
                    yield Said(tuple(words[start : at + 1]), tuple(marks[start : at + 1]), closed=False)
                    start = at + 1


def taskmaster(folder: Path) -> Iterator[Said]:
    """What users and assistants say, TM-3 and TM-4."""
    for file in sorted(folder.glob("TM-4-2024/data/*.json")):
        for call in json.loads(file.read_text("utf-8")):
            yield from filter(None, (_said(turn.get("text", "")) for turn in call.get("utterances", ())))
    for file in sorted(folder.glob("TM-3-2020/splits/*/*.tsv")):
        for line in file.read_text("utf-8").splitlines():
            context, _, rest = line.partition("\t")
            turns = re.findall(r"<[UA]>([^<]*)", context)
            answer = rest.partition("\t")[0]
            last = [answer[3:]] if answer.startswith("[A]") else []
            yield from filter(None, map(_said, (*turns, *last)))


def requests(folder: Path) -> Iterator[Said]:
    """What guests of a restaurant and customers of a bank ask."""
    for file in sorted(folder.glob("span_extraction/restaurant8k/train_*.json")):
        for item in json.loads(file.read_text("utf-8")):
            yield from filter(None, [_said(item["userInput"]["text"])])
    with (folder / "banking_data/train.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            yield from filter(None, [_said(row["text"])])


def _said(text: str) -> Said | None:
    words, marks = read(text)
    if not words or len(words) > 60:
        return None
    marks[-1] = DONE
    return Said(tuple(words), tuple(marks), closed=True)


def without(some: Iterable[Said], texts: Iterable[str]) -> Iterator[Said]:
    """All of ``some`` that share no seven words in a row with ``texts``; none of fewer words over 40 times."""
    known = set()
    for text in texts:
        words = _small(read(text)[0])
        known.update(tuple(words[at : at + _SHARED]) for at in range(len(words) - _SHARED + 1))
    seen: dict[tuple[str, ...], int] = {}
    for said in some:
        words = _small(said.words)
        if said.closed:
            seen[words] = seen.get(words, 0) + 1
            if seen[words] > (40 if len(words) < _SHARED else 1):
                continue
        runs = (words[at : at + _SHARED] for at in range(len(words) - _SHARED + 1))
        if known.isdisjoint(runs):
            yield said


def _small(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(normalised, words))
