"""``antiphon hear``: write down what is said, in this process, without a server."""

import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import Empty, Queue
from typing import Annotated

import numpy as np
import typer

from antiphon.audio.recording import blocks
from antiphon.cli.app import ConfigOption, app
from antiphon.cli.hear_pages import JsonPage, Page, TextPage
from antiphon.cli.house import open_ear
from antiphon.cli.microphone import microphone
from antiphon.core.clock import MonotonicClock
from antiphon.core.errors import AntiphonError, EngineFailed, InvalidInput
from antiphon.core.event import Failed, Flushed, Warned
from antiphon.core.hearing import EAR_RATE_HZ, Heard, HeardWord, HearingConfig
from antiphon.core.turns import EndpointSettings
from antiphon.engine.stt import SttEngine
from antiphon.protocol.subtitles import cues_of, srt
from antiphon.protocol.transcription import spaced_words
from antiphon.server.turns import TurnTaking

AHEAD_S = 5.0
"""No more audio than this waits to be heard: a file is read as fast as it is understood."""
_PIECE_BYTES = 3_200
_END = "end"


@app.command()
def hear(
    file: Annotated[str | None, typer.Argument(help="A recording; '-' for raw samples on standard input.")] = None,
    mic: Annotated[bool, typer.Option("--mic", help="Listen to the microphone until Ctrl-C.")] = False,
    encoding: Annotated[
        str | None, typer.Option(help="Of raw samples: pcm_s16le, pcm_f32le, pcm_mulaw ... Default on '-': pcm_s16le.")
    ] = None,
    rate: Annotated[int, typer.Option(help="Sample rate in Hz of raw samples.")] = EAR_RATE_HZ,
    language: Annotated[str, typer.Option(help="What is spoken; '' to find out.")] = "en",
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
    with open_ear(config) as engine, page:
        if mic:
            with microphone(EAR_RATE_HZ) as pieces:
                said = _hear(engine, HearingConfig("", language, keyterms=_terms(keyterm)), pieces, page)
        elif file == "-":
            given = HearingConfig("", language, encoding or "pcm_s16le", rate, _terms(keyterm))
            said = _hear(engine, given, _typed(), page)
        else:
            assert file is not None
            given = HearingConfig("", language, "pcm_f32le", EAR_RATE_HZ, _terms(keyterm))
            said = _hear(engine, given, _recorded(Path(file), encoding, rate), page)
    if subtitles is not None:
        try:
            subtitles.write_text(srt(cues_of(said)), encoding="utf-8")
        except OSError as error:
            raise InvalidInput(f"cannot write {subtitles}: {error.strerror}") from None


def _terms(given: list[str] | None) -> tuple[str, ...]:
    return tuple(given or ())


def _typed() -> Iterator[bytes]:
    """Raw samples as they come, so that whoever talks into the pipe is written down while talking."""
    while piece := os.read(sys.stdin.fileno(), _PIECE_BYTES):
        yield piece


def _recorded(path: Path, encoding: str | None, rate_hz: int) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            for samples in blocks(file, encoding=encoding, sample_rate_hz=rate_hz if encoding else None):
                yield samples.astype(np.float32).tobytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from None


def _hear(engine: SttEngine, config: HearingConfig, pieces: Iterator[bytes], page: Page) -> list[HeardWord]:
    """One thread reads, this one owns the stream and the page, the workers understand. Returns all words."""
    listening = _Listening(engine, config, page)
    try:
        listening.run(pieces)
    finally:
        listening.close()
    return listening.words


class _Listening:
    """One stream from its first sample to its last word."""

    def __init__(self, engine: SttEngine, config: HearingConfig, page: Page) -> None:
        self.words: list[HeardWord] = []
        self._page = page
        self._clock = MonotonicClock()
        self._woken = threading.Event()
        self._arrived: Queue[bytes | AntiphonError | None] = Queue(maxsize=8)
        self._stream = engine.open_stream(replace(config, turns=True), self._woken.set)
        self._turns = TurnTaking(self._stream.flush, EndpointSettings(), self._clock.now_s())
        self._ended = False

    def run(self, pieces: Iterator[bytes]) -> None:
        threading.Thread(target=self._read, args=(pieces,), daemon=True).start()
        while True:
            try:
                due_s = self._turns.due_s
                self._woken.wait(None if due_s is None else max(0.0, due_s - self._clock.now_s()))
                self._woken.clear()
                self._feed()
                if self._tell():
                    return
            except KeyboardInterrupt:  # whoever stops a microphone wants what was said so far
                if self._ended:
                    raise
                self._end()

    def close(self) -> None:
        self._stream.close()

    def _read(self, pieces: Iterator[bytes]) -> None:
        last: AntiphonError | None = None
        try:
            for piece in pieces:
                self._arrived.put(piece)
                self._woken.set()
        except AntiphonError as error:
            last = error
        self._arrived.put(last)
        self._woken.set()

    def _feed(self) -> None:
        while not self._ended and self._stream.backlog_s < AHEAD_S:
            try:
                piece = self._arrived.get_nowait()
            except Empty:
                return
            if isinstance(piece, AntiphonError):
                raise piece
            if piece is None:
                self._end()
            else:
                self._stream.push(piece)

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
                    self.words += spaced
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
