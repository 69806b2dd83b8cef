"""Eight callers who come, speak, stop and vanish at random: each reads what they would read alone, and nothing is left.

The speech is the voice's own and, where the folder is there, recordings of people (``../shared/speech/read``).
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import websockets

from antiphon.audio.recording import blocks
from antiphon.core.clock import MonotonicClock
from tests.clients.running import Server
from tests.clients.spoken import QUESTION, RATE_HZ, WISH, assert_understood, chunks, normal, pcm, wav

from .test_endurance import CONNECTIONS, MEMORY, STREAMS, gauges

CALLERS = 8
CALLS = 5
"""Of each caller in `make test`: together more than a minute of audio."""
PACE = 5.0
"""Times real time: more than two cores understand, so that callers wait for each other as well."""
QUERY = f"?model=ink-2&encoding=pcm_s16le&sample_rate={RATE_HZ}"
RECORDINGS = Path(__file__).parents[2].parent / "shared" / "speech" / "read"
RECORDED = 2
FIRST_USE_BYTES = 120e6
"""What eight callers at once may add to a server that has just started."""
FLAT_BYTES = 12e6
"""How much more the server may hold in the last minutes of the long run than after the first two."""
BYTES_A_CALL = 1_000


@dataclass
class Crowd:
    """``alone``: what each way of asking hears of each speech when nobody else is there."""

    server: Server
    speeches: list[bytes]
    alone: dict[tuple[str, int], str] = field(default_factory=dict)
    calls: int = 0
    whole: int = 0
    """Calls that were heard to their end."""
    audio_s: float = 0.0
    """What was sent to be heard."""

    async def listen_alone(self) -> None:
        for number, speech in enumerate(self.speeches):
            for way in (self.finalize, self.turns, self.recording):
                self.alone[way.__name__, number] = heard = await way(speech)
                assert len(normal(heard)) >= 3, f"nothing to compare with: {heard!r}"
        self.audio_s = 0.0

    async def caller(self, rng: random.Random, more: Callable[[int], bool]) -> None:
        """One caller after another call, as long as ``more`` (of the number of calls made) says."""
        made = 0
        while more(made):
            number = rng.randrange(len(self.speeches))
            speech = self.speeches[number]
            match rng.choice(("finalize", "turns", "vanish", "recording", "stop", "give_up")):
                case "vanish":
                    await self.vanish(speech, rng)
                case "stop":
                    await self.stop(speech, rng)
                case "give_up":
                    await self.give_up(speech)
                case way:
                    ask: Callable[[bytes], Awaitable[str]] = getattr(self, way)
                    heard, expected = await ask(speech), self.alone[way, number]
                    assert_understood(heard, expected, slips=max(2, len(normal(expected)) // 8))
                    self.whole += 1
            self.calls += 1
            made += 1

    async def finalize(self, speech: bytes) -> str:
        async with self.socket("/stt/websocket") as socket:
            await self.say(socket, speech)
            await socket.send("finalize")
            await socket.send("close")
            told = [json.loads(frame) async for frame in socket]
        assert [message["type"] for message in told[-2:]] == ["flush_done", "done"]
        assert socket.close_code == 1000
        return "".join(message["text"] for message in told if message.get("is_final"))

    async def turns(self, speech: bytes) -> str:
        async with self.socket("/stt/turns/websocket") as socket:
            await self.say(socket, speech)
            await socket.send(json.dumps({"type": "close"}))
            told = [json.loads(frame) async for frame in socket]
        assert told[0]["type"] == "connected"
        assert socket.close_code == 1000
        return "".join(message["transcript"] for message in told if message["type"] == "turn.end")

    async def recording(self, speech: bytes) -> str:
        self.audio_s += len(speech) / 2 / RATE_HZ
        return str((await self.post(speech, 120.0)).json()["text"])

    async def vanish(self, speech: bytes, rng: random.Random) -> None:
        """Gone without a word, in the middle of one."""
        socket = await self.socket(rng.choice(("/stt/websocket", "/stt/turns/websocket")))
        await self.say(socket, speech[: rng.randrange(len(speech))])
        socket.transport.abort()

    async def stop(self, speech: bytes, rng: random.Random) -> None:
        """A close in the middle of a word; what was said until then is still told, and then the server closes."""
        path, close = rng.choice((("/stt/websocket", "close"), ("/stt/turns/websocket", json.dumps({"type": "close"}))))
        async with self.socket(path) as socket:
            await self.say(socket, speech[: 2 * rng.randrange(len(speech) // 2)])
            await socket.send(close)
            assert not [frame async for frame in socket if json.loads(frame)["type"] == "error"]
        assert socket.close_code == 1000

    async def give_up(self, speech: bytes) -> None:
        """An upload whose sender does not wait for the answer."""
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
        self.audio_s += len(speech) / 2 / RATE_HZ
        for chunk in chunks(speech, 3_201):
            await socket.send(chunk)
            await asyncio.sleep(0.1 / PACE)


def recorded() -> list[bytes]:
    """People's voices, evenly chosen; none where the folder is not there."""
    files = sorted(RECORDINGS.glob("*.wav"))
    said = []
    for path in files[:: max(1, len(files) // RECORDED)][:RECORDED]:
        with path.open("rb") as file:
            samples = np.concatenate(list(blocks(file)))
        pause = np.zeros(RATE_HZ)
        said.append((np.concatenate((samples, pause)) * 32767).astype("<i2").tobytes())
    return said


async def crowd_at(server: Server) -> Crowd:
    crowd = Crowd(server, [pcm(server, QUESTION), pcm(server, WISH), *recorded()])
    await crowd.listen_alone()
    return crowd


async def crowded(crowd: Crowd, more: Callable[[int], bool]) -> None:
    """Eight callers; afterwards every place is free and no error was logged."""
    await asyncio.gather(*(crowd.caller(random.Random(11 + caller), more) for caller in range(CALLERS)))
    async with asyncio.timeout(10):
        while (left := await gauges(crowd.server))[STREAMS] or left[CONNECTIONS]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    log = crowd.server.log.read_text(errors="replace")
    assert "Traceback" not in log, crowd.server.tail()
    assert " ERROR " not in log, crowd.server.tail()


async def memory(server: Server) -> float:
    return (await gauges(server))[MEMORY]


def test_S_a_crowd_of_listeners_leaves_nothing_behind(server: Server) -> None:
    """A minute of audio and more, by the number of calls: no figure of time is asked for."""

    async def main() -> None:
        before = await memory(server)
        crowd = await crowd_at(server)
        await crowded(crowd, lambda made: made < CALLS)
        assert crowd.audio_s > 60
        assert crowd.calls == CALLS * CALLERS
        assert crowd.whole > CALLERS
        assert await memory(server) - before < FIRST_USE_BYTES

    asyncio.run(main())


@pytest.mark.soak
def test_ten_minutes_of_a_crowd_are_flat(server: Server) -> None:
    async def main() -> None:
        clock = MonotonicClock()
        crowd = await crowd_at(server)
        began_s = clock.now_s()
        await crowded(crowd, lambda made: clock.now_s() < began_s + 120.0)
        warm, warm_calls = await settled_memory(server), crowd.calls
        held: list[float] = []
        over = asyncio.Event()

        async def watch() -> None:
            async for bytes_held in every(2.0, server, over):
                held.append(bytes_held)

        watching = asyncio.create_task(watch())
        await crowded(crowd, lambda made: clock.now_s() < began_s + 600.0)
        over.set()
        await watching
        after, calls = await settled_memory(server), crowd.calls - warm_calls
        quarter = len(held) // 4
        growth = float(np.median(held[-quarter:]) - np.median(held[:quarter]))
        print(f"{crowd.calls} calls, {crowd.whole} heard to the end, {crowd.audio_s:.0f} s of audio")
        print(f"memory {warm / 1e6:.1f} MB after 2 minutes, {after / 1e6:.1f} after 10; quarters {growth / 1e6:+.1f}")
        assert after - warm < BYTES_A_CALL * calls + FLAT_BYTES
        assert growth < BYTES_A_CALL * calls + FLAT_BYTES

    asyncio.run(main())


async def settled_memory(server: Server) -> float:
    """The least of some looks: what is only waiting to be freed does not count."""
    return min([await memory(server) for _ in range(5)])


async def every(seconds: float, server: Server, over: asyncio.Event) -> AsyncIterator[float]:
    while not over.is_set():
        yield await memory(server)
        await asyncio.sleep(seconds)
