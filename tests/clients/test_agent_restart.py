"""The real client through a restart of the real server: SIGTERM or SIGKILL, then another `antiphon serve`."""

import asyncio
import os
import signal
from contextlib import ExitStack
from datetime import date
from pathlib import Path

import pytest
from examples.orders.seed import write

from antiphon.client import AgentSession, SessionOptions, SocketLost, connect
from antiphon.protocol import native_messages as wire

from . import order_desk
from .running import Server, serving
from .test_agent import SETTINGS

LIMIT_S = 150.0


async def answered(session: AgentSession, seen: list[object]) -> str:
    """The next reply that ends, when it was played."""
    text = dict[str, str]()
    async for event in session:
        seen.append(event)
        if isinstance(event, wire.ReplyText):
            text[event.reply_id] = text.get(event.reply_id, "") + event.delta
        elif isinstance(event, wire.ReplyEnded) and event.reason == "completed":
            while not session.player.position(event.reply_id).over:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            return text.get(event.reply_id, "")
    raise AssertionError("the session ended")


def process_of(server: Server) -> int:
    """Who listens there."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"serve" in words and os.fsencode(server.log.with_name("port")) in words:
                return int(folder.name)
    raise AssertionError("the server is gone")


@pytest.mark.parametrize(
    "dies", [pytest.param(False, id="planned"), pytest.param(True, id="killed", marks=pytest.mark.soak)]
)
def test_a_conversation_outlives_its_server(tmp_path: Path, dies: bool) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    write(desk / "orders.sqlite", date.today())
    config = tmp_path / "antiphon.toml"
    kept = "" if not dies else 'keep_sessions = "crash"\n'
    config.write_text(f'[agent]\nresume_window_s = 120.0\n{kept}[record]\ndir = "{tmp_path / "records"}"\n{SETTINGS}')
    words = ("--config", str(config))
    variables = {order_desk.FOLDER: str(desk), "ANTIPHON_AGENT__SESSIONS": str(tmp_path / "sessions.db")}

    async def talk(stack: ExitStack) -> None:
        (tmp_path / "first").mkdir()
        (tmp_path / "second").mkdir()
        first = stack.enter_context(serving(tmp_path / "first", *words, variables=variables))
        seen: list[object] = []
        async with asyncio.timeout(LIMIT_S), connect(first.http, SessionOptions()) as session:
            assert "Hello" in await answered(session, seen)
            await session.send_text("Please move order 4711 to Thursday afternoon.")
            assert (await answered(session, seen)).startswith("Done.")
            await asyncio.sleep(0.5)  # the client's last report is on its way
            os.kill(process_of(first), signal.SIGKILL if dies else signal.SIGTERM)
            if not dies:
                await asyncio.to_thread(stack.pop_all().close)
            second = await asyncio.to_thread(
                stack.enter_context,
                serving(tmp_path / "second", *words, "--port", str(first.port), variables=variables),
            )
            session_id = session.session_id
            await session.send_text("When will it arrive?")
            answer = await answered(session, seen)
            readies = [event for event in seen if isinstance(event, wire.Ready)]
            assert [ready.resumed for ready in readies] == [False, True]
            assert any(isinstance(event, SocketLost) for event in seen)
            assert session.session_id == session_id
            assert "4 7 1 1" in answer, "it knows which order was spoken of"
            assert "Hello" not in answer
        writes = [name for name, _ in order_desk.calls(desk) if name == "reschedule_delivery"]
        assert len(writes) == 1
        for server in (first, second):
            log = server.log.read_text()
            assert "Traceback" not in log, log
            assert "failed" not in log, log
        sessions = sorted((tmp_path / "records" / "log").rglob("*.jsonl"))
        assert [file.stem for file in sessions] == [session_id]

    with ExitStack() as stack:
        asyncio.run(talk(stack))
