"""MCP servers as tools: a real one, in a process of its own, over its standard streams and over HTTP."""

import asyncio
import contextlib
import json
import logging
import socket
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from antiphon.core.errors import InvalidInput
from antiphon.server.tools import ToolBox, ToolOutcome, tool_box
from antiphon.server.tools.mcp_pipe import ServerPipe, _read
from antiphon.settings import AgentToolSettings

pytest.importorskip("mcp", reason="the extra mcp is not installed")
SERVER = str(Path(__file__).with_name("mcp_orders.py"))


def given(folder: Path, **more: Any) -> AgentToolSettings:
    values = {"name": "orders", "mcp_command": (sys.executable, SERVER, str(folder)), "start_timeout_s": 60}
    return AgentToolSettings(**{**values, "timeout_s": 60, **more})


@contextlib.asynccontextmanager
async def opened(*tools: AgentToolSettings) -> AsyncIterator[ToolBox]:
    box = tool_box(tools)
    try:
        await box.open()
        yield box
    finally:
        await box.aclose()


def run(test: Any) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(100):
            await test

    asyncio.run(bounded())


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def pids(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "starts").read_text().split()]


def error(outcome: ToolOutcome) -> str:
    assert not outcome.ok
    return str(json.loads(outcome.content)["error"])


def test_a_servers_tools_are_offered_run_and_survive_its_death(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "child").touch()
    settings = given(
        tmp_path,
        allow=["find", "move", "remember", "refuse", "nothing"],
        prefix="shop_",
        env={"ORDERS_TOKEN": "tok-98765"},
        tools={"refuse": {"effect": "read", "description": "Says no."}, "move": {"targets": ["order_id"]}},
    )

    async def test() -> None:
        async with opened(settings) as box:
            specs = {spec.name: spec for spec in box.specs()}
            assert {name: spec.effect for name, spec in specs.items()} == {
                "shop_find": "read",
                "shop_move": "write",
                "shop_remember": "write",
                "shop_refuse": "read",
            }
            assert specs["shop_refuse"].description == "Says no."
            assert box.targets == {"shop_move": ("order_id",)}
            assert "idempotency_key" not in specs["shop_move"].parameters
            assert json.loads((await box.call("shop_find", {"order_id": "1"})).content)["secret"] == "***"
            assert error(await box.call("shop_find", {})) == "The arguments do not fit. order_id: is missing"
            assert (await box.call("shop_move", {"order_id": "1", "day": "Friday"}, "k1")).ok
            assert (await box.call("shop_remember", {}, "k2")).content == "k2"
            assert error(await box.call("shop_refuse", {}))
            # It dies while it works: a read is asked again of the next one, a write is not.
            assert json.loads((await box.call("shop_find", {"order_id": "die"})).content)["status"] == "packed"
            lost = await box.call("shop_move", {"order_id": "die", "day": "Friday"}, "k3")
            assert "not known whether it was done" in error(lost)
            assert (tmp_path / "moves").read_text().splitlines() == ["1 Friday k1", "die Friday k3"]
            assert len(pids(tmp_path)) >= 2

    with caplog.at_level(logging.WARNING):
        run(test())
    assert "has no tool 'nothing'; it has: block, find, move, refuse, remember" in caplog.text
    assert "tok-98765" not in caplog.text
    assert [pid for pid in (*pids(tmp_path), int((tmp_path / "child").read_text())) if alive(pid)] == []


def test_a_read_that_blocks_its_server_is_given_up_and_the_server_ended(tmp_path: Path) -> None:
    async def test() -> None:
        async with opened(given(tmp_path, timeout_s=0.2, effect="read")) as box:
            assert error(await box.call("block", {})) == "no answer within 0.2 s"

    run(test())
    assert [pid for pid in pids(tmp_path) if alive(pid)] == []


def test_a_server_that_does_not_speak_is_reported_and_ended(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "silent").touch()

    async def test() -> None:
        async with opened(given(tmp_path, start_timeout_s=0.2)) as box:
            assert box.specs() == ()
        with pytest.raises(InvalidInput, match=r"'orders' is required: it has not answered within 0\.2 s"):
            async with opened(given(tmp_path, start_timeout_s=0.2, required=True)):
                pass

    with caplog.at_level(logging.WARNING):
        run(test())
    assert "its tools are missing until it is" in caplog.text
    started = pids(tmp_path) if (tmp_path / "starts").exists() else []
    assert [pid for pid in started if alive(pid)] == []


@pytest.mark.parametrize("at_once", [True, False], ids=["cancelled again and again", "cancelled once"])
def test_a_server_that_does_not_follow_is_gone_when_its_connection_is(at_once: bool) -> None:
    """It holds memory, so that its death takes a while."""
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); held = bytearray(200 << 20)"
    pipe = ServerPipe((sys.executable, "-c", f"{deaf}; print(flush=True); time.sleep(600)"), {}, lambda: None)
    found: list[int] = []

    async def live() -> None:
        async with pipe.connect() as (incoming, _):
            found.append(pipe.pid or 0)
            await incoming.receive()

    async def test() -> None:
        if at_once:
            with anyio.CancelScope() as scope:
                scope.deadline = anyio.current_time() + 0.5
                await live()
        else:
            life = asyncio.create_task(live())
            await asyncio.wait({life}, timeout=0.5)
            life.cancel()
            await asyncio.wait({life})
        assert not alive(found[0])

    run(test())


def test_a_server_that_cannot_start_says_why_without_its_secrets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "broken").touch()

    async def test() -> None:
        broken = given(tmp_path, env={"PASSWORD": "swordfish-42"})
        missing = AgentToolSettings(name="missing", mcp_command=("/no/such/program",))
        async with opened(broken, missing) as box:
            assert box.specs() == ()

    with caplog.at_level(logging.WARNING):
        run(test())
    assert "no database, password is ***" in caplog.text
    assert "missing is not there: it cannot be started: No such file or directory" in caplog.text


def test_a_server_over_http(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, SERVER, str(tmp_path), "--http", str(port)]
    settings = AgentToolSettings(name="orders", mcp_url=f"http://127.0.0.1:{port}/mcp", start_timeout_s=1)

    async def test() -> None:
        box = tool_box([settings])
        process = await asyncio.create_subprocess_exec(*command, stdout=DEVNULL, stderr=DEVNULL)
        try:
            await box.open()  # it may not be there yet: then it is found later
            while not box.specs():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            assert json.loads((await box.call("find", {"order_id": "1"})).content)["status"] == "packed"
            assert (await box.call("remember", {}, "k2")).content == "k2"
        finally:
            process.kill()
            await process.wait()
        lost = await box.call("find", {"order_id": "1"})
        assert "orders" in error(lost)
        await box.aclose()

    run(test())


def test_a_server_that_prints_and_prints_does_not_keep_the_others_waiting() -> None:
    """What stands in a pipe already is read without a pause of its own."""

    async def test() -> None:
        output, ended = asyncio.StreamReader(), asyncio.Event()
        output.feed_data(b"oops\n" * 500)
        output.feed_eof()
        to_session, session = anyio.create_memory_object_stream[Any](0)
        with to_session, session:
            reading = asyncio.create_task(_read(SimpleNamespace(stdout=output), to_session, ended.set))  # type: ignore[arg-type]
            turns = 0
            while not ended.is_set():
                turns += 1
                await asyncio.sleep(0)
            await reading
        assert turns >= 500

    run(test())
