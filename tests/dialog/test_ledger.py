"""The ledger and the cause of a bad turn."""

import json

from antiphon.dialog.ledger import Entry, Ledger, cause


def entry(kind: str, at_s: float, fault=None, turn: int = 1) -> Entry:
    return Entry(turn, at_s, int(at_s * 16_000), kind, "because", fault)


def test_it_reads_as_text_and_as_json():
    ledger = Ledger()
    ledger.note(entry("turn.ended", 1.25))
    ledger.note(entry("brain.failed", 2.0, "llm"))
    ledger.note(entry("turn.ended", 3.0, turn=2))
    assert ledger.text(1).splitlines() == [
        "    1.250 s  turn 1  turn.ended: because",
        "    2.000 s  turn 1  brain.failed: because  [llm]",
    ]
    dicts = json.loads(json.dumps(ledger.dicts()))
    assert [item["turn"] for item in dicts] == [1, 1, 2]
    assert dicts[1]["fault"] == "llm"
    assert "fault" not in dicts[0]


def test_it_is_bounded():
    ledger = Ledger(max_entries=10)
    for i in range(100):
        ledger.note(entry("x", float(i)))
    assert [item.at_s for item in ledger.entries()] == [float(i) for i in range(90, 100)]


def test_the_first_fault_is_the_cause():
    entries = [entry("brain.asked", 0.0), entry("brain.failed", 1.0, "llm"), entry("voice.failed", 2.0, "tts")]
    assert cause(entries) == "llm"


def test_without_a_fault_the_stage_furthest_beyond_what_is_good_is():
    entries = [
        entry("brain.asked", 0.0),
        entry("brain.first", 1.2),
        entry("voice.text", 1.2),
        entry("voice.first", 3.0),
    ]
    assert cause(entries) == "tts"


def test_a_good_turn_has_no_cause():
    assert cause([entry("brain.asked", 0.0), entry("brain.first", 0.3)]) is None
    assert cause([]) is None


def test_what_is_fresh_is_told_once() -> None:
    ledger = Ledger()
    ledger.note(Entry(1, 0.0, 0, "brain.asked"))
    assert [entry.kind for entry in ledger.take_fresh()] == ["brain.asked"]
    assert ledger.take_fresh() == []
    assert [entry.kind for entry in ledger.entries()] == ["brain.asked"]
