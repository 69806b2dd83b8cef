"""How ``antiphon hear`` shows what it hears: as text for people, as JSON lines for programs."""

import json
from collections.abc import Sequence
from typing import Any, Protocol, Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from antiphon.core.hearing import EAR_RATE_HZ, Heard, HeardWord
from antiphon.core.turns import TurnEagerEnded, TurnEnded, TurnEvent, TurnResumed, TurnStarted, TurnUpdated
from antiphon.protocol.subtitles import clock


class Page(Protocol):
    """Told of everything in order; entered before, left after."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def heard(self, heard: Heard, words: Sequence[HeardWord]) -> None:
        """``words`` of a final, with their joining whitespace."""
        ...

    def decided(self, event: TurnEvent) -> None: ...


class TextPage:
    """A line for each turn, with the time at which it began. On a terminal the turn under way is seen to grow: what
    may still change is dim."""

    def __init__(self, words: bool) -> None:
        self._console = Console(highlight=False, soft_wrap=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._with_words = words
        self._words: list[HeardWord] = []
        self._turn = ""
        self._began = 0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def heard(self, heard: Heard, words: Sequence[HeardWord]) -> None:
        self._words += words
        if not heard.final:
            self._show(heard.text[heard.stable_chars :])

    def decided(self, event: TurnEvent) -> None:
        match event:
            case TurnStarted():
                self._turn, self._began = "", event.at_sample
            case TurnUpdated():
                self._turn = event.transcript
                self._show("")
            case TurnEnded():
                self._turn = ""
                if self._console.is_terminal:
                    self._live.update(Text(""), refresh=True)
                if event.transcript.strip():
                    self._print(event.transcript.strip())

    def _print(self, transcript: str) -> None:
        self._console.print(Text.assemble((f"{_time(self._began)}  ", "dim"), transcript))
        if self._with_words:
            for word in self._words:
                times = f"    {_time(word.start_sample)}  {_time(word.end_sample)}  "
                self._console.print(Text.assemble((times, "dim"), word.text.strip()))
        self._words = []

    def _show(self, unsettled: str) -> None:
        if self._console.is_terminal:
            began, line = f"{_time(self._began)}  ", Text.assemble(self._turn.lstrip(), (unsettled, "dim"))
            room = max(10, self._console.width - len(began) - 2)
            if len(line) > room:  # the newest words are what people look for
                line = Text.assemble("…", line[-room:])
            self._live.update(Text.assemble((began, "dim"), line), refresh=True)


class JsonPage:
    """Every event as it comes. Times are seconds from the start."""

    def __init__(self, out: TextIO, words: bool) -> None:
        self._out = out
        self._with_words = words

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def heard(self, heard: Heard, words: Sequence[HeardWord]) -> None:
        fields: dict[str, Any] = {"text": heard.text, "start": _s(heard.start_sample), "end": _s(heard.end_sample)}
        if not heard.final:
            self._write("interim", stable=heard.text[: heard.stable_chars], **fields)
            return
        if self._with_words:
            fields["words"] = [
                {"word": word.text.strip(), "start": _s(word.start_sample), "end": _s(word.end_sample),
                 "confidence": round(word.confidence, 3)}
                for word in words
            ]  # fmt: skip
        self._write("final", language=heard.language, **fields)

    def decided(self, event: TurnEvent) -> None:
        match event:
            case TurnStarted():
                self._write("turn.start", at=_s(event.at_sample))
            case TurnUpdated():
                self._write("turn.update", at=_s(event.at_sample), transcript=event.transcript)
            case TurnEagerEnded():
                self._write("turn.eager_end", at=_s(event.at_sample), transcript=event.transcript)
            case TurnResumed():
                self._write("turn.resume", at=_s(event.at_sample))
            case TurnEnded():
                self._write("turn.end", at=_s(event.at_sample), transcript=event.transcript, reason=event.reason)

    def _write(self, kind: str, **fields: Any) -> None:
        self._out.write(json.dumps({"type": kind, **fields}, ensure_ascii=False) + "\n")
        self._out.flush()


def _s(samples: int) -> float:
    return round(samples / EAR_RATE_HZ, 3)


def _time(samples: int) -> str:
    return clock(samples * 1000 // EAR_RATE_HZ, ".")
