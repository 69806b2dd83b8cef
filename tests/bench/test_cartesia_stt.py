"""Playing to an ear, in virtual time: what is sent when, and what is noted."""

import asyncio
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from antiphon.bench.clip import Clip
from antiphon.bench.hearing import Hearing, hearing_of
from antiphon.bench.measure_stt import measure_final, measure_turn
from antiphon.bench.recording import Recording
from antiphon.bench.target.cartesia_stt import CartesiaStt, CartesiaTurns, LongStt
from antiphon.core.clock import ManualClock

from .scripted_ear import FakeSocket, message, transcript

START_S = 50.0
LATE_S = 0.003


def clip(seconds: float = 1.0, **changes: object) -> Clip:
    """Speech until 0.2 s before the end."""
    count = round(seconds * 16_000)
    values: dict[str, object] = {"name": "a", "samples": np.full(count, 0.1, np.float32), "speech": (0, count - 3_200)}
    return Clip(**(values | changes))  # type: ignore[arg-type]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> ManualClock:
    """A sleep lets the reader read and moves the clock, 3 ms too far."""
    moved = ManualClock(START_S)
    pause = asyncio.sleep

    async def sleep(seconds: float) -> None:
        for _ in range(4):
            await pause(0)
        moved.advance(seconds + LATE_S)

    monkeypatch.setattr("antiphon.bench.target.cartesia_stt_wire.asyncio.sleep", sleep)
    return moved


Ears = CartesiaStt | CartesiaTurns | LongStt


def play(ear: Ears, of: Sequence[Clip], socket: FakeSocket, monkeypatch: pytest.MonkeyPatch) -> list[Hearing]:
    monkeypatch.setattr("antiphon.bench.target.cartesia_stt_wire.connect", socket)

    async def all_of_them() -> list[Recording]:
        recordings = []
        for index, one in enumerate(of):
            recording = Recording(socket.clock, index, one.text, socket.clock.now_s())
            await ear.speak(one, recording)
            recordings.append(recording)
        await ear.close()
        return recordings

    return [
        hearing_of(one, recording, turns=ear.turns)
        for one, recording in zip(of, asyncio.run(all_of_them()), strict=True)
    ]


ANSWERS = {
    "finalize": [(0.12, transcript("Mend the coat.", True)), (0.01, message("flush_done"))],
    "close": [(0.02, message("done")), (0.0, None)],
}


def test_finalize_goes_out_at_the_true_end_and_its_answer_is_timed(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket = FakeSocket(clock, [(8_000, transcript("Mend"))], ANSWERS)
    (hearing,) = play(CartesiaStt("http://host:1"), [clip()], socket, monkeypatch)
    audio = [data for _, data in socket.sent if isinstance(data, bytes)]
    assert [data for _, data in socket.sent if isinstance(data, str)] == ["finalize", "close"]
    # 0.8 s of speech in pieces of 20 ms; what follows the true end is not sent
    assert [len(data) for data in audio] == [640] * 40
    assert hearing.finalize_s == pytest.approx(START_S + 0.8 + LATE_S)
    figures = measure_final(hearing)
    assert figures.final_s == pytest.approx(0.12)
    assert figures.flush_done_s == pytest.approx(0.13)
    # half a second of audio had been spoken when the words came
    assert figures.first_interim_s == pytest.approx(0.5 + LATE_S)
    assert hearing.ended_s == pytest.approx(START_S + 0.8 + LATE_S + 0.15)
    assert not figures.error


def test_pieces_keep_to_the_beginning_and_lateness_is_noted(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket = FakeSocket(clock, [], ANSWERS)
    (hearing,) = play(CartesiaStt("http://host:1", chunk_s=0.1), [clip(0.5)], socket, monkeypatch)
    times = [at_s for at_s, data in socket.sent if isinstance(data, bytes)]
    assert times == pytest.approx([START_S + LATE_S + part for part in (0.1, 0.2, 0.3)])
    assert hearing.behind_s == pytest.approx(LATE_S)


def test_the_socket_is_told_what_is_sent(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    socket = FakeSocket(clock, [], ANSWERS)
    play(CartesiaStt("https://host", model="ink-x"), [clip(0.3, encoding="pcm_mulaw")], socket, monkeypatch)
    parts = urlsplit(socket.url)
    query = parse_qs(parts.query)
    assert (parts.scheme, parts.path) == ("wss", "/stt/websocket")
    assert (query["encoding"], query["sample_rate"], query["model"]) == (["pcm_mulaw"], ["16000"], ["ink-x"])
    assert sum(len(data) for _, data in socket.sent if isinstance(data, bytes)) == 1_600


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ({"finalize": [(0.1, message("error", message="at capacity", status_code=429)), (0.0, None)]}, "at capacity"),
        ({"finalize": [(0.1, None)]}, "socket closed"),
        ({"finalize": [(0.1, message("flush_done"))], "close": [(0.1, None)]}, "without `done`"),
    ],
)
def test_what_goes_wrong_is_the_clips_failure(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch, answers: dict[str, list[tuple[float, object]]], error: str
) -> None:
    socket = FakeSocket(clock, [], answers)  # type: ignore[arg-type]
    (hearing,) = play(CartesiaStt("http://host:1"), [clip(0.3)], socket, monkeypatch)
    assert error in hearing.error


def test_a_refusal_at_the_handshake_has_its_status(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    socket = FakeSocket(clock)
    socket.refusal = 429
    (hearing,) = play(CartesiaStt("http://host:1"), [clip()], socket, monkeypatch)
    assert (hearing.status, hearing.begin_s) == (429, None)


def test_a_turn_is_played_on_after_its_end_and_then_broken_off(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [
        (0, message("connected")),
        (1_600, message("turn.start")),
        (12_800, message("turn.update", transcript="Mend")),
        (17_600, message("turn.eager_end", transcript="Mend it.")),
        (20_800, message("turn.end", transcript="Mend it.")),
    ]
    socket = FakeSocket(clock, script, {'{"type":"close"}': [(0.0, None)]})
    (hearing,) = play(CartesiaTurns("http://host:1"), [clip(4.0, speech=(0, 16_000))], socket, monkeypatch)
    figures = measure_turn(hearing)
    assert figures.eager_s == pytest.approx(0.1 + LATE_S)
    assert figures.end_s == pytest.approx(0.3 + LATE_S)
    assert figures.words_s == pytest.approx(0.1 + LATE_S)
    assert (figures.cut_offs, figures.missing, figures.error) == (0, False, "")
    played_s = sum(len(data) for _, data in socket.sent if isinstance(data, bytes)) / 32_000
    assert 1.8 <= played_s <= 1.84


def test_a_turn_that_begins_again_is_heard_out(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    script = [
        (0, message("connected")),
        (1_600, message("turn.start")),
        (19_200, message("turn.end", transcript="Mend")),
        (20_800, message("turn.start")),
    ]
    socket = FakeSocket(clock, script, {'{"type":"close"}': [(0.0, message("turn.end", transcript="")), (0.0, None)]})
    (hearing,) = play(CartesiaTurns("http://host:1"), [clip(3.0, speech=(0, 16_000))], socket, monkeypatch)
    figures = measure_turn(hearing)
    assert sum(len(data) for _, data in socket.sent if isinstance(data, bytes)) == 96_000
    assert figures.extra_turns == 1
    assert figures.end_s == pytest.approx(0.2 + LATE_S)


def test_a_refused_turns_socket_is_a_failure(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    socket = FakeSocket(clock, [(0, message("error", message="no such model", status_code=400))])
    socket._queue.put_nowait((0.0, message("error", message="no such model", status_code=400)))
    socket._queue.put_nowait((0.0, None))
    (hearing,) = play(CartesiaTurns("http://host:1"), [clip()], socket, monkeypatch)
    assert (hearing.error, hearing.status) == ("no such model", 400)


def test_a_long_stream_keeps_its_socket_and_finalizes_each_part(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"finalize": [(0.2, transcript("Mend.", True)), (0.1, message("flush_done"))]}
    socket = FakeSocket(clock, [], answers)
    hearings = play(LongStt("http://host:1"), [clip(1.0), clip(1.0)], socket, monkeypatch)
    assert [hearing.error for hearing in hearings] == ["", ""]
    assert [hearing.transcript for hearing in hearings] == ["Mend.", "Mend."]
    assert [data for _, data in socket.sent if isinstance(data, str)] == ["finalize", "finalize"]
    # as fast as it is taken: no time but that of the answers has passed, and nothing is cut off
    assert clock.now_s() == pytest.approx(START_S + 0.6)
    assert sum(len(data) for _, data in socket.sent if isinstance(data, bytes)) == 64_000
