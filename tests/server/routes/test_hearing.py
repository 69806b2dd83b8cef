"""The listening sockets over a real uvicorn: what is heard, in which order it is told, and what is left behind."""

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Failed, Warned
from antiphon.core.hearing import EAR_RATE_HZ, Heard, Listened, SpeechStarted
from antiphon.engine.fake import FakeEarStream
from antiphon.server.journal import (
    AudioTaken,
    Crashed,
    Finalized,
    Refused,
    StreamEnded,
    StreamOpened,
    TextHeard,
    TurnOver,
)
from antiphon.server.lines import CLOGGED_S

from ..support import ScriptedEngine, Served, receive, receive_until, run, serving, settings, until

RAW = "?model=ink-2&encoding=pcm_s16le&sample_rate=16000"
FINALIZE, TURNS = "/stt/websocket", "/stt/turns/websocket"
SCRIPT = ("what time is it", "thank you")
KEYED: dict[str, Any] = {"server": {"api_keys": {"alice": {"key": "sk-alice"}}}}
CLOSE = json.dumps({"type": "close"})


def audio(seconds: float) -> bytes:
    return bytes(round(seconds * EAR_RATE_HZ) * 2)


def hearing(**options: Any) -> ScriptedEngine:
    return ScriptedEngine(hears=SCRIPT, **options)


def ear_of(served: Served, number: int = -1) -> FakeEarStream:
    return served.engine.ear.streams[number]


async def rest_of(socket: ClientConnection) -> tuple[list[dict[str, Any]], int | None]:
    """What is still said, and the code of the server's close."""
    messages: list[dict[str, Any]] = []
    while True:
        try:
            messages.append(await receive(socket))
        except ConnectionClosed:
            return messages, socket.close_code


def kinds(messages: list[dict[str, Any]]) -> list[str]:
    return [message["type"] for message in messages]


def nothing_is_held(served: Served) -> bool:
    admission = served.app.hub.admission
    return not (admission.streams or admission.connections or served.engine.open or served.app.hub.lifecycle.guests)


def test_a_finalize_is_answered_with_the_final_and_a_close_ends_the_socket() -> None:
    async def test() -> None:
        async with serving(hearing()) as served, served.socket(RAW, FINALIZE) as socket:
            for _ in range(20):
                await socket.send(audio(0.1))
            await socket.send("finalize")
            told = await receive_until(socket, "flush_done")
            assert kinds(told)[-2:] == ["transcript", "flush_done"]
            final = told[-2]
            assert final["is_final"] is True
            assert final["text"] == "what time is it"
            assert [word["word"] for word in final["words"]] == ["what", "time", "is", "it"]
            interims = [message["text"] for message in told[:-2]]
            assert interims[0] == "what"
            assert not any(message["is_final"] for message in told[:-2])
            await socket.send(audio(3))
            await socket.send("close")
            told, code = await rest_of(socket)
            assert told[-2]["text"] == " thank you"
            assert told[-1]["type"] == "done"
            assert code == 1000
            await until(lambda: nothing_is_held(served))

    run(test())


def test_F27_finalize_with_nothing_to_say_is_answered_each_time() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket(RAW, FINALIZE) as socket:
            for _ in range(2):
                await socket.send("finalize")
            assert [(await receive(socket))["type"] for _ in range(2)] == ["flush_done", "flush_done"]

    run(test())


def test_turns_are_decided_and_told_in_order() -> None:
    async def test() -> None:
        async with serving(hearing()) as served, served.socket(RAW, TURNS) as socket:
            assert (await receive(socket))["type"] == "connected"
            for _ in range(55):
                await socket.send(audio(0.1))
            first, second = await receive_until(socket, "turn.end"), await receive_until(socket, "turn.end")
            for told, text in ((first, "what time is it"), (second, " thank you")):
                assert kinds(told)[:2] == ["turn.start", "turn.update"]
                assert told[-1]["transcript"] == text
                grown = [message["transcript"] for message in told if "transcript" in message]
                assert all(later.startswith(earlier) for earlier, later in pairwise(grown))
            await socket.send(CLOSE)
            assert await rest_of(socket) == ([], 1000)
            assert [over.reason for over in served.diary.of(TurnOver)] == ["model", "model"]

    run(test())


def test_a_close_within_a_turn_ends_it_with_all_that_was_said() -> None:
    async def test() -> None:
        async with serving(hearing()) as served, served.socket(RAW, TURNS) as socket:
            await socket.send(audio(1.6))
            await socket.send(CLOSE)
            told, code = await rest_of(socket)
            assert kinds(told)[0] == "connected"
            assert told[-1] == {"type": "turn.end", "request_id": told[0]["request_id"], "transcript": "what time is"}
            assert code == 1000
            assert served.diary.of(StreamEnded)[0].outcome == "done"

    run(test())


def test_F7_connected_comes_unasked_and_audio_sent_before_it_is_heard() -> None:
    async def test() -> None:
        async with serving(hearing()) as served:
            async with served.socket(RAW, TURNS) as silent:
                assert (await receive(silent))["type"] == "connected"
            async with served.socket(RAW, TURNS) as hasty:
                await hasty.send(audio(0.7))
                assert kinds([await receive(hasty) for _ in range(2)]) == ["connected", "turn.start"]
                assert ear_of(served).pushed_bytes == len(audio(0.7))

    run(test())


def test_thresholds_change_in_session() -> None:
    """With an end threshold below the score of the fake ear its turns end by the timeout only."""

    async def test() -> None:
        async with serving(hearing()) as served, served.socket(f"{RAW}&turn_end_threshold=0.06", TURNS) as socket:
            assert (await receive(socket))["type"] == "connected"
            await socket.send(audio(3.2))
            assert (await receive_until(socket, "turn.end"))[-1]["transcript"] == "what time is it"
        async with serving(hearing()) as served, served.socket(RAW, TURNS) as socket:
            assert (await receive(socket))["type"] == "connected"
            await socket.send(json.dumps({"type": "config", "turn": {"end_threshold": 0.05, "end_timeout_ms": 700}}))
            ear = (await until(lambda: served.engine.ear.streams), ear_of(served))[1]
            await socket.send(audio(2.9))
            await until(lambda: ear.pushed_bytes)
            told = await receive_until(socket, "turn.end")
            assert told[-1]["transcript"] == "what time is it"
            assert served.diary.of(TurnOver)[0].reason == "timeout"

    run(test())


def test_F32_a_bad_query_is_told_on_the_socket_instead_of_connected() -> None:
    async def test() -> None:
        async with serving(hearing()) as served:
            for path, query in (
                (TURNS, "?model=ink-2&encoding=pcm_s16le"),
                (TURNS, RAW.replace("pcm_s16le", "opus")),
                (TURNS, f"{RAW}&turn_eager_end_threshold=0.3&turn_end_threshold=0.4"),
                (FINALIZE, "?model=ink-2"),
            ):
                async with served.socket(query, path) as socket:
                    (error,), code = await rest_of(socket)
                    assert error["type"] == "error"
                    assert error["status_code"] == 400
                    assert code == 1008
            assert not served.engine.ear.streams

    run(test())


@pytest.mark.parametrize("path", [FINALIZE, TURNS])
def test_no_place_is_told_and_the_socket_closed_to_be_tried_again(path: str) -> None:
    async def test() -> None:
        engine = hearing()
        engine.refuse = AtCapacity("all places of the ear are in use")
        async with serving(engine) as served, served.socket(RAW, path) as socket:
            (error,), code = await rest_of(socket)
            assert error["status_code"] == 429
            assert code == 1013
            assert served.diary.of(Refused)[0].reason == "streams"
            await until(lambda: nothing_is_held(served))

    run(test())


def test_streams_of_listening_count_for_their_key() -> None:
    async def test() -> None:
        given = settings(server={"api_keys": {"alice": {"key": "sk-alice", "max_streams": 1}}})
        async with serving(hearing(), given) as served:
            query = f"{RAW}&api_key=sk-alice"
            async with served.socket(query, TURNS) as first, served.socket(query, TURNS) as second:
                outcomes = [await receive(first), await receive(second)]
                assert sorted(kinds(outcomes)) == ["connected", "error"]

    run(test())


def test_who_may_listen() -> None:
    async def test() -> None:
        async with serving(hearing(), settings(**KEYED)) as served, served.client() as client:

            async def token(**grants: bool) -> str:
                made = await client.post("/access-token", json={"grants": grants}, headers={"X-API-Key": "sk-alice"})
                return str(made.json()["token"])

            async def status(path: str, query: str, **headers: str) -> int:
                try:
                    async with served.socket(RAW + query, path, additional_headers=headers) as socket:
                        assert socket.response is not None
                        assert socket.response.headers["x-request-id"]
                        return 101
                except InvalidStatus as refused:
                    return refused.response.status_code

            hears, speaks = await token(stt=True), await token(tts=True)
            for path in (FINALIZE, TURNS):
                assert await status(path, "") == 401
                assert await status(path, "&api_key=sk-mallory") == 401
                assert await status(path, f"&access_token={speaks}") == 403
                assert await status(path, f"&access_token={hears}") == 101
                assert await status(path, "&api_key=sk-alice") == 101
                assert await status(path, "", authorization="Bearer sk-alice") == 101
                assert await status(path, "", **{"x-api-key": "sk-alice"}) == 101
            assert await status("/tts/websocket", f"&access_token={hears}") == 403

    run(test())


def test_a_server_that_is_not_ready_refuses_the_handshake() -> None:
    async def test() -> None:
        async with serving(hearing(), ready=False) as served:
            with pytest.raises(InvalidStatus) as refused:
                async with served.socket(RAW, TURNS):
                    pass
            assert refused.value.response.status_code == 503

    run(test())


@pytest.mark.parametrize(("path", "last"), [(FINALIZE, "done"), (TURNS, "turn.end")])
def test_a_server_that_leaves_hears_out_what_was_said(path: str, last: str) -> None:
    async def test() -> None:
        async with serving(hearing()) as served, served.socket(RAW, path) as socket:
            await socket.send(audio(1.6))
            await until(lambda: served.engine.ear.streams and ear_of(served).pushed_bytes == len(audio(1.6)))
            leaving = asyncio.create_task(served.app.hub.lifecycle.drain(5))
            told, code = await rest_of(socket)
            assert told[-1]["type"] == last
            finals = [m for m in told if m.get("is_final") or m["type"] == "turn.end"]
            assert [m.get("text", m.get("transcript")) for m in finals] == ["what time is"]
            assert code == 1012
            await leaving
            assert nothing_is_held(served)

    run(test())


def test_what_is_not_heard_out_in_time_is_told_and_cut() -> None:
    async def test() -> None:
        async with serving(hearing()) as served, served.socket(RAW, TURNS) as socket:
            assert (await receive(socket))["type"] == "connected"
            ear_of(served).flush = lambda marker, *, last=False: None  # type: ignore[method-assign]
            leaving = asyncio.create_task(served.app.hub.lifecycle.drain(0.05))
            told, code = await rest_of(socket)
            assert told[-1]["type"] == "error"
            assert told[-1]["status_code"] == 503
            assert code == 1012
            await leaving
            assert served.diary.of(StreamEnded)[0].outcome == "cut"

    run(test())


@pytest.mark.parametrize("path", [FINALIZE, TURNS])
def test_a_caller_who_vanishes_leaves_nothing_behind(path: str) -> None:
    async def test() -> None:
        async with serving(hearing()) as served:
            socket = await served.socket(RAW, path)
            await socket.send(audio(1.6))
            await until(lambda: served.engine.ear.streams and ear_of(served).pushed_bytes)
            socket.transport.abort()
            await served.diary.until(StreamEnded)
            await until(lambda: nothing_is_held(served))
            assert served.diary.of(StreamEnded)[0].outcome == "dropped"
            ear_of(served).say(SpeechStarted(0))
            await asyncio.sleep(0)
            assert not served.diary.of(Crashed)

    run(test())


def test_F26_a_client_that_says_done_and_leaves_at_once_is_no_fault() -> None:
    async def test() -> None:
        async with serving(hearing()) as served:
            async with served.socket(RAW, FINALIZE) as socket:
                await socket.send(audio(1))
                await socket.send("done")
            await until(lambda: nothing_is_held(served))
            assert not served.diary.of(Crashed)

    run(test())


def test_who_sends_faster_than_is_heard_is_not_read_from_and_loses_nothing() -> None:
    async def test() -> None:
        async with serving(hearing()) as served, served.socket(RAW, FINALIZE) as socket:
            await socket.send(audio(0.1))
            await until(lambda: served.engine.ear.streams and ear_of(served).pushed_bytes)
            ear = ear_of(served)
            ear.backlog_s = CLOGGED_S + 1
            sending = asyncio.create_task(send_all(socket, [audio(1)] * 300))
            await until(lambda: ear.pushed_bytes > len(audio(0.1)))
            for _ in range(100):
                await asyncio.sleep(0)
            assert ear.pushed_bytes < len(audio(3))
            ear.backlog_s = 0.0
            ear.say(Listened(1, False))
            await sending
            await socket.send("close")
            told, code = await rest_of(socket)
            assert code == 1000
            assert ear.pushed_bytes == len(audio(0.1)) + 300 * len(audio(1))
            finals = [message["text"] for message in told if message.get("is_final")]
            assert "".join(finals) == "what time is it thank you"

    run(test())


async def send_all(socket: ClientConnection, frames: list[bytes]) -> None:
    for frame in frames:
        await socket.send(frame)


def test_a_frame_of_a_minute_is_given_in_pieces() -> None:
    async def test() -> None:
        query = "?model=ink-2&encoding=pcm_mulaw&sample_rate=8000"
        async with serving(hearing()) as served, served.socket(query, FINALIZE) as socket:
            await socket.send(b"\xff")
            await until(lambda: served.engine.ear.streams and ear_of(served).pushed_bytes)
            ear, pushed = ear_of(served), list[int]()
            push = ear.push
            ear.push = lambda item: (pushed.append(len(item)), push(item))[1]  # type: ignore[method-assign]
            await socket.send(b"\xff" * 500_000)
            await socket.send("close")
            await rest_of(socket)
            assert sum(pushed) == 500_000
            assert max(pushed) <= 5 * 8000

    run(test())


def test_a_choked_stream_ends_the_session_rather_than_leave_a_hole() -> None:
    async def test() -> None:
        async with serving(hearing()) as served, served.socket(RAW, TURNS) as socket:
            assert (await receive(socket))["type"] == "connected"

            def choke(item: bytes) -> None:
                raise InvalidInput("more than this ear can take")

            ear_of(served).push = choke  # type: ignore[method-assign]
            await socket.send(audio(0.1))
            (error,), code = await rest_of(socket)
            assert "more than this ear can take" in error["message"]
            assert code == 1008
            assert served.diary.of(StreamEnded)[0].outcome == "failed"

    run(test())


def test_a_failed_piece_and_a_doubt_are_told_and_the_session_lives() -> None:
    async def test() -> None:
        async with serving(hearing()) as served, served.socket(RAW, FINALIZE) as socket:
            await socket.send(audio(0.1))
            await until(lambda: served.engine.ear.streams)
            ear_of(served).say(Failed("the ear stumbled"), Warned("is this really 16 kHz?"))
            assert "the ear stumbled" in (await receive(socket))["message"]
            assert (await receive(socket))["type"] == "warning"
            await socket.send(audio(2))
            await socket.send("finalize")
            assert (await receive_until(socket, "flush_done"))[-2]["text"] == "what time is it"

    run(test())


def test_two_callers_hear_their_own() -> None:
    async def test() -> None:
        async with (
            serving(hearing()) as served,
            served.socket(RAW, FINALIZE) as one,
            served.socket(RAW, FINALIZE) as other,
        ):
            await asyncio.gather(one.send(audio(1)), other.send(audio(2)))
            await asyncio.gather(one.send("finalize"), other.send("finalize"))
            first, second = await receive_until(one, "flush_done"), await receive_until(other, "flush_done")
            assert first[-2]["text"] == "what time"
            assert second[-2]["text"] == "what time is it"
            assert first[-1]["request_id"] != second[-1]["request_id"]

    run(test())


def test_what_was_heard_is_in_the_journal_and_the_metrics() -> None:
    async def test() -> None:
        async with serving(hearing()) as served:
            async with served.socket(RAW, FINALIZE) as socket:
                for _ in range(30):
                    await socket.send(audio(0.1))
                await socket.send("finalize")
                await receive_until(socket, "flush_done")
                await socket.send("close")
                await rest_of(socket)
            await served.diary.until(StreamEnded)
            assert served.diary.of(StreamOpened)[0].engine == "fake-ear"
            assert sum(taken.audio_s for taken in served.diary.of(AudioTaken)) == pytest.approx(3.0)
            assert [(heard.chars, heard.words) for heard in served.diary.of(TextHeard)] == [(15, 4)]
            assert len(served.diary.of(Finalized)) == 2
            text = served.app.hub.metrics.text().decode()
            assert 'antiphon_stt_audio_seconds_total{engine="fake-ear"} 3.0' in text
            assert 'antiphon_stt_final_seconds_count{engine="fake-ear",route="/stt/websocket"} 2.0' in text
            assert 'antiphon_streams_ended_total{engine="fake-ear",outcome="done"} 1.0' in text
            assert 'antiphon_active_streams{engine="fake-ear"} 0.0' in text

    run(test())


def test_an_error_of_ours_closes_the_socket_and_gives_the_place_back() -> None:
    async def test() -> None:
        async with serving(hearing()) as served, served.socket(RAW, TURNS) as socket:
            assert (await receive(socket))["type"] == "connected"
            ear_of(served).say(Heard("x", 0, True, end_sample="nonsense"))  # type: ignore[arg-type]
            (error,), code = await rest_of(socket)
            assert error["status_code"] == 500
            assert "nonsense" not in error["message"]
            assert code == 1011
            assert served.diary.of(Crashed)
            await until(lambda: nothing_is_held(served))

    run(test())


def test_the_sockets_do_not_answer_plain_requests() -> None:
    async def test() -> None:
        async with serving(hearing()) as served, served.client() as client:
            for path in (FINALIZE, TURNS):
                assert (await client.get(path)).status_code == 426
            with pytest.raises(InvalidStatus):
                async with connect(f"ws://127.0.0.1:{served.port}/stt", proxy=None):
                    pass

    run(test())
