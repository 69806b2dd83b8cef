"""``antiphon hear``: write down what is said, in this process, without a server."""

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from queue import Empty, Queue
from typing import Annotated

import typer

from antiphon.cli.app import ConfigOption, app
from antiphon.cli.hear_pages import JsonPage, Page, TextPage
from antiphon.cli.hear_sources import Source, piped, recorded
from antiphon.cli.house import open_ear
from antiphon.cli.microphone import microphone
from antiphon.core.clock import MonotonicClock
from antiphon.core.errors import EngineFailed, InvalidInput
from antiphon.core.event import Failed, Flushed, Warned
from antiphon.core.hearing import EAR_RATE_HZ, Heard, HeardWord, HearingConfig
from antiphon.core.turns import EndpointSettings
from antiphon.engine.stt import SttEngine
from antiphon.protocol.subtitles import cues_of, srt
from antiphon.protocol.transcription import spaced_words
from antiphon.server.turns import TurnTaking

AHEAD_S = 5.0
"""No more audio than this waits to be heard: a file is read as fast as it is understood."""
_END = "end"


@app.command()
def hear(
    file: Annotated[str | None, typer.Argument(help="A recording; '-' for standard input.")] = None,
    mic: Annotated[bool, typer.Option("--mic", help="Listen to the microphone until Ctrl-C.")] = False,
    encoding: Annotated[
        str | None, typer.Option(help="Of raw samples: pcm_s16le (the default on '-'), pcm_f32le, pcm_mulaw ...")
    ] = None,
    rate: Annotated[int, typer.Option(help="Sample rate in Hz of raw samples.")] = EAR_RATE_HZ,
    language: Annotated[str, typer.Option(help="What is spoken; '' to find out.")] = "en",
    model: Annotated[str, typer.Option("--model", help="A recogniser by name; default: that of the language.")] = "",
    keyterm: Annotated[list[str] | None, typer.Option("--keyterm", help="A word to expect; may be repeated.")] = None,
    words: Annotated[bool, typer.Option("--words", help="Show when each word was said.")] = False,
    subtitles: Annotated[Path | None, typer.Option("--srt", help="Write subtitles here.", dir_okay=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line for every event.")] = False,
    config: ConfigOption = None,
) -> None:
    """Write down what FILE, standard input or the microphone says, turn by turn, while it is said."""
    if mic == (file is not None):
        raise InvalidInput("name one thing to hear: a file, '-' for standard input, or --mic")
    page: Page = JsonPage(sys.stdout, words) if as_json else TextPage(words)
    said: list[HeardWord] = []
    with _subtitles(subtitles, said), open_ear(config) as engine, ExitStack() as open_things:
        if mic:
            source = Source("pcm_s16le", EAR_RATE_HZ, open_things.enter_context(microphone(EAR_RATE_HZ)))
        elif file == "-":
            source = piped(sys.stdin.fileno(), encoding, rate)
        else:
            assert file is not None
            source = recorded(Path(file), encoding, rate)
        terms = tuple(keyterm or ())
        given = HearingConfig(_known(engine, model), language, source.encoding, source.sample_rate_hz, terms)
        with page:
            _hear(engine, given, source.pieces, page, said)
    if not said:
        typer.echo("antiphon: no speech was heard", err=True)


def _known(engine: SttEngine, model: str) -> str:
    names = [recogniser.name for recogniser in engine.recognisers]
    if model and model not in names:
        raise InvalidInput(f"there is no recogniser {model!r} here, but {', '.join(names)}", "model")
    return model


@contextmanager
def _subtitles(path: Path | None, said: list[HeardWord]) -> Iterator[None]:
    """Opened before anything is heard, written whatever ends it: an hour is not listened to in vain."""
    if path is None:
        yield
        return
    with _plainly(path):
        file = path.open("w", encoding="utf-8")
    with file:
        try:
            yield
        finally:
            with _plainly(path):
                file.write(srt(cues_of(said)))
                file.flush()


@contextmanager
def _plainly(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}") from None


def _hear(
    engine: SttEngine, config: HearingConfig, pieces: Iterator[bytes], page: Page, said: list[HeardWord]
) -> None:
    """One thread reads, this one owns the stream and the page, the workers understand. ``said`` gets all words."""
    listening = _Listening(engine, config, page, said)
    try:
        listening.run(pieces)
    finally:
        listening.close()


class _Listening:
    """One stream from its first sample to its last word."""

    def __init__(self, engine: SttEngine, config: HearingConfig, page: Page, said: list[HeardWord]) -> None:
        self._said = said
        self._page = page
        self._clock = MonotonicClock()
        self._woken = threading.Event()
        self._arrived: Queue[bytes | Exception | None] = Queue(maxsize=8)
        self._stream = engine.open_stream(replace(config, turns=True), self._woken.set)
        self._turns = TurnTaking(self._stream.flush, EndpointSettings(), self._clock.now_s())
        self._ended = False
        self._broken: Exception | None = None

    def run(self, pieces: Iterator[bytes]) -> None:
        """Raises what the source raises, after what came before it has been told."""
        threading.Thread(target=self._read, args=(pieces,), daemon=True).start()
        while True:
            try:
                due_s = self._turns.due_s
                self._woken.wait(None if due_s is None else max(0.0, due_s - self._clock.now_s()))
                self._woken.clear()
                self._feed()
                if self._tell():
                    break
            except KeyboardInterrupt:  # whoever stops a microphone wants what was said so far
                if self._ended:
                    raise
                self._end()
        if self._broken is not None:
            raise self._broken

    def close(self) -> None:
        self._stream.close()

    def _read(self, pieces: Iterator[bytes]) -> None:
        last: Exception | None = None
        try:
            for piece in pieces:
                self._arrived.put(piece)
                self._woken.set()
        except Exception as error:  # raised again where it is seen
            last = error
        self._arrived.put(last)
        self._woken.set()

    def _feed(self) -> None:
        while not self._ended and self._stream.backlog_s < AHEAD_S:
            try:
                piece = self._arrived.get_nowait()
            except Empty:
                return
            if isinstance(piece, bytes):
                self._stream.push(piece)
            else:
                self._broken = piece
                self._end()

    def _end(self) -> None:
        self._ended = True
        self._turns.ends_with(_END)
        self._stream.flush(_END, last=True)

    def _tell(self) -> bool:
        """True when all has been said."""
        page, now_s = self._page, self._clock.now_s()
        for event in self._stream.pull():
            match event:
                case Heard(final=True):
                    spaced = spaced_words(event)
                    self._said += spaced
                    page.heard(event, spaced)
                case Warned():
                    typer.echo(f"antiphon: {event.message}", err=True)
                case Failed():
                    raise EngineFailed(event.message)
            for decision in self._turns.take(event, now_s):
                page.decided(decision)
            if isinstance(event, Heard) and not event.final:  # what is settled of it has just been told
                page.heard(event, ())
            if isinstance(event, Flushed) and event.marker == _END:
                return True
        for decision in self._turns.tick(now_s):
            page.decided(decision)
        return False
