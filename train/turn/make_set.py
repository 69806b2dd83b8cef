"""Choose the pauses that turn detection is tuned on and measured with, and write them down: ``pauses.json``.

Real voices: LibriSpeech test-other, Harvard sentences, studio prompts. A pause of 0.5-1.5 s is to be spliced in where
a sentence has a quiet place between two words; ends are taken only where the sentence ends too. Both are found by
letting the recogniser read the whole and the part: the words of the part must be the first words of the whole (else
the cut is inside a word), and the whole must not have a full stop there. LibriSpeech's utterances often end inside a
sentence: an end counts only if a recogniser that hears the *next* utterance as well still ends the sentence there.
Synthesised dictations: ``dictations.py``. Only names, positions and seeds are written, no audio.

    python train/turn/make_set.py --speech FOLDER   # the folder with librispeech/ and read/
"""

import argparse
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from dictations import dictations
from sound import RATE_HZ, Places, Samples, quiet_points, speech_span

from antiphon.models.moonshine import Moonshine
from antiphon.settings import load
from antiphon.store.store import ModelStore

SEED = 20_261
HERE = Path(__file__).parent
FRAGMENTS = {
    "vm-theperson", "conf-enteringno", "queue-callswaiting", "confbridge-binaural-off", "dir-first",
    "simul-call-limit-reached",
}  # fmt: skip
PROMPTS = 60


def recogniser() -> Moonshine:
    models = load().models
    store = ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)
    files = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")
    return Moonshine(*(store.path("moonshine-tiny-en", file) for file in files))


def words(text: str) -> list[str]:
    return [re.sub(r"[^a-z0-9']", "", word) for word in text.casefold().split()]


def mid_cuts(ear: Moonshine, samples: Samples, whole: str, rng: np.random.Generator, count: int) -> Iterator[int]:
    """Places between two words of one sentence."""
    spoken, marks = words(whole), whole.split()
    start, end = speech_span(samples)
    points = quiet_points(samples, start + RATE_HZ, end - 8 * RATE_HZ // 10, RATE_HZ, 14.0)[: 3 * count]
    found = 0
    for at in rng.permutation(np.array(points, dtype=int)):
        part = words(ear.transcribe(samples[:at]).text)
        inside = len(part) >= 2 and part == spoken[: len(part)] and len(part) < len(spoken)
        if inside and marks[len(part) - 1][-1] not in ".?!;:":
            yield int(at)
            found += 1
            if found == count:
                return


def sentence_ends_here(ear: Moonshine, samples: Samples, following: Samples) -> bool:
    last = words(ear.transcribe(samples[-5 * RATE_HZ :]).text)[-2:]
    joined = ear.transcribe(np.concatenate([samples[-5 * RATE_HZ :], following[: 4 * RATE_HZ]])).text
    plain, marks = words(joined), joined.split()
    for at in range(len(plain) - 2):
        if plain[at : at + 2] == last:
            return marks[at + 1][-1] in ".?!" and marks[at + 2][:1].isupper()
    return False


def librispeech(ear: Moonshine, places: Places, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    files = sorted((places.speech / "librispeech/test-other").glob("*.flac"))
    speakers = sorted({file.name.split("-")[0] for file in files})
    for file, following in zip(files, [*files[1:], None], strict=True):
        name = f"librispeech/test-other/{file.name}"
        samples = places.read("librispeech", name)
        speaker = file.name.split("-")[0]
        entry = {
            "source": "librispeech",
            "split": "tune" if speakers.index(speaker) % 2 == 0 else "report",
            "file": name,
        }
        whole = ear.transcribe(samples).text
        for at in mid_cuts(ear, samples, whole, rng, 2):
            yield entry | {"kind": "mid", "cut_sample": at}
        if following and following.name.rsplit("-", 1)[0] == file.name.rsplit("-", 1)[0]:
            after = places.read("librispeech", f"librispeech/test-other/{following.name}")
            if sentence_ends_here(ear, samples, after):
                yield entry | {"kind": "end", "cut_sample": speech_span(samples)[1]}


def sentences(ear: Moonshine, places: Places, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Recordings that are whole sentences from end to end."""
    agreed = json.loads((places.speech / "asterisk_en_agreed.json").read_text())
    prompts = [
        entry["file"]
        for entry in agreed
        if entry["text"][0].isupper() and entry["file"].removesuffix(".g722") not in FRAGMENTS
    ]
    read = sorted(f"read/{path.name}" for path in (places.speech / "read").glob("*.wav"))
    for source, files in (("asterisk", prompts[:PROMPTS]), ("read", read)):
        for file in files:
            samples = places.read(source, file)
            half = "spk1" in file if source == "read" else zlib.crc32(file.encode()) % 2 == 0
            entry = {"source": source, "split": "tune" if half else "report", "file": file}
            whole = ear.transcribe(samples).text
            for at in mid_cuts(ear, samples, whole, rng, 1):
                yield entry | {"kind": "mid", "cut_sample": at}
            yield entry | {"kind": "end", "cut_sample": speech_span(samples)[1]}


def synthesised() -> Iterator[dict[str, Any]]:
    for split in ("tune", "report"):
        for number, dictation in enumerate(dictations(split, SEED + (split == "report"))):
            for piece in range(len(dictation.pieces)):
                yield {
                    "source": "synthesised",
                    "split": split,
                    "category": dictation.category,
                    "pieces": list(dictation.pieces[: piece + 1]),
                    "voice_seed": SEED + 100 * (split == "report") + number,
                    "kind": "end" if piece + 1 == len(dictation.pieces) else "mid",
                }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--speech", type=Path, required=True)
    places = Places(parser.parse_args().speech)
    ear, rng = recogniser(), np.random.default_rng(SEED)
    entries = [*librispeech(ear, places, rng), *sentences(ear, places, rng), *synthesised()]
    for number, entry in enumerate(entries):
        entry["pause_ms"] = int(rng.integers(500, 1501))
        entry["tone_seed"] = SEED + number
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    (HERE / "pauses.json").write_text(f"[\n{lines}\n]\n")
    for source in ("librispeech", "asterisk", "read", "synthesised"):
        for kind in ("mid", "end"):
            halves = [e["split"] for e in entries if e["source"] == source and e["kind"] == kind]
            print(source, kind, halves.count("tune"), halves.count("report"))


if __name__ == "__main__":
    main()
