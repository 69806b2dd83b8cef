"""Utterances to training batches: one to three in a row, so that the state learns to carry over; fixed sizes."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from train.voice.data import HOP, LEAD_FRAMES, Utterance
from train.voice.model import CONDITIONS, LN_F0_MEAN, Batch, positions

GAP = 4
"""Empty places after a sentence: as many as the encoder looks ahead."""
TONE_ST, TONE_SPREAD_ST = 11.0, 0.32
SPREAD_LN, SPREAD_SPREAD_LN = 1.345, 0.1
"""Over sentences: mean F0 (semitones above 100 Hz, less the shift asked for) and ln of its deviation (less the range
asked for), mean and standard deviation each."""

_FRAME_UNIT = 128
_MOST_ROWS = 16


def conditions(utterance: Utterance, measured: bool) -> np.ndarray:
    """``[6]`` as in ``model.CONDITIONS``; the last two only if ``measured``, and less the less there is to measure."""
    voiced = int((utterance.f0 > 0).sum())
    trust = voiced / (voiced + 40) if measured and voiced > 4 else 0.0
    tone = (utterance.stats[0] - utterance.pitch - TONE_ST) / TONE_SPREAD_ST
    spread = (np.log(max(float(utterance.stats[1]), 0.1) / utterance.f0_range) - SPREAD_LN) / SPREAD_SPREAD_LN
    asked = (4 * np.log(utterance.speed), utterance.pitch / 3, 3 * np.log(utterance.f0_range), 5 * utterance.energy)
    return np.array((*asked, *np.clip((tone * trust, spread * trust), -3, 3)), np.float32)


def ln_f0(f0: np.ndarray) -> np.ndarray:
    """Natural log of F0, straight through unvoiced frames; the mean of the voice where nothing is voiced."""
    voiced = np.flatnonzero(f0 > 0)
    if not voiced.size:
        return np.full(len(f0), LN_F0_MEAN, np.float32)
    return np.interp(np.arange(len(f0)), voiced, np.log(f0[voiced])).astype(np.float32)


def plain_ln_f0(utterance: Utterance) -> np.ndarray:
    """ln F0 as it would be without the shift and the range that were asked of the teacher: these are applied to what
    the model predicts, exactly, and need not be learnt."""
    shifted = ln_f0(utterance.f0) - utterance.pitch * np.float32(np.log(2) / 12)
    return ((shifted - LN_F0_MEAN) / utterance.f0_range + LN_F0_MEAN).astype(np.float32)


class Row:
    """Some utterances one after the other, as arrays (see ``model.Batch``); and for those who make sound of them, the
    ln F0 that is ``heard`` in the next frame [frames] and the samples ``wav`` [frames * 300] int16, if there are any.
    """

    def __init__(self, utterances: Sequence[Utterance], rng: np.random.Generator) -> None:
        ids, valid, durations, token, mel, f0, voiced = [], [], [], [], [], [], []
        per_token, per_frame, heard, wav = [], [], [], []
        tokens = 0
        for utterance in utterances:
            # The silence before a sentence is cut now and then, so that its length is no law.
            cut = int(rng.choice((0, 0, 2))) if utterance.durations[0] == LEAD_FRAMES else 0
            lasts = utterance.durations.astype(np.int64)
            lasts[0] -= cut
            knobs = conditions(utterance, rng.random() > 0.3)
            ids += [utterance.ids.astype(np.int64), np.zeros(GAP, np.int64)]
            valid += [np.ones(len(lasts), np.float32), np.zeros(GAP, np.float32)]
            durations.append(lasts)
            token.append(np.repeat(np.arange(len(lasts)) + tokens, lasts))
            mel.append(utterance.mel[cut:])
            f0.append(plain_ln_f0(utterance)[cut:])
            voiced.append((utterance.f0[cut:] > 0).astype(np.float32))
            heard.append(ln_f0(utterance.f0)[cut:])
            wav.append(utterance.wav[cut * HOP :])
            per_token.append(np.tile(knobs, (len(lasts), 1)))
            per_frame.append(np.tile(knobs, ((utterance.frames - cut) // 2, 1)))
            tokens += len(lasts)
        self.ids, self.valid = np.concatenate(ids), np.concatenate(valid)
        self.durations, self.token = np.concatenate(durations), np.concatenate(token)
        self.mel = np.concatenate(mel).astype(np.float32)
        self.f0, self.voiced = _next(np.concatenate(f0)), _next(np.concatenate(voiced))
        self.heard, self.wav = _next(np.concatenate(heard)), np.concatenate(wav)
        self.conditions, self.frame_conditions = np.concatenate(per_token), np.concatenate(per_frame)

    @property
    def frames(self) -> int:
        return len(self.token)


def _next(values: np.ndarray) -> np.ndarray:
    return np.append(values[1:], values[-1:])


def _padded(arrays: list[np.ndarray], length: int) -> torch.Tensor:
    out = np.zeros((len(arrays), length, *arrays[0].shape[1:]), arrays[0].dtype)
    for row, array in zip(out, arrays, strict=True):
        row[: len(array)] = array
    return torch.from_numpy(out)


def batch_of(rows: list[Row]) -> Batch:
    """Rows side by side; sizes are multiples of 128 frames and 32 symbols, so that few shapes occur."""
    frames = -(-max(row.frames for row in rows) // _FRAME_UNIT) * _FRAME_UNIT
    tokens = -(-max(len(row.durations) for row in rows) // 32) * 32
    places = -(-max(len(row.ids) for row in rows) // 32) * 32
    durations = _padded([row.durations for row in rows], tokens)
    token = _padded([row.token for row in rows], frames)
    starts = (durations.cumsum(1) - durations).gather(1, token)
    held = durations.gather(1, token).float()
    at = torch.minimum((torch.arange(frames)[None] - starts).float(), held - 1)
    return Batch(
        ids=_padded([row.ids for row in rows], places),
        valid=_padded([row.valid for row in rows], places),
        take=_padded([np.flatnonzero(row.valid) + GAP for row in rows], tokens),
        durations=durations,
        token=token,
        position=positions(at, held),
        conditions=_padded([row.conditions for row in rows], tokens),
        frame_conditions=_padded([row.frame_conditions for row in rows], frames // 2),
        mel=_padded([row.mel for row in rows], frames),
        f0=_padded([row.f0 for row in rows], frames),
        voiced=_padded([row.voiced for row in rows], frames),
        mask=_padded([np.ones(row.frames, np.float32) for row in rows], frames),
    )


def batches(utterances: Sequence[Utterance], rng: np.random.Generator, frames: int) -> Iterator[Batch]:
    """What :func:`packs` gives, as batches."""
    return (batch_of(rows) for rows in packs(utterances, rng, frames))


def packs(utterances: Sequence[Utterance], rng: np.random.Generator, frames: int) -> Iterator[list[Row]]:
    """One pass over a random pool of up to 400 utterances, in packs of rows of about ``frames`` frames together."""
    order = rng.permutation(len(utterances))[:400]
    groups: list[list[Utterance]] = []
    at = 0
    while at < len(order):
        wanted = int(rng.choice((1, 2, 3), p=(0.45, 0.3, 0.25)))
        group = [utterances[order[at]]]
        at += 1
        while at < len(order) and len(group) < wanted:
            if sum(u.frames for u in group) + utterances[order[at]].frames > frames:
                break
            group.append(utterances[order[at]])
            at += 1
        groups.append(group)
    groups.sort(key=lambda group: sum(u.frames for u in group))
    packed: list[list[list[Utterance]]] = []
    pack: list[list[Utterance]] = []
    for group in reversed(groups):
        longest = -(-sum(u.frames for u in (pack or [group])[0]) // _FRAME_UNIT) * _FRAME_UNIT
        if pack and ((len(pack) + 1) * longest > frames or len(pack) == _MOST_ROWS):
            packed.append(pack)
            pack = []
        pack.append(group)
    packed.append(pack)
    for index in rng.permutation(len(packed)):
        yield [Row(group, rng) for group in packed[index]]


assert len(CONDITIONS) == 6
