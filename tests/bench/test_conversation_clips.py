"""The labelled clips: how many, of what, and what is made of their calls."""

import numpy as np
import pytest

from antiphon.audio.activity import speech_level_dbfs
from antiphon.bench.conversation_call import CALLER_RATE_HZ
from antiphon.bench.conversation_clips import (
    SPEECH_DBFS,
    LabelledClip,
    Verdict,
    clip_part,
    clip_scenario,
    counts,
    labelled,
    shipped_clips,
    verdict_of,
)
from antiphon.bench.conversation_tables import selectivity
from antiphon.core.frame import Samples
from antiphon.protocol import native_messages as wire

from .planted_call import Planted, tone


def speak(text: str, seed: int, speed: float) -> Samples:
    return tone(0.3 + 0.01 * len(text), CALLER_RATE_HZ) * np.float32(0.2 + 0.1 * seed)


@pytest.fixture(scope="module")
def clips() -> list[LabelledClip]:
    return labelled(shipped_clips(), speak)


def test_at_least_a_hundred_of_three_classes(clips: list[LabelledClip]) -> None:
    labels = [clip.label for clip in clips]
    assert len(clips) == 124
    assert {label: labels.count(label) for label in set(labels)} == {
        "interruption": 40, "backchannel": 42, "noise": 42,
    }  # fmt: skip
    assert len({clip.name for clip in clips}) == len(clips)


def test_voices_are_equally_loud_and_noises_as_said(clips: list[LabelledClip]) -> None:
    for clip in clips:
        level = speech_level_dbfs(clip.samples, CALLER_RATE_HZ)
        quieter = float(clip.name.split(" dB")[0].split("-")[-1]) if clip.label == "noise" else 0.0
        assert level == pytest.approx(SPEECH_DBFS - quieter, abs=2.0), clip.name


def test_the_same_seed_gives_the_same_clips(clips: list[LabelledClip]) -> None:
    again = labelled(shipped_clips(), speak)
    assert all(np.array_equal(one.samples, other.samples) for one, other in zip(clips, again, strict=True))
    noises = {"drill": np.ones(CALLER_RATE_HZ, np.float32)}
    assert labelled(shipped_clips(), speak, noises)[-1].samples.std() < 1e-6  # the drill


def test_a_clip_is_played_over_the_greeting(clips: list[LabelledClip]) -> None:
    part = clip_part(shipped_clips(), clips[0], 7)
    (step,) = part.scenario.steps
    assert (step.kind, part.scenario.greeting) == ("interruption", shipped_clips().speech)
    assert clip_scenario(shipped_clips(), clips[-1], 0).steps[0].kind == "backchannel"


def played(clip: LabelledClip, *, cleared: bool, agent_s: float = 8.0) -> Verdict:
    planted = Planted(clip_scenario(shipped_clips(), clip, 0))
    planted.reply("r1", 0.2, agent_s)
    planted.line(2.0, 0.8)
    if cleared:
        planted.note(2.4, wire.Clear(reply_id="r1", fade_ms=40))
    return verdict_of(clip, planted.call())


def test_verdicts() -> None:
    interruption = LabelledClip("Stop.", "interruption", tone(0.8, CALLER_RATE_HZ))
    noise = LabelledClip("cough", "noise", tone(0.8, CALLER_RATE_HZ))
    stopped = played(interruption, cleared=True, agent_s=2.3)
    assert stopped.stopped
    assert stopped.silent_after_s == pytest.approx(0.5, abs=0.011)
    assert played(interruption, cleared=False).stopped is False
    went_on = played(noise, cleared=False)
    assert (went_on.stopped, went_on.hole_s, went_on.error) == (False, 0.0, "")
    assert played(noise, cleared=True, agent_s=2.3).stopped is True
    assert "was not heard" in played(noise, cleared=False, agent_s=1.0).error


def test_selectivity_counts_only_what_could_be_judged() -> None:
    verdicts = [
        Verdict("a", "interruption", True, None, 0.2),
        Verdict("b", "interruption", False, None, None),
        Verdict("c", "backchannel", False, 0.1, None),
        Verdict("d", "backchannel", True, None, None),
        Verdict("e", "noise", False, 0.9, None),
        Verdict("f", "noise", None, None, None, "lost"),
    ]
    assert [counts(verdicts, label) for label in ("interruption", "backchannel", "noise")] == [(2, 1), (2, 1), (1, 0)]
    table = selectivity(verdicts, 2)
    assert [row[:5] for row in table.rows] == [
        ("interruption", 2, 1, 1, None), ("backchannel", 2, 1, 1, 1), ("noise", 1, 0, 1, 0),
    ]  # fmt: skip
    assert table.notes[0].startswith("Selectivity 0.67")
    assert "interruptions that stopped it 0.50" in table.notes[0]
    assert "1 clips could not be judged." in table.notes
