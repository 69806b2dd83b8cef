import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from antiphon.bench.corpus import Spoken
from antiphon.bench.stt_options import EarServer
from antiphon.cli import bench_clips
from antiphon.cli.bench_clips import ClipSources, gather
from antiphon.core.errors import InvalidInput, ModelUnavailable

SERVER = EarServer("http://127.0.0.1:1")
TONE = (0.3 * np.sin(np.arange(16_000) / 10)).astype(np.float32)


def quiet(_: str) -> None: ...


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "read"
    place.mkdir()
    soundfile.write(place / "a.wav", TONE, 16_000)
    soundfile.write(place / "b.wav", TONE, 16_000)
    return place


def test_texts_beside_a_folder_are_found(folder: Path) -> None:
    without = gather(ClipSources(speech=(folder,)), SERVER, quiet)
    assert [clip.reference for clip in without.clips] == [None, None]
    assert "offline recogniser only" in without.notes[0]
    folder.with_suffix(".tsv").write_text("a.wav\tone\n")
    assert [clip.reference for clip in gather(ClipSources(speech=(folder,)), SERVER, quiet).clips] == ["one"]


def test_noises_are_also_streams_in_which_nothing_is_said(folder: Path) -> None:
    found = gather(ClipSources(noise=folder, rir=folder, nothing_s=1.0), SERVER, quiet)
    assert {"a", "b"} < {clip.name for clip in found.unspoken}
    assert set(found.noises) == set(found.rooms) == {"a", "b"}
    assert not found.clips


def test_turns_are_rebuilt_from_the_lists_own_folder_unless_told_otherwise(folder: Path) -> None:
    parts = [{"file": "a.wav"}]
    (folder / "turns.json").write_text(json.dumps([{"name": "t", "set": "real voices", "parts": parts}]))
    found = gather(ClipSources(turns=folder / "turns.json"), SERVER, quiet)
    assert [clip.name for clip in found.turns] == ["t"]
    elsewhere = ClipSources(turns=folder / "turns.json", recordings=(folder.parent,))
    assert sum(gather(elsewhere, SERVER, quiet).turns_left_out.values()) == 1
    with pytest.raises(InvalidInput, match="--half"):
        gather(ClipSources(turns=folder / "turns.json", half="third"), SERVER, quiet)


def test_without_any_source_sentences_are_synthesised_and_labelled(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object) -> object:
        def speak(texts: object) -> list[Spoken]:
            raise ModelUnavailable("it does not speak")

        return speak

    monkeypatch.setattr(bench_clips, "by_server", nobody)
    monkeypatch.setattr(bench_clips, "hibari_voice", lambda texts: [Spoken(TONE) for _ in texts])
    found = gather(ClipSources(), SERVER, quiet)
    assert len(found.clips) == bench_clips.DEFAULT_SENTENCES
    assert {clip.group for clip in found.clips} == {"synthesised"}
    assert "hibari" in found.notes[0]
