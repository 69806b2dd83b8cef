"""The caller's voice: lines synthesised beforehand, in several voices, and the quiet of a room around them. Pure."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from antiphon.audio.activity import first_audible_sample, last_audible_sample
from antiphon.audio.resample import resample
from antiphon.bench.conversation_call import CALLER_RATE_HZ, Part
from antiphon.bench.corpus import read_samples
from antiphon.bench.scenario import Answer, Scenario, Step
from antiphon.core.frame import Samples

Speak: TypeAlias = Callable[[str, int, float], Samples]
"""(text, seed, speed) -> its sound at 16 kHz."""

ROOM_DBFS = -65.0
ROOM_S = 20.0
PITCHES = (1.0, 0.88, 1.14)
"""One voice sounds like three: lower, or higher, at its own pace."""


def in_voice(speak: Speak, text: str, number: int) -> Samples:
    """``text`` in voice ``number``, of endlessly many: each has its own pitch and its own reading."""
    pitch = PITCHES[number % len(PITCHES)]
    sound = speak(text, number, 1 / pitch)
    return sound if pitch == 1.0 else resample(sound, round(CALLER_RATE_HZ * pitch), CALLER_RATE_HZ)


def spoken_step(speak: Speak, step: Step, number: int) -> Samples:
    """The pieces of a step with its pauses between, in one voice.

    A pause is as long as it says: the silence that a voice puts around each piece counts for nothing beside one.
    """
    pieces: list[Samples] = []
    for at, part in enumerate(step.say):
        if isinstance(part, str):
            beside = [0 <= other < len(step.say) and not isinstance(step.say[other], str) for other in (at - 1, at + 1)]
            pieces.append(_bare(in_voice(speak, part, number), *beside))
        else:
            pieces.append(np.zeros(round(part * CALLER_RATE_HZ), np.float32))
    return np.concatenate(pieces).astype(np.float32)


def _bare(sound: Samples, before: bool, after: bool) -> Samples:
    """Without the silence before its first or after its last audible sample."""
    first, last = first_audible_sample(sound, CALLER_RATE_HZ), last_audible_sample(sound, CALLER_RATE_HZ)
    return sound[first if before and first is not None else 0 : last if after and last is not None else len(sound)]


def room(seed: int) -> Samples:
    """A quiet room, to be repeated: a microphone never gives zeros."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal(round(ROOM_S * CALLER_RATE_HZ))
    return np.asarray(10 ** (ROOM_DBFS / 20) * noise, np.float32)


def part_of(
    scenario: Scenario, number: int, voice: int, speak: Speak, recorded: Path | None = None, seed: int = 1
) -> Part:
    """A scenario ready to be played. ``recorded``: a folder whose ``<scenario>-<step>.wav`` (or .flac) are taken
    instead of the synthesised line. Raises ``InvalidInput`` for a file that cannot be read."""
    clips: list[Samples] = []
    for index, step in enumerate(scenario.steps):
        own = _recorded(recorded, f"{scenario.name}-{index}")
        clips.append(spoken_step(speak, step, voice) if own is None else own)
    return Part(number, scenario, clips, room(seed))


class Recited:
    """Remembers what was synthesised, since the same line is said in several rounds."""

    def __init__(self, speak: Speak) -> None:
        self._speak = speak
        self._known: dict[tuple[str, int, float], Samples] = {}

    def __call__(self, text: str, seed: int, speed: float) -> Samples:
        key = (text, seed, speed)
        if key not in self._known:
            self._known[key] = self._speak(text, seed, speed)
        return self._known[key]


def read_aloud(clips: Sequence[tuple[str, Samples]]) -> Scenario:
    """Recordings of real voices, each a turn that gets the same answer. The clips go into :class:`Part` as they are."""
    steps = tuple(Step(say=(name,), expects="I see") for name, _ in clips)
    return Scenario(
        version=1,
        name="recorded",
        about="Sentences of real voices; the agent answers each in the same words.",
        steps=steps,
        answers=(Answer(say="I see. That is good to know. Please go on."),),
    )


def _recorded(folder: Path | None, name: str) -> Samples | None:
    for suffix in (".wav", ".flac"):
        if folder is not None and (folder / f"{name}{suffix}").is_file():
            return read_samples(folder / f"{name}{suffix}")
    return None
