"""The whole bench, small, against a scripted ear on the wire."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from antiphon.bench.clip import Clip, ClipWord
from antiphon.bench.flatness import Minute, judged, minutes_of
from antiphon.bench.report import Report, Table, markdown
from antiphon.bench.stt import run
from antiphon.bench.stt_options import EarServer, SttOptions
from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples

from .scripted_ear import ScriptedEar
from .scripted_server import serving

NOISE = {"white": np.random.default_rng(1).normal(0, 0.1, 4_000).astype(np.float32)}


@pytest.fixture(scope="module")
def ear() -> ScriptedEar:
    return ScriptedEar()


@pytest.fixture(scope="module")
def ear_url(ear: ScriptedEar) -> Iterator[str]:
    with serving(ear) as base:
        yield base


def clip(name: str = "a", **changes: object) -> Clip:
    """A tenth of a second of tone, a quarter of a second of silence."""
    tone = 0.3 * np.sin(2 * np.pi * 300 * np.arange(1_600) / 16_000)
    samples = np.concatenate((tone, np.zeros(4_000))).astype(np.float32)
    values: dict[str, object] = {"name": name, "samples": samples, "speech": (0, 1_600), "reference": "old coat"}
    return Clip(**(values | changes))  # type: ignore[arg-type]


def small(url: str, **changes: object) -> SttOptions:
    values: dict[str, object] = {"server": EarServer(url), "streams": (2,)}
    return SttOptions(**(values | changes))  # type: ignore[arg-type]


def table(report: Report, title: str) -> Table:
    return next(table for table in report.tables if table.title == title)


def column(of: Table, name: str, nth: int = 0) -> list[object]:
    at = [place for place, title in enumerate(of.columns) if title == name][nth]
    return [row[at] for row in of.rows]


def test_finals_errors_and_cost_under_every_load(ear_url: str) -> None:
    report = run(small(ear_url, clips=(clip("a"), clip("b", reference="old hat")), streams=(1, 2), repeat=2))
    finals = table(report, "Finalize")
    assert column(finals, "streams") == [1, 2]
    assert column(finals, "clips") == [4, 4]
    assert column(finals, "failed") == [0, 0]
    assert all(isinstance(value, float) and 0 <= value < 1_000 for value in column(finals, "final p50"))
    # "old goat" was shown and became "Old coat.": one of two words
    assert column(finals, "revised per 100 words") == [50.0, 50.0]
    assert column(table(report, "Words"), "WER %") == [25.0, 25.0]
    assert column(table(report, "Words"), "offline WER %") == [None, None]
    # the server's process is this one: its CPU time and memory could be read
    assert column(table(report, "Cost"), "streams") == [1, 2]
    assert all(isinstance(value, float) for value in column(table(report, "Cost"), "CPU s per s of audio"))


def test_streaming_loss_is_what_streaming_adds_to_the_same_weights(ear_url: str) -> None:
    asked: list[Samples] = []

    def offline(samples: Samples) -> str:
        asked.append(samples)
        return "old hat"

    clips = (clip("a", reference="old hat"), clip("b", reference=None))
    words = table(run(small(ear_url, clips=clips), offline=offline), "Words")
    assert (column(words, "WER %"), column(words, "offline WER %")) == ([50.0], [0.0])
    assert column(words, "streaming loss, points") == [50.0]
    # the clip without a text is compared with the offline one only: 1 of 2 words in each
    assert column(words, "to offline text %") == [50.0]
    # once a clip, all of it
    assert [len(samples) for samples in asked] == [5_600, 5_600]


def test_word_times_are_compared_where_they_are_known(ear_url: str) -> None:
    known = clip("b", group="synthesised", words=(ClipWord("old", 0.01, 0.05), ClipWord("hat", 0.05, 0.1)))
    times = table(run(small(ear_url, clips=(clip(), known))), "Word times")
    assert column(times, "clips of") == ["synthesised"]
    assert column(times, "words") == [1]
    assert (column(times, "start off by p50"), column(times, "end late by")) == ([10.0], [-10.0])


def test_worse_conditions_are_groups_of_their_own(ear_url: str) -> None:
    options = small(
        ear_url, clips=(clip(),), noises=NOISE, snrs_db=(10.0, 5.0), rooms={"hall": np.ones(1, np.float32)},
        telephone=True,
    )  # fmt: skip
    finals = table(run(options), "Finalize")
    assert column(finals, "clips of") == ["clean", "clean, 10 dB", "clean, 5 dB", "clean, room", "clean, telephone"]
    assert column(finals, "failed") == [0] * 5


def test_turns_are_reported_by_set_by_kind_and_together(ear_url: str) -> None:
    tone = clip().samples[:1_600]
    spliced = np.concatenate((tone, np.zeros(3_200, np.float32), tone, np.zeros(4_000, np.float32)))
    clips = (
        clip("a", group="real voices", kind="x"),
        clip("b", group="real voices", kind="y"),
        # a pause of 0.2 s: longer than the 0.1 s after which this ear ends a turn
        clip("c", group="dictations", samples=spliced, speech=(0, 6_400), pauses=((1_600, 4_800),)),
    )
    options = small(ear_url, turns=clips, turn_streams=(3,), turns_left_out={"no recordings": 2})
    turns = table(run(options), "Turns")
    assert column(turns, "set") == ["real voices", "- real voices: x", "- real voices: y", "dictations", "all"]
    assert column(turns, "cut off %") == [None, None, None, 100.0, 100.0]
    assert column(turns, "missing or > 2 s %") == [0.0] * 5
    assert all(90 < value < 1_000 for value in column(turns, "end p50") if isinstance(value, float))
    assert any("no recordings" in note for note in turns.notes)
    # lateness is counted once a clip, not once a row
    assert not any("of 8 clips" in note for note in turns.notes)


def test_words_heard_where_nothing_is_said_are_errors(ear_url: str) -> None:
    silent = clip("silence", samples=np.zeros(1_600, np.float32), speech=None, reference="", group="nothing said")
    nothing = table(run(small(ear_url, unspoken=(silent, replace(silent, name="noise", samples=clip().samples)))),
                    "Nothing said")  # fmt: skip
    assert column(nothing, "words heard") == [0, 2]
    assert column(nothing, "words shown") == [0, 3]
    assert column(nothing, "turns") == [0, 1]


def test_minutes_go_into_one_socket(ear_url: str, ear: ScriptedEar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antiphon.bench.flatness.MINUTE_S", 1.0)
    before = ear.sockets, ear.heard_bytes
    report = run(small(ear_url, clips=(clip(),), streams=(), minutes=4, faster=True))
    minutes = table(report, "4 minutes")
    assert column(minutes, "words") == [2] * 4
    assert column(minutes, "error") == [""] * 4
    # one for trying out, one for the minutes
    assert ear.sockets - before[0] == 2
    assert ear.heard_bytes - before[1] == 3_200 + 4 * 32_000


def test_flat_is_judged_by_the_last_half() -> None:
    rising = [Minute(1.0, 2.0 + at, 1_000 * at, 10) for at in range(4)]
    warm = [Minute(9.0, 9.0, 500, 10)] * 4
    assert (judged(warm + rising).rss_slope_bytes, judged(warm + rising).cpu_slope_s) == (1_000, 1.0)
    assert judged([Minute(1.0, None, None, 0)]).rss_slope_bytes is None


def test_minutes_are_full_and_differ() -> None:
    made = minutes_of([clip("a"), clip("b")], 2, seed=1)
    assert [item.audio_s for item in made] == [60.0, 60.0]
    assert not np.array_equal(made[0].samples, made[1].samples)
    assert np.array_equal(made[1].samples, minutes_of([clip("a"), clip("b")], 2, seed=1)[1].samples)


def test_the_report_is_written_with_every_take(ear_url: str, tmp_path: Path) -> None:
    report = run(small(ear_url, clips=(clip(),), turns=(clip(),), notes=("scripted",), out=tmp_path / "ear.json"))
    read = json.loads((tmp_path / "ear.json").read_bytes())
    assert read["details"]["finals"][0]["takes"][0]["text"] == "Old coat."
    assert read["details"]["turns"][0]["takes"][0]["cut_offs"] == 0
    assert set(read["conditions"]["workloads"]) == {"clips", "turns"}
    assert (tmp_path / "ear.md").read_text() == markdown(report)


def test_a_server_that_refuses_ends_the_run_at_once(ear_url: str, ear: ScriptedEar) -> None:
    ear.refuse = True
    try:
        with pytest.raises(ModelUnavailable, match="does not listen: refused at the handshake: 429"):
            run(small(ear_url, clips=(clip(),)))
    finally:
        ear.refuse = False


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"clips": (clip(),), "streams": (0,)},
        {"clips": (clip(),), "repeat": 0},
        {"unspoken": (clip(),), "minutes": 1},
        {"turns": (clip(),), "turn_snrs_db": (10.0,)},
    ],
)
def test_options_that_make_no_sense_are_refused(ear_url: str, changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        run(small(ear_url, **changes))
