"""Synthesised speakers: whole sentences, with gaps between words inside, and pieces that go on (a comma at their end).

The pieces are numbers, spelled letters and beginnings of sentences, each read by itself, the way dictations are put
together. So that a synthetic voice alone says nothing, half of all that is read goes on.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from antiphon.models.hibari import HibariVoice
from antiphon.models.kokoro import KokoroVoice
from antiphon.models.smart_turn import SmartTurn
from antiphon.models.ssm_voice import SsmVoice, packaged
from antiphon.settings import load as settings
from antiphon.store.store import ModelStore
from antiphon.text.unit import Text, Unit
from train.turn.pause.pool import Item, Place, dip_near, save, smooth_levels, whole
from train.turn.sound import RATE_HZ, speech_span
from train.voice.text import lines

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_LETTERS = "ABCDEFGHJKLMNOPRSTVWXYZ"
_LEADS = ("", "", "", "That would be ", "I've got ", "So it goes ", "The code reads ", "Write down ", "And then ")
_ASIDES = ("uh", "um", "let me see", "hold on", "hmm", "okay so", "well", "you know")
_MAX_CHARS = 90
KOKORO = tuple(f"{kind}_{name}" for kind, names in (
    ("af", "alloy aoede bella heart jessica kore nicole nova river sarah sky"),
    ("am", "adam echo eric fenrir liam michael onyx puck"),
    ("bf", "alice emma isabella lily"),
    ("bm", "daniel fable george lewis"),
) for name in names.split())  # fmt: skip


def texts(seed: int) -> Iterator[tuple[str, bool]]:
    """(text, whether it is whole), without end."""
    rng = random.Random(seed)
    every = [line for line in lines(seed) if len(line.text) <= _MAX_CHARS and line.kind not in ("paragraph", "long")]
    questions = [line.text for line in every if line.text.endswith("?")]
    rest = [line.text for line in every if not line.text.endswith("?")]
    while True:
        draw = rng.random()
        if draw < 0.25:
            count = rng.choice((2, 3, 3, 4, 4))
            what = _DIGITS if rng.random() < 0.75 else _LETTERS
            piece = rng.choice(_LEADS) + " ".join(rng.choice(what) for _ in range(count))
            done = rng.random() < 0.5
            yield piece + (rng.choice((".", ".", "?")) if done and rng.random() < 0.9 else "." if done else ","), done
        elif draw < 0.55:
            words = rng.choice(questions if rng.random() < 0.3 else rest).rstrip(".?!").split()
            if draw < 0.28:
                words = [*words[: rng.randrange(0, min(4, len(words)))], rng.choice(_ASIDES)]
            elif len(words) < 3:
                continue
            else:
                words = words[: rng.randrange(2, len(words))]
            yield " ".join(words).rstrip(",;:") + ",", False
        else:
            yield rng.choice(questions if draw < 0.72 else rest), True


def store() -> ModelStore:
    models = settings().models
    return ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)


def smart_turn() -> SmartTurn:
    return SmartTurn(store().path("smart-turn-v3.2", "smart-turn-v3.2-cpu.onnx"))


def read(engine: Any, kind: str, voice: str, speaker: str, text: str, done: bool, rng: random.Random) -> Item | None:
    """One text as an item; None where nothing could be heard."""
    ending = "sentence" if done else "clause"
    unit = Unit((Text(text),), ending=ending, speed=round(rng.uniform(0.85, 1.2), 3), first=True)
    made, times = [], []
    for part in engine.speak(voice, unit, 0, rng.randrange(1 << 30), None):
        made.append(part.samples)
        times += part.words
    raw = np.concatenate(made).astype(np.float32)
    if not len(raw) or np.abs(raw).max() < 1e-3:
        return None
    scale = RATE_HZ / engine.sample_rate_hz
    samples = soxr.resample(raw, engine.sample_rate_hz, RATE_HZ).astype(np.float32)
    start, end = speech_span(samples)
    if end - start < RATE_HZ // 5:
        return None
    tone = np.random.default_rng(rng.randrange(1 << 30)).normal(0, 10 ** (-66 / 20), RATE_HZ // 2)
    samples = np.concatenate((samples[:end], tone.astype(np.float32)))
    item = Item(kind, speaker, whole(samples), start)
    levels = smooth_levels(samples)
    if done:
        for left in times[:-1]:
            at, depth = dip_near(levels, round(left.end_sample * scale), 5)
            if depth >= 8 and start + RATE_HZ // 4 < at < end - RATE_HZ // 5 and not text_stops(left.text):
                item.places.append(Place(at, at, 0.0))
    item.places.append(Place(end, -1, float(done)))
    return item


def text_stops(word: str) -> bool:
    return word.rstrip("\"')")[-1:] in ".?!:;"


def make(folder: Path, kind: str, count: int, seed: int) -> None:
    """``count`` items of one engine into ``folder``; nothing where they are there already."""
    path = folder / f"{kind}.pool"
    if path.exists():
        return
    held, rng = store(), random.Random(seed)
    engine: Any
    if kind == "hibari":
        engine = HibariVoice(held.path("hibari", "hibari.onnx"))
    elif kind == "river":
        river = packaged()
        assert river is not None
        engine = SsmVoice(river)
    else:
        engine = KokoroVoice(held.path)
    by_name = {info.name.casefold(): info.id for info in engine.voices} | {info.id: info.id for info in engine.voices}
    items: list[Item] = []
    for number, (text, done) in enumerate(texts(seed)):
        if len(items) >= count:
            break
        name = KOKORO[number % len(KOKORO)] if kind == "kokoro" else ""
        voice = by_name[name] if name else engine.voices[0].id
        item = read(engine, kind, voice, name or f"{kind}-{number}", text, done, rng)
        if item is not None:
            items.append(item)
    save(path, items)
