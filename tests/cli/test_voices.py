"""``antiphon voices``: what stands in the list."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from typer.testing import CliRunner

from antiphon.cli.app import app
from antiphon.core.clock import ManualClock
from antiphon.engine.build import House
from antiphon.engine.fake import FAKE_VOICE, FakeVoice
from antiphon.engine.registry import Registry
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.tts import TtsEngine

command = import_module("antiphon.cli.voices")


@pytest.fixture(autouse=True)
def house(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(ManualClock(), 0)
    other = FakeVoice()
    other.name = "espeak"
    rosa = replace(FAKE_VOICE, id="rosa", name="Rosa", engine="espeak", language="pt", locales=("pt-BR", "pt"))
    other.voices = (replace(rosa, quality="formant; by rules", licence="GPL-3.0-or-later"),)

    @contextmanager
    def opened(*_: Any) -> Iterator[House]:
        yield House(scheduler, Registry([TtsEngine(FakeVoice(), scheduler), TtsEngine(other, scheduler)]))

    monkeypatch.setattr(command, "open_house", opened)


def listed(*options: str) -> str:
    result = CliRunner().invoke(app, ["voices", *options])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_line_for_each_voice_says_what_it_is() -> None:
    lines = listed().splitlines()
    assert len(lines) == 3
    assert lines[1].split()[:3] == ["en-US", "Fake", "(default)"]
    assert lines[2].split() == ["pt-BR", "Rosa", "espeak", "formant", "gender_neutral", "GPL-3.0-or-later", "rosa"]


@pytest.mark.parametrize(("language", "names"), [("pt-PT", ["Rosa"]), ("en", ["Fake"]), ("de", [])])
def test_only_those_that_speak_a_language(language: str, names: list[str]) -> None:
    found = json.loads(listed("--language", language, "--json"))
    assert [voice["name"] for voice in found] == names
    assert all({"engine", "language", "quality", "licence"} <= set(voice) for voice in found)
