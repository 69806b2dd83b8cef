from pathlib import Path

import msgspec
import pytest

from antiphon.bench.snapshot import FORMAT, Snapshot, Spoken, changed_phonemes, compare, read_snapshot, write_snapshot
from antiphon.core.errors import InvalidInput

from .reports import AT


def spoken(text: str, phonemes: str, audio_s: float = 1.0, **changes: object) -> Spoken:
    values = {"language": "en", "words": (text,), "chunks": 5, "messages": "timestamps, chunk"} | changes
    return Spoken(text=text, phonemes=tuple(phonemes.split()), audio_s=audio_s, **values)  # type: ignore[arg-type]


def snapshot(*texts: Spoken, **changes: object) -> Snapshot:
    fields = {"chunk": ("data", "type"), "timestamps": ("type", "word_timestamps")}
    values: dict[str, object] = {"server": "a", "model": "m1", "voice": "v", "workload": "w", "fields": fields}
    return Snapshot(format=FORMAT, conditions=AT, texts=texts, **(values | changes))  # type: ignore[arg-type]


def test_only_what_changed_in_a_pronunciation_is_listed() -> None:
    assert changed_phonemes(["t", "eɪ", "t", "oʊ"], ["t", "ɑː", "t", "oʊ"]) == [("eɪ", "ɑː")]
    assert changed_phonemes(["a", "b"], ["b", "c"]) == [("a", ""), ("", "c")]
    table = compare(
        snapshot(spoken("tomato", "t ə m eɪ t oʊ"), spoken("yes", "j ɛ s")),
        snapshot(spoken("tomato", "t ə m ɑː t oʊ"), spoken("yes", "j ɛ s")),
    )[0]
    assert table.rows == (("tomato", 1, "eɪ > ɑː"),)
    assert "1 of 2 texts" in table.notes[0]


def test_lengths_that_changed_are_listed_with_the_worst_first() -> None:
    before = snapshot(spoken("a", ""), spoken("b", ""), spoken("c", ""))
    after = snapshot(spoken("a", "", 1.01), spoken("b", "", 1.1), spoken("c", "", 0.7))
    table = compare(before, after)[1]
    assert [(row[0], row[3]) for row in table.rows] == [("c", -30.0), ("b", 10.0)]


def test_what_a_client_sees_is_compared() -> None:
    before = snapshot(spoken("a", ""), spoken("b", ""))
    after = snapshot(
        spoken("a", "", messages="chunk, timestamps"), spoken("b", "", 0.0, error="at capacity"),
        model="m2", fields={"chunk": ("data", "flush_id", "type")},
    )  # fmt: skip
    rows = {str(row[0]): row[1:] for row in compare(before, after)[2].rows}
    assert rows["fields of chunk"] == ("data, type", "data, flush_id, type")
    assert rows["fields of timestamps"][1] == "not sent"
    assert rows["model"] == ("m1", "m2")
    assert rows["order of messages, 1 texts"] == ("timestamps, chunk", "chunk, timestamps")
    assert rows["error: b"] == ("spoken", "at capacity")


def test_equal_snapshots_differ_in_nothing() -> None:
    one = snapshot(spoken("a", "x y"))
    pronunciations, lengths, wire = compare(one, one)
    assert pronunciations.rows == lengths.rows == ()
    assert [row[0] for row in wire.rows] == ["audio per message, median"]


def test_a_snapshot_is_kept_and_read(tmp_path: Path) -> None:
    one = snapshot(spoken("a", "x y"))
    write_snapshot(one, tmp_path / "s.json")
    assert read_snapshot(tmp_path / "s.json") == one
    (tmp_path / "s.json").write_bytes(msgspec.json.encode({"format": "other"}))
    with pytest.raises(InvalidInput, match="no snapshot"):
        read_snapshot(tmp_path / "s.json")
