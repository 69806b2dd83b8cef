"""An MCP server as a child process: JSON-RPC in lines over its standard input and output (MCP, transports, stdio).

The package's own transport leaves what the server has started behind if the server itself leaves in time, and passes
its standard error through; this one ends the whole process group, and keeps the last lines for whoever asks why it
failed.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

_LONGEST_LINE = 8 << 20
_GRACE_S = 1.0
"""How long a server may take to leave by itself, and then to follow SIGTERM."""
_LAST_WORDS_S = 0.5
"""How long what a dead server wrote may take to be read."""
_KEPT_LINES = 5


class _Exit(SubprocessStreamProtocol):
    """Knows when the process is gone, whoever else still holds its pipes (``Process.wait`` waits for those as well)."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=_LONGEST_LINE, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class ServerPipe:
    """Starts the program anew at each :meth:`connect`. Raises ``OSError`` if it cannot be started."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], ended: Callable[[], None]) -> None:
        self._command = tuple(command)
        self._env = dict(env)
        self._ended = ended
        self._last_words: deque[str] = deque(maxlen=_KEPT_LINES)
        self.pid: int | None = None
        """Of the running server; None while there is none."""

    def last_words(self) -> str:
        """The end of what it wrote to standard error."""
        return " / ".join(self._last_words)

    @asynccontextmanager
    async def connect(self) -> "AsyncGenerator[TransportStreams, None]":
        """The streams of messages. ``ended`` is called when the server stops talking. Leaving ends its whole group."""
        from mcp.client.stdio import get_default_environment
        from mcp.shared.message import SessionMessage

        self._last_words.clear()
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.subprocess_exec(
            lambda: _Exit(loop),
            *self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**get_default_environment(), **self._env},
            start_new_session=True,
        )
        process = Process(transport, protocol, loop)
        self.pid = process.pid
        to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        reading = loop.create_task(_read(process, to_session, self._ended))
        tasks = [
            reading,
            loop.create_task(_stop_at_exit(protocol.exited, reading)),
            loop.create_task(_write(process, from_session, to_session)),
            loop.create_task(self._listen(process)),
        ]
        try:
            yield incoming, outgoing
        finally:
            try:
                await _end(process, protocol.exited)
            finally:
                _signal_group(process.pid, signal.SIGKILL)
                self.pid = None
                for task in tasks:
                    task.cancel()
                for stream in (to_session, incoming, outgoing, from_session):
                    stream.close()
                # Who was killed is gone in a moment: nobody who comes after finds it still there.
                with contextlib.suppress(asyncio.CancelledError), anyio.CancelScope(shield=True):
                    await _left(protocol.exited)
                    await asyncio.wait(tasks, timeout=_GRACE_S)
                # Pipes that a survivor outside the group holds open would keep the transport for ever.
                transport.close()

    async def _listen(self, process: Process) -> None:
        assert process.stderr is not None
        while chunk := await process.stderr.read(4096):
            lines = (line.strip() for line in chunk.decode("utf-8", "replace").splitlines())
            self._last_words += [line[:300] for line in lines if line]


async def _read(
    process: Process,
    to_session: "MemoryObjectSendStream[SessionMessage | Exception]",
    ended: Callable[[], None],
) -> None:
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    assert process.stdout is not None
    try:
        while line := await process.stdout.readline():
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except (ValueError, RecursionError):
                # What servers print by mistake is no message, and nobody's business. A line that is there already is
                # read without a pause: all others would wait for a server that prints and prints.
                await asyncio.sleep(0)
                continue
            await to_session.send(SessionMessage(message))
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError, ValueError):
        pass  # the session is gone, the server is, or it sent a line longer than any message
    finally:
        # Whoever waits for an answer is told at once that none will come.
        await to_session.aclose()
        ended()


async def _write(
    process: Process,
    from_session: "MemoryObjectReceiveStream[SessionMessage]",
    to_session: "MemoryObjectSendStream[SessionMessage | Exception]",
) -> None:
    assert process.stdin is not None
    try:
        async for message in from_session:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode() + b"\n")
            await process.stdin.drain()
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
        await to_session.aclose()


async def _stop_at_exit(exited: asyncio.Event, reading: "asyncio.Task[None]") -> None:
    """A child that the server left behind may hold its output open: then no end of it is ever read."""
    await exited.wait()
    await asyncio.wait({reading}, timeout=_LAST_WORDS_S)
    reading.cancel()


async def _end(process: Process, exited: asyncio.Event) -> None:
    """Close its input, then SIGTERM to the group, each with a moment's grace."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        if not await _left(exited):
            _signal_group(process.pid, signal.SIGTERM)
            await _left(exited)
    except asyncio.CancelledError:
        _signal_group(process.pid, signal.SIGKILL)
        raise


async def _left(exited: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(_GRACE_S):
            await exited.wait()
    except TimeoutError:
        return False
    return True


def _signal_group(pid: int, number: signal.Signals) -> None:
    # The leader's pid is the group's number (start_new_session), and stays so while any member lives.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
