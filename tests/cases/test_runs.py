"""Long runs, load, drain: what users of other voice stacks reported (docs/faults.md)."""

import contextlib
import gc
import json
import signal
import time

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.server.routes.test_agent import messages_until, start, tell
from tests.server.routes.test_realtime import Brain
from tests.server.support import ScriptedEngine, run, serving, settings, until
from tests.server.test_run import start as start_server
from tests.server.test_run import stop, url_of

LISTENING = "model=ink-2&encoding=pcm_s16le&sample_rate=16000"


def test_r1_calls_leave_no_object_behind() -> None:
    """Whatever a call keeps alive keeps Python objects alive: their number must not grow with the number of calls."""

    async def test() -> None:
        engine, brain = ScriptedEngine(answers=True), Brain("Yes.")
        async with serving(engine, settings(agent={"greeting": ""}), brain=brain) as served:

            async def calls(count: int) -> int:
                for _ in range(count):
                    async with served.socket(path="/agents/websocket") as socket:
                        await start(socket)
                        await socket.send(b"\1" + bytes(3_200))
                        await tell(socket, "text", text="Is it open?")
                        await messages_until(socket, "reply.end")
                        await tell(socket, "close")
                        await messages_until(socket, "closed")
                await until(lambda: not engine.open)
                engine.streams.clear()
                engine.ear.streams.clear()
                served.diary.entries.clear()
                brain.asked.clear()
                gc.collect()
                return len(gc.get_objects())

            await calls(20)
            before = await calls(1)
            # The loop keeps some hundred cancelled timers before it clears them away: two objects each.
            grown = await calls(120) - before
            assert grown < 4 * 120, f"{grown} objects more after 120 calls"

    run(test())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "path", [f"/stt/websocket?{LISTENING}", f"/stt/turns/websocket?{LISTENING}", "/v1/realtime?model=m"]
)
def test_r7_a_server_that_listens_ends_within_2_s(path: str, number: int) -> None:
    process = start_server()
    with connect(url_of(process).replace("http", "ws") + path, proxy=None) as client:
        _speak_into(client, path)
        began_s = time.monotonic()
        out, err = stop(process, number)
        assert time.monotonic() - began_s < 2
        with contextlib.suppress(ConnectionClosed):
            while client.recv(5):
                pass
        assert client.close_code in (1000, 1001, 1012)
    assert process.returncode == 0
    assert "house closed" in out
    assert "Traceback" not in err


def _speak_into(client: ClientConnection, path: str) -> None:
    for _ in range(20):
        if "realtime" in path:
            client.send(json.dumps({"type": "input_audio_buffer.append", "audio": "AAAA" * 800}))
        else:
            client.send(bytes(3_200))
