"""The whole bench, small, against the scripted server."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from antiphon.bench import systems
from antiphon.bench.player import Player
from antiphon.bench.report import Report, Table
from antiphon.bench.roundtrip import Reader, read_back
from antiphon.bench.systems import Server
from antiphon.bench.target.contract import Target
from antiphon.bench.target.inproc import InProcess
from antiphon.bench.tts import run
from antiphon.bench.tts_options import TtsOptions
from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples

from .scripted_server import ScriptedServer


def tone_peer(delay_free: bool = True) -> InProcess:
    def load() -> Callable[[str], Iterator[Samples]]:
        def speak(text: str) -> Iterator[Samples]:
            yield np.sin(np.arange(4_800, dtype=np.float32) / 5)

        return speak

    return InProcess("hibari", load, threads=1)


@pytest.fixture(autouse=True)
def _quick_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    def peer(name: str, threads: int, files: object) -> Target:
        return tone_peer()

    monkeypatch.setattr("antiphon.bench.tts.peer", peer)


def small(url: str, **changes: object) -> TtsOptions:
    values: dict[str, object] = {"server": Server(url), "streams": (), "starts": 6, "blocks": 2}
    return TtsOptions(**(values | changes))  # type: ignore[arg-type]


def table(report: Report, title: str) -> Table:
    return next(table for table in report.tables if table.title == title)


def column(of: Table, name: str) -> list[object]:
    return [row[of.columns.index(name)] for row in of.rows]


def test_speed_runs_all_systems_under_all_loads(url: str, scripted: ScriptedServer) -> None:
    steps: list[str] = []
    report = run(small(url, streams=(1, 2), peers=("hibari",)), progress=steps.append)
    speed = table(report, "First audio")
    assert column(speed, "load") == ["1 stream", "1 stream", "2 streams, steady", "2 streams, steady"]
    assert column(speed, "system") == ["antiphon", "hibari", "antiphon", "hibari"]
    assert column(speed, "takes") == [6, 6, 6, 6]
    assert column(speed, "failed") == [0, 0, 0, 0]
    assert all(isinstance(value, float) and value > 0 for value in column(speed, "first audible p50"))
    # blocks in turning order, so that neither is always first
    assert [step.split(":")[0] for step in steps if "1 stream" in step] == ["antiphon", "hibari", "hibari", "antiphon"]


def test_no_text_is_spoken_twice_and_each_has_25_words(url: str, scripted: ScriptedServer) -> None:
    run(small(url, streams=(1, 2), burst=True, burst_times=2))
    texts = [message["transcript"] for message in scripted.heard]
    assert len(texts) > 20
    assert len(set(texts)) == len(texts)
    assert {len(text.split()) for text in texts} == {25}


def test_bursts_stand_in_a_table_of_their_own(url: str) -> None:
    report = run(small(url, streams=(3,), burst=True, burst_times=2))
    assert column(table(report, "Bursts"), "takes") == [6]


def test_capacity_is_searched_and_stated(url: str) -> None:
    report = run(small(url, capacity=True, capacity_start=2, capacity_highest=4, starts=4))
    found = table(report, "Concurrent streams")
    assert column(found, "verdict")[:1] in (["holds"], ["fails"])
    assert "Largest load with no underrun, no failed request" in found.notes[0]


def test_refusals_under_overload_are_timed(url: str) -> None:
    report = run(small(url, overload=4))
    over = table(report, "Overload")
    assert column(over, "starts") == [6]
    assert column(over, "accepted") == [6]


def test_message_cost_stands_beside_the_echo(url: str) -> None:
    report = run(small(url, echo=True, echo_streams=2))
    cost = table(report, "Cost per message")
    assert column(cost, "system") == ["antiphon", "echo"]
    # 2 blocks of 100 requests of 3 messages, the same for both
    assert column(cost, "messages") == [600, 600]
    sizes = column(cost, "bytes each")
    assert sizes[0] == sizes[1]


def test_the_report_is_written_with_its_conditions(url: str, tmp_path: Path) -> None:
    run(small(url, streams=(1,), out=tmp_path / "bench.json", notes=("scripted server",)))
    read = json.loads((tmp_path / "bench.json").read_bytes())
    assert read["conditions"]["notes"] == ["scripted server"]
    assert list(read["conditions"]["workloads"]) == ["words25, seed 1"]
    assert len(read["groups"][0]["takes"]) == 6
    assert (tmp_path / "bench.md").is_file()


def test_a_peer_that_cannot_carry_a_load_is_left_out_with_the_reason(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = systems.try_out

    def try_out(player: Player, target: Target, texts: list[str], places: int | None = None) -> systems.System:
        tried = real(player, target, texts, places)
        slow = places is not None
        return systems.System(tried.target, tried.playing_s, 10.0 if slow else tried.service_s, places)

    monkeypatch.setattr("antiphon.bench.tts.try_out", try_out)
    speed = table(run(small(url, streams=(4,), peers=("hibari",))), "First audio")
    assert column(speed, "system") == ["antiphon"]
    assert any("hibari was not run at 4 streams" in note for note in speed.notes)


def test_a_server_that_does_not_speak_ends_the_run_before_it_begins(url: str) -> None:
    with pytest.raises(ModelUnavailable, match="does not speak"):
        run(small(url, server=Server(url + "/nowhere", wire="openai"), streams=(1,)))


@pytest.mark.parametrize(
    "changes",
    [{"wer": True}, {"streams": (0,)}, {"starts": 1, "blocks": 4}, {"peers": ("siri",)}],
)
def test_options_that_make_no_sense_are_refused(url: str, changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        run(small(url, **changes))


def test_read_back_compares_with_the_first_reader() -> None:
    sentences = ["The door is open.", "The window is closed.", "The lamp is green."]
    said = iter(["", *["the door is open", "the"], *["the window is closed", "the"], *["the lamp is green", "lamp"]])
    next(said)
    second = iter(["the door is open", "the", "the window is", "the", "the lamp is green", "the"])
    order = iter([*said, *second])
    with Player() as player:
        first, other = read_back(
            player, [Reader("one", tone_peer()), Reader("two", tone_peer())], sentences, lambda _: next(order)
        )
    assert first.rate.errors == 0
    assert first.difference is None
    assert first.first_words == pytest.approx(2 / 3)
    assert other.rate.errors == 1
    assert other.difference is not None
    assert other.difference.difference == pytest.approx(1 / 12)
    assert other.misheard == (("The window is closed.", "the window is"),)


def test_sentences_that_do_not_come_count_with_all_their_words() -> None:
    def load() -> Callable[[str], Iterator[Samples]]:
        def speak(text: str) -> Iterator[Samples]:
            raise RuntimeError("no voice")
            yield np.zeros(0, np.float32)

        return speak

    with Player() as player:
        back = read_back(
            player, [Reader("mute", InProcess("mute", load))], ["The door is open."], lambda _: "the door is open"
        )[0]
    assert (back.failed, back.rate.rate) == (1, 1.0)
