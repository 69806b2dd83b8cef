"""``antiphon bench voices``: how well voices are understood, and how they sound, in every language."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import httpx
import typer

from antiphon.bench.conditions import conditions, network
from antiphon.bench.library import read_file
from antiphon.bench.player import Player
from antiphon.bench.read_aloud import RecogniseIn, Speaker, Spoken, read_aloud, report, resumed, workload
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

FORMANT = (
    "en", "en-gb", "es", "es-419", "it", "pt", "pt-pt", "de", "fr", "nl", "pl", "ru", "uk", "sv", "tr", "id", "ko",
    "ro", "fi", "no", "hi", "zh",
)  # fmt: skip
"""Of eSpeak NG's languages those that the recogniser knows well enough to tell a voice's errors from its own, and two
to hold beside Kokoro's."""
DEFAULT = ("hibari", "ssm", "kokoro", *(f"espeak-{language}" for language in FORMANT))
PATIENCE_S = 900.0
"""This is about how voices sound, not about how long a busy machine takes."""
PROMPTS = {"hi": "नमस्ते, यह हिन्दी में है।", "zh": "以下是普通话的句子。", "ja": "これは日本語の文です。"}
"""Said to the recogniser so that it writes in the script of the language (it hears Hindi as Urdu otherwise)."""


@bench.command()
def voices(
    names: Annotated[
        str,
        typer.Option(
            "--voices",
            help="Names or ids, separated by commas; an engine's name: all its voices. "
            "Empty: those of hibari, ssm and kokoro that are here, and eSpeak NG in well-known languages.",
        ),
    ] = "",
    url: Annotated[str, typer.Option(help="The server; empty: start one of our own for this run.")] = "",
    api_key: Annotated[str, typer.Option(help="API key, if the server wants one.")] = "",
    count: Annotated[int, typer.Option(help="Sentences for each voice; there are 8, 3 in some languages.", min=1)] = 8,
    note: Annotated[list[str] | None, typer.Option(help="A note for the report's conditions.")] = None,
    store: StoreOption = True,
    out: Annotated[Path | None, typer.Option(help="Report as JSON; Markdown beside it.", dir_okay=False)] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the report in --out: what it has is not read again.")
    ] = False,
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
            ("recogniser: whisper-base, int8, beam 2, temperature 0, told the language", *(note or ())),
            network=network(base),
        )  # fmt: skip
        before = resumed(read_file(out), at) if resume and out is not None and out.exists() else []
        heard = [next((each for each in before if each.is_by(speaker)), None) for speaker in speakers]
        player = stack.enter_context(Player(timeout_s=PATIENCE_S))
        for number, speaker in enumerate(speakers):
            earlier = () if (known := heard[number]) is None else known.sentences
            heard[number] = read_aloud(
                player, speaker, recognise, listener, count=count, earlier=earlier, progress=progress
            )
            player.part(speaker.target)
            if out is not None:  # a long run that is ended early has what it has
                write(report(_known(heard), at), out)
        done = report(_known(heard), at)
    finish(done, out, config, store)


def _known(heard: Sequence[Spoken | None]) -> list[Spoken]:
    return [each for each in heard if each is not None]


def _weights(files: ModelStore) -> list[tuple[str, str]]:
    """Of voices, as far as they are here."""
    found = []
    for model, file in (("hibari", "hibari.onnx"), ("kokoro-82m-int8", "kokoro-v1.0.int8.onnx")):
        with contextlib.suppress(ModelUnavailable):
            files.path(model, file)
            found.append((model, file))
    return found


def _speakers(url: str, api_key: str, names: tuple[str, ...]) -> list[Speaker]:
    """``names`` of voices or engines; none: :data:`DEFAULT`, as far as it is here. Raises ``NotFound`` for a voice that
    the server does not list."""
    headers = {"Cartesia-Version": VERSION} | ({"X-API-Key": api_key} if api_key else {})
    known = _voices(url, headers)
    speakers: list[Speaker] = []
    known_ids: set[str] = set()
    for name in names or DEFAULT:
        chosen = [voice for voice in known if voice.get("engine") == name]
        chosen = chosen or [voice for voice in known if name.lower() in (voice["id"], voice["name"].lower())]
        chosen = chosen or _aliased(url, name, headers)
        if not chosen and names:
            raise NotFound(f"the server lists no voice {name!r}", "voices")
        if not chosen:
            progress(f"left out, not here: {name}")
        for voice in chosen:
            locale = voice["locales"][0]["locale"] if voice.get("locales") else voice["language"]
            target = CartesiaBytes(
                url, voice=voice["id"], language=voice["language"], api_key=api_key, name=voice["name"]
            )
            if voice["id"] in known_ids:
                continue  # named twice, or by its engine as well
            known_ids.add(voice["id"])
            engine, quality = voice.get("engine", ""), voice.get("quality", "")
            speakers.append(Speaker(voice["name"], voice["language"], locale, engine, quality, target))
    return speakers


def _voices(url: str, headers: dict[str, str]) -> list[dict[str, Any]]:
    """All that the server lists, page by page. Raises ``InvalidInput`` where it does not answer so."""
    known: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        query = {"limit": "100"} | ({"starting_after": cursor} if cursor else {})
        answer = httpx.get(f"{url.rstrip('/')}/voices", params=query, headers=headers, timeout=60, trust_env=False)
        if answer.status_code != 200:
            raise InvalidInput(f"GET /voices: {answer.status_code} {answer.text[:200]}")
        page = answer.json()
        known += page["data"]
        cursor = page.get("next_page")
        if not cursor:
            return known


def _aliased(url: str, name: str, headers: dict[str, str]) -> list[dict[str, Any]]:
    """A voice by another of its names (espeak-de); empty if there is none."""
    answer = httpx.get(f"{url.rstrip('/')}/voices/{quote(name)}", headers=headers, timeout=60, trust_env=False)
    return [answer.json()] if answer.status_code == 200 else []


def _whisper(files: ModelStore) -> RecogniseIn:
    try:
        from faster_whisper import WhisperModel
    except ImportError:
        raise ModelUnavailable("whisper-base needs faster-whisper: pip install 'antiphon[bench]'") from None
    whisper = WhisperModel(str(files.folder("whisper-base")), device="cpu", compute_type="int8", cpu_threads=1)

    def recognise(samples: Samples, language: str) -> str:
        # Temperature 0: no second tries by chance, so that what is heard depends on the sound alone.
        segments, _ = whisper.transcribe(
            samples, language=language, beam_size=2, temperature=0.0, without_timestamps=True,
            initial_prompt=PROMPTS.get(language),
        )  # fmt: skip
        return " ".join(segment.text.strip() for segment in segments)

    return recognise
