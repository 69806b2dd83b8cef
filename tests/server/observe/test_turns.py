from dataclasses import replace

import pytest

from antiphon.dialog.turn_record import STAGES
from antiphon.server.agent import REALTIME_ROUTE
from antiphon.server.observe.metrics import Metrics
from antiphon.server.records.turns import records_for

from ..records.support import conversation, facts


def values(metrics: Metrics) -> dict[str, float]:
    lines = metrics.text().decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


NATIVE = 'route="/agents/websocket"'


def test_every_stage_is_there_before_the_first_turn() -> None:
    found = values(Metrics("1"))
    for route in (NATIVE, 'route="/v1/realtime"'):
        for name in STAGES:
            assert found[f'antiphon_turn_stage_seconds_count{{{route},stage="{name}"}}'] == 0


def test_stages_sum_to_the_silence_over_all_turns() -> None:
    metrics = Metrics("1")
    conversation(records_for([metrics.session])(facts()))
    found = values(metrics)
    stages = sum(found[f'antiphon_turn_stage_seconds_sum{{{NATIVE},stage="{name}"}}'] for name in STAGES)
    assert found[f"antiphon_turn_silence_seconds_count{{{NATIVE}}}"] == 2
    assert stages == pytest.approx(found[f"antiphon_turn_silence_seconds_sum{{{NATIVE}}}"], abs=0.002)
    assert found[f'antiphon_turns_total{{cause="none",outcome="interrupted",{NATIVE}}}'] == 1
    assert found[f'antiphon_turns_total{{cause="none",outcome="answered",{NATIVE}}}'] == 1
    assert found[f'antiphon_turn_guesses_total{{result="right",{NATIVE}}}'] == 2
    assert found[f'antiphon_turn_tools_total{{effect="read",{NATIVE},state="done"}}'] >= 1


def test_both_kinds_of_conversation_are_counted_apart() -> None:
    metrics = Metrics("1")
    make = records_for([metrics.session])
    conversation(make(facts()), make(replace(facts("sess_1"), route=REALTIME_ROUTE)))
    found = values(metrics)
    for route in (NATIVE, 'route="/v1/realtime"'):
        assert found[f"antiphon_turn_silence_seconds_count{{{route}}}"] == 2
