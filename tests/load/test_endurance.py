"""A thousand cancelled contexts and a thousand dropped sockets leave nothing behind."""

import asyncio
import base64
import json
import random
import string
from collections.abc import Awaitable, Callable

import httpx
import numpy as np
import pytest
import websockets
from prometheus_client.parser import text_string_to_metric_families

from tests.clients.running import Server

TEXT = "This is a long answer that will surely be interrupted by somebody who has heard enough of it already. " * 3
MEMORY = "process_resident_memory_bytes"
STREAMS = "antiphon_active_streams"
CONNECTIONS = "antiphon_connections"
WARM_UP_CYCLES = 200


def request(context: str, text: str = TEXT, more: bool = False) -> str:
    return json.dumps(
        {
            "context_id": context,
            "model_id": "sonic-3",
            "transcript": text,
            "voice": {"mode": "id", "id": "heart"},
            "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000},
            "continue": more,
        }
    )


def cancel(context: str) -> str:
    return json.dumps({"context_id": context, "cancel": True})


async def gauges(server: Server) -> dict[str, float]:
    async with httpx.AsyncClient() as client:
        text = (await client.get(f"{server.http}/metrics")).text
    totals: dict[str, float] = {MEMORY: 0.0, STREAMS: 0.0, CONNECTIONS: 0.0}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            if one.name in totals:
                totals[one.name] += one.value
    return totals


async def speak(server: Server, text: str = "Everything is as it was before.") -> bytes:
    async with websockets.connect(f"{server.ws}/tts/websocket") as socket:
        await socket.send(request("whole", text))
        return await rest(socket, "whole")


async def rest(socket: websockets.ClientConnection, context: str) -> bytes:
    audio = b""
    async for frame in socket:
        message = json.loads(frame)
        assert message["context_id"] == context
        if message["type"] == "chunk":
            audio += base64.b64decode(message["data"])
        elif message["type"] == "done":
            return audio
    raise AssertionError("the socket closed before done")


async def cancelled_contexts(server: Server, cycles: int, sample: Callable[[int], Awaitable[None]]) -> None:
    """One socket; every second context is cancelled before anything was heard of it.

    A message of the next context proves that the cancel was read: after it, nothing of the old one may come.
    """
    async with websockets.connect(f"{server.ws}/tts/websocket") as socket:
        over: set[str] = set()
        before = ""
        for n in range(cycles):
            context = f"c{n}"
            await socket.send(request(context, more=n % 3 == 0))
            if n % 2:
                while True:
                    message = json.loads(await socket.recv())
                    assert message["context_id"] not in over, "audio of a cancelled context after its cancel was read"
                    if message["context_id"] == context:
                        break
                over.add(before)
            await socket.send(cancel(context))
            before = context
            await sample(n)


async def dropped_sockets(server: Server, cycles: int, sample: Callable[[int], Awaitable[None]]) -> None:
    """Callers that vanish: while being answered, before an answer, and without having asked."""
    for n in range(cycles):
        socket = await websockets.connect(f"{server.ws}/tts/websocket")
        if n % 3:
            await socket.send(request("c"))
        if n % 3 == 2:
            await socket.recv()
        socket.transport.abort()
        await sample(n)


async def settled(server: Server) -> dict[str, float]:
    """Until nothing is open; a place must come back at once, a metric when the loop gets to it."""
    async with asyncio.timeout(10.0):
        while True:
            now = await gauges(server)
            if now[STREAMS] == 0 and now[CONNECTIONS] == 0:
                return now
            await asyncio.sleep(0.05)


Storm = Callable[[Server, int, Callable[[int], Awaitable[None]]], Awaitable[None]]


async def weather(server: Server, storm: Storm, cycles: int) -> list[tuple[int, float]]:
    """Memory against cycles, after a warm-up."""
    taken: list[tuple[int, float]] = []

    async def nothing(n: int) -> None:
        pass

    async def sample(n: int) -> None:
        if n % 20 == 0:
            taken.append((n, (await gauges(server))[MEMORY]))

    await storm(server, WARM_UP_CYCLES, nothing)
    await settled(server)
    await storm(server, cycles, sample)
    return taken


@pytest.mark.parametrize("storm", [cancelled_contexts, dropped_sockets])
def test_a_thousand_of_them_leave_the_server_as_it_was(storm: Storm, server: Server) -> None:
    async def run() -> None:
        before = await speak(server)
        memory = await weather(server, storm, 1000)
        await settled(server)
        assert await speak(server) == before
        growth = np.median([m for _, m in memory[-10:]]) - np.median([m for _, m in memory[:10]])
        assert growth < 8e6, f"memory grew by {growth / 1e6:.1f} MB"

    asyncio.run(run())


@pytest.mark.soak
@pytest.mark.parametrize("storm", [cancelled_contexts, dropped_sockets])
def test_memory_is_flat(storm: Storm, server: Server) -> None:
    """Slope over the last half of the cycles, below 1 kB a cycle."""
    memory = asyncio.run(weather(server, storm, 6000))
    half = np.array(memory[len(memory) // 2 :])
    slope = np.polyfit(half[:, 0], half[:, 1], 1)[0]
    assert slope < 1000, f"{slope:.0f} bytes a cycle"


@pytest.mark.soak
@pytest.mark.parametrize("model", ["sonic-3", "ssm"])
def test_R3_two_thousand_lengths_keep_no_memory(server: Server, model: str) -> None:
    """Each text has a length of its own, in symbols if not in words: a graph that plans memory by shape would grow."""
    letters = string.ascii_lowercase

    async def main() -> tuple[float, float]:
        random_ = random.Random(3)
        async with httpx.AsyncClient(base_url=server.http, timeout=60) as client:
            for number in range(2_000):
                words = ("".join(random_.choices(letters, k=random_.randint(2, 9))) for _ in range(1 + number % 12))
                body = json.loads(request("r3", " ".join(words))) | {"model_id": model}
                if model == "ssm":
                    body["voice"] = {"mode": "id", "id": "river"}
                (await client.post("/tts/bytes", json=body)).raise_for_status()
                if number == WARM_UP_CYCLES:
                    warm = (await gauges(server))[MEMORY]
        return warm, (await gauges(server))[MEMORY]

    warm, after = asyncio.run(main())
    assert after - warm < 16e6
