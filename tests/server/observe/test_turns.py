import pytest

from antiphon.dialog.turn_record import STAGES
from antiphon.server.observe.metrics import Metrics
from antiphon.server.records.turns import TurnsOnly, records_for

from ..records.support import conversation, facts


def values(metrics: Metrics) -> dict[str, float]:
    lines = metrics.text().decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def test_every_stage_is_there_before_the_first_turn() -> None:
    found = values(Metrics("1"))
    for name in STAGES:
        assert found[f'antiphon_turn_stage_seconds_count{{stage="{name}"}}'] == 0


def test_stages_sum_to_the_silence_over_all_turns() -> None:
    metrics = Metrics("1")
    conversation(records_for([lambda facts: TurnsOnly(metrics.turn)])(facts()))
    found = values(metrics)
    stages = sum(found[f'antiphon_turn_stage_seconds_sum{{stage="{name}"}}'] for name in STAGES)
    assert found["antiphon_turn_silence_seconds_count"] == 2
    assert stages == pytest.approx(found["antiphon_turn_silence_seconds_sum"], abs=0.002)
    assert found['antiphon_turns_total{cause="none",outcome="interrupted"}'] == 1
    assert found['antiphon_turns_total{cause="none",outcome="answered"}'] == 1
    assert found['antiphon_turn_guesses_total{result="right"}'] == 2
    assert found['antiphon_turn_tools_total{effect="read",state="done"}'] >= 1
