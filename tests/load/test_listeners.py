"""Eight callers who come, speak, leave and vanish at random: each reads their own words, and nothing is left."""

import asyncio
import json
import random
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import websockets

from antiphon.core.clock import MonotonicClock
from tests.clients.running import Server
from tests.clients.spoken import QUESTION, RATE_HZ, WISH, assert_understood, chunks, pcm, wav

from .test_endurance import CONNECTIONS, MEMORY, STREAMS, gauges

CALLERS = 8
PACE = 3.0
"""Times real time."""
QUERY = f"?model=ink-2&encoding=pcm_s16le&sample_rate={RATE_HZ}"
GROWTH_BYTES = 120e6
"""What eight callers at once may add to a server that has just started."""
SENTENCES = (QUESTION, WISH)


@dataclass
class Crowd:
    """``calls`` counts those that were heard to their end."""

    server: Server
    rng: random.Random = field(default_factory=lambda: random.Random(11))
    calls: int = 0

    async def caller(self, until_s: float, clock: MonotonicClock) -> None:
        while clock.now_s() < until_s:
            sentence = self.rng.choice(SENTENCES)
            speech = pcm(self.server, sentence)
            call = self.rng.choice((self.finalize, self.turns, self.vanish, self.recording, self.give_up))
            await call(sentence, speech)
            self.calls += 1

    async def finalize(self, sentence: str, speech: bytes) -> None:
        async with self.socket("/stt/websocket") as socket:
            await self.say(socket, speech)
            await socket.send("finalize")
            await socket.send("close")
            told = [json.loads(frame) async for frame in socket]
        assert_understood("".join(m["text"] for m in told if m.get("is_final")), sentence)
        assert [message["type"] for message in told[-2:]] == ["flush_done", "done"]
        assert socket.close_code == 1000

    async def turns(self, sentence: str, speech: bytes) -> None:
        async with self.socket("/stt/turns/websocket") as socket:
            await self.say(socket, speech)
            await socket.send(json.dumps({"type": "close"}))
            told = [json.loads(frame) async for frame in socket]
        assert_understood("".join(m["transcript"] for m in told if m["type"] == "turn.end"), sentence)
        assert told[0]["type"] == "connected"
        assert socket.close_code == 1000

    async def vanish(self, sentence: str, speech: bytes) -> None:
        socket = await self.socket(self.rng.choice(("/stt/websocket", "/stt/turns/websocket")))
        await self.say(socket, speech[: self.rng.randrange(len(speech))])
        socket.transport.abort()

    async def recording(self, sentence: str, speech: bytes) -> None:
        assert_understood((await self.post(speech, 60.0)).json()["text"], sentence)

    async def give_up(self, sentence: str, speech: bytes) -> None:
        try:
            await self.post(speech * 20, 0.2)
        except httpx.TimeoutException:
            return

    async def post(self, speech: bytes, timeout_s: float) -> httpx.Response:
        async with httpx.AsyncClient(trust_env=False, timeout=timeout_s) as client:
            files, form = {"file": ("speech.wav", wav(speech))}, {"model": "whisper-1"}
            answer = await client.post(f"{self.server.openai}/audio/transcriptions", files=files, data=form)
            return answer.raise_for_status()

    def socket(self, path: str) -> websockets.connect:
        return websockets.connect(f"{self.server.ws}{path}{QUERY}", proxy=None)

    async def say(self, socket: Any, speech: bytes) -> None:
        for chunk in chunks(speech, 3_201):
            await socket.send(chunk)
            await asyncio.sleep(0.1 / PACE)


async def crowded(server: Server, seconds: float) -> Crowd:
    crowd, clock = Crowd(server), MonotonicClock()
    for sentence in SENTENCES:
        pcm(server, sentence)  # made before anybody waits
    until_s = clock.now_s() + seconds
    await asyncio.gather(*(crowd.caller(until_s, clock) for _ in range(CALLERS)))
    async with asyncio.timeout(5):
        while (left := await gauges(server))[STREAMS] or left[CONNECTIONS]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    log = server.log.read_text(errors="replace")
    assert "Traceback" not in log, server.tail()
    assert " ERROR " not in log, server.tail()
    return crowd


def test_S_a_crowd_of_listeners_leaves_nothing_behind(server: Server) -> None:
    async def main() -> None:
        before = (await gauges(server))[MEMORY]
        crowd = await crowded(server, 8.0)
        assert crowd.calls > 2 * CALLERS
        assert (await gauges(server))[MEMORY] - before < GROWTH_BYTES

    asyncio.run(main())


@pytest.mark.soak
def test_ten_minutes_of_a_crowd_are_flat(server: Server) -> None:
    async def main() -> None:
        await crowded(server, 120.0)
        warm = (await gauges(server))[MEMORY]
        crowd = await crowded(server, 480.0)
        assert (await gauges(server))[MEMORY] - warm < 1_000 * crowd.calls + 8e6

    asyncio.run(main())
