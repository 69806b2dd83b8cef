"""``antiphon bench snapshot``: what a server says of a fixed set of texts, to be compared with another version's."""

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from antiphon.bench.conditions import conditions
from antiphon.bench.player import Player
from antiphon.bench.snapshot import FORMAT, Snapshot, take_snapshot, write_snapshot
from antiphon.bench.systems import DEFAULT_VOICE
from antiphon.bench.target.cartesia_ws import CartesiaWs
from antiphon.bench.target.contract import Line
from antiphon.bench.tts_scenario import scenario as find_scenario
from antiphon.bench.workload import text_hash
from antiphon.cli.app import ConfigOption
from antiphon.cli.bench import bench
from antiphon.cli.bench_run import VOICE_FILES, files_of, listed, own_server
from antiphon.cli.house import open_store
from antiphon.settings import load


@bench.command()
def snapshot(
    out: Annotated[Path, typer.Argument(help="Where it goes (JSON).", dir_okay=False)],
    url: Annotated[str, typer.Option(help="The server; empty: start one of our own for this run.")] = "",
    scenarios: Annotated[str, typer.Option(help="Frozen scenarios whose texts are spoken.")] = "tts-short,tts-numbers",
    voice: Annotated[str, typer.Option(help="Voice id or name.")] = "",
    model: Annotated[str, typer.Option(help="Model id.")] = "sonic-3",
    api_key: Annotated[str, typer.Option(help="API key, if the server wants one.")] = "",
    name: Annotated[str, typer.Option(help="What the server is called.")] = "antiphon",
    note: Annotated[list[str] | None, typer.Option(help="A note for its conditions.")] = None,
    config: ConfigOption = None,
) -> None:
    """Speak fixed texts and keep their phonemes, lengths and messages; `antiphon bench compare` reads two of them."""
    lines = [
        Line(each.text, language=each.language)
        for name in listed(scenarios)
        for each in find_scenario(name).texts
    ]
    workload = text_hash(f"{line.language}\t{line.text}" for line in lines)
    files = open_store(load(config))
    models = dict(files_of(files, VOICE_FILES))
    with contextlib.ExitStack() as stack:
        target = CartesiaWs(
            url or stack.enter_context(own_server(config)), voice=voice or DEFAULT_VOICE, model=model, api_key=api_key,
            keep_all=True,
            extra={"add_timestamps": True, "add_phoneme_timestamps": True, "use_normalized_timestamps": True},
        )  # fmt: skip
        at = conditions(models, {scenarios: workload}, tuple(note or ()))
        with Player() as player:
            texts, fields = take_snapshot(player, target, lines)
    write_snapshot(Snapshot(FORMAT, name, model, voice or "default", workload, at, fields, texts), out)
    failed = sum(1 for each in texts if each.error)
    typer.echo(f"{out}: {len(texts)} texts, {failed} not spoken, {sum(len(each.phonemes) for each in texts)} phonemes")
