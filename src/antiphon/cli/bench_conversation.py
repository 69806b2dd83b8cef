"""``antiphon bench conversation``: how long a caller waits, and whether the agent can be interrupted and trusted."""

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from antiphon.bench.conversation import WIRES, ConversationOptions, ModelPace, WireName, played_scenarios, run
from antiphon.bench.corpus import read_folder, spread
from antiphon.bench.scenario import chosen_scenarios
from antiphon.bench.voices import by_hibari
from antiphon.cli.app import ConfigOption
from antiphon.cli.bench import bench
from antiphon.cli.bench_model import MODEL, scripted_model
from antiphon.cli.bench_run import (
    EAR_FILES,
    VOICE_FILES,
    StoreOption,
    files_of,
    keep,
    listed,
    loads,
    own_server,
    progress,
    show,
)
from antiphon.cli.house import open_store
from antiphon.core.clock import MonotonicClock
from antiphon.core.errors import InvalidInput
from antiphon.settings import load


@bench.command()
def conversation(
    url: Annotated[
        str, typer.Option(help="The server; empty: one of our own, with a scripted model behind it.")
    ] = "",
    wire: Annotated[str, typer.Option(help="native, or realtime (OpenAI's socket, ours or another's).")] = "native",
    name: Annotated[str, typer.Option(help="What the report calls the server.")] = "antiphon",
    voice: Annotated[str, typer.Option(help="The agent's voice.")] = "",
    api_key: Annotated[str, typer.Option(help="API key, if the server wants one.")] = "",
    scenario: Annotated[str, typer.Option(help="Scenarios by name, e.g. lookup,mix; 'none'. Default: all.")] = "",
    scenario_file: Annotated[list[Path] | None, typer.Option(help="A scenario of your own (TOML).")] = None,
    streams: Annotated[str, typer.Option(help="Loads: conversations at the same time.")] = "1,4",
    rounds: Annotated[int, typer.Option(help="Times that each scenario is played under each load.", min=1)] = 3,
    clips: Annotated[int, typer.Option(help="Labelled clips over the speaking agent; there are 124.", min=0)] = 124,
    clip_streams: Annotated[int, typer.Option(help="As many of them at the same time.", min=1)] = 2,
    noise: Annotated[Path | None, typer.Option(help="A folder of recorded noises for the clips.")] = None,
    babble: Annotated[Path | None, typer.Option(help="A folder of recorded speakers for the clips.")] = None,
    feeding: Annotated[int, typer.Option(help="Questions for each way of feeding the voice; 0: none.", min=0)] = 0,
    speech: Annotated[Path | None, typer.Option(help="A folder of real voices: each recording is a turn.")] = None,
    speech_clips: Annotated[int, typer.Option(help="At most as many, evenly spread; 0: all.", min=0)] = 12,
    recordings: Annotated[
        Path | None, typer.Option(help="Recorded lines instead of synthesised: <scenario>-<step>.wav.")
    ] = None,
    first_token_ms: Annotated[float, typer.Option(help="The scripted model's time to its first token.", min=0)] = 100,
    token_ms: Annotated[float, typer.Option(help="... and from token to token.", min=0)] = 20,
    seed: Annotated[int, typer.Option(help="Seed of voices, noises and rooms.")] = 1,
    note: Annotated[list[str] | None, typer.Option(help="A note for the report's conditions.")] = None,
    audio: Annotated[Path | None, typer.Option(help="Keep every two-channel recording in this folder.")] = None,
    store_it: StoreOption = True,
    out: Annotated[Path | None, typer.Option(help="Report as JSON; Markdown beside it.", dir_okay=False)] = None,
    config: ConfigOption = None,
) -> None:
    """Hold scripted conversations in real time: voice to voice, barge-in, selectivity, tasks, causes."""
    store = open_store(load(config))
    files = tuple(scenario_file or ())
    pace = ModelPace(first_token_ms / 1000, token_ms / 1000)
    options = ConversationOptions(
        url=url,
        wire=_wire(wire),
        api_key=api_key,
        voice=voice,
        name=name,
        scenarios=() if scenario == "none" else chosen_scenarios(listed(scenario), files),
        at_once=loads(streams, "--streams"),
        rounds=rounds,
        clips=clips,
        clips_at_once=clip_streams,
        noises=read_folder(noise) if noise else {},
        babble=read_folder(babble) if babble else {},
        recorded=tuple(spread(sorted(read_folder(speech).items()), speech_clips)) if speech else (),
        recordings=recordings,
        questions=feeding,
        pace=pace,
        seed=seed,
        models=() if url else files_of(store, (*VOICE_FILES, *EAR_FILES)),
        notes=tuple(note or ()),
        out=out,
        audio=audio,
    )
    clock = MonotonicClock()
    with contextlib.ExitStack() as stack:
        if url:
            report = run(options, by_hibari, lambda: (), progress, clock)
        else:
            model = stack.enter_context(scripted_model(played_scenarios(options), pace.first_s, pace.token_s))
            own = stack.enter_context(own_server(config, llm=(f"{model.url}/v1", MODEL)))
            report = run(replace(options, url=own), by_hibari, lambda: model.thoughts(clock), progress, clock)
    keep(report, config, store_it)
    show(report)


def _wire(name: str) -> WireName:
    if name not in WIRES:
        raise InvalidInput(f"--wire must be one of {', '.join(WIRES)}; not {name!r}")
    return name
