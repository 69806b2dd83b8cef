"""The client against the product's own machine of the native socket, over a real WebSocket."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from antiphon.client import (
    AgentSession,
    Heard,
    Refused,
    ReplyAudio,
    SessionLost,
    SessionOptions,
    SessionOver,
    SocketLost,
    Tool,
    ToolRan,
    Unreachable,
    connect,
)
from antiphon.client.comebacks import RESUME_PAUSES_S
from antiphon.client.playback import MOST_REPLIES, SimulatedPlayer
from antiphon.client.replies import Replies
from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.turns import TurnEnded
from antiphon.protocol import native_messages as wire

from .agent_server import PATIENCE_S, AgentServer, Peer, TestTime, agent_server

OUTPUT = wire.AudioShape("pcm_s16le", 8_000)
SECOND = b"\5\0" * 8_000

Talk = Callable[[AgentServer, TestTime], Awaitable[None]]


def run(talk: Talk, window_s: float = 30.0) -> None:
    async def main() -> None:
        async with asyncio.timeout(3 * PATIENCE_S), agent_server(window_s) as server:
            await talk(server, TestTime())

    asyncio.run(main())


class Opened:
    """A client with its peer; what happens is collected in the background."""

    def __init__(self, server: AgentServer, time: TestTime, **options: Any) -> None:
        self._server = server
        self._time = time
        self._options = SessionOptions(**{"output": OUTPUT, **options})

    async def __aenter__(self) -> tuple[AgentSession, Peer]:
        self._context = connect(self._server.url, self._options, clock=self._time, sleep=self._time.sleep)
        entering = asyncio.create_task(self._context.__aenter__())
        peer = await self._server.peer()
        self.start = await peer.ready()
        session = await entering
        return session, peer

    async def __aexit__(self, *about: Any) -> None:
        await self._context.__aexit__(*about)


async def next_of(session: AgentSession, kind: type[Any]) -> Any:
    async with asyncio.timeout(PATIENCE_S):
        async for event in session:
            if isinstance(event, kind):
                return event
    raise AssertionError(f"the session ended without {kind.__name__}")


async def said(session: AgentSession, peer: Peer) -> None:
    """The agent has said the first second of a reply, and the client has it."""
    await peer.say("r1", SECOND)
    await arrived(session)


async def arrived(session: AgentSession) -> None:
    """All frames of :data:`SECOND`."""
    for _ in range(10):
        await next_of(session, ReplyAudio)


def test_start_says_what_the_options_say() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async def find(order_id: str) -> str:
            return order_id

        options = SessionOptions(
            input=wire.AudioShape("pcm_mulaw", 8_000),
            voice="heart",
            agent=wire.AgentSettings(greeting="Hello."),
            tools=(Tool("find", find, "Finds.", effect="read", timeout_ms=500),),
        )
        async with asyncio.TaskGroup() as group:
            async def client() -> None:
                async with connect(server.url, options) as session:
                    assert session.session_id == "session"
                    assert session.connected

            group.create_task(client())
            peer = await server.peer()
            start = await peer.ready()
            await peer.told(wire.Close)
        assert peer.link.request is not None
        assert peer.link.request.path == "/agents/websocket"
        assert (start.input.encoding, start.voice, start.agent.greeting) == ("pcm_mulaw", "heart", "Hello.")
        (tool,) = start.agent.tools
        assert (tool.name, tool.effect, tool.timeout_ms) == ("find", "read", 500)

    run(talk)


def test_audio_text_keys_and_silence_reach_the_agent() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time) as (session, peer):
            await session.send_audio(b"{}")  # samples that look like JSON
            await session.send_audio(b"\1\2\3")
            await session.send_text("Good morning")
            await session.send_dtmf("12#")
            await session.interrupt()
            assert (await peer.told()).text == "Good morning"
            assert (await peer.told()).digits == "12#"
            assert isinstance(await peer.told(), wire.Interrupt)
            assert bytes(peer.audio) == b"{}\1\2\3"
            with pytest.raises(InvalidInput):
                await session.send_text("  ")
        with pytest.raises(SessionOver):
            await session.send_audio(b"\0\0")

    run(talk)


def test_what_the_user_said_comes_with_its_moment() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time) as (session, peer):
            await peer.do(peer.machine.turn(TurnEnded("where is it", 16_000, "model")))
            async for at_s, event in session.stamped():
                if isinstance(event, wire.UserEnded):
                    assert (at_s, event.transcript) == (100.0, "where is it")
                    break

    run(talk)


def test_playback_is_reported_as_the_clock_goes_and_at_its_end() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time, report_every_s=0.25) as (session, peer):
            await peer.say("r1", SECOND, end=True)
            audio = await next_of(session, ReplyAudio)
            assert (audio.reply_id, audio.start_sample, audio.samples) == ("r1", 0, 800)
            await next_of(session, wire.ReplyEnded)
            positions = []
            for _ in range(5):
                await time.until_asleep()
                time.advance(0.25)
                report = await peer.told(wire.Played)
                positions.append(report.sample)
                if report.sample == 8_000:
                    break
            assert positions == [2_000, 4_000, 6_000, 8_000]
            heard = await next_of(session, Heard)
            while not heard.over:
                heard = await next_of(session, Heard)
            assert heard == Heard("r1", 8_000, 0, True)

    run(talk)


def test_an_underrun_is_reported() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time, report_every_s=1.5) as (session, peer):
            await said(session, peer)
            await time.until_asleep()
            time.advance(1.5)
            assert await peer.told(wire.Played) == wire.Played(reply_id="r1", sample=8_000)
            await peer.do(peer.machine.audio("r1", SECOND))
            await arrived(session)
            await time.until_asleep()
            time.advance(1.5)
            assert await peer.told(wire.Played) == wire.Played(reply_id="r1", sample=16_000, underruns=1)

    run(talk)


def test_clear_is_answered_at_once_with_what_was_heard() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time, report_every_s=5.0) as (session, peer):
            await said(session, peer)
            await time.until_asleep()
            time.advance(0.5)
            await peer.do(peer.machine.clear("r1", 40))
            assert await peer.told(wire.Played) == wire.Played(reply_id="r1", sample=4_000)
            await next_of(session, wire.Clear)
            time.advance(5.0)
            assert await peer.told(wire.Played) == wire.Played(reply_id="r1", sample=4_320)

    run(talk)


def test_a_pause_holds_the_player_and_its_end_lets_it_go_on() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time, report_every_s=5.0) as (session, peer):
            await said(session, peer)
            await time.until_asleep()
            time.advance(0.25)
            await peer.do(peer.machine.pause_reply("r1", 0))
            assert (await peer.told(wire.Played)).sample == 2_000
            time.advance(1.0)
            await peer.do(peer.machine.continue_reply("r1"))
            await next_of(session, wire.ReplyContinued)
            time.advance(0.25)
            assert session.player.position("r1").sample == 4_000

    run(talk)


def tools() -> tuple[Tool, ...]:
    async def add(one: int, other: int = 1) -> dict[str, int]:
        return {"sum": one + other}

    async def broken() -> None:
        raise RuntimeError("no such table")

    async def refused() -> None:
        raise InvalidInput("We do not deliver on Sundays.")

    return Tool("add", add), Tool("broken", broken), Tool("refused", refused)


@pytest.mark.parametrize(
    ("name", "arguments", "content", "ok"),
    [
        ("add", '{"one":2,"other":3}', '{"sum": 5}', True),
        ("add", "not json", "add: the arguments are no JSON", False),
        ("add", "[1]", "add: the arguments are no JSON object", False),
        ("refused", "{}", "We do not deliver on Sundays.", False),
        ("broken", "{}", "broken failed: RuntimeError: no such table", False),
        ("other", "{}", "there is no tool 'other' here; known: add, broken, refused", False),
    ],
)
def test_tools_are_run_here(name: str, arguments: str, content: str, ok: bool) -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time, tools=tools()) as (session, peer):
            await peer.do(peer.machine.call_tool("c1", name, arguments))
            assert await peer.told() == wire.ToolResult(call_id="c1", content=content, ok=ok)
            assert await next_of(session, ToolRan) == ToolRan("c1", name, arguments, content, ok)

    run(talk)


def test_only_a_read_is_cancelled() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        release, ran = asyncio.Event(), list[str]()

        def slow(name: str) -> Callable[[], Coroutine[Any, Any, str]]:
            async def go() -> str:
                await release.wait()
                ran.append(name)
                return name

            return go

        given = (Tool("read", slow("read"), effect="read"), Tool("write", slow("write")))
        async with Opened(server, time, tools=given) as (session, peer):
            for call_id in ("read", "write"):
                await peer.do(peer.machine.call_tool(call_id, call_id, "{}"))
                await next_of(session, wire.ToolAsked)
            for call_id in ("read", "write"):
                await peer.do(peer.machine.cancel_tool(call_id))
                await next_of(session, wire.ToolCancelled)
            release.set()
            assert (await next_of(session, ToolRan)).name == "write"
        assert ran == ["write"]

    run(talk)


def test_a_lost_socket_is_replaced_and_nothing_is_said_twice() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        runs = list[str]()

        async def book(day: str) -> str:
            runs.append(day)
            return "booked"

        async with Opened(server, time, tools=(Tool("book", book),), report_every_s=9.0) as (session, peer):
            await said(session, peer)
            await peer.do(peer.machine.call_tool("c1", "book", '{"day":"Monday"}'))
            await next_of(session, ToolRan)
            time.advance(0.5)
            await peer.drop()
            await next_of(session, SocketLost)
            await session.send_audio(b"\0\0")
            assert session.dropped_bytes == 2
            await session.send_text("still there")
            again = await server.peer()
            start = await again.ready(resumed=True, token="token-2")
            assert (start.resume, start.heard) == ("token-1", wire.LastHeard("r1", 4_000))
            assert (await next_of(session, wire.Ready)).resumed
            assert (await again.told(wire.Say)).text == "still there"
            await again.do(again.machine.call_tool("c1", "book", '{"day":"Monday"}'))
            assert (await again.told(wire.ToolResult)).content == "booked"
            assert runs == ["Monday"]
            time.advance(0.02)
            assert session.player.position("r1").over
            await again.drop()
            third = await server.peer()
            assert (await third.ready(resumed=True)).resume == "token-2"

    run(talk)


def test_a_restart_is_followed_and_a_hang_up_is_not() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time) as (session, peer):
            await peer.do(peer.machine.drain(0.0))
            again = await server.peer()
            await again.ready(resumed=True)
            assert (await next_of(session, wire.Closed)).reason == "restart"
            assert (await next_of(session, SocketLost)).reason == "restart"
            await again.do(again.machine.close("agent"))
            assert (await next_of(session, wire.Closed)).reason == "agent"
            assert [event async for event in session] == []
            with pytest.raises(SessionOver):
                await session.interrupt()

    run(talk)


def test_a_session_that_cannot_be_taken_up_again_is_lost() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time) as (session, peer):
            await server.close()
            await peer.gone.wait()
            await next_of(session, SocketLost)
            for _ in range(2):  # attempts at 0 and 0.5 s; the next would be too late
                await time.until_asleep()
                time.advance(0.5)
            with pytest.raises(SessionLost, match="within 1 s: nobody answers"):
                await next_of(session, wire.Closed)

    async def at_once(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time, resume=False) as (session, peer):
            await peer.drop()
            with pytest.raises(SessionLost, match="socket was lost"):
                await next_of(session, wire.Closed)

    run(at_once)

    async def refused(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time) as (session, peer):
            await peer.drop()
            again = await server.peer()
            await again.told(wire.Start)
            await again.do(again.machine.fail(InvalidInput("no such voice", "voice"), fatal=True))
            with pytest.raises(Refused, match="no such voice"):
                await next_of(session, wire.Closed)

    run(refused)
    run(talk, window_s=1.0)


def test_a_fatal_error_ends_the_session_and_another_does_not() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time) as (session, peer):
            await peer.do(peer.machine.fail(InvalidInput("odd", "text"), fatal=False))
            assert (await next_of(session, wire.ErrorMessage)).param == "text"
            await peer.do(peer.machine.fail(AtCapacity("no place is free"), fatal=True))
            with pytest.raises(Refused, match="no place is free") as caught:
                await next_of(session, wire.Closed)
            assert (caught.value.code, caught.value.may_retry) == ("at_capacity", True)

    run(talk)


def test_refused_before_it_began() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async def refuse() -> None:
            peer = await server.peer()
            await peer.told(wire.Start)
            await peer.do(peer.machine.fail(InvalidInput("voice: no such voice", "voice"), fatal=True))

        refusing = asyncio.create_task(refuse())
        with pytest.raises(Refused) as caught:
            async with connect(server.url):
                pass
        assert (caught.value.code, caught.value.param, caught.value.may_retry) == ("invalid_message", "voice", False)
        await refusing

    run(talk)


@pytest.mark.parametrize("url", ["ftp://host", "http://", "http://host:port/"])
def test_an_address_that_is_none(url: str) -> None:
    async def main() -> None:
        with pytest.raises(InvalidInput, match="address"):
            async with connect(url):
                pass

    asyncio.run(main())


def test_nobody_at_the_address() -> None:
    async def main() -> None:
        async with agent_server() as server:
            url = server.url
        with pytest.raises(Unreachable, match="nobody answers at ws://127"):
            async with connect(url):
                pass

    asyncio.run(main())


def test_options_are_checked_before_anything_is_sent() -> None:
    async def main() -> None:
        with pytest.raises(InvalidInput, match=r"output\.encoding"):
            async with connect("http://127.0.0.1:9", SessionOptions(output=wire.AudioShape("mp3"))):
                pass

    asyncio.run(main())


def test_nothing_is_read_while_nobody_takes_what_happened() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time, most_events=4) as (session, peer):
            for number in range(50):
                await peer.do(peer.machine.turn(TurnEnded(f"{number}", number, "model")))
            heard = []
            async for event in session:
                if isinstance(event, wire.UserEnded):
                    heard.append(event.transcript)
                    if len(heard) == 50:
                        break
            assert heard == [str(number) for number in range(50)]

    run(talk)


def test_messages_of_tomorrow_are_passed_over() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time) as (session, peer):
            await peer.link.send('{"type":"reply.sung","reply_id":"r"}')
            await peer.do(peer.machine.turn(TurnEnded("known", 1, "model")))
            assert (await next_of(session, wire.UserEnded)).transcript == "known"
            await peer.link.send("no json")
            with pytest.raises(Refused, match="no message"):
                await next_of(session, wire.Closed)

    run(talk)


@pytest.mark.parametrize(
    ("frame", "about"),
    [
        ('{"type":"reply.words","reply_id":"r","words":' + "[" * 100_000, "nested too deeply"),
        ('{"type":"clear","reply_id":"r","fade_ms":1' + "0" * 400 + "}", "a time should be"),
        ('{"type":"reply.pause","reply_id":"r","fade_ms":-1}', "a time should be"),
    ],
    ids=["depth", "a time without measure", "a time before now"],
)
def test_what_no_server_says_ends_the_session_with_a_clear_error(frame: str, about: str) -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async with Opened(server, time) as (session, peer):
            await peer.link.send(frame)
            with pytest.raises(Refused, match=about):
                await next_of(session, Heard)

    run(talk)


def test_a_server_that_drops_every_socket_is_not_stormed() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        pauses = list[float]()

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)
            await asyncio.sleep(0)

        async def drop_all() -> None:
            for attempt in range(6):
                peer = await server.peer()
                await peer.ready(resumed=bool(attempt))
                await peer.drop()

        options = SessionOptions(output=OUTPUT)
        dropping = asyncio.create_task(drop_all())
        async with connect(server.url, options, clock=time, sleep=sleep) as session:
            for _ in range(6):
                await next_of(session, SocketLost)
            await dropping
        assert pauses[:6] == [0.0, *RESUME_PAUSES_S[:5]]

    run(talk)


def test_a_call_that_is_cancelled_before_it_began_does_not_end_the_session() -> None:
    async def talk(server: AgentServer, time: TestTime) -> None:
        async def find() -> str:
            await asyncio.Event().wait()
            return ""

        async with Opened(server, time, tools=[Tool("find", find, effect="read")]) as (session, peer):
            for name in ("find", "nobody_knows"):
                await peer.do(peer.machine.call_tool(name, name, "{}"))
                await peer.do(peer.machine.cancel_tool(name))
            await peer.do(peer.machine.call_tool("last", "find", "[" * 50_000))
            ran = await next_of(session, ToolRan)
            while ran.call_id != "last":
                ran = await next_of(session, ToolRan)
            assert (ran.ok, ran.content) == (False, "find: the arguments are no JSON")

    run(talk)


def test_a_reply_that_begins_again_under_its_old_name_is_borne() -> None:
    replies = Replies(SimulatedPlayer(TestTime(), OUTPUT), OUTPUT.sample_bytes)
    for _ in range(2):
        replies.obey(wire.ReplyStarted(reply_id="r"))
        assert replies.hear(bytes(160)) is not None
        [heard] = replies.obey(wire.Clear(reply_id="r", fade_ms=0))
        assert heard.over
    replies.obey(wire.ReplyStarted(reply_id="r"))
    assert [heard.over for heard in replies.news()] == [True]
    audio = replies.hear(bytes(160))
    assert audio is not None
    assert audio.start_sample == 0


def test_a_pause_that_comes_when_all_was_heard_holds_nothing_up() -> None:
    time = TestTime()
    player = SimulatedPlayer(time, OUTPUT)
    replies = Replies(player, OUTPUT.sample_bytes)
    replies.obey(wire.ReplyStarted(reply_id="r1"))
    replies.hear(SECOND)
    replies.obey(wire.ReplyEnded(reply_id="r1", samples=8_000, reason="completed"))
    time.advance(2.0)
    replies.obey(wire.ReplyPaused(reply_id="r1", fade_ms=40))
    assert not player.paused
    replies.lose()
    replies.obey(wire.ReplyStarted(reply_id="r2"))
    replies.hear(SECOND)
    time.advance(0.5)
    assert player.position("r2").sample == 4_000


def test_replies_that_never_end_are_forgotten() -> None:
    replies = Replies(SimulatedPlayer(TestTime(), OUTPUT), OUTPUT.sample_bytes)
    for number in range(MOST_REPLIES + 36):
        replies.obey(wire.ReplyStarted(reply_id=f"r{number}"))
        replies.hear(bytes(160))
    told = {heard.reply_id for heard in [*replies.news(), *replies.obey(wire.Clear(reply_id="r99", fade_ms=0))]}
    assert told <= {f"r{number}" for number in range(36, MOST_REPLIES + 36)}
    assert replies.obey(wire.Clear(reply_id="r0", fade_ms=0)) == []
