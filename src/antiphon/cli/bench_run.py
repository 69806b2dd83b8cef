"""What the bench's commands share: a server of their own, models of the bench itself, options that are lists."""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from antiphon.bench.library import Library
from antiphon.bench.report import Report, markdown, write
from antiphon.bench.workload import TextKind
from antiphon.cli.parent import OPTION
from antiphon.core.errors import AntiphonError, InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.models.packaged import ASSETS
from antiphon.settings import load
from antiphon.store.store import ModelStore

if TYPE_CHECKING:
    from antiphon.bench.dnsmos import Dnsmos

START_LIMIT_S = 60.0
UNLIMITED_STREAMS = 10_000
RECOGNISERS = ("whisper-base", "moonshine")
OWN = "antiphon"
"""The model whose files come with the package."""
VOICE_FILES = (("hibari", "hibari.onnx"), (OWN, "ssm/encoder.onnx"), (OWN, "ssm/decoder.onnx"))
EAR_FILES = (
    ("moonshine-tiny-en", "encoder_model.ort"),
    ("moonshine-tiny-en", "decoder_model_merged.ort"),
    ("silero-vad", "silero_vad.onnx"),
    ("smart-turn-v3.2", "smart-turn-v3.2-cpu.onnx"),
    (OWN, "utterance/utterance.npz"),
    (OWN, "pause/weights.npz"),
)


StoreOption = Annotated[
    bool, typer.Option("--store/--no-store", help="Keep the report among those of `antiphon bench list`.")
]


def keep(report: Report, config: Path | None, wanted: bool = True) -> None:
    """Into the local database; its number goes to standard error. A database that cannot be written costs no report."""
    if not wanted:
        return
    try:
        stored = Library(load(config).bench.db).keep(report)
    except AntiphonError as error:
        typer.echo(f"not kept: {error}", err=True)
    else:
        typer.echo(f"kept as report {stored}: antiphon bench show {stored}", err=True)


def files_of(store: ModelStore, names: Iterable[tuple[str, str]]) -> tuple[tuple[str, Path], ...]:
    """What a report names its models by, and where they are, of (model, file)."""
    return tuple(
        (f"{model}/{file}", ASSETS / file if model == OWN else store.path(model, file)) for model, file in names
    )


def dnsmos(store: ModelStore) -> "Dnsmos":
    from antiphon.bench.dnsmos import Dnsmos

    return Dnsmos(store.path("dnsmos", "sig_bak_ovr.onnx"))


def numbers(text: str, option: str, what: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in listed(text))
    except ValueError:
        raise InvalidInput(f"{option} takes numbers of {what}, separated by commas; not {text!r}") from None


def progress(line: str) -> None:
    """What the bench is at goes to standard error: standard output is the report's."""
    typer.echo(line, err=True)


def finish(report: Report, out: Path | None, config: Path | None, store: bool) -> None:
    """Write it to ``out``, keep it, show it."""
    if out is not None:
        write(report, out)
    keep(report, config, store)
    show(report)


def show(report: Report) -> None:
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(markdown(report)))
    else:
        typer.echo(markdown(report))


def listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def loads(text: str, option: str) -> tuple[int, ...]:
    """Numbers of streams or callers."""
    try:
        return tuple(int(part) for part in listed(text))
    except ValueError:
        raise InvalidInput(f"{option} takes whole numbers, such as 1,16; not {text!r}") from None


def decibels(text: str, option: str) -> tuple[float, ...]:
    return numbers(text, option, "dB")


def kind(text: str) -> TextKind:
    known = TextKind.__args__  # type: ignore[attr-defined]
    if text not in known:
        raise InvalidInput(f"--text must be one of {', '.join(known)}; not {text!r}")
    return text  # type: ignore[return-value]


@contextlib.contextmanager
def own_server(
    config: Path | None,
    unlimited: bool = False,
    *,
    limits: Path | None = None,
    scripted: bool = False,
    llm: tuple[str, str] | None = None,
) -> Iterator[str]:
    """`antiphon serve` in a process of its own, on a free port; it ends with this one, however that ends.
    ``unlimited``: no limit on streams stands before the machine's own. ``limits``: a file with the limit.
    ``scripted``: `antiphon scripted`, which has no model. ``llm``: URL and name of the language model that
    answers in conversations."""
    with tempfile.TemporaryDirectory() as folder:
        port_file = Path(folder) / "port"
        command = [sys.executable, "-m", "antiphon", "scripted" if scripted else "serve", "--port", "0", OPTION]
        command += ["--port-file", str(port_file)] + ([] if scripted else ["--log-level", "error"])
        command += ["--config", str(config)] if config and not scripted else []
        command += ["--limits", str(limits)] if limits else []
        command += ["--max-streams", str(UNLIMITED_STREAMS)] if unlimited else []
        command += ["--llm-url", llm[0], "--llm-model", llm[1]] if llm else []
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as server:
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
def kokoro_files(store: ModelStore) -> Iterator[tuple[Path, Path]]:
    """The graph, and the voice that the peer speaks with, in the archive form that kokoro-onnx reads."""
    model = store.path("kokoro-82m-int8", "kokoro-v1.0.int8.onnx")
    style = np.fromfile(store.path("kokoro-voices", "af_heart.bin"), np.float32).reshape(-1, 1, 256)
    with tempfile.TemporaryDirectory() as folder:
        voices = Path(folder) / "voices.npz"
        np.savez(voices, af_heart=style)
        yield model, voices


def recogniser_named(store: ModelStore, name: str) -> Callable[[Samples], str]:
    if name == "moonshine":
        from antiphon.models.moonshine import Moonshine

        files = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")
        encoder, decoder, tokenizer = (store.path("moonshine-tiny-en", file) for file in files)
        moonshine = Moonshine(encoder, decoder, tokenizer)
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
