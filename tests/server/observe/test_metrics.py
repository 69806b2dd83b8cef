import pytest

from antiphon.server.journal import (
    AudioSent,
    ConnectionClosed,
    ConnectionOpened,
    Crashed,
    Entry,
    Journal,
    PhaseChanged,
    Refused,
    StreamEnded,
    StreamOpened,
    TextPushed,
)
from antiphon.server.observe.metrics import Metrics
from antiphon.server.observe.tally import tallied


def life(stream: int, outcome: str = "done") -> list[Entry]:
    return [
        StreamOpened(10.0, stream, "r1", "/tts/sse", "alice", "hibari", "v"),
        TextPushed(10.5, stream, 0),
        TextPushed(11.0, stream, 12),
        AudioSent(11.08, stream, 960, 0.02, 0.03),
        AudioSent(11.2, stream, 1920, 0.04, 0.01),
        StreamEnded(12.0, stream, outcome),  # type: ignore[arg-type]
    ]


def told(*entries: Entry) -> dict[str, float]:
    metrics = Metrics("1.2.3")
    fold = tallied(metrics.fold)
    for entry in entries:
        fold(entry)
    lines = metrics.text().decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def test_a_streams_latencies_count_from_its_first_text() -> None:
    values = told(*life(1))
    assert values['antiphon_tts_ttfb_seconds_sum{engine="hibari",route="/tts/sse"}'] == pytest.approx(0.08)
    assert values['antiphon_tts_ttfb_seconds_count{engine="hibari",route="/tts/sse"}'] == 1
    assert values['antiphon_tts_queue_seconds_sum{engine="hibari"}'] == pytest.approx(0.05)
    assert values['antiphon_tts_audio_seconds_total{engine="hibari"}'] == pytest.approx(0.06)
    assert values['antiphon_tts_compute_seconds_total{engine="hibari"}'] == pytest.approx(0.04)
    assert values['antiphon_tts_audio_bytes_total{engine="hibari"}'] == 2880
    assert values['antiphon_tts_text_characters_total{engine="hibari"}'] == 12


def test_sums_grow_while_a_stream_lasts_and_count_nothing_twice() -> None:
    begun = life(1)[:-1]
    assert told(*begun)['antiphon_tts_audio_seconds_total{engine="hibari"}'] == pytest.approx(0.06)
    more = AudioSent(11.3, 1, 960, 0.02, 0.01)
    for entries in ((*begun, more), (*begun, more, life(1)[-1]), (*begun[:-1], life(1)[-1])):
        values, sent = told(*entries), [entry for entry in entries if isinstance(entry, AudioSent)]
        for name, whole in (
            ("audio_seconds", sum(entry.audio_s for entry in sent)),
            ("compute_seconds", sum(entry.compute_s for entry in sent)),
            ("audio_bytes", sum(entry.data_bytes for entry in sent)),
        ):
            assert values[f'antiphon_tts_{name}_total{{engine="hibari"}}'] == pytest.approx(whole)


def test_gauges_go_up_and_come_back() -> None:
    opened = ConnectionOpened(1.0, "r", "/tts/websocket", "")
    assert told(opened, life(1)[0])['antiphon_active_streams{engine="hibari"}'] == 1
    values = told(opened, *life(1), *life(2, "cancelled"), ConnectionClosed(2.0, "r", "/tts/websocket", 1000))
    assert values["antiphon_connections"] == 0
    assert values['antiphon_active_streams{engine="hibari"}'] == 0
    assert values['antiphon_streams_ended_total{engine="hibari",outcome="cancelled"}'] == 1


def test_refusals_faults_and_phases_are_counted() -> None:
    values = told(
        Refused(1.0, "r", "/voices", "auth", "no"), Crashed(1.0, "r", "/voices", "trace"), PhaseChanged(1.0, "ready")
    )
    assert values['antiphon_refused_total{reason="auth",route="/voices"}'] == 1
    assert values['antiphon_internal_errors_total{route="/voices"}'] == 1
    assert values["antiphon_ready"] == 1
    assert told(PhaseChanged(1.0, "ready"), PhaseChanged(2.0, "draining"))["antiphon_ready"] == 0
    assert values['antiphon_build_info{device="cpu",version="1.2.3"}'] == 1


def test_every_fold_sees_every_entry_in_order() -> None:
    first, second = list[Entry](), list[Entry]()
    journal = Journal(first.append, second.append)
    for entry in life(1):
        journal.log(entry)
    assert first == second == life(1)
