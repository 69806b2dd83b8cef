"""``antiphon scripted``: the server with a scripted voice instead of a model, for measuring the house itself."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from antiphon.cli.app import app
from antiphon.cli.parent import WhileStdin, leave_with_stdin
from antiphon.core.clock import MonotonicClock
from antiphon.core.frame import Samples
from antiphon.engine.build import House
from antiphon.engine.fake import FakeScript, FakeVoice
from antiphon.engine.registry import Registry
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.tts import TtsEngine
from antiphon.server.run import serve
from antiphon.settings import Settings, load

MAX_STREAMS = 10_000


@app.command()
def scripted(
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 0,
    port_file: Annotated[Path | None, typer.Option("--port-file", help="Write the real port here when ready.")] = None,
    quantum_ms: Annotated[float, typer.Option(help="Audio made at once.", min=1)] = 200.0,
    while_stdin: WhileStdin = False,
) -> None:
    """Serve a voice that costs nothing: a tone as long as the text, made as fast as it can be sent."""
    if while_stdin:
        leave_with_stdin()
    given = {"server.port": port, "server.port_file": port_file}
    many = {"server.max_connections": MAX_STREAMS, "server.max_streams": MAX_STREAMS}
    settings = load(None, {**given, **many, "log.level": "error"})

    def build(settings: Settings) -> House:
        scheduler = Scheduler(MonotonicClock(), settings.engine.worker_count)
        voice = _Made(FakeScript(char_s=0.02, quantum_s=quantum_ms / 1000))
        return House(scheduler, Registry([TtsEngine(voice, scheduler, MAX_STREAMS)]))

    raise typer.Exit(serve(settings, build))


class _Made(FakeVoice):
    """One tone for all texts, made once: the sound of each would cost more than sending it."""

    remembers = False

    def _tones(self, text: str) -> Samples:
        return _TONE[: min(len(text) * self._samples(self.script.char_s), len(_TONE))]


_TONE: Samples = (0.3 * np.sin(2 * np.pi * 220 / 24_000 * np.arange(60 * 24_000))).astype(np.float32)
