"""``antiphon bench ears``: ears side by side on the same recordings."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from antiphon.bench.corpus import read_texts, recordings
from antiphon.bench.ears import compare_ears
from antiphon.bench.stt_options import EarServer
from antiphon.bench.target.contract import Endpoint
from antiphon.bench.target.inproc_ear import InProcessEar, Transcribe
from antiphon.bench.target.openai_transcription import OpenaiTranscription
from antiphon.cli.app import ConfigOption
from antiphon.cli.bench import bench
from antiphon.cli.bench_run import RECOGNISERS, StoreOption, finish, listed, own_server, progress, recogniser_named
from antiphon.cli.house import open_store
from antiphon.core.errors import InvalidInput
from antiphon.settings import load
from antiphon.store.store import ModelStore


@bench.command()
def ears(
    speech: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    texts: Annotated[Path | None, typer.Option(help="What they say: file, tab, text. Default: FOLDER.tsv.")] = None,
    url: Annotated[str, typer.Option(help="Cartesia's listening socket; empty: a server of our own.")] = "",
    openai: Annotated[list[str] | None, typer.Option(help="An OpenAI-compatible server; may be repeated.")] = None,
    openai_key: Annotated[str, typer.Option(help="Its API key.")] = "",
    openai_model: Annotated[str, typer.Option(help="Its model.")] = "whisper-1",
    peers: Annotated[str, typer.Option(help="In this process: moonshine, whisper-base.")] = "moonshine",
    clips: Annotated[int, typer.Option(help="At most as many, evenly spread; 0: all.", min=0)] = 0,
    callers: Annotated[int, typer.Option(help="Recordings played at the same time.", min=1)] = 1,
    note: Annotated[list[str] | None, typer.Option(help="A note for the report's conditions.")] = None,
    store: StoreOption = True,
    out: Annotated[Path | None, typer.Option(help="Report as JSON; Markdown beside it.", dir_okay=False)] = None,
    config: ConfigOption = None,
) -> None:
    """Ears side by side: true end of speech to the final, and word error rate, in one run."""
    table = texts or speech.with_suffix(".tsv")
    found = recordings(speech, read_texts(table) if table.is_file() or texts else None, clips)
    files = open_store(load(config))
    with contextlib.ExitStack() as stack:
        address = url or stack.enter_context(own_server(config))
        targets: list[Endpoint[Any]] = [EarServer(address).finalized()]
        servers = (openai or []) if url else [address, *(openai or [])]
        for at, server in enumerate(servers):
            name = "antiphon, whole file" if server == address else f"openai {at + 1}"
            targets.append(OpenaiTranscription(server, model=openai_model, api_key=openai_key, name=name))
        targets += [InProcessEar(name, _loader(files, name)) for name in listed(peers)]
        report = compare_ears(targets, found, callers=callers, notes=tuple(note or ()),
                              progress=progress)  # fmt: skip
    finish(report, out, config, store)


def _loader(files: ModelStore, name: str) -> Callable[[], Transcribe]:
    if name not in RECOGNISERS:
        raise InvalidInput(f"--peers takes {', '.join(RECOGNISERS)}; not {name!r}", "peers")

    def load_it() -> Transcribe:
        transcribe = recogniser_named(files, name)
        transcribe(np.zeros(16_000, np.float32))
        return transcribe

    return load_it
