"""Real dialogues over the native socket in which the language model's connection is cut, tools die or hang, and the
client's socket is killed at random moments: nothing hangs, no write is done twice, no result is lost, no sentence is
said twice, and the records name one cause a turn, which is one that was brought about."""

import asyncio
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from antiphon.client import AgentSession, Heard, ReplyAudio, SessionOptions, SimulatedPlayer, SocketLost, connect
from antiphon.core.clock import MonotonicClock
from antiphon.protocol import native_messages as wire
from tests.engine.scripted_llm import DONE, Drop, Reply, ScriptedServer, Stay, data, scripted_server, words

from . import faulty_desk
from .running import Server, serving
from .spoken import pcm

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TOKEN_S = 0.06
TURN_LIMIT_S = 45.0
AT_ONCE = 2
APOLOGY = "Sorry about that."
SPOKEN = "Please tell me about the apples."
FRAME_S = 0.04
_FRAME_BYTES = 1_280
Body = dict[str, Any]


def sentences(turn: int) -> list[str]:
    name = NUMBERS[turn % 10]
    return [f"Answer {name} begins with apples.", f"Answer {name} goes on with pears.", f"Answer {name} ends in plums."]


@dataclass
class Call:
    """One dialogue: what is planned for it, and what came of it."""

    number: int
    rng: random.Random
    injected: set[str] = field(default_factory=set)
    bodies: list[Body] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    words: dict[str, list[wire.Word]] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)
    lost: int = 0
    resumed: int = 0
    whole: list[int] = field(default_factory=list)  # turns whose answer was waited for
    session_id: str = ""
    player: SimulatedPlayer | None = None
    errors: list[wire.ErrorMessage] = field(default_factory=list)
    line: bytearray = field(default_factory=bytearray)
    """What is still to be said into the microphone."""
    talking: bool = False
    understood: int = 0
    told: list[str] = field(default_factory=list)

    def heard(self) -> list[str]:
        """The words that sounded to their end, in order. Where a reply was cut, its fade does not count."""
        assert self.player is not None
        out: list[str] = []
        for reply_id in self.replies:
            sample = self.player.position(reply_id).sample - (960 if reply_id in self.cleared else 0)
            out += [word.text for word in self.words.get(reply_id, []) if word.end_sample <= sample]
        return out

    # The language model

    def answer(self, body: Body) -> Reply:
        self.bodies.append(body)
        messages = body["messages"]
        users = [i for i, message in enumerate(messages) if message["role"] == "user"]
        turn, asked = len(users), messages[users[-1]]["content"].lower()
        after = messages[users[-1] + 1 :]
        results = [message["content"] for message in after if message["role"] == "tool"]
        pieces = self._tool_calls(turn, asked, results) or self._text(turn, after)
        return Reply(self._cut(pieces))

    def _tool_calls(self, turn: int, asked: str, results: list[str]) -> list[str]:
        if "book" not in asked or len(results) >= 4 or any("receipt-book" in result for result in results):
            return []
        if results and not any("fell off" in result for result in results[-2:]):
            return []
        fates = asked.split()[-2:]
        item = f"c{self.number}t{turn}"
        calls = [("look_up", fates[0]), ("book", fates[1])]
        chunks = [
            data({"tool_calls": [{"index": i, "id": f"{name}-{len(results)}", "type": "function", "function": {
                "name": name, "arguments": json.dumps({"item": item, "fate": fate.strip(".")})}}]})
            for i, (name, fate) in enumerate(calls)
        ]  # fmt: skip
        return [*chunks, data({}, "tool_calls"), DONE]

    def _text(self, turn: int, after: list[dict[str, Any]]) -> list[str]:
        text = " ".join(sentences(turn))
        said = next((m["content"] or "" for m in reversed(after) if m["role"] == "assistant"), "")
        if after and after[-1]["role"] == "system" and self.number % 2:  # every other one goes on, the rest begin anew
            at = text.find(said[-20:]) if said else -1
            text = text[at + len(said[-20:]) :] if at >= 0 else text
        cut = text.split(" ")
        return words(*(word if i == 0 else f" {word}" for i, word in enumerate(cut)))

    def _cut(self, pieces: list[str]) -> list[object]:
        paced: list[object] = []
        for piece in pieces:
            paced += [piece, lambda: asyncio.sleep(TOKEN_S)]
        if self.rng.random() < 0.3:
            self.injected.add("llm")
            return [*paced[: self.rng.randrange(len(paced))], self.rng.choice((Drop, Drop, Stay))()]
        return paced

    # The user

    async def hold(self, server: Server) -> None:
        clock = MonotonicClock()
        self.player = SimulatedPlayer(clock, wire.AudioShape(), keep=True)
        options = SessionOptions(agent=wire.AgentSettings(instructions=f"You are call {self.number}."))
        async with connect(server.http, options, player=self.player, clock=clock) as session:
            self.session_id = session.session_id
            tasks = [
                asyncio.create_task(self._listen(session)),
                asyncio.create_task(self._microphone(session)),
                asyncio.create_task(self._kill(session)),
            ]
            try:
                for turn in range(1, 4):
                    await self._turn(session, server, turn)
            finally:
                for task in tasks:
                    task.cancel()
                outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        wrong = [o for o in outcomes if isinstance(o, Exception)]
        assert not wrong, wrong

    async def _turn(self, session: AgentSession, server: Server, turn: int) -> None:
        what, asked = self.rng.random(), len(self.bodies)
        if what < 0.5:
            fates = [self.rng.choice(("well", "dies", "hangs")), self.rng.choice(("well", "dies_once", "dies", "slow"))]
            if fates != ["well", "well"]:
                self.injected.add("tool")
            await session.send_text(f"Please book item {turn} {fates[0]} {fates[1]}")
        elif what < 0.75:
            await self._say(session, server)
        else:
            await session.send_text(f"Please tell me about item {turn}")
        if self.rng.random() < 0.25:  # the next turn interrupts
            await asyncio.sleep(self.rng.uniform(0.5, 4.0))
            return
        self.whole.append(await self._answered(turn, asked))

    async def _say(self, session: AgentSession, server: Server) -> None:
        """Speak until it was understood. The socket is left alone meanwhile: nobody can hear what it did not carry."""
        self.talking = True
        samples = await asyncio.to_thread(pcm, server, SPOKEN, pause_s=0.0)
        for _ in range(4):
            while not session.connected:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            understood, give_up_s = self.understood, time.monotonic() + 10.0
            self.line += samples
            while self.understood == understood and time.monotonic() < give_up_s:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            if self.understood > understood:
                break
        self.talking = False

    async def _answered(self, turn: int, asked: int) -> int:
        """The answer to a turn, or an apology, was heard to its end. Returns the answer's number: a turn before that
        was taken back has none of its own."""
        apologies = " ".join(self.heard()).count(APOLOGY)
        give_up_s = time.monotonic() + TURN_LIMIT_S
        while True:
            heard, told = self.heard(), "\n".join(self.told[-60:])
            if len(self.bodies) > asked:
                answer = users_of(self.bodies[-1])
                last = sentences(answer)[-1].split()
                if heard[-len(last) :] == last or " ".join(heard).count(APOLOGY) > apologies:
                    return answer
            assert time.monotonic() < give_up_s, f"turn {turn} of call {self.number} hangs: {' '.join(heard)}\n{told}"
            await asyncio.sleep(0.1)

    async def _listen(self, session: AgentSession) -> None:
        async for event in session:
            if not isinstance(event, ReplyAudio | Heard):
                self.told.append(f"{time.monotonic() % 1000:.2f} {event}"[:300])
            match event:
                case wire.ReplyStarted():
                    self.replies.append(event.reply_id)
                case wire.ReplyWords():
                    self.words.setdefault(event.reply_id, []).extend(event.words)
                case wire.UserEnded():
                    self.understood += bool(event.transcript.strip())
                case wire.Clear():
                    self.cleared.add(event.reply_id)
                case SocketLost():
                    self.lost += 1
                    self.cleared.update(self.replies[-1:])
                case wire.Ready():
                    self.resumed += event.resumed
                    assert event.session_id == self.session_id
                case wire.ErrorMessage():
                    self.errors.append(event)
                case _:
                    pass

    async def _microphone(self, session: AgentSession) -> None:
        began_s, sent = time.monotonic(), 0
        while True:
            frame = bytes(self.line[:_FRAME_BYTES])
            del self.line[:_FRAME_BYTES]
            await session.send_audio(frame.ljust(_FRAME_BYTES, b"\0"))
            sent += 1
            await asyncio.sleep(max(0.0, began_s + sent * FRAME_S - time.monotonic()))

    async def _kill(self, session: AgentSession) -> None:
        for _ in range(self.rng.choice((0, 1, 1, 2, 3))):
            await asyncio.sleep(self.rng.uniform(0.5, 6.0))
            while self.talking:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            if session._socket is not None:
                self.injected.add("network")
                session._socket.transport.abort()


def users_of(body: Body) -> int:
    return sum(message["role"] == "user" for message in body["messages"])


def settings(folder: Path, llm: ScriptedServer) -> str:
    desk = faulty_desk.__name__
    return f"""
[brain]
llm_url = "{llm.url}"
llm_model = "scripted"
llm_first_token_s = 1.5
llm_mute_s = 1.0

[agent]
greeting = ""
brain_first_s = 4.0
brain_gap_s = 2.0
filler_after_s = 1.0
resume_window_s = 10.0
# No voice fails here; on a full machine one waits for its turn.
voice_mute_s = 20.0

[agent.phrases]
apology = "{APOLOGY}"

[[agent.tools]]
name = "look_up"
python = "{desk}:look_up"
effect = "read"
timeout_s = {faulty_desk.TIMEOUT_S}

[[agent.tools]]
name = "book"
python = "{desk}:book"
targets = ["item"]

[record]
dir = "{folder / "records"}"
redact = false
"""


def lines(folder: Path, kind: str, session_id: str) -> list[dict[str, Any]]:
    files = sorted((folder / "records" / kind).rglob(f"{session_id}*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.mark.parametrize(
    ("first", "count"), [(100, 2), pytest.param(0, 20, marks=[pytest.mark.soak, pytest.mark.timeout(900)])]
)
def test_faults_at_random_moments_are_survived(first: int, count: int, tmp_path: Path) -> None:
    calls = {number: Call(number, random.Random(number)) for number in range(first, first + count)}

    def choose(body: Body) -> Reply:
        told = json.dumps(body["messages"]).split("You are call ")[1]
        return calls[int(told.split(".")[0])].answer(body)

    async def all_of_them() -> None:
        async with scripted_server(choose=choose) as llm:
            config = tmp_path / "antiphon.toml"
            config.write_text(settings(tmp_path, llm))
            running = serving(tmp_path, "--config", str(config), variables={faulty_desk.FOLDER: str(tmp_path)})
            server = await asyncio.to_thread(running.__enter__)
            try:
                await asyncio.to_thread(pcm, server, SPOKEN, pause_s=0.0)
                places = asyncio.Semaphore(AT_ONCE)

                async def one(call: Call) -> None:
                    async with places:
                        await call.hold(server)

                outcomes = await asyncio.gather(*map(one, calls.values()), return_exceptions=True)
                await asyncio.to_thread(nothing_is_left, server)
                failed = {n: o for n, o in zip(calls, outcomes, strict=True) if isinstance(o, BaseException)}
                assert not failed, "\n".join(map(repr, failed.values()))
            finally:
                await asyncio.to_thread(running.__exit__, None, None, None)

    asyncio.run(all_of_them())
    desk = faulty_desk.done(tmp_path)
    for call in calls.values():
        nothing_is_said_twice(call)
        no_result_is_lost(call, tmp_path, desk)
        every_request_is_well_formed(call)
        one_cause_a_turn(call, tmp_path)
    no_write_is_done_twice(desk)
    injected = Counter(kind for call in calls.values() for kind in call.injected)
    assert all(injected[kind] for kind in ("llm", "tool", "network")), injected
    assert sum(call.resumed for call in calls.values()) == sum(call.lost for call in calls.values()) > 0


def nothing_is_left(server: Server) -> None:
    deadline_s = time.monotonic() + 10.0
    names = ("antiphon_active_streams", "antiphon_connections")
    while any(server.gauge(name) for name in names):
        assert time.monotonic() < deadline_s, server.tail()
        time.sleep(0.05)


def nothing_is_said_twice(call: Call) -> None:
    heard = " ".join(call.heard())
    for turn in range(1, 4):
        said = [heard.count(sentence) for sentence in sentences(turn)]
        assert max(said) <= 1, (call.number, said, heard)
        if turn in call.whole and APOLOGY not in heard and not call.lost:
            assert said == [1, 1, 1], (call.number, heard)


def no_write_is_done_twice(desk: list[dict[str, str]]) -> None:
    writes = Counter(line["item"] for line in desk if line["name"] == "book" and line["what"] == "finished")
    assert writes
    assert max(writes.values()) == 1, writes
    keys: dict[str, set[str]] = {}
    for line in desk:
        if line["name"] == "book":
            keys.setdefault(line["item"], set()).add(line["key"])
    assert all(len(each) == 1 for each in keys.values()), "another attempt has the key of the first"


def no_result_is_lost(call: Call, folder: Path, desk: list[dict[str, str]]) -> None:
    retrieved = json.dumps(lines(folder, "retrieved", call.session_id))
    told = json.dumps(call.bodies)
    for line in desk:
        if line["what"] == "finished" and line["name"] == "book" and line["item"].startswith(f"c{call.number}t"):
            assert line["receipt"] in told or line["receipt"] in retrieved, line


def every_request_is_well_formed(call: Call) -> None:
    for body in call.bodies:
        owed: list[str] = []
        for message in body["messages"]:
            if message["role"] == "tool":
                assert message["tool_call_id"] in owed
                owed.remove(message["tool_call_id"])
            else:
                assert not owed, body["messages"]
            owed += [asked["id"] for asked in message.get("tool_calls") or []]
        assert not owed


def one_cause_a_turn(call: Call, folder: Path) -> None:
    log = lines(folder, "log", call.session_id)
    assert [line["event"] for line in (log[0], log[-1])] == ["begin", "end"]
    turns = [line for line in log if line["event"] == "turn"]
    assert len({turn["turn"] for turn in turns}) == len(turns) >= 3
    for turn in turns:
        faults = [entry["fault"] for entry in turn["ledger"] if "fault" in entry]
        if faults:
            assert turn["cause"] == faults[0], turn
            # a machine that is too slow for so many calls may run dry; that alone is not of our making
            assert set(faults) <= call.injected | {"client_playback", "tts"}, (call.number, faults, turn)
        if turn["outcome"] == "unanswered":
            assert turn["turn"] == turns[-1]["turn"]
