"""Does the agent know who wants the floor? Labelled clips, played over it while it speaks.

Three classes: *interruption* (it must stop), *backchannel* and *noise* (it must go on). Voices are synthetic; noises
are recorded where folders are given, else made.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Literal, TypeAlias

import msgspec
import numpy as np

from antiphon.audio.activity import speech_level_dbfs
from antiphon.bench.conversation_call import CALLER_RATE_HZ, Call, Part
from antiphon.bench.conversation_caller import Speak, in_voice, room
from antiphon.bench.conversation_measure import measure_call
from antiphon.bench.scenario import Answer, Scenario, Step
from antiphon.bench.spoil import looped
from antiphon.bench.unspoken import unspoken
from antiphon.core.frame import Samples

Label: TypeAlias = Literal["interruption", "backchannel", "noise"]
SPEECH_DBFS = -24.0
VOICES = 2
LEAVES_AFTER_S = 4.0
_MADE = {"knock": "knocks", "music": "synthesised music", "hiss": "pink noise"}


class NoiseRecipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: str
    seconds: float
    level_db: float


class ClipSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``speech``: what the agent says meanwhile. ``into_s``: when a clip begins; one after the other."""

    version: int
    speech: str
    into_s: tuple[float, ...]
    interruptions: tuple[str, ...]
    backchannels: tuple[str, ...]
    noises: tuple[NoiseRecipe, ...]


@dataclass(frozen=True, slots=True)
class LabelledClip:
    name: str
    label: Label
    samples: Samples = field(repr=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """``stopped``: the agent gave its reply up. ``hole_s``: of one that went on, its longest silence around the clip.
    ``silent_after_s``: of one that stopped, from the clip's first audible sample to its last word."""

    name: str
    label: Label
    stopped: bool | None
    hole_s: float | None
    silent_after_s: float | None
    error: str = ""


def shipped_clips() -> ClipSet:
    text = resources.files("antiphon.bench").joinpath("scenarios/clips.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), ClipSet)


def labelled(
    clips: ClipSet,
    speak: Speak,
    noises: Mapping[str, Samples] | None = None,
    babble: Mapping[str, Samples] | None = None,
    repeats: int = 3,
    seed: int = 1,
) -> list[LabelledClip]:
    """All clips; interruptions in two voices, backchannels and noises ``repeats`` times each, never twice the same.

    ``noises``: recorded ones; ``babble``: recordings of speakers, of whom six talk at once. Without them, what needs
    them is made of what is there.
    """
    found: list[LabelledClip] = []
    for number in range(VOICES):
        found += [
            LabelledClip(f"{text} ({number})", "interruption", _levelled(in_voice(speak, text, number), SPEECH_DBFS))
            for text in clips.interruptions
        ]
    for number in range(repeats):
        found += [
            LabelledClip(f"{text} ({number})", "backchannel", _levelled(in_voice(speak, text, number), SPEECH_DBFS))
            for text in clips.backchannels
        ]
    rng = np.random.default_rng(seed)
    made = {clip.name: clip.samples for clip in unspoken({}, 20.0, seed)}
    for number in range(repeats):
        for recipe in clips.noises:
            sound = _noise(recipe, made, noises or {}, babble or {}, speak, rng)
            name = f"{recipe.kind} {recipe.seconds:g} s -{recipe.level_db:g} dB ({number})"
            found.append(LabelledClip(name, "noise", _levelled(sound, SPEECH_DBFS - recipe.level_db)))
    return found


def clip_scenario(clips: ClipSet, clip: LabelledClip, number: int) -> Scenario:
    """One clip over the agent's greeting."""
    kind: Literal["interruption", "backchannel"] = "interruption" if clip.label == "interruption" else "backchannel"
    return Scenario(
        version=clips.version,
        name="clips",
        about=clip.name,
        greeting=clips.speech,
        steps=(Step(say=(clip.name,), kind=kind, into_s=clips.into_s[number % len(clips.into_s)]),),
        answers=(Answer(say="Yes?"),),
        leaves_after_s=LEAVES_AFTER_S,
    )


def clip_part(clips: ClipSet, clip: LabelledClip, number: int) -> Part:
    return Part(number, clip_scenario(clips, clip, number), [clip.samples], room(number))


def verdict_of(clip: LabelledClip, call: Call) -> Verdict:
    turn = measure_call(call).turns[0]
    error = call.error or ("" if turn.said == "said" else "the agent had stopped before the clip began")
    if not error and turn.stopped is None:
        error = "the agent was not heard when the clip began"
    return Verdict(clip.name, clip.label, turn.stopped, turn.hole_s, turn.barge_in_s, error)


def _noise(
    recipe: NoiseRecipe,
    made: Mapping[str, Samples],
    noises: Mapping[str, Samples],
    babble: Mapping[str, Samples],
    speak: Speak,
    rng: np.random.Generator,
) -> Samples:
    count = round(recipe.seconds * CALLER_RATE_HZ)
    if recipe.kind == "cough":
        return _cough(count, rng)
    if recipe.kind == "babble":
        return _babble(babble or _talkers(speak), count, rng)
    if recipe.kind == "recorded" and noises:
        return _cut(noises[sorted(noises)[int(rng.integers(len(noises)))]], count, rng)
    return _cut(made[_MADE.get(recipe.kind, "quiet room")], count, rng)


def _cut(sound: Samples, count: int, rng: np.random.Generator) -> Samples:
    return looped(sound, count, int(rng.integers(len(sound))))


def _babble(talkers: Mapping[str, Samples], count: int, rng: np.random.Generator) -> Samples:
    names = rng.permutation(sorted(talkers))[:6]
    return np.asarray(sum(_levelled(_cut(talkers[name], count, rng), SPEECH_DBFS) for name in names), np.float32)


def _talkers(speak: Speak) -> dict[str, Samples]:
    texts = (
        "The old bridge over the river was closed for the whole of last winter.",
        "My sister bought three pots of paint and a ladder for the kitchen.",
        "Every morning the baker puts warm bread into the window of his shop.",
        "They walked along the beach until the sun had gone down behind the hills.",
        "Nobody could say where the second key had been left.",
        "We should plant the small trees before the ground is frozen.",
    )
    return {text: in_voice(speak, text, number) for number, text in enumerate(texts)}


def _cough(count: int, rng: np.random.Generator) -> Samples:
    """One to three bursts of breath: a hard beginning, a throat's colour, a soft end."""
    sound = np.zeros(count)
    bursts = int(rng.integers(1, 4)) if count > CALLER_RATE_HZ // 2 else 1
    for start in np.linspace(0, count, bursts, endpoint=False).astype(int):
        length = min(count - start, round(0.28 * CALLER_RATE_HZ))
        time_s = np.arange(length) / CALLER_RATE_HZ
        shape = np.minimum(1, time_s / 0.004) * np.exp(-time_s / 0.07)
        burst = rng.standard_normal(length + 8)
        coloured = np.convolve(burst, np.hanning(9), "same")[:length]
        voiced = 0.4 * np.sin(2 * np.pi * (180 - 200 * time_s) * time_s)
        sound[start : start + length] += shape * (coloured / (np.abs(coloured).max() + 1e-9) + voiced)
    return np.asarray(sound, np.float32)


def _levelled(sound: Samples, dbfs: float) -> Samples:
    level = speech_level_dbfs(sound, CALLER_RATE_HZ)
    if not np.isfinite(level):
        return sound
    return np.asarray(np.clip(sound * 10 ** ((dbfs - level) / 20), -1, 1), np.float32)


def counts(verdicts: Sequence[Verdict], label: Label) -> tuple[int, int]:
    """(judged, stopped) of a class."""
    judged = [one for one in verdicts if one.label == label and not one.error and one.stopped is not None]
    return len(judged), sum(bool(one.stopped) for one in judged)
