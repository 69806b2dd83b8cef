"""`openai` (Python) over the Realtime socket: spoken and written turns, tools, interruption, transcription, secrets."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import soxr

from tests.engine.scripted_llm import DONE, Reply, Stay, data, scripted_server, words

from .heard import assert_speech, raw_wave
from .required import required
from .running import Server, serving
from .spoken import QUESTION, WISH, assert_understood, chunks, pcm
from .spoken import RATE_HZ as SPOKEN_HZ

openai = required("openai")

LIMIT_S = 40.0
RATE_HZ = 24_000
HEARD = "Can you hear me?"
TOOL = {
    "type": "function",
    "name": "opening_hours",
    "description": "When the shop is open.",
    "parameters": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
}


def speech(server: Server, *sentences: str, pause_s: float = 1.5) -> bytes:
    """The sentences as the wire wants them: 16-bit samples at 24 kHz."""
    samples = np.frombuffer(pcm(server, *sentences, pause_s=pause_s), np.int16)
    return bytes(soxr.resample(samples, SPOKEN_HZ, RATE_HZ).tobytes())


@asynccontextmanager
async def connected(server: Server, key: str | None = None, **options: Any) -> AsyncIterator[Any]:
    """A socket that has been greeted."""
    tls = {"ssl": server.trust} if server.cert else {}
    async with (
        asyncio.timeout(LIMIT_S),
        openai.AsyncOpenAI(api_key=key or server.key, base_url=server.openai, max_retries=0) as client,
        client.realtime.connect(websocket_connection_options=tls, **options) as connection,
    ):
        greeting = await connection.recv()
        assert greeting.type == "session.created"
        connection.session_at_first = greeting.session
        yield connection


async def say(connection: Any, audio: bytes) -> None:
    for chunk in chunks(audio, RATE_HZ // 5):
        await connection.input_audio_buffer.append(audio=base64.b64encode(chunk).decode())


async def events_until(connection: Any, kind: str) -> list[Any]:
    events = [await connection.recv()]
    while events[-1].type != kind:
        assert events[-1].type != "error", events[-1]
        events.append(await connection.recv())
    return events


def of(events: list[Any], kind: str) -> list[Any]:
    return [event for event in events if event.type == kind]


def audio_of(events: list[Any]) -> bytes:
    return b"".join(base64.b64decode(event.delta) for event in of(events, "response.output_audio.delta"))


def transcript_of(events: list[Any]) -> str:
    return "".join(event.delta for event in of(events, "response.output_audio_transcript.delta"))


async def write(connection: Any, text: str) -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    await connection.conversation.item.create(item=item)


def test_a_spoken_turn_is_answered_by_speech(server: Server) -> None:
    async def main() -> None:
        async with connected(server, model="gpt-realtime") as connection:
            heard = {"input": {"transcription": {"model": "whisper-1"}, "turn_detection": {"type": "semantic_vad"}}}
            await connection.session.update(session={"type": "realtime", "audio": heard})
            await say(connection, speech(server, HEARD))
            events = await events_until(connection, "response.done")
        kinds = [event.type for event in events]
        order = (
            "input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
            "conversation.item.input_audio_transcription.completed", "response.created", "response.output_audio.delta",
            "response.output_audio.done", "response.done",
        )  # fmt: skip
        places = [kinds.index(kind) for kind in order]
        assert places == sorted(places)
        assert_understood(of(events, "conversation.item.input_audio_transcription.completed")[0].transcript, HEARD)
        assert transcript_of(events) == "Yes, I can hear you."
        assert events[-1].response.status == "completed"
        assert_speech(raw_wave(audio_of(events), "pcm_s16le", RATE_HZ), RATE_HZ, transcript_of(events))

    asyncio.run(main())


def test_two_turns_by_commit(server: Server) -> None:
    """The client decides where turns end, and asks for the answer before the words are known."""

    async def main() -> None:
        async with connected(server, model="gpt-realtime") as connection:
            manual = {"input": {"transcription": {"model": "whisper-1"}, "turn_detection": None}}
            await connection.session.update(session={"type": "realtime", "audio": manual})
            for asked, answer in ((HEARD, "Yes, I can hear you."), ("Goodbye.", "Goodbye!")):
                await say(connection, speech(server, asked, pause_s=0.2))
                await connection.input_audio_buffer.commit()
                await connection.response.create()
                events = await events_until(connection, "response.done")
                assert transcript_of(events) == answer
                assert audio_of(events)

    asyncio.run(main())


def test_a_written_turn(server: Server) -> None:
    async def main() -> None:
        async with connected(server, model="gpt-realtime") as connection:
            await write(connection, "Are you a language model?")
            await connection.response.create(response={"output_modalities": ["text"]})
            events = await events_until(connection, "response.done")
            text = of(events, "response.output_text.done")[0].text
            assert "not a language model" in text
            assert not audio_of(events)

    asyncio.run(main())


def test_a_session_that_only_transcribes(server: Server) -> None:
    async def main() -> None:
        async with connected(server, extra_query={"intent": "transcription"}) as connection:
            assert connection.session_at_first.type == "transcription"
            await say(connection, speech(server, QUESTION, WISH))
            events: list[Any] = []
            while len(done := of(events, "conversation.item.input_audio_transcription.completed")) < 2:
                events += await events_until(connection, "conversation.item.input_audio_transcription.completed")
        assert_understood(done[0].transcript, QUESTION)
        assert_understood(done[1].transcript, WISH)
        for said in done:
            deltas = of(events, "conversation.item.input_audio_transcription.delta")
            assert "".join(delta.delta for delta in deltas if delta.item_id == said.item_id) == said.transcript
        assert not of(events, "response.created")

    asyncio.run(main())


def test_a_client_secret_opens_the_session_that_it_was_made_for(secured: Server) -> None:
    async def main() -> None:
        session = {"type": "realtime", "instructions": "Be brief.", "audio": {"output": {"voice": "marin"}}}
        async with httpx.AsyncClient(verify=secured.trust, trust_env=False) as plain:
            answer = await plain.post(
                f"{secured.openai}/realtime/client_secrets",
                json={"session": session, "expires_after": {"anchor": "created_at", "seconds": 60}},
                headers={"authorization": f"Bearer {secured.key}"},
            )
        made = openai.types.realtime.ClientSecretCreateResponse.model_validate_json(answer.raise_for_status().content)
        assert made.value.startswith("ek_")
        async with connected(secured, made.value, model="gpt-realtime") as connection:
            begun = connection.session_at_first
            assert begun.instructions == made.session.instructions == "Be brief."
            assert begun.audio.output.voice == "marin"
            await write(connection, "hello")
            await connection.response.create()
            assert audio_of(await events_until(connection, "response.done"))

    asyncio.run(main())


def test_a_wrong_key_is_told_at_the_handshake(secured: Server) -> None:
    async def main() -> None:
        with pytest.raises(Exception, match="401"):
            async with connected(secured, "sk-wrong", model="gpt-realtime"):
                pass

    asyncio.run(main())


def test_a_tool_is_called_at_the_client(tmp_path: Path) -> None:
    """With a language model behind: its call goes to the client, the result back, and the answer is spoken. The record
    of the turn has all of that."""
    call = {"index": 0, "id": "call_1", "function": {"name": "opening_hours", "arguments": '{"day": "Sunday"}'}}
    calls = Reply([data({"tool_calls": [call]}), data({}, "tool_calls"), DONE])
    answers = Reply(words("We close", " at six", " on Sunday."))

    async def main() -> None:
        async with scripted_server(calls, answers) as llm:
            given = {"ANTIPHON_BRAIN__LLM_KEY": "sk-of-the-model", "ANTIPHON_RECORD__DIR": str(tmp_path / "records")}
            options = ("--llm-url", llm.url, "--llm-model", "small")
            with serving(tmp_path, *options, variables=given) as server:
                async with connected(server, model="gpt-realtime") as connection:
                    await connection.session.update(
                        session={"type": "realtime", "instructions": "Be brief.", "tools": [TOOL]}
                    )
                    await say(connection, speech(server, QUESTION))
                    events = await events_until(connection, "response.done")
                    wish = of(events, "response.function_call_arguments.done")[0]
                    assert (wish.name, json.loads(wish.arguments)) == ("opening_hours", {"day": "Sunday"})
                    output = {"type": "function_call_output", "call_id": wish.call_id, "output": '{"closes": "18:00"}'}
                    await connection.conversation.item.create(item=output)
                    await connection.response.create()
                    events = await events_until(connection, "response.done")
                    # the answer is there sooner than it is spoken: who hangs up now has not heard it
                    await asyncio.sleep(len(audio_of(events)) / 2 / RATE_HZ)
            assert transcript_of(events) == "We close at six on Sunday."
            assert_speech(raw_wave(audio_of(events), "pcm_s16le", RATE_HZ), RATE_HZ, transcript_of(events))
            assert events[-1].response.usage.output_tokens == 3
            first, second = llm.bodies
            assert [message["role"] for message in first["messages"]] == ["system", "user"]
            assert first["messages"][0]["content"] == "Be brief."
            assert first["tools"][0]["function"]["name"] == "opening_hours"
            assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool"]
            assert "Bearer sk-of-the-model" in llm.heads[0]
            assert "sk-of-the-model" not in server.tail()
            assert_recorded(tmp_path / "records")

    asyncio.run(main())


def assert_recorded(folder: Path) -> None:
    """One spoken turn with a function: a silence that is the sum of its stages."""
    begin, turn, end = (recorded := records(folder, "log"))
    assert [line["event"] for line in recorded] == ["begin", "turn", "end"]
    assert begin["route"] == "/v1/realtime"
    assert turn["session"].startswith("sess_")
    assert (turn["outcome"], turn["heard_by"]) == ("answered", "clock")
    assert sum(turn["stages_ms"].values()) == pytest.approx(turn["silence_ms"], abs=1.0)
    assert turn["at_s"]["heard"] - turn["at_s"]["speech_end"] == pytest.approx(turn["silence_ms"] / 1000, abs=0.001)
    assert all(turn["stages_ms"][name] > 0 for name in ("llm", "tool", "tts")), turn
    assert [(tool["name"], tool["state"]) for tool in turn["tools"]] == [("opening_hours", "done")]
    assert end["reason"] == "the client closed"
    assert_understood(records(folder, "transcript")[0]["text"], QUESTION)
    assert records(folder, "generated")[0]["text"] == "We close at six on Sunday."
    assert json.loads(records(folder, "retrieved")[0]["content"]) == {"closes": "18:00"}


def records(folder: Path, kind: str) -> list[dict[str, Any]]:
    """What a server that has ended kept of its one session."""
    (file,) = (folder / kind).glob("*/*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_rules_in_a_file_answer_with_tools_too(tmp_path: Path) -> None:
    book = Path(__file__).parents[2] / "examples" / "orders" / "brain.toml"
    tool = {"type": "function", "name": "lookup_order", "parameters": {"type": "object", "properties": {}}}
    found = {"status": "shipped", "items": ["a lamp"], "delivery_day": "2030-01-04", "part": "morning"}

    async def main() -> None:
        with serving(tmp_path, variables={"ANTIPHON_BRAIN__RULES": str(book)}) as server:
            async with connected(server, model="gpt-realtime") as connection:
                await connection.session.update(session={"type": "realtime", "tools": [tool]})
                await write(connection, "Where is my order 4711?")
                await connection.response.create()
                events = await events_until(connection, "response.done")
                wish = of(events, "response.function_call_arguments.done")[0]
                assert (wish.name, json.loads(wish.arguments)) == ("lookup_order", {"order_id": "4711"})
                output = {"type": "function_call_output", "call_id": wish.call_id, "output": json.dumps(found)}
                await connection.conversation.item.create(item=output)
                await connection.response.create()
                events = await events_until(connection, "response.done")
        assert "is on its way: a lamp." in transcript_of(events)
        assert audio_of(events)

    asyncio.run(main())


def test_cancelling_and_interrupting_end_the_model_too(tmp_path: Path) -> None:
    """The model has begun to answer and stays on the line: a cancel closes it, and so does speech over it."""
    begun = Reply([data({"content": "Once upon a time, there was a very small house."}), Stay()])

    async def main() -> None:
        async with scripted_server(begun) as llm:
            options = ("--llm-url", llm.url, "--llm-model", "small")
            with serving(tmp_path, *options, variables={"ANTIPHON_BRAIN__LLM_MUTE_S": "30"}) as server:
                async with connected(server, model="gpt-realtime") as connection:
                    for by_speech in (False, True):
                        await write(connection, "Tell me a story.")
                        await connection.response.create()
                        await events_until(connection, "response.output_audio_transcript.delta")
                        llm.left.clear()
                        if by_speech:
                            await say(connection, speech(server, WISH, pause_s=0.0))
                        else:
                            await connection.response.cancel()
                        events = await events_until(connection, "response.done")
                        await llm.left.wait()
                        details = events[-1].response.status_details
                        assert events[-1].response.status == "cancelled"
                        assert details.reason == ("turn_detected" if by_speech else "client_cancelled")

    asyncio.run(main())
