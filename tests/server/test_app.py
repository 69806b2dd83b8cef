"""Routes: status, shapes, doors. What is said over HTTP is in test_speech.py, over sockets in test_session.py."""

import json
import re
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from antiphon.server.journal import Crashed, Refused, RequestEnded

from .support import (
    ORDER,
    VOICE,
    ScriptedEngine,
    audio,
    in_process,
    receive,
    receive_until,
    run,
    send,
    serving,
    settings,
    until,
)

SPEECH = {"model": "tts-1", "input": "Hello.", "voice": "alloy", "response_format": "pcm"}
BYTES = {**ORDER, "transcript": "Hello."}
KEYS = {"alice": "sk-alice"}


@pytest.mark.parametrize(
    "path", ["/", "/health", "/ready", "/metrics", "/voices", "/voices/v", "/v1/models", "/v1/models/tts-1", "/docs"]
)
def test_every_page_answers_with_and_without_a_trailing_slash(path: str) -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine()) as (client, _, _):
            bare, slashed = await client.get(path), await client.get(path.rstrip("/") + "/")
            assert (bare.status_code, slashed.status_code) == (200, 200)
            head = await client.head(path)
            assert (head.status_code, head.content) == (200, b"")

    run(test())


def test_posts_and_sockets_take_a_trailing_slash_too() -> None:
    async def test() -> None:
        engine = ScriptedEngine(answers=True)
        async with serving(engine) as served, served.client() as client:
            assert (await client.post("/tts/bytes/", json=BYTES)).status_code == 200
            url = f"ws://127.0.0.1:{served.port}/tts/websocket/"
            async with connect(url, proxy=None) as socket:
                await send(socket, "c", "Text.")
                await receive_until(socket, "done")

    run(test())


def test_request_ids_are_on_every_answer_and_differ() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine()) as (client, _, diary):
            answers = [await client.get(path) for path in ("/", "/nowhere", "/voices/nobody")]
            ids = [answer.headers["x-request-id"] for answer in answers]
            assert len(set(ids)) == 3
            assert [entry.request_id for entry in diary.of(RequestEnded)] == ids
            assert answers[2].json()["request_id"] == ids[2]

    run(test())


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/voices/nobody", 404),
        ("PUT", "/voices", 405),
        ("GET", "/tts/bytes", 405),
        ("POST", "/voices/clone", 501),
        ("DELETE", "/voices/v", 501),
        ("GET", "/usage/credits", 501),
        ("GET", "/agents/a/b", 501),
    ],
)
def test_errors_outside_v1_have_cartesias_shape(method: str, path: str, status: int) -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine()) as (client, _, _):
            answer = await client.request(method, path)
            assert answer.status_code == status
            assert {"error_code", "title", "message", "request_id"} <= answer.json().keys()
            old = await client.request(method, path, headers={"Cartesia-Version": "2025-04-16"})
            assert old.status_code == status
            assert old.headers["content-type"].startswith("text/plain")

    run(test())


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/nowhere", 404), ("GET", "/v1/models/nothing", 404), ("PUT", "/v1/audio/speech", 405)],
)
def test_errors_under_v1_have_openais_shape(method: str, path: str, status: int) -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine()) as (client, _, _):
            answer = await client.request(method, path)
            assert answer.status_code == status
            assert answer.json()["error"].keys() == {"message", "type", "param", "code"}

    run(test())


def test_options_and_405_name_all_methods_of_a_path() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine()) as (client, _, _):
            options, wrong = await client.options("/voices/v"), await client.put("/voices/v")
            assert options.status_code == 204
            assert options.headers["allow"] == wrong.headers["allow"] == "DELETE, GET, HEAD, OPTIONS, PATCH"

    run(test())


def test_a_plain_get_on_a_socket_is_told_to_upgrade() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine()) as (client, _, _):
            assert (await client.get("/tts/websocket")).status_code == 426

    run(test())


def test_readiness_comes_with_warmth_and_goes_with_draining() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine(answers=True), ready=False) as (client, app, _):
            assert (await client.get("/health")).status_code == 200
            assert (await client.get("/ready")).status_code == 503
            early = await client.post("/tts/bytes", json=BYTES)
            assert (early.status_code, early.headers["retry-after"]) == (503, "1")
            app.hub.lifecycle.ready()
            assert (await client.get("/ready")).status_code == 200
            assert (await client.post("/tts/bytes", json=BYTES)).status_code == 200
            await app.hub.lifecycle.drain(0)
            assert (await client.get("/health")).status_code == 200
            assert (await client.get("/ready")).status_code == 503
            assert (await client.post("/v1/audio/speech", json=SPEECH)).status_code == 503

    run(test())


def test_a_fault_of_ours_is_500_in_shape_and_its_details_are_only_in_the_journal() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        engine.refuse = RuntimeError("secret detail")
        async with in_process(engine) as (client, app, diary):
            cartesia = await client.post("/tts/bytes", json=BYTES)
            openai = await client.post("/v1/audio/speech", json=SPEECH)
            assert (cartesia.status_code, openai.status_code) == (500, 500)
            assert cartesia.headers["x-request-id"] in cartesia.json()["message"]
            assert openai.headers["x-request-id"] in openai.json()["error"]["message"]
            assert "secret" not in cartesia.text + openai.text
            assert all("secret detail" in crash.trace for crash in diary.of(Crashed))
            assert len(diary.of(Crashed)) == 2
            assert app.hub.admission.streams == 0

    run(test())


def test_keys_are_asked_for_where_there_are_keys() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine(answers=True), settings(server={"api_keys": KEYS})) as (client, _, diary):
            for path in ("/", "/health", "/ready", "/metrics", "/docs", "/openapi.json"):
                assert (await client.get(path)).status_code == 200
            for method, path in (("GET", "/voices"), ("POST", "/tts/bytes"), ("POST", "/access-token")):
                refused = await client.request(method, path)
                assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            wrong = await client.get("/voices", headers={"X-API-Key": "sk-alicE"})
            assert wrong.status_code == 401
            for headers in ({"X-API-Key": "sk-alice"}, {"Authorization": "Bearer sk-alice"}):
                assert (await client.get("/voices", headers=headers)).status_code == 200
                assert (await client.post("/tts/bytes", json=BYTES, headers=headers)).status_code == 200
            assert {entry.reason for entry in diary.of(Refused)} == {"auth"}

    run(test())


def test_a_token_opens_what_it_grants_and_nothing_else() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine(answers=True), settings(server={"api_keys": KEYS})) as (client, _, _):

            async def token(grants: dict[str, Any]) -> dict[str, str]:
                order = {"grants": grants, "expires_in": 60}
                made = await client.post("/access-token", json=order, headers={"X-API-Key": "sk-alice"})
                return {"Authorization": f"Bearer {made.json()['token']}"}

            tts, stt = await token({"tts": True}), await token({"stt": True})
            assert (await client.post("/tts/bytes", json=BYTES, headers=tts)).status_code == 200
            assert (await client.post("/tts/bytes", json=BYTES, headers=stt)).status_code == 403
            assert (await client.get("/voices", headers=tts)).status_code == 403
            assert (await client.post("/access-token", json={}, headers=tts)).status_code == 403

    run(test())


@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [
        ("", {}, 401),
        ("?api_key=wrong", {}, 401),
        ("", {"X-API-Key": "wrong"}, 401),
        ("", {"X-API-Key": "sk-alice"}, 101),
        ("", {"Authorization": "Bearer sk-alice"}, 101),
        ("?api_key=sk-alice", {}, 101),
    ],
)
def test_bad_keys_are_refused_at_the_handshake(query: str, headers: dict[str, str], status: int) -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), settings(server={"api_keys": KEYS})) as served:
            if status == 101:
                async with served.socket(query, additional_headers=headers) as socket:
                    assert socket.response is not None
                    assert socket.response.status_code == 101
                return
            with pytest.raises(InvalidStatus) as refused:
                await served.socket(query, additional_headers=headers)
            response = refused.value.response
            assert response.status_code == status
            assert response.headers["x-request-id"] == json.loads(response.body)["request_id"]

    run(test())


def test_sockets_over_the_limit_are_429_at_the_handshake_until_one_leaves() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), settings(server={"max_connections": 1})) as served:
            async with served.socket():
                with pytest.raises(InvalidStatus) as refused:
                    await served.socket()
                assert refused.value.response.status_code == 429
                assert refused.value.response.headers["retry-after"] == "1"
            await until(lambda: not served.app.hub.admission.connections)
            async with served.socket():
                assert served.app.hub.admission.connections == 1

    run(test())


def test_an_unready_server_refuses_sockets_with_503_and_unknown_ones_with_404() -> None:
    async def test() -> None:
        async with serving(ScriptedEngine(), ready=False) as served:
            with pytest.raises(InvalidStatus) as refused:
                await served.socket()
            assert refused.value.response.status_code == 503
            with pytest.raises(InvalidStatus) as unknown:
                await connect(f"ws://127.0.0.1:{served.port}/nowhere", proxy=None)
            assert unknown.value.response.status_code == 404

    run(test())


def test_strange_web_pages_cannot_use_an_open_server() -> None:
    async def test() -> None:
        allowed = "https://good.example"
        async with serving(
            ScriptedEngine(answers=True), settings(server={"cors_origins": [allowed]})
        ) as served, served.client() as client:
            own = f"http://127.0.0.1:{served.port}"
            for origin, status in (("https://evil.example", 403), (allowed, 200), (own, 200)):
                answer = await client.post("/tts/bytes", json=BYTES, headers={"Origin": origin})
                assert answer.status_code == status
            with pytest.raises(InvalidStatus) as refused:
                await served.socket(origin="https://evil.example")
            assert refused.value.response.status_code == 403
            async with served.socket(origin=allowed):
                pass

    run(test())


def test_cors_is_off_until_asked_for() -> None:
    async def test() -> None:
        asks = {"Origin": "https://good.example", "Access-Control-Request-Method": "POST"}
        async with in_process(ScriptedEngine()) as (client, _, _):
            answer = await client.options("/voices", headers=asks)
            assert "access-control-allow-origin" not in answer.headers
            answer = await client.get("/voices", headers=asks)
            assert "access-control-allow-origin" not in answer.headers
        async with in_process(ScriptedEngine(), settings(server={"cors_origins": ["https://good.example"]})) as found:
            answer = await found[0].options("/tts/bytes", headers=asks)
            assert answer.headers["access-control-allow-origin"] == "https://good.example"
            refused = await found[0].post("/tts/bytes", content=b"{", headers={"Origin": "https://good.example"})
            assert refused.status_code == 400
            assert refused.headers["access-control-allow-origin"] == "https://good.example"

    run(test())


def test_the_voices_pager_ends() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine()) as (client, _, _):
            page = (await client.get("/voices")).json()
            assert [voice["id"] for voice in page["data"]] == [VOICE.id]
            after = (await client.get("/voices", params={"starting_after": VOICE.id})).json()
            assert after["data"] == []

    run(test())


def test_openapi_names_every_route_that_answers() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine(answers=True)) as (client, _, _):
            paths = (await client.get("/openapi.json")).json()["paths"]
            assert {"/tts/websocket", "/tts/bytes", "/tts/sse", "/v1/audio/speech", "/voices/{id}"} <= paths.keys()
            for path, methods in paths.items():
                for method in methods:
                    asked = re.sub(r"\{\w+\}", "x", path)
                    status = (await client.request(method, asked, json={})).status_code
                    assert status != 405, (method, path)

    run(test())


def test_the_docs_page_fetches_nothing_from_elsewhere() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine()) as (client, _, _):
            page = await client.get("/docs")
            assert "default-src 'none'" in page.headers["content-security-policy"]
            assert not re.search(r"(src|href)=\"?(https?:)?//", page.text)

    run(test())


def test_metrics_count_what_happened() -> None:
    async def test() -> None:
        async with in_process(ScriptedEngine(answers=True)) as (client, _, _):
            await client.post("/tts/bytes", json=BYTES)
            text = (await client.get("/metrics")).text
            assert 'antiphon_active_streams{engine="scripted"} 0.0' in text
            assert 'antiphon_streams_ended_total{engine="scripted",outcome="done"} 1.0' in text
            assert 'antiphon_tts_ttfb_seconds_count{engine="scripted",route="/tts/bytes"} 1.0' in text
            assert "antiphon_ready 1.0" in text
            assert "antiphon_build_info" in text

    run(test())


def test_metrics_know_the_audio_of_a_stream_that_still_speaks() -> None:
    seconds: list[float] = []

    async def test() -> None:
        async with serving(ScriptedEngine()) as served, served.socket() as socket, served.client() as client:
            await send(socket, "c", "Text.")
            await until(lambda: served.engine.streams and served.engine.streams[0].flushes)
            for chunks in (2, 4):
                for _ in range(chunks):
                    served.engine.streams[0].say(audio())
                    await receive(socket)
                text = (await client.get("/metrics")).text
                line = next(line for line in text.splitlines() if line.startswith("antiphon_tts_audio_seconds_total"))
                seconds.append(float(line.split()[1]))
            assert seconds == pytest.approx([2 * 480 / 24_000, 6 * 480 / 24_000])

    run(test())
