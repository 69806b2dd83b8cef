"""Voices read aloud and are heard: the report says of each what came of it, with a scripted ear."""

from dataclasses import replace

import numpy as np
import pytest

from antiphon.bench.conditions import Conditions
from antiphon.bench.library import read
from antiphon.bench.player import Player
from antiphon.bench.read_aloud import LISTENED, Speaker, read_aloud, report, resumed, sentences, workload
from antiphon.bench.recording import Recording, Take
from antiphon.bench.report import json_bytes, markdown
from antiphon.bench.target.contract import Line, finish
from antiphon.core.errors import InvalidInput
from antiphon.text.languages import LANGUAGES

AT = Conditions("now", "box", "cpu", 2, 1, (), "system", "3.11", {}, {}, {}, "")


class Reader:
    """Answers each line with a second of tone; fails where ``fails`` is in the text."""

    name = "reader"

    def __init__(self, fails: str = "\0") -> None:
        self._fails = fails

    async def open(self, streams: int) -> None: ...

    async def speak(self, line: Line, recording: Recording) -> None:
        recording.sent()
        if self._fails in line.text:
            recording.fail("503: not here", 503)
            return
        tone = (3_000 * np.sin(np.arange(24_000) * 0.05)).astype("<i2")
        recording.chunk(tone.tobytes())
        recording.end()

    def take(self, recording: Recording) -> Take:
        return finish(recording, recording.payloads, 24_000)

    async def close(self) -> None: ...


class Mos:
    speech = background = overall = 3.5


def speaker(language: str, target: Reader) -> Speaker:
    return Speaker("ann", language, language, "scripted", "neural", target)


def test_every_language_has_sentences_of_its_own() -> None:
    well_known = {"de", "en", "es", "fr", "hi", "it", "ja", "pt", "zh"}
    assert set(LANGUAGES) - set(sentences()) == {"or"}  # the recogniser does not know it
    for language, lines in sentences().items():
        assert language in LANGUAGES
        assert len(lines) == len(set(lines)) == (8 if language in well_known else 3)
        assert not any(character.isdigit() for line in lines for character in line)
    assert set(workload(["en", "en", "ja"])) == {"read_aloud/en", "read_aloud/ja"}


def test_what_is_heard_is_counted_against_what_was_said() -> None:
    said = iter(sentences()["es"])
    with Player() as player:
        spoken = read_aloud(
            player, speaker("es", Reader()), lambda samples, language: next(said).upper() + " sí", lambda samples: Mos()
        )
    assert len(spoken.sentences) == 8
    assert all(each.errors.errors == 1 for each in spoken.sentences)  # the word too many
    text = markdown(report([spoken], AT))
    assert "| ann" in text
    assert "| 3.50" in text
    assert sum(each.overall is not None for each in spoken.sentences) == LISTENED


def test_a_sentence_that_does_not_come_counts_with_all_its_words() -> None:
    failing = sentences()["en"][1]
    with Player() as player:
        spoken = read_aloud(player, speaker("en-GB", Reader(failing[:20])), lambda samples, language: "", count=2)
    lost = spoken.sentences[1]
    assert lost.error.startswith("503")
    assert lost.errors.errors == lost.errors.words > 10
    assert [table.rows[0][-1] for table in report([spoken], AT).tables] == [1, 1]


def test_a_language_without_sentences_is_refused() -> None:
    with Player() as player, pytest.raises(InvalidInput, match="no sentences in 'xx'"):
        read_aloud(player, speaker("xx", Reader()), lambda samples, language: "")


def test_a_language_is_the_sum_of_its_voices() -> None:
    with Player() as player:
        ann, ben = (
            replace(speaker(locale, Reader()), name=name) for name, locale in (("ann", "en-GB"), ("ben", "en-US"))
        )
        both = [read_aloud(player, each, lambda samples, language: "thank you", count=2) for each in (ann, ben)]
    languages, voices = report(both, AT).tables
    assert [row[:4] for row in languages.rows] == [("en", "scripted", "neural", 2)]
    assert languages.rows[0][4] == 4
    assert [row[0] for row in voices.rows] == ["ann", "ben"]


def test_an_interrupted_run_is_gone_on_with() -> None:
    at = replace(AT, models={"ear": "1"}, workloads=workload(["es"]))
    heard: list[str] = []

    def recognise(samples: object, language: str) -> str:
        heard.append(language)
        return "gracias"

    ann = speaker("es", Reader())
    with Player() as player:
        first = read_aloud(player, ann, recognise, count=3)
        kept = read(json_bytes(report([first], at)))
        (before,) = resumed(kept, at)
        assert before == first
        assert before.is_by(ann)
        assert not before.is_by(replace(ann, name="ben"))
        heard.clear()
        whole = read_aloud(player, ann, recognise, count=5, earlier=before.sentences)
        assert len(heard) == 2
        assert [each.said for each in whole.sentences] == list(sentences()["es"][:5])
        assert read_aloud(player, ann, recognise, count=5, earlier=whole.sentences) == whole
    with pytest.raises(InvalidInput, match="another ear"):
        resumed(kept, replace(at, models={"ear": "2"}))
    with pytest.raises(InvalidInput, match="none of voices"):
        resumed(replace(kept, details={}), at)
