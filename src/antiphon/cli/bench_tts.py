"""``antiphon bench tts``: speed, capacity, error rates of a voice."""

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from antiphon.bench.capacity import Limits
from antiphon.bench.systems import WIRES, Server
from antiphon.bench.tts import run as run_tts
from antiphon.bench.tts_options import TtsOptions
from antiphon.bench.tts_scenario import scenario as find_scenario
from antiphon.cli.app import ConfigOption
from antiphon.cli.bench import bench
from antiphon.cli.bench_run import (
    VOICE_FILES,
    StoreOption,
    dnsmos,
    files_of,
    keep,
    kind,
    kokoro_files,
    listed,
    loads,
    numbers,
    own_server,
    progress,
    recogniser_named,
    show,
)
from antiphon.cli.house import open_store
from antiphon.settings import load


@bench.command()
def tts(
    url: Annotated[str, typer.Option(help="The server; empty: start one of our own for this run.")] = "",
    wire: Annotated[str, typer.Option(help=f"One of {', '.join(WIRES)}.")] = "cartesia-ws",
    name: Annotated[str, typer.Option(help="What the report calls the server.")] = "antiphon",
    voice: Annotated[str, typer.Option(help="Voice id or name.")] = "",
    model: Annotated[str, typer.Option(help="Model id.")] = "",
    api_key: Annotated[str, typer.Option(help="API key, if the server wants one.")] = "",
    streams: Annotated[str, typer.Option(help="Loads, e.g. 1,16: callers one after the other, or N at once.")] = "1,16",
    text: Annotated[str, typer.Option(help="Kind of text: words5, words25, agent, answer3, mixed.")] = "words25",
    starts: Annotated[int, typer.Option(help="Measured starts per load and system.", min=1)] = 200,
    blocks: Annotated[int, typer.Option(help="Blocks in which systems take turns.", min=1)] = 4,
    seed: Annotated[int, typer.Option(help="Seed of texts and arrivals.")] = 1,
    token_gap_ms: Annotated[float | None, typer.Option(help="Send text token by token, this far apart.")] = None,
    burst: Annotated[bool, typer.Option("--burst", help="Also all N of each load at the same moment.")] = False,
    closed: Annotated[str, typer.Option(help="Loads of callers, each one request after the other, e.g. 4,16.")] = "",
    rates: Annotated[str, typer.Option(help="Loads as Poisson starts a second, e.g. 0.5,2.")] = "",
    scenario: Annotated[str, typer.Option(help="A frozen scenario (tts-short, ...) or a file: its texts, loads.")] = "",
    peers: Annotated[str, typer.Option(help="Compare with: hibari, kokoro, piper (comma-separated).")] = "",
    capacity: Annotated[bool, typer.Option("--capacity", help="Find the largest load without an underrun.")] = False,
    capacity_start: Annotated[int, typer.Option(help="Where that search begins.", min=1)] = 16,
    overload: Annotated[int, typer.Option(help="A steady load that is meant to be too high.", min=0)] = 0,
    echo: Annotated[bool, typer.Option("--echo", help="Cost per message against a bare echo.")] = False,
    wer: Annotated[bool, typer.Option("--wer", help="Read 300 sentences back with a recogniser.")] = False,
    quality: Annotated[bool, typer.Option("--quality", help="WER, DNSMOS, clicks, drift of some takes.")] = False,
    containers: Annotated[bool, typer.Option("--containers", help="What each wire of the server costs.")] = False,
    recogniser: Annotated[str, typer.Option(help="whisper-base (independent) or moonshine (quick).")] = "whisper-base",
    note: Annotated[list[str] | None, typer.Option(help="A note for the report's conditions.")] = None,
    region: Annotated[str, typer.Option(help="Where the server is, for the report.")] = "",
    store: StoreOption = True,
    out: Annotated[Path | None, typer.Option(help="Report as JSON; Markdown beside it.", dir_okay=False)] = None,
    config: ConfigOption = None,
) -> None:
    """Measure text to speech: first byte, first audible sample, underruns, capacity, error rate."""
    files = open_store(load(config))
    wanted_peers = listed(peers)
    with contextlib.ExitStack() as stack:
        kokoro = stack.enter_context(kokoro_files(files)) if "kokoro" in wanted_peers else None
        options = TtsOptions(
            server=Server(
                url or stack.enter_context(own_server(config, capacity)), wire, name, voice, model, api_key  # type: ignore[arg-type]
            ),
            streams=loads(streams, "--streams"),
            text=kind(text),
            seed=seed,
            starts=starts,
            blocks=blocks,
            burst=burst,
            peers=wanted_peers,
            kokoro_files=kokoro,
            capacity=capacity,
            capacity_start=capacity_start,
            limits=Limits(),
            overload=overload,
            echo=echo,
            wer=wer,
            scenario=find_scenario(scenario) if scenario else None,
            closed=loads(closed, "--closed"),
            rates_hz=numbers(rates, "--rates", "starts a second"),
            quality=quality,
            containers=containers,
            region=region,
            token_gap_s=None if token_gap_ms is None else token_gap_ms / 1000,
            models=files_of(files, VOICE_FILES),
            notes=tuple(note or ()),
            out=out,
        )
        recognise = recogniser_named(files, recogniser) if wer or quality else None
        listener = dnsmos(files) if quality else None
        report = run_tts(
            options, recognise=recognise, listener=listener, progress=progress
        )
    keep(report, config, store)
    show(report)
