"""``antiphon bench stt``: an ear, played to in real time."""

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from antiphon.bench.stt import run as run_stt
from antiphon.bench.stt_options import EarServer, SttOptions
from antiphon.cli.app import ConfigOption
from antiphon.cli.bench import bench
from antiphon.cli.bench_clips import ClipSources, gather
from antiphon.cli.bench_run import (
    EAR_FILES,
    StoreOption,
    decibels,
    files_of,
    keep,
    loads,
    own_server,
    progress,
    recogniser_named,
    show,
)
from antiphon.cli.house import open_store
from antiphon.settings import load


@bench.command()
def stt(
    url: Annotated[str, typer.Option(help="The server; empty: start one of our own for this run.")] = "",
    name: Annotated[str, typer.Option(help="What the report calls the server.")] = "antiphon",
    model: Annotated[str, typer.Option(help="Model id.")] = "ink-2",
    language: Annotated[str, typer.Option(help="What is spoken.")] = "en",
    api_key: Annotated[str, typer.Option(help="API key, if the server wants one.")] = "",
    speech: Annotated[list[Path] | None, typer.Option(help="A folder of recordings; may be repeated.")] = None,
    texts: Annotated[Path | None, typer.Option(help="What they say: file, tab, text. Default: FOLDER.tsv.")] = None,
    synthesised: Annotated[int, typer.Option(help="Sentences in the server's own voice.", min=0, max=300)] = 0,
    clips: Annotated[int, typer.Option(help="At most as many of each folder, evenly spread; 0: all.", min=0)] = 0,
    streams: Annotated[str, typer.Option(help="Loads: recordings played at the same time.")] = "1,4,8",
    repeat: Annotated[int, typer.Option(help="Times that each clip is played under each load.", min=1)] = 1,
    noise: Annotated[Path | None, typer.Option(help="A folder of noises: all clips also with noise.")] = None,
    snr: Annotated[str, typer.Option(help="Speech above noise, in dB.")] = "20,10,5",
    rir: Annotated[Path | None, typer.Option(help="A folder of room responses: all clips also in a room.")] = None,
    telephone: Annotated[bool, typer.Option("--telephone", help="All clips also at 8 kHz mu-law.")] = False,
    nothing: Annotated[float, typer.Option(help="Seconds of noises, music, silence; nothing is said.", min=0)] = 0.0,
    turns: Annotated[Path | None, typer.Option(help="A list of turns with pauses (JSON).")] = None,
    recordings: Annotated[list[Path] | None, typer.Option(help="Folders with the recordings of that list.")] = None,
    half: Annotated[str, typer.Option(help="Of that list: report, tune or all.")] = "report",
    turn_streams: Annotated[str, typer.Option(help="Loads for the turns.")] = "4",
    turn_snr: Annotated[str, typer.Option(help="Turns also with noise, this many dB below.")] = "",
    turn_clips: Annotated[int, typer.Option(help="At most as many turns, evenly spread; 0: all.", min=0)] = 0,
    minutes: Annotated[int, typer.Option(help="Minutes in one stream: is its cost flat?", min=0)] = 0,
    faster: Annotated[bool, typer.Option("--faster-than-real-time", help="... as fast as the server reads.")] = False,
    chunk_ms: Annotated[int, typer.Option(help="Length of the pieces of audio sent.", min=1)] = 20,
    offline: Annotated[bool, typer.Option(help="Compare with the same weights run offline.")] = True,
    seed: Annotated[int, typer.Option(help="Seed of noises, rooms and orders.")] = 1,
    note: Annotated[list[str] | None, typer.Option(help="A note for the report's conditions.")] = None,
    keep_it: StoreOption = True,
    out: Annotated[Path | None, typer.Option(help="Report as JSON; Markdown beside it.", dir_okay=False)] = None,
    config: ConfigOption = None,
) -> None:
    """Measure speech to text: time to the final, turns, errors, revisions, cost; recordings play in real time."""
    store = open_store(load(config))
    clip_loads, turn_loads = loads(streams, "--streams"), loads(turn_streams, "--turn-streams")
    with contextlib.ExitStack() as stack:
        server = EarServer(
            url or stack.enter_context(own_server(config)), name, model, language, api_key, chunk_ms / 1000
        )
        sources = ClipSources(
            speech=tuple(speech or ()),
            texts=texts,
            synthesised=synthesised,
            clips=clips,
            noise=noise,
            rir=rir,
            nothing_s=nothing,
            turns=turns,
            recordings=tuple(recordings or ()),
            half=half,
            turn_clips=turn_clips,
            seed=seed,
        )
        found = gather(sources, server, progress)
        options = SttOptions(
            server=server,
            clips=found.clips,
            streams=clip_loads,
            repeat=repeat,
            noises=found.noises,
            snrs_db=decibels(snr, "--snr"),
            rooms=found.rooms,
            telephone=telephone,
            turns=found.turns,
            turn_streams=turn_loads,
            turn_snrs_db=decibels(turn_snr, "--turn-snr"),
            turns_left_out=found.turns_left_out,
            unspoken=found.unspoken,
            minutes=minutes,
            faster=faster,
            seed=seed,
            models=files_of(store, EAR_FILES),
            notes=(*found.notes, *(note or ())),
            out=out,
        )
        recognise = recogniser_named(store, "moonshine") if offline else None
        report = run_stt(options, offline=recognise, progress=progress)
    keep(report, config, keep_it)
    show(report)
