"""``antiphon bench voices``: how well voices are understood, and how they sound, in every language."""

import contextlib
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import httpx
import typer

from antiphon.bench.conditions import conditions, network
from antiphon.bench.player import Player
from antiphon.bench.read_aloud import RecogniseIn, Speaker, Spoken, read_aloud, report, workload
from antiphon.bench.report import write
from antiphon.bench.target.cartesia_bytes import CartesiaBytes
from antiphon.bench.target.cartesia_ws import VERSION
from antiphon.cli.app import ConfigOption
from antiphon.cli.bench import bench
from antiphon.cli.bench_run import StoreOption, dnsmos, files_of, finish, listed, own_server, progress
from antiphon.cli.house import open_store
from antiphon.core.errors import InvalidInput, ModelUnavailable, NotFound
from antiphon.core.frame import Samples
from antiphon.settings import load
from antiphon.store.store import ModelStore
from antiphon.text.languages import base_language

DEFAULT = (
    "af_heart,af_bella,am_michael,am_fenrir,bf_emma,bm_george,jf_alpha,jm_kumo,ef_dora,em_alex,ff_siwis,if_sara,"
    "im_nicola,pf_dora,pm_alex,hf_alpha,hm_omega"
)
PATIENCE_S = 900.0
"""This is about how voices sound, not about how long a busy machine takes."""
PROMPTS = {"hi": "नमस्ते, यह हिन्दी में है।", "zh": "以下是普通话的句子。", "ja": "これは日本語の文です。"}
"""Said to the recogniser so that it writes in the script of the language (it hears Hindi as Urdu otherwise)."""


@bench.command()
def voices(
    names: Annotated[str, typer.Option("--voices", help="Names or ids, separated by commas.")] = DEFAULT,
    url: Annotated[str, typer.Option(help="The server; empty: start one of our own for this run.")] = "",
    api_key: Annotated[str, typer.Option(help="API key, if the server wants one.")] = "",
    count: Annotated[int, typer.Option(help="Sentences for each voice; there are 8, 3 in some languages.", min=1)] = 8,
    note: Annotated[list[str] | None, typer.Option(help="A note for the report's conditions.")] = None,
    store: StoreOption = True,
    out: Annotated[Path | None, typer.Option(help="Report as JSON; Markdown beside it.", dir_okay=False)] = None,
    config: ConfigOption = None,
) -> None:
    """Voices read sentences of their languages; a recogniser writes down what it hears (words, DNSMOS)."""
    files = open_store(load(config))
    recognise, listener = _whisper(files), dnsmos(files)
    models = files_of(files, (("whisper-base", "model.bin"), ("dnsmos", "sig_bak_ovr.onnx"), *_weights(files)))
    with contextlib.ExitStack() as stack:
        base = url or stack.enter_context(own_server(config))
        speakers = _speakers(base, api_key, listed(names))
        at = conditions(
            dict(models), workload([base_language(speaker.language) for speaker in speakers]),
            ("recogniser: whisper-base, beam 2, told the language", *(note or ())), network=network(base),
        )  # fmt: skip
        player = stack.enter_context(Player(timeout_s=PATIENCE_S))
        spoken: list[Spoken] = []
        for speaker in speakers:
            spoken.append(read_aloud(player, speaker, recognise, listener, count=count, progress=progress))
            player.part(speaker.target)
            if out is not None:  # a long run that is ended early has what it has
                write(report(spoken, at), out)
        done = report(spoken, at)
    finish(done, out, config, store)


def _weights(files: ModelStore) -> list[tuple[str, str]]:
    """Of voices, as far as they are here."""
    found = []
    for model, file in (("hibari", "hibari.onnx"), ("kokoro-82m-int8", "kokoro-v1.0.int8.onnx")):
        with contextlib.suppress(ModelUnavailable):
            files.path(model, file)
            found.append((model, file))
    return found


def _speakers(url: str, api_key: str, names: tuple[str, ...]) -> list[Speaker]:
    """Raises ``NotFound`` for a voice that the server does not list."""
    headers = {"Cartesia-Version": VERSION} | ({"X-API-Key": api_key} if api_key else {})
    known: dict[str, Any] = {}
    cursor: str | None = None
    while True:
        query = {"limit": "100"} | ({"starting_after": cursor} if cursor else {})
        answer = httpx.get(f"{url.rstrip('/')}/voices", params=query, headers=headers, timeout=60, trust_env=False)
        if answer.status_code != 200:
            raise InvalidInput(f"GET /voices: {answer.status_code} {answer.text[:200]}")
        page = answer.json()
        for voice in page["data"]:
            known[voice["id"]] = known[voice["name"].lower()] = voice
        cursor = page.get("next_page")
        if not cursor:
            break
    speakers = []
    for name in names:
        voice = known.get(name) or known.get(name.lower()) or _aliased(url, name, headers)
        if voice is None:
            raise NotFound(f"the server lists no voice {name!r}", "voices")
        locale = voice["locales"][0]["locale"] if voice.get("locales") else voice["language"]
        target = CartesiaBytes(
            url, voice=voice["id"], language=voice["language"], api_key=api_key, name=voice["name"]
        )
        speakers.append(
            Speaker(
                voice["name"], voice["language"], locale, voice.get("engine", ""), voice.get("quality", ""), target
            )
        )
    return speakers


def _aliased(url: str, name: str, headers: dict[str, str]) -> Any:
    """A voice by another of its names (espeak-de); None if there is none."""
    answer = httpx.get(f"{url.rstrip('/')}/voices/{quote(name)}", headers=headers, timeout=60, trust_env=False)
    return answer.json() if answer.status_code == 200 else None


def _whisper(files: ModelStore) -> RecogniseIn:
    try:
        from faster_whisper import WhisperModel
    except ImportError:
        raise ModelUnavailable("whisper-base needs faster-whisper: pip install 'antiphon[bench]'") from None
    whisper = WhisperModel(str(files.folder("whisper-base")), device="cpu", compute_type="int8", cpu_threads=1)

    def recognise(samples: Samples, language: str) -> str:
        segments, _ = whisper.transcribe(
            samples, language=language, beam_size=2, without_timestamps=True, initial_prompt=PROMPTS.get(language)
        )
        return " ".join(segment.text.strip() for segment in segments)

    return recognise
