from pathlib import Path
from typing import Any

import numpy as np
import pytest

from train.voice import evaluate

SINGLE = next(i for i, (kind, _) in enumerate(evaluate.heldout()) if kind == "single")


def tone(line: int, text: str) -> evaluate.Real:
    return np.asarray(0.1 * np.sin(2 * np.pi * 200 * np.arange(24_000) / 24_000), np.float32)


def row(line: int, heard: str | dict[str, str], **more: Any) -> evaluate.Row:
    kind = evaluate.heldout()[line][0]
    base: evaluate.Row = {
        "line": line,
        "kind": kind,
        "seconds": 2.0,
        "f0_spread_st": 2.0,
        "f0_st": 12.0,
        "level_db": -20.0,
        "clicks": 0,
        "largest_step": 5.0,
        "heard": {"ear": heard} if isinstance(heard, str) else heard,
    }
    return base | more


def test_every_line_is_measured_and_known_answers_are_kept() -> None:
    asked: list[int] = []

    def hear(samples: evaluate.Real) -> str:
        asked.append(len(samples))
        return " hello "

    rows = evaluate.measure(tone, {"ear": hear}, None, [0, SINGLE])
    assert [(entry["line"], entry["kind"]) for entry in rows] == [(0, "agent"), (SINGLE, "single")]
    assert rows[0]["heard"] == {"ear": "hello"}
    assert asked == [16_000 + 9_600] * 2
    again = evaluate.measure(tone, {"ear": hear}, None, [0, SINGLE], rows)
    assert again == rows
    assert len(asked) == 2


def test_rates_are_by_class_and_differences_are_paired() -> None:
    lines = evaluate.heldout()
    teacher = [row(line, lines[line][1]) for line in range(10)]
    worse = [row(line, lines[line][1].rsplit(" ", 1)[0], f0_spread_st=1.8, mos=[3, 4, 3]) for line in range(10)]
    found = evaluate.figures("student", worse, teacher)
    words = found["wer"]["ear"]["all"]["words"]
    assert found["wer"]["ear"]["all"]["errors"] == 10
    assert found["wer"]["ear"]["agent"] == found["wer"]["ear"]["all"]
    against = found["against_teacher"]
    assert against["wer"]["ear"]["all"]["difference"] == pytest.approx(10 / words, abs=1e-4)
    assert against["wer"]["ear"]["all"]["upper"] >= against["wer"]["ear"]["all"]["difference"]
    assert against["f0_spread_ratio"] == 0.9
    assert "dnsmos_overall" not in against
    assert "| student | ear |" in evaluate.table([found])


def test_skipped_words_are_those_that_no_recogniser_heard() -> None:
    line = next(i for i, (_, text) in enumerate(evaluate.heldout()) if text == "Is Desmond there?")
    both = row(line, {"a": "Is there?", "b": "Is Desmond?"})
    assert evaluate.slips([both], ["a", "b"]) == {"skipped": [], "repeated": []}
    lost = row(line, {"a": "Is there?", "b": "Is there"})
    assert evaluate.slips([lost], ["a", "b"])["skipped"] == [f"{line}: desmond"]
    twice = row(line, {"a": "Is Desmond Desmond there?", "b": "Is Desmond Desmond there"})
    assert evaluate.slips([twice], ["a", "b"])["repeated"] == [f"{line}: desmond"]
    mute = row(line, {"a": ""})
    assert len(evaluate.slips([mute], ["a"])["skipped"]) == 3


def test_audio_comes_from_wavs_or_arrays(tmp_path: Path) -> None:
    import wave

    samples = (1000 * np.sin(np.arange(2400))).astype(np.int16)
    with wave.open(str(tmp_path / "007.wav"), "wb") as file:
        file.setparams((1, 2, 24_000, 2400, "NONE", ""))
        file.writeframes(samples.tobytes())
    np.savez(tmp_path / "all.npz", **{"007": samples})
    from_wav, from_npz = evaluate.read_audio(tmp_path)(7, ""), evaluate.read_audio(tmp_path / "all.npz")(7, "")
    assert np.array_equal(from_wav, from_npz)
    assert from_wav.dtype == np.float32
    assert from_wav[1] == pytest.approx(samples[1] / 32767)
    with wave.open(str(tmp_path / "008.wav"), "wb") as file:
        file.setparams((1, 2, 16_000, 2400, "NONE", ""))
        file.writeframes(samples.tobytes())
    with pytest.raises(SystemExit, match="24000"):
        evaluate.read_audio(tmp_path)(8, "")
