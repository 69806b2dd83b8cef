"""The voice over a scripted graph: whole, in order, without a gap, in calls of bounded length; and what it says where
something is missing. What the real weights say is measured by `antiphon bench voices`."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.core.speech import Rendered
from antiphon.models import kokoro
from antiphon.models.hibari_alphabet import vocabulary
from antiphon.models.kokoro import GRAPH, MODEL, PULL, VOCABULARY, VOICE_FILES, KokoroVoice
from antiphon.models.kokoro_graph import HOP, MAX_TOKENS, KokoroPlan
from antiphon.models.kokoro_voices import VOICES
from antiphon.models.kokoro_windows import MAX_DECODED
from antiphon.text.unit import Spell, Text, Unit

SENTENCE = "The harbour lay quiet in the morning light, and the boats of the night were tied up along the wall."
LONG = f"{SENTENCE[:-1]}, where their owners were already at work, mending what the storm had torn."


class ScriptedGraph:
    """Every token lasts three frames, the pads ten; a sample's value is its place in the plan, in seconds."""

    def __init__(self) -> None:
        self.lines: list[int] = []
        self.decoded: list[int] = []
        self.speeds: list[float] = []

    def plan(self, ids: list[int], style: NDArray[np.float32], speed: float) -> KokoroPlan:
        assert style.shape == (1, 256)
        self.lines.append(len(ids) - 2)
        self.speeds.append(speed)
        durations = np.full(len(ids), 3, np.int64)
        durations[[0, -1]] = 10
        frames = int(durations.sum())
        features = np.arange(frames, dtype=np.float32)[None, None] * np.ones((1, 512, 1), np.float32)
        energy = np.where(np.asarray(ids) == 16, -5.0, 5.0).repeat(2 * durations).astype(np.float32)[None]
        return KokoroPlan(durations, features, np.full((1, 2 * frames), 150, np.float32), energy)

    def decode(self, plan: KokoroPlan, style: NDArray[np.float32], start: int, stop: int) -> NDArray[np.float32]:
        self.decoded.append(stop - start)
        return np.arange(start * HOP, stop * HOP, dtype=np.float32) / 24_000


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> ScriptedGraph:
    scripted = ScriptedGraph()
    monkeypatch.setattr(kokoro, "KokoroGraph", lambda path, sessions: scripted)
    return scripted


@pytest.fixture
def files(tmp_path: Path) -> Callable[[str, str], Path]:
    """A store that has the weights, and two voices."""
    (tmp_path / VOCABULARY).write_text(json.dumps({"vocab": vocabulary()}))
    (tmp_path / GRAPH).write_bytes(b"graph")
    for voice in ("af_heart", "am_adam", "ef_dora"):
        np.zeros((510, 1, 256), np.float32).tofile(tmp_path / f"{voice}.bin")

    def file(model: str, name: str) -> Path:
        assert model == (MODEL if name in (GRAPH, VOCABULARY) else VOICE_FILES)
        if not (tmp_path / name).exists():
            raise ModelUnavailable(f"{name} of the model {model} is missing")
        return tmp_path / name

    return file


def speak(voice: KokoroVoice, unit: Unit, name: str = "af_heart", after: str | None = None) -> list[Rendered]:
    return list(voice.speak(VOICES[name].id if name in VOICES else name, unit, 1_000, 0, after))


def sound(rendered: list[Rendered]) -> NDArray[np.float32]:
    return np.concatenate([part.samples for part in rendered])


def test_a_sentence_is_spoken_whole_without_a_gap(graph: ScriptedGraph, files: Callable[[str, str], Path]) -> None:
    samples = sound(speak(KokoroVoice(files), Unit((Text(SENTENCE),), first=True)))
    assert len(graph.lines) == 1
    assert len(graph.decoded) >= 3
    np.testing.assert_allclose(np.diff(samples[200:-200]), 1 / 24_000, atol=2e-6)  # each follows on the one before it


def test_no_call_of_the_decoder_is_longer_than_its_bound_and_no_text_is_cut(
    graph: ScriptedGraph, files: Callable[[str, str], Path]
) -> None:
    voice = KokoroVoice(files)
    for text in (LONG, "a" * 900, "supercalifragilistic " * 60, "1234567890 " * 40):
        rendered = speak(voice, Unit((Text(text),), first=True))
        words = [word.text for part in rendered for word in part.words]
        assert words == text.split()
    assert max(graph.decoded) * 2 <= MAX_DECODED
    assert max(graph.lines) <= MAX_TOKENS
    assert voice.quantum_bound_s >= 0.5 * max(graph.decoded) * HOP / 24_000


def test_the_first_sound_takes_a_small_part_of_the_work(
    graph: ScriptedGraph, files: Callable[[str, str], Path]
) -> None:
    steps = KokoroVoice(files).speak(VOICES["af_heart"].id, Unit((Text(LONG),), first=True), 0, 0, None)
    while not len(next(steps).samples):
        pass
    first = sum(graph.decoded)
    for _ in steps:
        pass
    assert first <= sum(graph.decoded) / 5


def test_times_follow_the_sound_and_never_come_late(graph: ScriptedGraph, files: Callable[[str, str], Path]) -> None:
    position = 1_000
    last = 0
    for part in speak(KokoroVoice(files), Unit((Text("Hello there, my good friend."),), first=True)):
        for word in part.words:
            assert position <= word.start_sample <= word.end_sample
            assert word.start_sample >= last
            last = word.start_sample
        for phoneme in part.phonemes:
            assert phoneme.start_sample >= position
        position += len(part.samples)
    assert last <= position


def test_the_graph_s_own_padding_is_not_spoken(graph: ScriptedGraph, files: Callable[[str, str], Path]) -> None:
    samples = sound(speak(KokoroVoice(files), Unit((Text("Hello."),))))
    planned_s = (10 + 3 * graph.lines[0] + 10) * HOP / 24_000
    assert len(samples) / 24_000 < planned_s - 0.25
    assert samples[200] > 0.1  # what it begins with lies beyond the pad's first 100 ms


def test_pauses_between_units_and_breaks_after_them(graph: ScriptedGraph, files: Callable[[str, str], Path]) -> None:
    voice = KokoroVoice(files)
    plain = sound(speak(voice, Unit((Text("Hello."),))))
    later = sound(speak(voice, Unit((Text("Hello."),)), after="sentence"))
    paused = sound(speak(voice, Unit((Text("Hello."),), pause_s=0.5)))
    assert not later[:1200].any()
    assert len(later) > len(plain)
    assert len(paused) == len(plain) + 12_000
    assert len(sound(speak(voice, Unit((), pause_s=1.0)))) == 24_000


def test_speed_is_the_graph_s_own_and_held_to_what_it_knows(
    graph: ScriptedGraph, files: Callable[[str, str], Path]
) -> None:
    voice = KokoroVoice(files)
    for speed in (1.3, 4.0, 0.25):
        speak(voice, Unit((Text("Hello."),), speed=speed))
    assert graph.speeds == [1.3, 2.0, 0.5]


def test_blends_speak_and_bad_ones_are_told(graph: ScriptedGraph, files: Callable[[str, str], Path]) -> None:
    voice = KokoroVoice(files)
    info = voice.find("af_heart:0.7+am_adam:0.3")
    assert info is not None
    assert len(sound(speak(voice, Unit((Text("Hello."),)), info.id))) > 0
    assert voice.find("af_heart") is None
    with pytest.raises(InvalidInput, match="no part of a blend"):
        voice.find("af_heart+")
    with pytest.raises(ModelUnavailable, match=r"'am_puck' of the blend is missing.*models pull"):
        voice.find("af_heart+am_puck")


def test_without_weights_nobody_speaks_and_each_voice_says_what_to_pull() -> None:
    def nothing(model: str, name: str) -> Path:
        raise ModelUnavailable(f"{name} is missing")

    voice = KokoroVoice(nothing)
    assert voice.voices == ()
    assert len(voice.missing) == 54
    assert all(missing.needs.startswith(PULL) for missing in voice.missing)
    with pytest.raises(ModelUnavailable, match="antiphon models pull kokoro-82m-int8 kokoro-voices"):
        KokoroVoice(nothing, eager=True)


def test_voices_of_languages_without_a_reader_say_what_to_install(files: Callable[[str, str], Path]) -> None:
    bare = KokoroVoice(files, installed=lambda package: False)
    assert {info.name for info in bare.voices} == {"af_heart", "am_adam"}
    needs = {missing.info.name: missing.needs for missing in bare.missing}
    assert needs["ef_dora"] == "pip install 'antiphon[espeak]'"
    assert needs["jf_alpha"] == "pip install 'antiphon[ja]'"
    assert needs["zf_xiaobei"] == "pip install 'antiphon[zh]'"
    assert needs["am_puck"].startswith(PULL)
    assert {info.name for info in KokoroVoice(files, installed=lambda package: True).voices} >= {"af_heart", "ef_dora"}


def test_nothing_is_loaded_before_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, files: Callable[[str, str], Path]
) -> None:
    opened: list[Path] = []
    scripted = ScriptedGraph()
    monkeypatch.setattr(kokoro, "KokoroGraph", lambda path, sessions: opened.append(path) or scripted)
    voice = KokoroVoice(files)
    voice.warm_up()
    assert not opened
    speak(voice, Unit((Text("Hello."),)))
    speak(voice, Unit((Spell("abc"),)))
    assert len(opened) == 1
    KokoroVoice(files, eager=True).warm_up()
    assert len(opened) == 2


def test_british_voices_read_as_britons_do(
    graph: ScriptedGraph, tmp_path: Path, files: Callable[[str, str], Path]
) -> None:
    np.zeros((510, 1, 256), np.float32).tofile(tmp_path / "bf_emma.bin")
    voice = KokoroVoice(files)

    def sounds(name: str) -> str:
        rendered = speak(voice, Unit((Text("The bath was hot."),)), name)
        return "".join(phoneme.text for part in rendered for phoneme in part.phonemes)

    assert sounds("bf_emma") != sounds("af_heart")
    assert "bɑθ" in sounds("bf_emma")
