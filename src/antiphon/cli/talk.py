"""``antiphon talk``: a live conversation in the terminal."""

import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from antiphon.bench.conversation_recording import agent_track
from antiphon.cli.app import ConfigOption, VoiceOption, app
from antiphon.cli.serve import build_house
from antiphon.cli.talk_audio import MIC_RATE_HZ, devices, loudspeaker, microphone
from antiphon.cli.talk_page import TalkPage
from antiphon.cli.talk_server import local_server, local_settings
from antiphon.client import AgentSession, Heard, Player, ReplyAudio, SessionOptions, SimulatedPlayer, connect
from antiphon.core.clock import Clock, MonotonicClock
from antiphon.core.errors import InvalidInput
from antiphon.protocol import native_messages as wire

QUIET_S = 1.2
"""Typed lines that come from a pipe wait until the agent has been silent for this long."""
ANSWER_S = 20.0
"""The longest wait for an answer to such a line."""
_OUTPUT = wire.AudioShape()


@dataclass(frozen=True, slots=True)
class _Wishes:
    """What the command was asked for."""

    options: SessionOptions
    typed: bool
    wav: Path | None


@app.command()
def talk(
    url: Annotated[
        str | None, typer.Argument(help="A server's address; absent: one of our own is started for this talk.")
    ] = None,
    key: Annotated[str, typer.Option("--key", help="API key, if the server wants one.", show_default=False)] = "",
    voice: VoiceOption = None,
    language: Annotated[str, typer.Option(help="What is spoken. Default: the agent's own language.")] = "",
    greeting: Annotated[str | None, typer.Option(help="What the agent says first.")] = None,
    instructions: Annotated[str | None, typer.Option(help="What a language model behind it is told.")] = None,
    typed: Annotated[bool, typer.Option("--typed", help="Type instead of speaking; nothing sounds.")] = False,
    wav: Annotated[
        Path | None,
        typer.Option("--wav", help="Write what the agent says to a WAV file; type, nothing sounds.", dir_okay=False),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Talk with the agent: with microphone and loudspeaker where this machine has them, else in typed lines."""
    agent = wire.AgentSettings(greeting=greeting, instructions=instructions)
    options = SessionOptions(
        api_key=key,
        input=wire.AudioShape(sample_rate_hz=MIC_RATE_HZ),
        output=_OUTPUT,
        voice=voice or "",
        language=language,
        agent=agent,
    )
    wishes = _Wishes(options, typed, wav)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(url, wishes, config))


async def _main(url: str | None, wishes: _Wishes, config: Path | None) -> None:
    if url is not None:
        await _talk(url, wishes)
        return
    typer.echo("-- starting a server for this talk", err=True)
    async with local_server(local_settings(config, wishes.options.voice or None), build_house) as own:
        await _talk(own, wishes)


async def _talk(url: str, wishes: _Wishes) -> None:
    clock = MonotonicClock()
    spoken = not wishes.typed and wishes.wav is None
    sound = devices() if spoken else None
    if spoken and sound is None:
        typer.echo(
            "-- no microphone and loudspeaker here (pip install 'antiphon[talk]' brings what finds them): type instead",
            err=True,
        )
    with contextlib.ExitStack() as stack:
        player: Player
        if sound is not None:
            player = stack.enter_context(loudspeaker(sound, clock, _OUTPUT))
        else:
            player = SimulatedPlayer(clock, _OUTPUT, keep=wishes.wav is not None)
        begin_s = clock.now_s()
        try:
            async with connect(url, wishes.options, player=player, clock=clock) as session:
                await _converse(session, clock, sound)
        finally:
            if wishes.wav is not None and isinstance(player, SimulatedPlayer):
                _write(wishes.wav, player, begin_s, clock.now_s())


async def _converse(session: AgentSession, clock: Clock, sound: Any) -> None:
    page = TalkPage(session.options.output.sample_rate_hz)
    hush = _Hush(clock)
    showing = asyncio.create_task(_show(session, page, hush))
    if sound is not None:
        typer.echo("-- speak; Ctrl-C hangs up (use a headset: the agent hears what the loudspeaker says)", err=True)
        speaking = asyncio.create_task(_speak(session, sound))
    else:
        typer.echo("-- type what you want to say; an empty line interrupts, Ctrl-D hangs up", err=True)
        speaking = asyncio.create_task(_type(session, page, hush, clock))
    done, pending = await asyncio.wait((showing, speaking), return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    for task in done:
        task.result()


async def _show(session: AgentSession, page: TalkPage, hush: "_Hush") -> None:
    async for at_s, event in session.stamped():
        hush.take(event)
        for line in page.lines(at_s, event):
            typer.echo(line)


async def _speak(session: AgentSession, sound: Any) -> None:
    async for piece in microphone(sound):
        await session.send_audio(piece)


async def _type(session: AgentSession, page: TalkPage, hush: "_Hush", clock: Clock) -> None:
    """Lines of standard input. Those of a pipe are said one after the other, each when the last one is answered."""
    if sys.stdin is None:
        raise InvalidInput("standard input is closed; type into a terminal, or pipe lines in")
    patient = not sys.stdin.isatty()
    if patient:
        await hush.wait(1.0)
    async for line in _lines():
        if line.strip():
            page.typed(clock.now_s())
            hush.asked()
            await session.send_text(line)
            if patient:
                typer.echo(f"you:   {line.strip()}")
                await hush.wait(ANSWER_S)
        elif not patient:
            await session.interrupt()
    await hush.wait(ANSWER_S)


async def _lines() -> AsyncIterator[str]:
    """Standard input, read on a thread that nobody waits for: a terminal gives its line when it likes."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue(64)
    room = threading.Semaphore(32)

    def read() -> None:
        with contextlib.suppress(RuntimeError, ValueError):  # the loop has closed meanwhile
            for line in sys.stdin:
                room.acquire()
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="typing", daemon=True).start()
    while (line := await lines.get()) is not None:
        room.release()
        yield line


class _Hush:
    """Knows when the agent has said what it had to say."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: set[str] = set()
        self._since_s = clock.now_s()
        self._answered = True

    def asked(self) -> None:
        self._answered = False

    def take(self, event: Any) -> None:
        match event:
            case wire.ReplyStarted():
                self._open.add(event.reply_id)
                self._answered = True
            case Heard(over=True):
                self._open.discard(event.reply_id)
            case ReplyAudio() | wire.ToolAsked():
                pass
            case _:
                return
        self._since_s = self._clock.now_s()

    async def wait(self, most_s: float) -> None:
        """Until it has been silent for a while; if it does not begin at all, for ``most_s``."""
        give_up_s = self._clock.now_s() + most_s
        while self._open or not self._answered or self._clock.now_s() < self._since_s + QUIET_S:
            if not self._open and self._clock.now_s() >= give_up_s:
                return
            await asyncio.sleep(0.05)


def _write(path: Path, player: SimulatedPlayer, begin_s: float, end_s: float) -> None:
    from antiphon.audio.pcm import encode
    from antiphon.audio.wav import header

    samples = agent_track(player.pieces, _OUTPUT, begin_s, round((end_s - begin_s) * _OUTPUT.sample_rate_hz))
    try:
        path.write_bytes(header("pcm_s16le", _OUTPUT.sample_rate_hz, len(samples)) + encode(samples, "pcm_s16le"))
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}") from None
    typer.echo(f"-- wrote {path}: {len(samples) / _OUTPUT.sample_rate_hz:.1f} s", err=True)
