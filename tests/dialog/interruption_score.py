"""Scores the classifier on the labelled list, as a conversation would use it: word by word, then the whole."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from antiphon.dialog.interruption import InterruptionSettings, Overlap, judge

LIST = Path(__file__).parent / "data" / "interruptions.tsv"
WORD_S = 0.3


@dataclass(frozen=True)
class Example:
    label: str
    language: str
    text: str
    agent_text: str


@dataclass(frozen=True)
class Score:
    """``selectivity``: how many of the sounds that are no interruption leave the agent speaking. ``yields``: how many
    interruptions stop it. ``named``: how many got their very label. ``words``: after how many words it stopped."""

    examples: int
    selectivity: float
    yields: float
    named: float
    words: float
    wrong: tuple[str, ...]


def examples(half: str = "all") -> list[Example]:
    """``tuned``: every other example, from the first; ``reported``: those between."""
    with LIST.open(encoding="utf-8", newline="") as lines:
        rows = [Example(*row) for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]
    return {"all": rows, "tuned": rows[::2], "reported": rows[1::2]}[half]


def stopped_at(example: Example, settings: InterruptionSettings) -> tuple[int | None, str]:
    """The number of words after which the agent stops (None: never), and the final judgement."""
    words = example.text.split()
    final = judge(Overlap(example.text, WORD_S * max(1, len(words)), example.agent_text, True), settings).meaning
    for n in range(1, len(words)):
        so_far = Overlap(" ".join(words[:n]), WORD_S * n, example.agent_text)
        if judge(so_far, settings).meaning == "interruption":
            return n, final
    return (len(words), final) if final == "interruption" else (None, final)


def score(rows: Sequence[Example], settings: InterruptionSettings | None = None) -> Score:
    settings = settings or InterruptionSettings()
    kept = stops = named = 0
    after: list[int] = []
    wrong: list[str] = []
    for example in rows:
        words, final = stopped_at(example, settings)
        named += final == example.label
        if (words is not None) == (example.label == "interruption"):
            kept += example.label != "interruption"
            stops += example.label == "interruption"
            after += [words] if words is not None else []
        else:
            wrong.append(f"{example.label}: {example.text!r} stops at {words}, {final}")
    others = sum(example.label != "interruption" for example in rows)
    wanted = len(rows) - others
    return Score(len(rows), kept / others, stops / wanted, named / len(rows), sum(after) / len(after), tuple(wrong))
