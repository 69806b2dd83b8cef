from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from antiphon.bench.clip import ClipWord
from antiphon.bench.corpus import Spoken, read_folder, read_texts, recordings, spread, synthesised
from antiphon.core.errors import InvalidInput


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three recordings at 8 kHz: half a second of silence, a second of tone."""
    place = tmp_path / "read"
    place.mkdir()
    tone = 0.3 * np.sin(2 * np.pi * 300 * np.arange(8_000) / 8_000)
    for name in ("a.wav", "b.flac", "c.wav"):
        soundfile.write(place / name, np.concatenate((np.zeros(4_000), tone)), 8_000)
    (tmp_path / "read.tsv").write_text("file\ttext\nread/a.wav\tone two\nc\tthree\n")
    return place


def test_recordings_come_at_16_khz_with_their_true_ends(folder: Path) -> None:
    clips = recordings(folder)
    assert [clip.name for clip in clips] == ["a.wav", "b.flac", "c.wav"]
    assert {clip.audio_s for clip in clips} == {1.5}
    assert {clip.group for clip in clips} == {"read"}
    assert clips[0].true_start_s == pytest.approx(0.5, abs=0.011)
    assert clips[0].reference is None


def test_texts_are_found_by_path_or_name_and_choose_the_files(folder: Path) -> None:
    clips = recordings(folder, read_texts(folder.with_suffix(".tsv")))
    assert [(clip.name, clip.reference) for clip in clips] == [("a.wav", "one two"), ("c.wav", "three")]


def test_a_limit_spreads_over_the_folder(folder: Path) -> None:
    assert spread(list("abcdef"), 3) == ["a", "c", "e"]
    assert spread(list("abc"), 0) == spread(list("abc"), 9) == ["a", "b", "c"]
    assert len(recordings(folder, limit=2)) == 2


def test_what_cannot_be_read_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no folder"):
        recordings(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="with a text"):
        recordings(folder, {"z.wav": "nobody"})
    (folder / "d.wav").write_bytes(b"no sound at all, but long enough to be looked at")
    with pytest.raises(InvalidInput, match=r"d\.wav"):
        read_folder(folder)
    (tmp_path / "bad.tsv").write_text("a.wav one two\n")
    with pytest.raises(InvalidInput, match="line 1"):
        read_texts(tmp_path / "bad.tsv")


def test_synthesised_sentences_have_quiet_before_them_and_moved_word_times() -> None:
    tone = (0.3 * np.sin(np.arange(16_000) / 10)).astype(np.float32)
    asked: list[str] = []

    def voice(texts: Sequence[str]) -> list[Spoken]:
        asked.extend(texts)
        return [Spoken(tone, (ClipWord("word", 0.1, 0.4),)) for _ in texts]

    clips = synthesised(voice, 2)
    assert [clip.reference for clip in clips] == asked
    assert len(set(asked)) == 2
    assert clips[0].words == (ClipWord("word", 0.4, 0.7),)
    assert clips[0].true_start_s == pytest.approx(0.3, abs=0.011)
    assert clips[0].audio_s == pytest.approx(1.3)
