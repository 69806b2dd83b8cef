import logging

import numpy as np
import pytest

from antiphon.audio.pcm import encode
from antiphon.core.hearing import SpeechStopped
from antiphon.core.turns import TurnEnded, TurnStarted
from antiphon.dialog.conversation_events import Moment
from antiphon.dialog.conversation_log import EarSaid
from antiphon.dialog.ledger import Entry
from antiphon.dialog.turn_record import TurnRecord
from antiphon.server.records.turns import AgentRecords, TurnsOnly, records_for

from .support import conversation, facts


def test_every_sink_is_told_of_every_turn() -> None:
    first, second = list[TurnRecord](), list[TurnRecord]()
    make = records_for([lambda facts: TurnsOnly(first.append), lambda facts: TurnsOnly(second.append)])
    conversation(make(facts()))
    assert [record.turn for record in first] == [1, 2]
    assert first == second


def test_a_sink_that_fails_is_dropped_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    turns = list[TurnRecord]()

    def fail(record: TurnRecord) -> None:
        raise RuntimeError("broken")

    with caplog.at_level(logging.ERROR, "antiphon"):
        conversation(AgentRecords(facts(), [TurnsOnly(fail), TurnsOnly(turns.append)]))
    assert len(turns) == 2
    assert len(caplog.records) == 1


@pytest.mark.parametrize(("encoding", "rate_hz"), [("pcm_s16le", 16_000), ("pcm_mulaw", 8_000), ("pcm_f32le", 48_000)])
def test_the_end_of_speech_is_measured_in_the_audio(encoding: str, rate_hz: int) -> None:
    """The user sounds until 2.000 s; the detector says 1.93 s. The session began 1 s before, at another rate's pace."""
    turns = list[TurnRecord]()
    log = AgentRecords(facts(), [TurnsOnly(turns.append)])
    log.observe(Moment(10.0, 0), TurnStarted(0))
    log.observe(Moment(10.0, 0), Entry(1, 10.0, 0, "turn.started"))
    time = np.arange(rate_hz * 3) / rate_hz
    voice = 0.3 * np.sin(2 * np.pi * 220 * time) * ((time > 0.5) & (time < 2.0))
    data = encode(voice.astype(np.float32), encoding)
    size = len(data) // 150
    for index in range(150):
        moment = Moment(10.0 + 0.02 * (index + 1), index * 320)
        log.user_audio(moment, data[index * size : (index + 1) * size], encoding, rate_hz)
    at = Moment(13.0, 48_000)
    log.observe(at, EarSaid(SpeechStopped(round(1.93 * 16_000))))
    log.observe(at, TurnEnded("yes", 48_000, "model"))
    log.observe(at, Entry(1, 13.0, 0, "turn.ended", "yes"))
    log.end(Moment(13.5, 48_000), "over")
    assert turns[0].times.speech_end_s == pytest.approx(12.0, abs=0.015)


def test_audio_that_was_left_out_does_not_move_the_rest() -> None:
    """Ten seconds at once, of which only what follows is told; the user sounds until 11.5 s of the session's audio."""
    turns = list[TurnRecord]()
    log = AgentRecords(facts(), [TurnsOnly(turns.append)])
    log.user_audio(Moment(1.0, 0), encode(np.zeros(1_600, np.float32), "pcm_s16le"), "pcm_s16le", 16_000)
    log.observe(Moment(1.0, 1_600), TurnStarted(0))
    log.observe(Moment(1.0, 1_600), Entry(1, 1.0, 0, "turn.started"))
    time = np.arange(16_000 * 2) / 16_000
    voice = (0.3 * np.sin(2 * np.pi * 220 * time) * (time < 1.5)).astype(np.float32)
    for index in range(100):
        piece = encode(voice[index * 320 : (index + 1) * 320], "pcm_s16le")
        log.user_audio(Moment(1.0 + 0.02 * (index + 1), 160_000 + index * 320), piece, "pcm_s16le", 16_000)
    at = Moment(3.0, 192_000)
    log.observe(at, EarSaid(SpeechStopped(round(11.45 * 16_000))))
    log.observe(at, Entry(1, 3.0, 0, "turn.ended", "yes"))
    log.end(at, "over")
    assert turns[0].times.speech_end_s == pytest.approx(2.5, abs=0.015)
