"""Streams of 16 s put together from the pool, spoiled, as features; each pause with its label and smart-turn's opinion.

Pauses last 0.3 to 1.9 s after ends and inside sentences alike. What follows a cut fades into the pause; at ends, where
nothing follows, something else of the recording does, as often. A stream may begin, and a speaker be left, inside an
utterance, so that neither how long somebody spoke nor what was before says much; loss weights do the rest.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from antiphon.models.pause import STEP_SAMPLES, all_features
from antiphon.models.smart_turn import SmartTurn
from train.turn.pause.pool import Item, Place, smooth_levels
from train.turn.pause.rooms import Surroundings
from train.turn.sound import RATE_HZ, Samples, room_tone

SECONDS = 16
STEPS = SECONDS * RATE_HZ // STEP_SAMPLES
KINDS = ("libri", "prompts", "hibari", "river", "kokoro")
SHARES = (0.46, 0.20, 0.16, 0.05, 0.13)
HEARD = 5 * RATE_HZ + RATE_HZ // 2
FADE = RATE_HZ // 10

PER_SHARD = 64
ASKED = 0.15
"""Of the pauses in training, smart-turn is asked about so many."""

PAUSE = np.dtype([
    ("stream", "i4"), ("start", "i4"), ("stop", "i4"), ("complete", "f4"), ("weight", "f4"), ("kind", "i2"),
    ("spoken_s", "f4"), ("natural", "?"), ("teacher", "f4"), ("item", "i4"),
])  # fmt: skip


@dataclass
class Shard:
    """``features`` [streams, 400, 224], ``speech`` [streams, 400] (share of a step), ``pauses`` (:data:`PAUSE`)."""

    features: NDArray[np.float16]
    speech: NDArray[np.float16]
    pauses: NDArray[np.void]

    def save(self, path: Path) -> None:
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            np.savez(file, features=self.features, speech=self.speech, pauses=self.pauses)
        part.rename(path)

    @classmethod
    def load(cls, path: Path) -> "Shard":
        with np.load(path) as held:
            return cls(held["features"], held["speech"], held["pauses"])


class Composer:
    def __init__(self, items: list[Item], around: Surroundings) -> None:
        self._items = items
        self._by_kind = [[n for n, item in enumerate(items) if item.kind == kind] for kind in KINDS]
        self._around = around

    def shard(self, count: int, seed: int, sound: SmartTurn | None, asked: float) -> Shard:
        """``asked``: of so many pauses smart-turn's opinion is wanted."""
        heard, speech, pauses = [], [], []
        for number in range(count):
            rng = np.random.default_rng((seed, number))
            stream = Stream(rng)
            while stream.length < SECONDS * RATE_HZ:
                self._speak(stream)
            samples, active = stream.joined()
            babble = self._babble(rng)
            samples = self._around.spoil(samples, stream.level, babble, rng)
            heard.append(all_features(samples).astype(np.float16))
            speech.append(active.reshape(STEPS, -1).mean(axis=1).astype(np.float16))
            for start, stop, place, kind, spoken_s, item in stream.pauses:
                stop = min(stop, len(samples))
                if stop - start < RATE_HZ // 5:
                    continue
                odds = np.nan
                if sound is not None and rng.random() < asked:
                    at = start + round(rng.uniform(0.12, 0.2) * RATE_HZ)
                    p = sound.complete(samples[max(0, at - HEARD) : at])
                    odds = float(np.log(max(p, 1e-6) / max(1 - p, 1e-6)))
                row = (number, start, stop, place.complete, place.weight, kind, spoken_s, place.natural, odds, item)
                pauses.append(row)
        return Shard(np.stack(heard), np.stack(speech), np.array(pauses, PAUSE))

    def _babble(self, rng: np.random.Generator) -> Samples:
        some = [self._items[int(n)].sound() for n in rng.integers(len(self._items), size=4)]
        length = max(map(len, some))
        return np.asarray(sum(np.resize(one / (np.abs(one).max() + 1e-6), length) for one in some), np.float32)

    def _speak(self, stream: "Stream") -> None:
        rng = stream.rng
        kind = int(rng.choice(len(KINDS), p=np.array(SHARES)))
        number = int(rng.choice(self._by_kind[kind]))
        item = self._items[number]
        rate = float(np.exp(rng.uniform(np.log(0.85), np.log(1.18))))
        sound = item.sound()
        if abs(rate - 1) > 0.02:
            sound = np.asarray(soxr.resample(sound, RATE_HZ * rate, RATE_HZ, "MQ"), np.float32)

        def scaled(at: int) -> int:
            return min(round(at / rate), len(sound)) if at >= 0 else -1

        start = scaled(item.start)
        places = [Place(scaled(p.at), scaled(p.resume), p.complete, p.weight, p.natural) for p in item.places]
        levels = smooth_levels(sound)
        loud = levels > np.percentile(levels, 90) - 35
        gain = 10 ** ((rng.normal(-26, 3) - np.percentile(levels, 80)) / 20)
        sound, active = sound * np.float32(gain), np.repeat(loud, RATE_HZ // 100)
        active = np.resize(active, len(sound))
        at = max(0, start - RATE_HZ // 20)
        inner = [n for n, place in enumerate(places) if place.resume >= 0]
        # long utterances are mostly entered late, so that about every third pause is their end
        late = [n for n in inner if RATE_HZ < places[-1].at - places[n].resume < rng.uniform(1.5, 6) * RATE_HZ]
        if len(sound) > 8 * RATE_HZ and late and rng.random() < 0.6:
            inner = late
        elif rng.random() < 0.6:
            inner = []
        if inner:
            first = int(rng.choice(inner))
            at, places = places[first].resume, places[first + 1 :]
        tones = room_tone(sound, 2 * RATE_HZ, int(rng.integers(1 << 30)))
        if rng.random() < 0.5:
            stream.add(tones[: int(rng.integers(RATE_HZ // 10, RATE_HZ))], None)
        onsets = [place.resume for place in item.places if place.resume >= 0]
        # a pause inside every three to ten seconds, whatever the number of places
        hazard = rng.uniform(0.1, 0.35) * max(0.0, places[-1].at - at) / RATE_HZ / len(places)
        since, began = at, stream.length
        for place in places:
            last = place.resume < 0
            cut = last or (rng.random() < (0.6 if place.natural else hazard) and place.at - since > RATE_HZ // 3)
            if not cut:
                continue
            end, tail = place.at, sound[place.at : place.at + FADE]
            if last or (place.natural and rng.random() < 0.5):
                end -= int(rng.integers(0, RATE_HZ // 16)) if rng.random() < 0.5 else 0
                tail = sound[end : end + FADE]
                if rng.random() < 0.4 and onsets:
                    other = scaled(onsets[int(rng.integers(len(onsets)))])
                    tail = sound[other : other + FADE]
            if end - at < RATE_HZ // 10:
                continue
            stream.add(sound[at:end], active[at:end])
            pause = tones[: int(rng.uniform(0.3, 1.9) * RATE_HZ)].copy()
            if rng.random() < 0.5:
                fade = tail * np.exp(-np.arange(len(tail)) / (FADE / rng.uniform(2.5, 5))).astype(np.float32)
                pause[: len(fade)] += fade
            else:
                soft = min(len(tail), RATE_HZ // 100)
                pause[:soft] += tail[:soft] * np.linspace(1, 0, soft, dtype=np.float32)
            stream.pause(pause, place, kind, (stream.length - began) / RATE_HZ, number)
            since = place.resume
            if last or rng.random() < 0.35:
                return
            at = place.resume


class Stream:
    """Parts so far; pauses as (start, stop, place, kind, seconds since the speaker began, item)."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.length = 0
        self.pauses: list[tuple[int, int, Place, int, float, int]] = []
        self._parts: list[Samples] = []
        self._active: list[NDArray[np.bool_]] = []

    def add(self, sound: Samples, active: NDArray[np.bool_] | None) -> None:
        self._parts.append(sound)
        self._active.append(np.zeros(len(sound), bool) if active is None else active)
        self.length += len(sound)

    def pause(self, tone: Samples, place: Place, kind: int, spoken_s: float, item: int) -> None:
        self.pauses.append((self.length, self.length + len(tone), place, kind, spoken_s, item))
        self.add(tone, None)

    def joined(self) -> tuple[Samples, NDArray[np.bool_]]:
        length = SECONDS * RATE_HZ
        self.pauses = [pause for pause in self.pauses if pause[0] < length - RATE_HZ // 5]
        return np.concatenate(self._parts)[:length], np.concatenate(self._active)[:length]

    @property
    def level(self) -> float:
        sound, active = np.concatenate(self._parts), np.concatenate(self._active)
        return float(np.sqrt(np.square(sound[active]).mean())) if active.any() else 0.05


def make(pool: list[Item], around: Surroundings, sound: SmartTurn | None, out: Path, shards: int, seed: int) -> None:
    """``shards`` of 64 streams from what is not held out, and ``held.npz`` (five times as many) from what is; those
    that are there already are kept."""
    out.mkdir(parents=True, exist_ok=True)
    known = Composer([item for item in pool if not item.held_out], around)
    unknown = Composer([item for item in pool if item.held_out], around)
    for number in range(shards):
        path = out / f"{number:03d}.npz"
        if not path.exists():
            known.shard(PER_SHARD, seed + number, sound, ASKED).save(path)
        if number == 1 and not (out / "held.npz").exists():
            unknown.shard(5 * PER_SHARD, seed - 1, sound, 2 * ASKED).save(out / "held.npz")
