"""``antiphon say``: speak text in this process, without a server."""

import codecs
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import IO, Annotated

import typer

from antiphon.cli.app import ConfigOption, VoiceOption, app
from antiphon.cli.house import open_house
from antiphon.core.clock import MonotonicClock
from antiphon.core.errors import EngineFailed, InvalidInput
from antiphon.core.event import Audio, Event, Failed, Flushed, Warned
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import SpeechConfig
from antiphon.engine.build import House

CONTAINERS = {
    ".wav": "wav", ".mp3": "mp3", ".flac": "flac", ".opus": "opus", ".ogg": "opus", ".aac": "aac", ".raw": "raw",
}  # fmt: skip
PIECE_CHARS = 4096
PLAYERS = (
    ("pw-play", ["--raw", "--format=s16", "--rate=24000", "--channels=1", "-"]),
    ("paplay", ["--raw", "--format=s16le", "--rate=24000", "--channels=1"]),
    ("aplay", ["-q", "-t", "raw", "-f", "S16_LE", "-r", "24000", "-c", "1"]),
    ("ffplay", ["-loglevel", "error", "-nodisp", "-autoexit", "-f", "s16le", "-ar", "24000", "-i", "-"]),
    ("play", ["-q", "-t", "raw", "-e", "signed", "-b", "16", "-r", "24000", "-c", "1", "-"]),
)


@app.command()
def say(
    text: Annotated[str | None, typer.Argument(help="What to say; absent or '-': read from standard input.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write a file (wav, mp3, flac, opus, aac, raw by its ending).")
    ] = None,
    voice: VoiceOption = None,
    language: Annotated[
        str, typer.Option("--language", "-l", help="Tag (de, pt-BR). Default: the voice's own.")
    ] = "",
    speed: Annotated[float, typer.Option(help="Pace; 1.0 is the voice's own.", min=0.25, max=4.0)] = 1.0,
    rate: Annotated[int, typer.Option(help="Sample rate in Hz of the file.")] = 24_000,
    config: ConfigOption = None,
) -> None:
    """Say TEXT aloud, or into a file. Text on standard input is spoken while it arrives."""
    format_ = AudioFormat("raw", "pcm_s16le", 24_000) if out is None else _format_of(out, rate)
    player = None if out else _find_player()
    if out is None and player is None:
        out, format_ = Path("say.wav"), AudioFormat("wav", "pcm_s16le", rate)
        typer.echo("no audio player found (aplay, paplay, pw-play, ffplay or sox); writing say.wav", err=True)
    if text in (None, "-") and sys.stdin is None:
        raise InvalidInput("standard input is closed; give the text, or pipe it in")
    deltas = _typed() if text in (None, "-") else _pieces(text)
    with open_house(config, voice) as house:
        settings = SpeechConfig(voice=voice or "", language=language, format=format_, speed=speed)
        if player is not None:
            with subprocess.Popen(player, stdin=subprocess.PIPE) as process:
                assert process.stdin is not None
                _speak(house, settings, deltas, process.stdin)
                process.stdin.close()
        else:
            assert out is not None
            try:
                with out.open("wb") as file:
                    _speak(house, settings, deltas, file)
            except OSError as error:
                raise InvalidInput(f"cannot write {out}: {error.strerror}") from None


def _format_of(path: Path, rate_hz: int) -> AudioFormat:
    container = CONTAINERS.get(path.suffix.lower())
    if container is None:
        raise InvalidInput(f"cannot tell a format from {path.name!r}; use one of {', '.join(CONTAINERS)}")
    return AudioFormat(container, "pcm_s16le", rate_hz)


def _find_player() -> list[str] | None:
    for name, arguments in PLAYERS:
        if path := shutil.which(name):
            return [path, *arguments]
    return None


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS))


def _typed() -> Iterator[str]:
    """Standard input as it comes, so that an LLM piped in is spoken as it writes."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while chunk := os.read(sys.stdin.fileno(), PIECE_CHARS):
        yield decoder.decode(chunk)


def _speak(house: House, config: SpeechConfig, deltas: Iterator[str], sink: IO[bytes]) -> None:
    """Speak ``deltas`` into ``sink``. One thread reads, this one owns the stream, the workers make audio.

    A book is read no faster than it is spoken.
    """
    clock, woken, arrived = MonotonicClock(), threading.Event(), Queue[str | None](maxsize=16)
    held: list[str | None] = []
    faults: list[OSError] = []

    def read() -> None:
        try:
            for delta in deltas:
                arrived.put(delta)
                woken.set()
        except OSError as error:
            faults.append(error)
        arrived.put(None)
        woken.set()

    engine, config = house.registry.resolve(config)
    stream = engine.open_stream(config, woken.set)
    try:
        threading.Thread(target=read, daemon=True).start()
        due_s: float | None = None
        while True:
            woken.wait(None if due_s is None else max(0.0, due_s - clock.now_s()))
            woken.clear()
            while held or not arrived.empty():
                delta = held.pop() if held else arrived.get()
                if delta is None and faults:
                    raise InvalidInput(f"the text cannot be read: {faults[0].strerror}")
                if delta is None:
                    stream.flush("end", last=True)
                    continue
                try:
                    stream.push(delta)
                except InvalidInput:  # its inbox is full; we are woken by what it speaks of it
                    held.append(delta)
                    break
            due_s = stream.tick(clock.now_s())
            if _write(stream.pull(), sink):
                return
    finally:
        stream.close()


def _write(events: list[Event], sink: IO[bytes]) -> bool:
    """True when the end has come."""
    for event in events:
        match event:
            case Audio():
                sink.write(event.data)
            case Warned():
                typer.echo(f"antiphon: {event.message}", err=True)
            case Failed():
                raise EngineFailed(event.message)
            case Flushed():
                return True
    sink.flush()
    return False
