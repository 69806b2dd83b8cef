"""What `antiphon talk` shows, and what it says when it cannot talk."""

import socket

import pytest
from typer.testing import CliRunner

from antiphon.cli.app import app
from antiphon.cli.talk_page import TalkPage
from antiphon.client import ClientEvent, Heard, ReplyAudio, SocketLost, ToolRan, Unreachable
from antiphon.protocol import native_messages as wire

RATE_HZ = 24_000


def shown(*events: tuple[float, ClientEvent], typed_s: float | None = None) -> list[str]:
    page = TalkPage(RATE_HZ)
    if typed_s is not None:
        page.typed(typed_s)
    return [line for at_s, event in events for line in page.lines(at_s, event)]


def reply(at_s: float, *more: tuple[float, ClientEvent]) -> list[tuple[float, ClientEvent]]:
    words = [wire.Word("It", 0, 4_800), wire.Word("left", 4_800, 12_000), wire.Word("today.", 12_000, 24_000)]
    return [
        (at_s, wire.ReplyStarted(reply_id="r")),
        (at_s + 0.01, wire.ReplyText(reply_id="r", delta="It left ")),
        (at_s + 0.02, wire.ReplyText(reply_id="r", delta="today.")),
        (at_s + 0.03, wire.ReplyWords(reply_id="r", words=words)),
        (at_s + 0.05, ReplyAudio("r", 0, 24_000, b"")),
        *more,
    ]


def test_a_turn_and_its_stages() -> None:
    lines = shown(
        (9.8, wire.UserEagerEnd(transcript="Where is it?")),
        (10.0, wire.UserEnded(transcript="Where is it?", at_sample=0)),
        *reply(10.1, (11.2, Heard("r", 24_000, 0, True))),
    )
    assert lines == [
        "you:   Where is it?",
        "agent: It left today.",
        "       [turn 1, from its turn end: guessed 200 ms before, reply +100 ms, first text +110 ms, "
        "first audio +150 ms]",
    ]


def test_a_guess_that_was_taken_back_is_not_told() -> None:
    lines = shown(
        (9.0, wire.UserEagerEnd(transcript="Where")),
        (9.2, wire.UserResumed()),
        (10.0, wire.UserEnded(transcript="Where is it?", at_sample=0)),
        *reply(10.1, (11.2, Heard("r", 24_000, 0, True))),
    )
    assert "guessed" not in lines[-1]


def test_an_interruption_shows_what_was_heard() -> None:
    cut = (10.8, wire.Clear(reply_id="r", fade_ms=40))
    lines = shown(*reply(10.1, cut, (10.85, Heard("r", 13_000, 2, True))), typed_s=10.0)
    assert lines[:3] == [
        "agent: It left today.",
        "       [interrupted; heard: 'It left']",
        "       [2 holes in the playback]",
    ]
    assert lines[3].startswith("       [turn 1, from its written: reply +100 ms")
    unheard = shown(*reply(10.1, cut, (10.85, Heard("r", 0, 0, True))))
    assert unheard == ["agent: It left today.", "       [taken back before it was heard]"]


def test_tools_troubles_and_ends() -> None:
    lines = shown(
        (1.0, wire.ToolAsked(call_id="c", name="find", arguments='{"id": 1}')),
        (1.1, ToolRan("c", "find", "{}", "x" * 400, True)),
        (2.0, SocketLost("no goodbye")),
        (2.5, wire.Ready(session_id="s", resume_token="t", resume_window_ms=1, resumed=True,
                         input=wire.AudioShape(), output=wire.AudioShape())),
        (3.0, wire.ErrorMessage(code="x", message="That was too long.")),
        (4.0, wire.HandedOver(reason="asked for")),
        (5.0, wire.Closed(reason="client")),
    )  # fmt: skip
    assert lines[0] == '  tool find {"id": 1}'
    assert lines[1].endswith(" ...")
    assert len(lines[1]) < 310
    assert lines[2:] == [
        "-- the connection was lost (no goodbye); trying again",
        "-- connected again",
        "-- the server says: That was too long.",
        "-- handed over to a person: asked for",
        "-- the agent hung up (client)",
    ]


def test_nobody_at_the_address_is_one_clear_line() -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        result = CliRunner().invoke(app, ["talk", f"http://127.0.0.1:{taken.getsockname()[1]}", "--typed"])
    assert isinstance(result.exception, Unreachable)
    assert "nobody answers at ws://127.0.0.1" in str(result.exception)


@pytest.mark.parametrize("url", ["ftp://somewhere", "http://"])
def test_an_address_that_is_none(url: str) -> None:
    result = CliRunner().invoke(app, ["talk", url, "--typed"])
    assert "is no address" in str(result.exception)
