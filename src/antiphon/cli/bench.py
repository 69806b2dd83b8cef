"""``antiphon bench``: figures, made the same way everywhere."""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.markdown import Markdown

from antiphon.bench.capacity import Limits
from antiphon.bench.report import Report, markdown
from antiphon.bench.stt import EarServer, SttOptions
from antiphon.bench.stt import run as run_stt
from antiphon.bench.systems import Server
from antiphon.bench.tts import TtsOptions
from antiphon.bench.tts import run as run_tts
from antiphon.bench.workload import TextKind
from antiphon.cli.app import ConfigOption, app
from antiphon.cli.bench_clips import ClipSources, gather
from antiphon.cli.house import open_store
from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.settings import load
from antiphon.store.store import ModelStore

bench = typer.Typer(help="Measure a server over its wire protocol.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(bench, name="bench")

START_LIMIT_S = 60.0
UNLIMITED_STREAMS = 10_000
EAR_FILES = (
    ("moonshine-tiny-en", "encoder_model.ort"),
    ("moonshine-tiny-en", "decoder_model_merged.ort"),
    ("silero-vad", "silero_vad.onnx"),
    ("smart-turn-v3.2", "smart-turn-v3.2-cpu.onnx"),
)
RECOGNISERS = ("whisper-base", "moonshine")


@bench.command()
def tts(
    url: Annotated[str, typer.Option(help="The server; empty: start one of our own for this run.")] = "",
    wire: Annotated[str, typer.Option(help="cartesia-ws, cartesia-bytes or openai.")] = "cartesia-ws",
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
    peers: Annotated[str, typer.Option(help="Compare with: hibari, kokoro (comma-separated).")] = "",
    capacity: Annotated[bool, typer.Option("--capacity", help="Find the largest load without an underrun.")] = False,
    capacity_start: Annotated[int, typer.Option(help="Where that search begins.", min=1)] = 16,
    overload: Annotated[int, typer.Option(help="A steady load that is meant to be too high.", min=0)] = 0,
    echo: Annotated[bool, typer.Option("--echo", help="Cost per message against a bare echo.")] = False,
    wer: Annotated[bool, typer.Option("--wer", help="Read 300 sentences back with a recogniser.")] = False,
    recogniser: Annotated[str, typer.Option(help="whisper-base (independent) or moonshine (quick).")] = "whisper-base",
    note: Annotated[list[str] | None, typer.Option(help="A note for the report's conditions.")] = None,
    out: Annotated[Path | None, typer.Option(help="Report as JSON; Markdown beside it.", dir_okay=False)] = None,
    config: ConfigOption = None,
) -> None:
    """Measure text to speech: first byte, first audible sample, underruns, capacity, error rate."""
    store = open_store(load(config))
    wanted_peers = _listed(peers)
    with contextlib.ExitStack() as stack:
        kokoro = stack.enter_context(_kokoro_files(store)) if "kokoro" in wanted_peers else None
        options = TtsOptions(
            server=Server(
                url or stack.enter_context(_own_server(config, capacity)), wire, name, voice, model, api_key  # type: ignore[arg-type]
            ),
            streams=tuple(_number(part) for part in _listed(streams)),
            text=_kind(text),
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
            token_gap_s=None if token_gap_ms is None else token_gap_ms / 1000,
            models=tuple((f"{model}/{file}", store.path(model, file)) for model, file in (("hibari", "hibari.onnx"),)),
            notes=tuple(note or ()),
            out=out,
        )
        recognise = _recogniser(store, recogniser) if wer else None
        report = run_tts(options, recognise=recognise, progress=lambda line: typer.echo(line, err=True))
    _show(report)


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
    out: Annotated[Path | None, typer.Option(help="Report as JSON; Markdown beside it.", dir_okay=False)] = None,
    config: ConfigOption = None,
) -> None:
    """Measure speech to text: time to the final, turns, errors, revisions, cost; recordings play in real time."""

    def progress(line: str) -> None:
        typer.echo(line, err=True)

    store = open_store(load(config))
    loads = tuple(_number(part) for part in _listed(streams))
    turn_loads = tuple(_number(part) for part in _listed(turn_streams))
    with contextlib.ExitStack() as stack:
        server = EarServer(
            url or stack.enter_context(_own_server(config)), name, model, language, api_key, chunk_ms / 1000
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
            streams=loads,
            repeat=repeat,
            noises=found.noises,
            snrs_db=_decibels(snr, "--snr"),
            rooms=found.rooms,
            telephone=telephone,
            turns=found.turns,
            turn_streams=turn_loads,
            turn_snrs_db=_decibels(turn_snr, "--turn-snr"),
            turns_left_out=found.turns_left_out,
            unspoken=found.unspoken,
            minutes=minutes,
            faster=faster,
            seed=seed,
            models=tuple((f"{model}/{file}", store.path(model, file)) for model, file in EAR_FILES),
            notes=(*found.notes, *(note or ())),
            out=out,
        )
        recognise = _recogniser(store, "moonshine") if offline else None
        report = run_stt(options, offline=recognise, progress=progress)
    _show(report)


def _show(report: Report) -> None:
    if sys.stdout.isatty():
        Console().print(Markdown(markdown(report)))
    else:
        typer.echo(markdown(report))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(f"--streams takes numbers, such as 1,16; not {text!r}") from None


def _decibels(text: str, option: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in _listed(text))
    except ValueError:
        raise InvalidInput(f"{option} takes numbers of dB, such as 20,10,5; not {text!r}") from None


def _kind(text: str) -> TextKind:
    known = TextKind.__args__  # type: ignore[attr-defined]
    if text not in known:
        raise InvalidInput(f"--text must be one of {', '.join(known)}; not {text!r}")
    return text  # type: ignore[return-value]


@contextlib.contextmanager
def _own_server(config: Path | None, unlimited: bool = False) -> Iterator[str]:
    """`antiphon serve` in a process of its own, on a free port. ``unlimited``: no limit on streams stands before the
    machine's own."""
    with tempfile.TemporaryDirectory() as folder:
        port_file = Path(folder) / "port"
        command = [sys.executable, "-m", "antiphon", "serve", "--port", "0", "--port-file", str(port_file)]
        command += ["--log-level", "warning"] + (["--config", str(config)] if config else [])
        command += ["--max-streams", str(UNLIMITED_STREAMS)] if unlimited else []
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
            try:
                yield f"http://127.0.0.1:{_port_of(server, port_file)}"
            finally:
                server.terminate()


def _port_of(server: "subprocess.Popen[bytes]", port_file: Path) -> int:
    for _ in range(round(START_LIMIT_S / 0.05)):
        if port_file.exists() and (text := port_file.read_text()):
            return int(text)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(0.05)
            break
    raise ModelUnavailable("the server for this run did not start; its message is above")


@contextlib.contextmanager
def _kokoro_files(store: ModelStore) -> Iterator[tuple[Path, Path]]:
    """The graph, and the voice that the peer speaks with, in the archive form that kokoro-onnx reads."""
    model = store.path("kokoro-82m-int8", "kokoro-v1.0.int8.onnx")
    style = np.fromfile(store.path("kokoro-82m-int8", "voices/af_heart.bin"), np.float32).reshape(-1, 1, 256)
    with tempfile.TemporaryDirectory() as folder:
        voices = Path(folder) / "voices.npz"
        np.savez(voices, af_heart=style)
        yield model, voices


def _recogniser(store: ModelStore, name: str) -> Callable[[Samples], str]:
    if name == "moonshine":
        from antiphon.models.moonshine import Moonshine

        files = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")
        moonshine = Moonshine(*(store.path("moonshine-tiny-en", file) for file in files))
        return lambda samples: moonshine.transcribe(samples).text
    if name != "whisper-base":
        raise InvalidInput(f"--recogniser must be one of {', '.join(RECOGNISERS)}; not {name!r}")
    try:
        from faster_whisper import WhisperModel
    except ImportError:
        raise ModelUnavailable("whisper-base needs faster-whisper: pip install 'antiphon[bench]'") from None
    whisper = WhisperModel(str(store.folder("whisper-base")), device="cpu", compute_type="int8", cpu_threads=2)

    def recognise(samples: Samples) -> str:
        segments, _ = whisper.transcribe(samples, language="en", beam_size=2, without_timestamps=True)
        return " ".join(segment.text.strip() for segment in segments)

    return recognise
