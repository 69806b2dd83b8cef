"""What the server's recorder wrote comes back on the recording's line of time, and its stages as bars."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from examples.demo.records import read_records
from examples.demo.stages import bars

from .planted_story import Plan, record

LOG = {
    "session": "s", "unix_s": 1_000.5, "after_s": 5.5, "event": "turn", "turn": 1, "outcome": "answered", "cause": None,
    "silence_ms": 500.0, "stages_ms": {"final": 200.0, "turn": 300.0}, "at_s": {"speech_end": 4.0, "heard": 4.5},
    "speculation": "right", "ledger": [{"at_s": 3.0, "kind": "turn.started"}, {"at_s": 5.0, "kind": "tool.called",
    "reason": "c1 read k", "fault": "tool"}],
    "tools": [{"call_id": "c1", "name": "find", "effect": "read", "state": "done"}],
}  # fmt: skip


def write(root: Path, kind: str, *lines: dict) -> None:
    folder = root / kind / "2026-12-01"
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def test_the_kinds_are_joined_and_placed_in_the_recording(tmp_path: Path) -> None:
    write(tmp_path, "log", {"event": "begin", "unix_s": 995.0, "after_s": 0.0}, LOG)
    write(tmp_path, "transcript", {"turn": 1, "text": "where is it"})
    write(tmp_path, "generated", {"turn": 1, "text": "There it is.", "heard": "There it"})
    write(tmp_path, "retrieved", {"turn": 1, "call_id": "c1", "arguments": "{}", "content": "there"})
    (found,) = read_records(tmp_path, began_unix_s=994.0)  # the session began a second after the recording
    assert (found.said, found.reply, found.heard) == ("where is it", "There it is.", "There it")
    assert found.moments == {"speech_end": 5.0, "heard": 5.5}
    assert [(entry.at_s, entry.kind, entry.fault) for entry in found.ledger] == [
        (4.0, "turn.started", ""), (6.0, "tool.called", "tool"),
    ]  # fmt: skip
    assert [(tool.name, tool.content, tool.state) for tool in found.tools] == [("find", "there", "done")]
    assert found.stages == (("final", 0.2), ("turn", 0.3))
    assert found.began_s == 4.0


def test_kinds_that_were_not_kept_are_empty(tmp_path: Path) -> None:
    write(tmp_path, "log", LOG)
    (found,) = read_records(tmp_path, 994.0)
    assert (found.said, found.reply, found.tools[0].arguments) == ("", "", "")


def test_bars_follow_each_other_and_sum_to_the_silence() -> None:
    found = bars(record(1, 2.0, 3.0, "There."))
    assert [bar.name for bar in found] == ["final", "turn", "llm", "unit", "tts", "send", "playback"]
    assert all(one.to_s == pytest.approx(other.from_s) for one, other in pairwise(found))
    assert found[-1].to_s == pytest.approx(0.5)
    early = {bar.name: bar.early_s for bar in found}
    assert early["llm"] == pytest.approx(0.1)
    assert early["tts"] == pytest.approx(0.05)


def test_a_tool_that_came_before_the_brain_stands_before_it() -> None:
    stages = (("final", 0.1), ("turn", 0.2), ("tool", 0.3), ("llm", 0.1), ("tts", 0.1), ("send", 0.0))
    found = bars(replace(record(1, 2.0, 3.0, "There."), stages=stages))
    assert [bar.name for bar in found][2:4] == ["tool", "llm"]


def test_each_line_has_its_own_turns_and_the_sum_beside_the_recording() -> None:
    story = Plan().story()
    assert [[turn.number for turn in chapter.records] for chapter in story.chapters] == [[1], [2], [3], [4], [5], [6]]
    for chapter, _ in story.spoken():
        assert chapter.apart_s == pytest.approx(0.0, abs=0.0101)
    assert len(story.spoken()) == 5


def test_a_turn_that_was_taken_back_and_its_continuation_are_one_line() -> None:
    story = Plan().story()
    early = replace(record(7, 16.2, 16.8, ""), moments={}, outcome="taken_back", stages=())
    records = tuple(sorted((*story.records, early), key=lambda turn: turn.began_s))
    chapter = replace(story.chapters[4], records=tuple(turn for turn in records if 16.0 <= turn.began_s < 21.0))
    assert chapter.answered is not None
    assert chapter.answered.number == 5
