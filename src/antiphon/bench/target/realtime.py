"""OpenAI's Realtime socket as a wire for the scripted caller: ours, or anybody's that speaks it.

The client does what clients of that socket do: it stops playing as soon as the server hears speech, and says how much
had been heard. What happens is told in the words of the native socket, so that the same measuring serves both.
"""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from antiphon.audio.pcm import encode
from antiphon.audio.resample import Resampler
from antiphon.bench.conversation_call import CALLER_RATE_HZ, Arrived, News, Part
from antiphon.bench.scenario_script import instructions_for
from antiphon.bench.target.caller import SHAPE, Link, tools_of
from antiphon.bench.target.cartesia_ws import websocket_url
from antiphon.client import ClientError, Heard, SimulatedPlayer, Tool, ToolRan
from antiphon.core.clock import Clock
from antiphon.protocol import native_messages as wire

FADE_MS = 20
MAX_FRAME_BYTES = 16 << 20


class RealtimeWire:
    """``turns``: semantic_vad or server_vad. ``model`` and ``voice`` as the server knows them."""

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        api_key: str = "",
        voice: str = "",
        model: str = "gpt-realtime",
        turns: str = "semantic_vad",
    ) -> None:
        self._url = f"{websocket_url(url)}/v1/realtime?model={quote(model)}"
        self._clock = clock
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._voice = voice
        self._turns = turns

    @asynccontextmanager
    async def open(self, part: Part, player: SimulatedPlayer) -> AsyncIterator[Link]:
        """Raises ``ClientError``."""
        tools = tools_of(part.scenario)
        try:
            socket = await connect(
                self._url, additional_headers=self._headers, compression=None, max_size=MAX_FRAME_BYTES, proxy=None
            )
        except (OSError, InvalidHandshake) as error:
            raise ClientError(f"{self._url}: {error}") from None
        async with socket:
            link = _RealtimeLink(socket, self._clock, player, tools)
            await link.put(type="session.update", session=self._session(part, tools))
            if part.scenario.greeting:
                await link.put(type="response.create")
            yield link

    def _session(self, part: Part, tools: tuple[Tool, ...]) -> dict[str, Any]:
        sound = {"type": "audio/pcm", "rate": SHAPE.sample_rate_hz}
        listening = {
            "format": sound, "transcription": {"model": "whisper-1"}, "turn_detection": {"type": self._turns},
        }  # fmt: skip
        return {
            "type": "realtime",
            "instructions": f"{instructions_for(part.scenario)}; call: {part.number};",
            "output_modalities": ["audio"],
            "audio": {
                "input": listening,
                "output": {"format": sound, **({"voice": self._voice} if self._voice else {})},
            },
            "tools": [
                {
                    "type": "function", "name": tool.name, "description": tool.description,
                    "parameters": tool.parameters,
                }
                for tool in tools
            ],
        }  # fmt: skip


class _RealtimeLink:
    def __init__(
        self, socket: ClientConnection, clock: Clock, player: SimulatedPlayer, tools: tuple[Tool, ...]
    ) -> None:
        self._socket = socket
        self._clock = clock
        self._player = player
        self._tools = {tool.name: tool for tool in tools}
        self._resampler = Resampler(CALLER_RATE_HZ, SHAPE.sample_rate_hz)
        self._received: dict[str, int] = {}
        self._open: list[str] = []  # items whose audio is not over, or still plays
        self._results: list[dict[str, str]] = []

    async def put(self, **event: Any) -> None:
        await self._socket.send(json.dumps(event))

    async def send(self, samples: Any) -> None:
        audio = encode(self._resampler.push(samples), "pcm_s16le")
        if audio:
            try:
                await self.put(type="input_audio_buffer.append", audio=base64.b64encode(audio).decode())
            except ConnectionClosed as closed:
                raise ClientError(f"the socket closed: {closed}") from None

    async def news(self) -> AsyncIterator[tuple[float, News]]:
        try:
            while True:
                frame = await self._socket.recv()
                at_s = self._clock.now_s()
                async for event in self._told(json.loads(frame)):
                    yield at_s, event
        except ConnectionClosed:
            for item_id in self._received:
                position = self._player.position(item_id)
                yield self._clock.now_s(), Heard(item_id, position.sample, position.underruns, position.over)

    async def _told(self, event: dict[str, Any]) -> AsyncIterator[News]:
        item_id = event.get("item_id", "")
        match event["type"]:
            case "input_audio_buffer.speech_started":
                yield wire.UserStarted(at_sample=event["audio_start_ms"] * CALLER_RATE_HZ // 1000)
                async for cleared in self._stop():
                    yield cleared
            case "conversation.item.input_audio_transcription.completed":
                yield wire.UserEnded(transcript=event["transcript"], at_sample=0)
            case "response.output_item.added" if event["item"]["type"] == "message":
                item_id = event["item"]["id"]
                self._received[item_id] = 0
                self._open.append(item_id)
                yield wire.ReplyStarted(reply_id=item_id)
            case "response.output_audio_transcript.delta":
                yield wire.ReplyText(reply_id=item_id, delta=event["delta"])
            case "response.output_audio.delta":
                data = base64.b64decode(event["delta"])
                self._player.push(item_id, data)
                start, count = self._received[item_id], len(data) // SHAPE.sample_bytes
                self._received[item_id] = start + count
                yield Arrived(item_id, start, count)
            case "response.output_item.done" if event["item"]["type"] == "message":
                item_id = event["item"]["id"]
                self._player.end(item_id)
                yield wire.ReplyEnded(reply_id=item_id, samples=self._received[item_id], reason="completed")
            case "response.output_item.done" if event["item"]["type"] == "function_call":
                item = event["item"]
                yield wire.ToolAsked(call_id=item["call_id"], name=item["name"], arguments=item["arguments"])
                yield await self._run(item)
            case "response.done":
                await self._answer_calls()
            case "error":
                error = event["error"]
                yield wire.ErrorMessage(code=error.get("code") or "error", message=error.get("message") or "")
            case _:
                pass

    async def _stop(self) -> AsyncIterator[News]:
        """The server hears the user: nothing more of the agent is played, and the server is told what was."""
        for item_id in self._open:
            position = self._player.position(item_id)
            if position.over:
                continue
            self._player.clear(item_id, FADE_MS)
            heard_ms = position.sample * 1000 // SHAPE.sample_rate_hz
            await self.put(
                type="conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=heard_ms
            )
            yield wire.Clear(reply_id=item_id, fade_ms=FADE_MS)
        self._open.clear()

    async def _run(self, item: dict[str, Any]) -> ToolRan:
        """Tools of scenarios take a moment each; the socket is read again when it is done."""
        tool, arguments = self._tools[item["name"]], item["arguments"]
        content = await asyncio.wait_for(tool.run(**json.loads(arguments or "{}")), tool.timeout_ms / 1000)
        self._results.append({"type": "function_call_output", "call_id": item["call_id"], "output": content})
        return ToolRan(item["call_id"], item["name"], arguments, content, True)

    async def _answer_calls(self) -> None:
        results, self._results = self._results, []
        for result in results:
            await self.put(type="conversation.item.create", item=result)
        if results:
            await self.put(type="response.create")
