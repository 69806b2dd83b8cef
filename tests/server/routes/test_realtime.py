"""The Realtime socket over a real uvicorn: brains as they should and should not be, who may come in, what is left."""

import asyncio
import base64
import json
import re
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from antiphon.core.brain import BrainDone, BrainEvent, BrainRequest, TextDelta
from antiphon.server.journal import Answered, Crashed, StreamEnded
from antiphon.server.session.question import MAX_AHEAD

from ..support import ScriptedEngine, Served, audio, receive, receive_until, run, serving, settings, until

PATH, SECRETS = "/v1/realtime", "/v1/realtime/client_secrets"
ONE_STREAM = {"key": "sk-1", "max_streams": 1}
KEYED: dict[str, Any] = {"server": {"api_keys": {"alice": {"key": "sk-alice"}, "one": ONE_STREAM}}}


class Brain:
    """Says its words and, if it is told to stay, no end. ``held`` counts answers that are open."""

    name = "scripted"

    def __init__(self, *said: str, stays: bool = False, fault: Exception | None = None, ends: bool = True) -> None:
        self.said = said
        self.stays = stays
        self.fault = fault
        self.ends = ends
        self.asked: list[BrainRequest] = []
        self.given = 0
        self.held = 0

    async def stream(self, request: BrainRequest) -> AsyncGenerator[BrainEvent, None]:
        self.asked.append(request)
        self.held += 1
        try:
            for word in self.said:
                self.given += 1
                yield TextDelta(word)
            if self.fault is not None:
                raise self.fault
            if self.stays:
                await asyncio.Event().wait()
            if self.ends:
                yield BrainDone()
        finally:
            self.held -= 1


async def tell(socket: ClientConnection, kind: str, **fields: Any) -> None:
    await socket.send(json.dumps({"type": kind, **fields}))


async def ask(socket: ClientConnection, text: str = "Hello.", **response: Any) -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    await tell(socket, "conversation.item.create", item=item)
    await tell(socket, "response.create", response=response)


async def hear(socket: ClientConnection, seconds: float, rate_hz: int = 24_000) -> None:
    data = base64.b64encode(bytes(2 * round(seconds * rate_hz))).decode()
    await tell(socket, "input_audio_buffer.append", audio=data)


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def nothing_is_held(served: Served, brain: Brain) -> bool:
    admission = served.app.hub.admission
    left = admission.streams or admission.connections or served.engine.open or served.app.hub.lifecycle.guests
    return not (left or brain.held)


def turn_values(served: Served, name: str) -> dict[str, float]:
    """Of turns over this socket, by their labels."""
    lines = [line for line in served.app.hub.metrics.text().decode().splitlines() if line.startswith(name + "{")]
    found = {line[len(name) :].rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}
    return {labels: value for labels, value in found.items() if f'route="{PATH}"' in labels}


def recorded(served: Served) -> dict[tuple[str, str], int]:
    """How many turns ended how, and why badly."""
    label = re.compile(r'(outcome|cause)="([^"]*)"')
    found = {}
    for labels, value in turn_values(served, "antiphon_turns_total").items():
        of = dict(label.findall(labels))
        found[of["outcome"], of["cause"]] = int(value)
    return found


def with_key(key: str) -> dict[str, Any]:
    return {"additional_headers": {"authorization": f"Bearer {key}"}}


def test_a_spoken_turn_is_heard_thought_about_and_spoken() -> None:
    async def test() -> None:
        engine, brain = ScriptedEngine(answers=True, hears=["what time is it"]), Brain("It is", " noon.")
        async with serving(engine, brain=brain) as served:
            async with served.socket(path=PATH) as socket:
                await hear(socket, 4.0)
                events = await receive_until(socket, "response.done")
                assert kinds(events)[:3] == [
                    "session.created", "input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped",
                ]  # fmt: skip
                assert brain.asked[0].messages[-1].content == "what time is it"
                assert engine.streams[0].pushed == ["It is", " noon."]
                assert "response.output_audio.delta" in kinds(events)
                assert events[-1]["response"]["status"] == "completed"
                assert served.app.hub.admission.streams == 1  # the ear
            await until(lambda: nothing_is_held(served, brain))
            assert [entry.outcome for entry in served.diary.of(Answered)] == ["done"]
            assert not served.diary.of(Crashed)
            assert [outcome for outcome, _ in recorded(served)] == ["answered"]
            heard = turn_values(served, "antiphon_turn_silence_seconds_sum")
            stages = turn_values(served, "antiphon_turn_stage_seconds_sum")
            assert sum(stages.values()) == pytest.approx(sum(heard.values()), abs=0.001)

    run(test())


def test_after_a_cancel_no_word_and_no_audio_leaves_and_the_brain_is_closed() -> None:
    async def test() -> None:
        engine, brain = ScriptedEngine(), Brain("A long", " story.", stays=True)
        async with serving(engine, brain=brain) as served, served.socket(path=PATH) as socket:
            await ask(socket)
            await receive_until(socket, "response.output_audio_transcript.delta")
            await until(lambda: engine.streams)
            engine.streams[0].say(*[audio()] * 50)
            await receive_until(socket, "response.output_audio.delta")
            await tell(socket, "response.cancel")
            events = await receive_until(socket, "response.done")
            assert events[-1]["response"]["status"] == "cancelled"
            await until(lambda: not brain.held and not engine.open)
            await tell(socket, "input_audio_buffer.clear")
            assert kinds([await receive(socket)]) == ["input_audio_buffer.cleared"]  # nothing in between
            assert [entry.outcome for entry in served.diary.of(Answered)] == ["cancelled"]

    run(test())


@pytest.mark.parametrize(
    ("brain", "crashed"),
    [
        pytest.param(Brain("Well,", fault=RuntimeError("the secret of the house")), True, id="raises"),
        pytest.param(Brain("Well,", ends=False), False, id="has no end"),
    ],
)
def test_a_brain_that_breaks_fails_its_answer_and_nothing_else(brain: Brain, crashed: bool) -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), brain=brain) as served, served.socket(path=PATH) as socket:
            for _ in range(2):
                await ask(socket)
                done = (await receive_until(socket, "response.done"))[-1]
                assert done["response"]["status"] == "failed"
                assert "secret" not in json.dumps(done)
            assert bool(served.diary.of(Crashed)) is crashed
            assert [entry.outcome for entry in served.diary.of(Answered)] == ["failed", "failed"]
            assert not served.engine.open

    run(test())


def test_a_brain_that_cannot_even_be_closed_holds_nobody_up() -> None:
    class Stubborn(Brain):
        async def stream(self, request: BrainRequest) -> AsyncGenerator[BrainEvent, None]:
            try:
                yield TextDelta("Well,")
                await asyncio.Event().wait()
            finally:
                raise RuntimeError("no")

    async def test() -> None:
        brain = Stubborn()
        async with serving(ScriptedEngine(), brain=brain) as served:
            async with served.socket(path=PATH) as socket:
                await ask(socket)
                await receive_until(socket, "response.output_audio_transcript.delta")
                await tell(socket, "response.cancel")
                await receive_until(socket, "response.done")
            await until(lambda: nothing_is_held(served, brain))

    run(test())


def test_a_caller_who_leaves_while_the_brain_thinks_leaves_nothing_behind() -> None:
    async def test() -> None:
        brain = Brain("Well,", stays=True)
        async with serving(ScriptedEngine(), brain=brain) as served:
            async with served.socket(path=PATH) as socket:
                await ask(socket)
                await receive_until(socket, "response.output_audio_transcript.delta")
                socket.transport.abort()
            await until(lambda: nothing_is_held(served, brain))
            assert [entry.outcome for entry in served.diary.of(Answered)] == ["dropped"]
            assert recorded(served) == {("unanswered", "network"): 1}

    run(test())


def test_a_brain_that_talks_to_someone_who_does_not_read_is_not_listened_to() -> None:
    """Some is on its way, some waits in the question, some as frames for the wire: the rest is not asked for."""

    async def test() -> None:
        brain = Brain(*["word " * 1000] * 3_000)
        async with serving(ScriptedEngine(), brain=brain) as served:
            socket = await served.socket(path=PATH, max_queue=1)
            await ask(socket, output_modalities=["text"])
            still, before = 0, 0
            while still < 1_000 or not before:  # turns of the loop in which nothing was asked of the brain
                still, before = (still + 1 if brain.given == before else 0), brain.given
                await asyncio.sleep(0)
            assert MAX_AHEAD < brain.given < 2_900
            socket.transport.abort()
            await until(lambda: nothing_is_held(served, brain))

    run(test())


def test_a_leaving_server_finishes_the_answer_also_its_voice() -> None:
    async def test() -> None:
        engine, go = ScriptedEngine(answers=True), asyncio.Event()

        class Slow(Brain):
            async def stream(self, request: BrainRequest) -> AsyncGenerator[BrainEvent, None]:
                self.asked.append(request)
                await go.wait()
                yield TextDelta("Goodbye.")
                yield BrainDone()

        brain = Slow()
        async with serving(engine, brain=brain) as served, served.socket(path=PATH) as socket:
            await ask(socket)
            await until(lambda: brain.asked)
            leaving = asyncio.create_task(served.app.hub.lifecycle.drain(10))
            await until(lambda: served.app.hub.lifecycle.phase == "draining")
            go.set()
            events = await receive_until(socket, "response.done")
            assert events[-1]["response"]["status"] == "completed"
            assert "response.output_audio.delta" in kinds(events)
            with pytest.raises(ConnectionClosed):
                await receive(socket)
            assert socket.close_code == 1012
            await leaving

    run(test())


def test_audio_of_minutes_in_one_frame_is_taken_here_and_nowhere_else() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(answers=True), brain=Brain()) as served:
            async with served.socket(path=PATH) as socket:
                await tell(socket, "session.update", session={
                    "type": "realtime", "audio": {"input": {"turn_detection": None}}})  # fmt: skip
                await receive_until(socket, "session.updated")
                await hear(socket, 120.0)
                await tell(socket, "input_audio_buffer.commit")
                await receive_until(socket, "input_audio_buffer.committed")
                assert served.engine.ear.streams[0].pushed_bytes == 120 * 48_000
            async with served.socket() as other:
                await other.send(json.dumps({"transcript": "x" * (2 << 20)}))
                with pytest.raises(ConnectionClosed):
                    await receive(other)
                assert other.close_code == 1009

    run(test())


def test_a_full_server_says_so_on_the_socket() -> None:
    async def test() -> None:
        async with (
            serving(ScriptedEngine(), settings(server={"max_connections": 1}), brain=Brain()) as served,
            served.socket(path=PATH) as first,
        ):
            await receive(first)
            async with served.socket(path=PATH) as second:
                told = await receive(second)
                assert (told["type"], told["error"]["code"]) == ("error", "server_overloaded")
                with pytest.raises(ConnectionClosed):
                    await receive(second)
                assert second.close_code == 1013

    run(test())


def test_ear_and_voice_count_as_streams_of_the_caller() -> None:
    async def test() -> None:
        engine = ScriptedEngine(answers=True, hears=["hello"])
        async with (
            serving(engine, settings(**KEYED), brain=Brain("Hello.")) as served,
            served.socket(path=PATH, **with_key("sk-1")) as socket,
        ):
            await hear(socket, 3.0)
            done = (await receive_until(socket, "response.done"))[-1]["response"]
            assert done["status"] == "failed"
            assert done["status_details"]["error"]["code"] == "server_overloaded"
            assert served.app.hub.admission.streams == 1  # it still listens
            assert not served.diary.of(StreamEnded)

    run(test())


def test_a_browser_hides_its_key_among_the_sub_protocols() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), settings(**KEYED), brain=Brain()) as served:
            offered = ["realtime", "openai-insecure-api-key.sk-alice", "openai-beta.realtime-v1"]
            async with served.socket(path=PATH, subprotocols=offered) as socket:
                assert socket.subprotocol == "realtime"
                assert (await receive(socket))["type"] == "session.created"
            with pytest.raises(InvalidStatus) as refused:
                async with served.socket(path=PATH, subprotocols=["realtime", "openai-insecure-api-key.no"]):
                    pass
            assert refused.value.response.status_code == 401
            body = json.loads(refused.value.response.body)
            assert body["error"]["type"]

    run(test())


@pytest.mark.parametrize(("query", "status"), [("?call_id=rtc_1", 501), ("?intent=sing", 400)])
def test_what_a_url_cannot_ask_for_is_told_at_the_handshake(query: str, status: int) -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), brain=Brain()) as served:
            with pytest.raises(InvalidStatus) as refused:
                async with served.socket(query, path=PATH):
                    pass
            assert refused.value.response.status_code == status
            assert served.app.hub.admission.connections == 0

    run(test())


def test_a_client_secret_opens_this_socket_and_nothing_else() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), settings(**KEYED), brain=Brain()) as served, served.client() as client:
            asked = {"session": {"type": "transcription"}, "expires_after": {"anchor": "created_at", "seconds": 10}}
            denied = await client.post(SECRETS, json=asked)
            assert denied.status_code == 401
            headers = {"authorization": "Bearer sk-alice"}
            made = (await client.post(SECRETS, json=asked, headers=headers)).json()
            assert made["session"]["type"] == "transcription"
            secret = made["value"]
            offered = ["realtime", f"openai-insecure-api-key.{secret}"]
            async with served.socket(path=PATH, subprotocols=offered) as socket:
                assert (await receive(socket))["session"]["type"] == "transcription"
            bearer = {"authorization": f"Bearer {secret}"}
            assert (await client.post(SECRETS, json={}, headers=bearer)).status_code == 403
            speech = {"model": "tts-1", "voice": "alloy", "input": "Hello."}
            assert (await client.post("/v1/audio/speech", json=speech, headers=bearer)).status_code == 403
            for bad in (secret[:-1], secret + "x", f"ek_x{secret[3:]}", "ek_"):
                with pytest.raises(InvalidStatus) as refused:
                    async with served.socket(path=PATH, **with_key(bad)):
                        pass
                assert refused.value.response.status_code == 401

    run(test())


def test_a_client_secret_works_where_no_key_is_asked_for() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), brain=Brain()) as served, served.client() as client:
            asked = {"session": {"type": "realtime", "instructions": "Be brief."}}
            secret = (await client.post(SECRETS, json=asked)).json()["value"]
            async with served.socket(path=PATH, **with_key(secret)) as socket:
                assert (await receive(socket))["session"]["instructions"] == "Be brief."

    run(test())


def test_a_session_too_large_for_a_secret_is_refused_with_a_way_out() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), brain=Brain()) as served, served.client() as client:
            words = " ".join(str(number * 7919 % 100_003) for number in range(5_000))
            answer = await client.post(SECRETS, json={"session": {"type": "realtime", "instructions": words}})
            assert answer.status_code == 400
            assert "session.update" in answer.json()["error"]["message"]

    run(test())
