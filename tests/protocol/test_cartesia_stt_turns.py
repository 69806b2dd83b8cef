"""The machine of ``/stt/turns/websocket``: what was decided about turns, as the wire promises it."""

import json

import pytest

from antiphon.core.errors import AntiphonError, AtCapacity, EngineFailed, NotFound
from antiphon.core.event import Failed
from antiphon.core.hearing import Listened, SpeechStarted, TurnScored
from antiphon.core.turns import (
    EndpointSettings,
    TurnEagerEnded,
    TurnEnded,
    TurnEvent,
    TurnResumed,
    TurnStarted,
    TurnUpdated,
)

from .ear_shell import QUERY, EarShell, final, heard, kinds, turns

START, RESUME = TurnStarted(0), TurnResumed(0)


def update(text: str) -> TurnUpdated:
    return TurnUpdated(text, 0)


def eager(text: str) -> TurnEagerEnded:
    return TurnEagerEnded(text, 0)


def end(text: str) -> TurnEnded:
    return TurnEnded(text, 0, "model")


@pytest.fixture
def shell() -> EarShell:
    shell = turns()
    shell.start()
    shell.frames.clear()
    return shell


def test_F7_connected_comes_at_once_with_the_stream_open_behind_it() -> None:
    shell = turns(QUERY + "&turn_end_threshold=0.1")
    assert shell.start() == [{"type": "connected", "request_id": "req-1"}]
    assert shell.ear is not None
    assert shell.ear.config.turns is True
    assert shell.ear.settings == [EndpointSettings(end=0.1)]


def test_F7_audio_before_connected_is_kept() -> None:
    shell = turns()
    assert kinds(shell.receive(b"\1\0")) == ["connected"]
    assert shell.ear is not None
    assert shell.ear.audio == b"\1\0"
    assert shell.wait(0.0) == []


def test_a_turn_as_documented(shell: EarShell) -> None:
    shell.say(START, update("I want"), eager("I want tea"), RESUME, update("I want tea and"))
    shell.say(eager("I want tea and cake"), end("I want tea and cake"), START, update(" Thanks"), end(" Thanks"))
    assert shell.frames == [
        {"type": "turn.start", "request_id": "req-1"},
        {"type": "turn.update", "request_id": "req-1", "transcript": "I want"},
        {"type": "turn.eager_end", "request_id": "req-1", "transcript": "I want tea"},
        {"type": "turn.resume", "request_id": "req-1"},
        {"type": "turn.update", "request_id": "req-1", "transcript": "I want tea and"},
        {"type": "turn.eager_end", "request_id": "req-1", "transcript": "I want tea and cake"},
        {"type": "turn.end", "request_id": "req-1", "transcript": "I want tea and cake"},
        {"type": "turn.start", "request_id": "req-1"},
        {"type": "turn.update", "request_id": "req-1", "transcript": " Thanks"},
        {"type": "turn.end", "request_id": "req-1", "transcript": " Thanks"},
    ]


def test_F28_a_turn_without_words_has_its_keys_all_the_same(shell: EarShell) -> None:
    shell.say(START, end(""))
    assert shell.frames[1] == {"type": "turn.end", "request_id": "req-1", "transcript": ""}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([update("a")], ["turn.start", "turn.update"]),
        ([eager("a")], ["turn.start", "turn.eager_end"]),
        ([end("a")], ["turn.start", "turn.end"]),
        ([end("")], []),
        ([update("")], []),
        ([RESUME], []),
        ([START, START], ["turn.start"]),
        ([START, RESUME], ["turn.start"]),
        ([START, update("a"), update("a")], ["turn.start", "turn.update"]),
        ([START, eager("a"), eager("a")], ["turn.start", "turn.eager_end"]),
        ([START, eager("a"), RESUME, RESUME], ["turn.start", "turn.eager_end", "turn.resume"]),
        ([START, eager("a"), update("a")], ["turn.start", "turn.eager_end"]),
        ([START, eager("a"), update("a b")], ["turn.start", "turn.eager_end", "turn.resume", "turn.update"]),
        ([START, eager("a"), eager("a b")], ["turn.start", "turn.eager_end", "turn.resume", "turn.eager_end"]),
        ([START, eager("a"), end("a b")], ["turn.start", "turn.eager_end", "turn.end"]),
        ([START, end("a"), RESUME], ["turn.start", "turn.end"]),
    ],
)
def test_F30_order_is_kept_whatever_is_decided(shell: EarShell, events: list[TurnEvent], expected: list[str]) -> None:
    shell.say(*events)
    assert kinds(shell.frames) == expected


@pytest.mark.parametrize("revision", [update("I wan"), update("You want tea"), eager(""), end("I"), end("")])
def test_F30_text_once_shown_is_not_taken_back(shell: EarShell, revision: TurnEvent) -> None:
    shell.say(START, update("I want"), revision, end("I want tea"))
    shown = [frame["transcript"] for frame in shell.frames if "transcript" in frame]
    assert len(shown) > 1
    assert all(text.startswith("I want") for text in shown)
    assert len(shell.notes) == 1


def test_the_stream_itself_says_nothing_here(shell: EarShell) -> None:
    shell.say(heard("a", 0, 1), final("a", 0, 1), SpeechStarted(0), Listened(1, speech=True), TurnScored(1, 0.1, 1))
    assert shell.frames == []


def test_close_hears_out_the_turn_and_closes_the_socket_without_done(shell: EarShell) -> None:
    shell.say(START, update("Good"))
    assert shell.receive('{"type":"close"}') == []
    assert shell.ear is not None
    assert list(shell.ear.flushes) == [("end", True)]
    shell.say(update("Good bye."), end("Good bye."))
    assert shell.flushed() == []
    assert kinds(shell.frames)[-2:] == ["turn.update", "turn.end"]
    assert shell.closed == 1000
    assert shell.ear is None


@pytest.mark.parametrize("before", [[START, update("Hi")], [START, eager("Hi")]])
def test_a_turn_that_nobody_ended_is_ended_by_the_close(shell: EarShell, before: list[TurnEvent]) -> None:
    shell.say(*before)
    shell.receive('{"type": "close"}')
    assert shell.flushed() == [{"type": "turn.end", "request_id": "req-1", "transcript": "Hi"}]
    assert shell.closed == 1000


@pytest.mark.parametrize("command", ["close", "done", '"close"', '{"type":"done"}', '\n{"type":\n"close"}'])
def test_F25_F26_other_spellings_of_close(shell: EarShell, command: str) -> None:
    shell.receive(command)
    assert shell.flushed() == []
    assert shell.closed == 1000


@pytest.mark.parametrize(
    "odd", ["finalize", "", "{}", "{", '{"type":"finalize"}', '{"type":"config","turn":5}', "[]", '"config"']
)
def test_F25_other_text_is_an_error_and_the_socket_lives(shell: EarShell, odd: str) -> None:
    [error] = shell.receive(odd)
    assert (error["type"], error["status_code"], error["request_id"]) == ("error", 400, "req-1")
    assert kinds(shell.say(START)) == ["turn.start"]


def config(**turn: object) -> str:
    return json.dumps({"type": "config", "turn": turn})


def test_settings_change_in_session_and_add_up(shell: EarShell) -> None:
    assert shell.ear is not None
    assert shell.receive(config(end_threshold=0.1)) == []
    assert shell.receive(config(eager_end_threshold=0.5, end_timeout_ms=1500.5, start_threshold=None, more=1)) == []
    assert shell.ear.settings == [
        EndpointSettings(),
        EndpointSettings(end=0.1),
        EndpointSettings(0.8, 0.5, 0.1, 1.5005),
    ]


@pytest.mark.parametrize("empty", ['{"type":"config"}', '{"type":"config","turn":null}'])
def test_a_change_of_nothing_changes_nothing(shell: EarShell, empty: str) -> None:
    assert shell.receive(empty) == []
    assert shell.ear is not None
    assert len(shell.ear.settings) == 1


@pytest.mark.parametrize(
    ("turn", "field"),
    [
        ({"start_threshold": 0.3}, "start_threshold"),
        ({"end_timeout_ms": 100}, "end_timeout_ms"),
        ({"end_threshold": 0.1, "eager_end_threshold": 0.9}, "eager_end_threshold"),
        ({"end_threshold": 0.4}, "eager_end_threshold"),
        ({"end_threshold": "low"}, "end_threshold"),
    ],
)
def test_a_bad_change_is_refused_whole_and_the_session_goes_on(
    shell: EarShell, turn: dict[str, object], field: str
) -> None:
    [error] = shell.receive(config(**turn))
    assert error["status_code"] == 400
    assert field in error["message"]
    assert shell.ear is not None
    assert shell.ear.settings == [EndpointSettings()]
    shell.receive(config(end_threshold=0.15))
    assert shell.ear.settings[-1] == EndpointSettings(end=0.15)


@pytest.mark.parametrize(
    "query", [QUERY + "&turn_start_threshold=0.95", QUERY + "&turn_end_threshold=0.45", "model=ink-2"]
)
def test_F32_bad_settings_are_told_instead_of_connected(query: str) -> None:
    shell = turns(query)
    [error] = shell.start()
    assert (error["type"], error["status_code"], error["code"]) == ("error", 400, 400)
    assert shell.closed == 1008


@pytest.mark.parametrize(
    ("refusal", "status", "code"), [(AtCapacity("full"), 429, 1013), (NotFound("no", "model"), 400, 1008)]
)
def test_F32_a_stream_that_cannot_be_had_is_told_instead_of_connected(
    refusal: AntiphonError, status: int, code: int
) -> None:
    shell = turns(refuse=refusal)
    [error] = shell.start()
    assert (error["type"], error["status_code"]) == ("error", status)
    assert shell.closed == code


def test_failures_carry_a_status(shell: EarShell) -> None:
    [error] = shell.say(Failed("one window"))
    assert error["status_code"] == 500
    assert shell.closed is None
    [error] = shell.say(Failed("all", fatal=True))
    assert error["status_code"] == 500
    assert shell.closed == 1011


def test_idle_and_the_servers_close(shell: EarShell) -> None:
    shell.say(START, update("Hi"))
    assert shell.wait(180) == []
    shell.wait(61)
    assert kinds(shell.flushed()) == ["turn.end"]
    assert shell.closed == 1000
    other = turns()
    other.start()
    assert kinds(other.close(EngineFailed("bye"))) == ["error"]
    assert other.say(START) == []
