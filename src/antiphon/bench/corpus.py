"""Where clips come from: folders of recordings with or without texts, and sentences that are synthesised."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np

from antiphon.audio.recording import blocks
from antiphon.bench.clip import EAR_RATE_HZ, Clip, ClipWord, speech_span
from antiphon.bench.workload import Split, wer_sentences
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples

Item = TypeVar("Item")

SUFFIXES = (".wav", ".flac", ".ogg", ".opus", ".mp3")
AIR_S = 0.3
"""Quiet in front of synthesised speech, which begins at once; no microphone does."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sentence that was synthesised: ``samples`` at 16 kHz, and its words' exact times if the voice tells them."""

    samples: Samples
    words: tuple[ClipWord, ...] = ()


Voice: TypeAlias = Callable[[Sequence[str]], list[Spoken]]
"""Sentences -> their sound, in order."""


def read_samples(path: Path) -> Samples:
    """A recording in any container, mono at 16 kHz. Raises ``InvalidInput`` naming the file."""
    try:
        with path.open("rb") as file:
            pieces = list(blocks(file))
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}", "speech") from None
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}", "speech") from None
    return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)


def read_folder(folder: Path) -> dict[str, Samples]:
    """Name -> sound of all recordings below ``folder``: noises, rooms. Raises ``InvalidInput`` where there are none."""
    files = list(_recordings(folder))
    if not files:
        raise InvalidInput(f"there are no recordings in {folder}", "speech")
    return {path.stem: read_samples(path) for path in files}


def read_texts(path: Path) -> dict[str, str]:
    """A table ``file<TAB>text``; a first line ``file<TAB>text`` names the columns. Raises ``InvalidInput``."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}", "texts") from None
    texts: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name, tab, text = line.partition("\t")
        if not tab or not text.strip():
            raise InvalidInput(f"{path}, line {number}: wanted is a file, a tab and its text", "texts")
        if (name, text) != ("file", "text"):
            texts[name] = text.strip()
    return texts


def recordings(folder: Path, texts: Mapping[str, str] | None = None, limit: int = 0) -> list[Clip]:
    """Clips of all recordings in ``folder``, sorted by name. ``limit``: as many, spread evenly (0: all).

    ``texts``: file -> what is said; a file is found by its path from the folder, from the folder's parent, or by its
    name. With texts, only those files are taken. Raises ``InvalidInput`` where nothing is left.
    """
    found = []
    for path in _recordings(folder):
        inside = path.relative_to(folder).as_posix()
        names = (inside, f"{folder.name}/{inside}", path.name, path.stem)
        text = None if texts is None else next((texts[name] for name in names if name in texts), None)
        if texts is None or text is not None:
            found.append((path, inside, text))
    if not found:
        raise InvalidInput(f"there are no recordings{'' if texts is None else ' with a text'} in {folder}", "speech")
    clips = []
    for path, inside, text in spread(found, limit):
        samples = read_samples(path)
        clips.append(
            Clip(inside, samples, speech=speech_span(samples, EAR_RATE_HZ), reference=text, group=folder.name)
        )
    return clips


def synthesised(voice: Voice, count: int, split: Split = "report", name: str = "synthesised") -> list[Clip]:
    """``count`` sentences of the committed list, evenly spread over it, in the sound of ``voice``."""
    texts = spread(wer_sentences(split), count)
    pairs = zip(texts, voice(texts), strict=True)
    return [spoken_clip(f"{name} {index}", text, spoken, name) for index, (text, spoken) in enumerate(pairs)]


def spoken_clip(name: str, text: str, spoken: Spoken, group: str) -> Clip:
    """A synthesised sentence with a little quiet in front of it."""
    air = round(AIR_S * EAR_RATE_HZ)
    samples = np.concatenate((np.zeros(air, np.float32), np.asarray(spoken.samples, np.float32)))
    words = tuple(
        replace(word, start_s=word.start_s + AIR_S, end_s=word.end_s + AIR_S) for word in spoken.words
    )
    return Clip(
        name, samples, speech=speech_span(samples, EAR_RATE_HZ), reference=text, group=group, words=words
    )


def spread(items: Sequence[Item], limit: int) -> list[Item]:
    """``limit`` of ``items``, evenly spread, in their order; all for 0."""
    if limit <= 0 or limit >= len(items):
        return list(items)
    return [items[at * len(items) // limit] for at in range(limit)]


def _recordings(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is no folder", "speech")
    yield from sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
