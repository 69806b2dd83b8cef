"""Turns with pauses inside, rebuilt from a list and from recordings that lie elsewhere.

A list is a JSON array of recipes::

    {"name": "a", "set": "real voices", "kind": "librispeech", "split": "report", "ends_turn": false,
     "parts": [{"file": "a.flac", "end": 98400}, {"pause_ms": 1073, "seed": 7}, {"file": "a.flac", "start": 98400}]}
    {"name": "b", "set": "dictations", "kind": "phone", "split": "report",
     "parts": [{"say": "My number is", "seed": 3, "speed": 0.9}, {"pause_ms": 800, "seed": 8}, {"say": "five."}]}
    {"name": "c", "set": "real voices", "split": "tune", "wav": "c.wav", "true_end_sample": 51200, "pauses": [[9, 99]]}

Samples are those of 16 kHz. A pause is filled with the room tone of the recording before it (after synthesised speech:
noise at -62 dB), and so are the 3 s after a finished turn. ``ends_turn`` false: the recording goes on, or breaks off,
where nobody knows whether the speaker had finished; only what happens before its end is counted. The list of the
training recipes (one entry a pause) is understood as well.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np

from antiphon.audio.activity import window_power
from antiphon.bench.clip import EAR_RATE_HZ, Clip, speech_span
from antiphon.bench.corpus import read_samples
from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples

TAIL_S = 3.0
UNJUDGED_TAIL_S = 0.5
LEAD_S = 0.3
QUIET_DB = -62.0
REAL, DICTATIONS = "real voices", "dictations"

Half: TypeAlias = Literal["tune", "report", "all"]
Say: TypeAlias = Callable[[str, int, float], Samples]
"""(text, seed, speed) -> 16 kHz samples."""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of: samples [start, end) of a recording, a piece of text to be spoken, a pause."""

    file: str = ""
    start: int = 0
    end: int | None = None
    say: str = ""
    speed: float = 1.0
    pause_ms: int = 0
    seed: int = 0


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to make one turn; see the module."""

    name: str
    set: str
    kind: str = ""
    split: str = "report"
    ends_turn: bool = True
    text: str | None = None
    parts: tuple[Part, ...] = ()
    wav: str = ""
    true_end_sample: int | None = None
    pauses: tuple[tuple[int, int], ...] = ()


class _Pause(msgspec.Struct, frozen=True):
    """An entry of the training recipes' list: one pause, real or synthesised."""

    source: str
    split: str
    kind: Literal["mid", "end"]
    pause_ms: int
    tone_seed: int
    file: str = ""
    cut_sample: int = 0
    category: str = ""
    pieces: tuple[str, ...] = ()
    voice_seed: int = 0


@dataclass(frozen=True, slots=True)
class TurnSet:
    """``clips`` that could be made, and why others could not: reason -> how many."""

    clips: tuple[Clip, ...]
    left_out: dict[str, int] = field(default_factory=dict)


def read_recipes(path: Path) -> list[Recipe]:
    """Both kinds of list. Raises ``InvalidInput``."""
    try:
        entries = msgspec.json.decode(path.read_bytes(), type=list[dict[str, Any]])
        if entries and "tone_seed" in entries[0]:
            return of_pauses(msgspec.convert(entries, list[_Pause]))
        return msgspec.convert(entries, list[Recipe])
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}", "turns") from None
    except msgspec.DecodeError as error:
        raise InvalidInput(f"{path} is no list of turns: {error}", "turns") from None


def make_turns(recipes: Sequence[Recipe], folders: Sequence[Path], say: Say, half: Half = "report") -> TurnSet:
    """Rebuild the turns of one half. A recipe's files are looked for in ``folders``, in order."""
    maker = _Maker(tuple(folders), say)
    clips: list[Clip] = []
    left_out: dict[str, int] = {}
    for recipe in recipes:
        if half not in ("all", recipe.split):
            continue
        try:
            clips.append(maker.make(recipe))
        except (InvalidInput, ModelUnavailable) as error:
            left_out[str(error)] = left_out.get(str(error), 0) + 1
    return TurnSet(tuple(clips), left_out)


def of_pauses(entries: Sequence[_Pause]) -> list[Recipe]:
    """One recipe for each pause in a recording, and one for each dictation with all of its pauses."""
    recipes: list[Recipe] = []
    dictations: dict[tuple[str, int], list[_Pause]] = {}
    for entry in entries:
        if entry.source == "synthesised":
            dictations.setdefault((entry.split, entry.voice_seed), []).append(entry)
            continue
        parts = [Part(file=entry.file, end=entry.cut_sample)]
        if entry.kind == "mid":
            parts += [
                Part(pause_ms=entry.pause_ms, seed=entry.tone_seed),
                Part(file=entry.file, start=entry.cut_sample),
            ]
        name = f"{Path(entry.file).stem} {entry.kind} {entry.cut_sample}"
        recipes.append(Recipe(name, REAL, entry.source, entry.split, entry.kind == "end", parts=tuple(parts)))
    for (split, seed), pauses in dictations.items():
        whole = max(pauses, key=lambda entry: len(entry.pieces))
        speed = float(np.random.default_rng(seed).uniform(0.85, 1.15))
        after = {len(entry.pieces): entry for entry in pauses}
        parts = []
        for count, piece in enumerate(whole.pieces, 1):
            parts.append(Part(say=piece, seed=seed, speed=speed))
            if count < len(whole.pieces):
                pause = after.get(count, whole)
                parts.append(Part(pause_ms=pause.pause_ms, seed=pause.tone_seed))
        text = " ".join(whole.pieces)
        recipes.append(Recipe(f"{whole.category} {seed}", DICTATIONS, whole.category, split, text=text,
                              parts=tuple(parts)))  # fmt: skip
    return recipes


class _Maker:
    def __init__(self, folders: tuple[Path, ...], say: Say) -> None:
        self._folders = folders
        self._say = say
        self._read = lru_cache(maxsize=4)(self._read_file)

    def make(self, recipe: Recipe) -> Clip:
        return self._from_wav(recipe) if recipe.wav else self._from_parts(recipe)

    def _from_wav(self, recipe: Recipe) -> Clip:
        samples = self._read(recipe.wav)
        span = speech_span(samples, EAR_RATE_HZ)
        if span is None:
            raise InvalidInput(f"there is no speech in {recipe.wav}", "turns")
        end = span[1] if recipe.true_end_sample is None else recipe.true_end_sample
        missing = end + round(TAIL_S * EAR_RATE_HZ) - len(samples)
        if missing > 0:
            samples = np.concatenate((samples, room_tone(samples, missing, 0)))
        return Clip(
            recipe.name, samples, speech=(span[0], end), reference=recipe.text, group=recipe.set, kind=recipe.kind,
            pauses=recipe.pauses, ends_turn=recipe.ends_turn,
        )  # fmt: skip

    def _from_parts(self, recipe: Recipe) -> Clip:
        lead = round(LEAD_S * EAR_RATE_HZ)
        sounds: list[Samples] = []
        pauses: list[tuple[int, int]] = []
        first = end = None
        tone_of: Samples | None = None
        position, paused = lead, False
        for part in recipe.parts:
            if part.pause_ms:
                sound = self._tone(tone_of, part.pause_ms * EAR_RATE_HZ // 1000, part.seed)
                paused = True
            else:
                sound, whole = self._sound(part)
                span = speech_span(sound, EAR_RATE_HZ, whole)
                if span is None:
                    raise InvalidInput(f"a part of {recipe.name} holds no speech", "turns")
                start = position + span[0]
                if paused and end is not None:
                    pauses.append((end, start))
                first = start if first is None else first
                end, paused = position + span[1], False
                tone_of = whole if part.file else None
            sounds.append(sound)
            position += len(sound)
        if first is None or end is None:
            raise InvalidInput(f"{recipe.name} has no part that holds speech", "turns")
        tail = max(0, end + round((TAIL_S if recipe.ends_turn else UNJUDGED_TAIL_S) * EAR_RATE_HZ) - position)
        ambience = (self._tone(tone_of, lead, 1), self._tone(tone_of, tail, 2))
        return Clip(
            recipe.name, np.concatenate((ambience[0], *sounds, ambience[1])), speech=(first, end),
            reference=recipe.text, group=recipe.set, kind=recipe.kind, pauses=tuple(pauses),
            ends_turn=recipe.ends_turn,
        )  # fmt: skip

    def _sound(self, part: Part) -> tuple[Samples, Samples]:
        """(the part, the recording that it is of)."""
        if part.file:
            whole = self._read(part.file)
            return whole[part.start : part.end], whole
        if not part.say:
            raise InvalidInput("a part must be a file, a text or a pause", "turns")
        spoken = self._say(part.say, part.seed, part.speed)
        span = speech_span(spoken, EAR_RATE_HZ)
        margin = EAR_RATE_HZ // 100
        trimmed = spoken if span is None else spoken[max(0, span[0] - margin) : span[1] + margin]
        return trimmed, trimmed

    @staticmethod
    def _tone(recording: Samples | None, count: int, seed: int) -> Samples:
        if recording is not None:
            return room_tone(recording, count, seed)
        noise = np.random.default_rng(seed).normal(0, 10 ** (QUIET_DB / 20), count)
        return np.asarray(noise, np.float32)

    def _read_file(self, name: str) -> Samples:
        path = next((folder / name for folder in self._folders if (folder / name).is_file()), None)
        if path is None:
            raise InvalidInput(f"recordings of {Path(name).parent.name or 'the list'} are not there", "turns")
        return _g722(path) if path.suffix == ".g722" else read_samples(path)


def room_tone(recording: Samples, count: int, seed: int) -> Samples:
    """``count`` samples like the quietest 0.1 s of ``recording``: overlapping copies of it, turned about at random."""
    power = window_power(recording, EAR_RATE_HZ)
    window = EAR_RATE_HZ // 100
    span = min(10, len(power))
    quiet = int(np.argmin(np.convolve(power, np.ones(span), "valid"))) * window
    grain = np.asarray(recording[quiet : quiet + span * window], np.float32)
    step = len(grain) // 2
    if step == 0:
        return np.zeros(count, np.float32)
    faded = grain * np.sin(np.linspace(0, np.pi, len(grain), dtype=np.float32))
    rng = random.Random(seed)
    tone = np.zeros(count + 2 * len(grain), np.float32)
    for at in range(0, count + len(grain), step):
        tone[at : at + len(grain)] += faded[:: rng.choice((-1, 1))] * rng.choice((-1, 1))
    return tone[len(grain) : len(grain) + count]


def _g722(path: Path) -> Samples:
    try:
        import av
    except ImportError:
        raise ModelUnavailable("G.722 recordings need PyAV: pip install 'antiphon[aac]'") from None
    with av.open(str(path), format="g722") as container:
        frames = [frame.to_ndarray().ravel() for frame in container.decode(audio=0)]
    return np.asarray(np.concatenate(frames), np.float32) / np.float32(32_768)
