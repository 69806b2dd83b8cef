"""Train the utterance model on a larger model's opinions, from weights that have read the same texts.

    python -m train.turn.words.taught --opinions FOLDER --after FILE --out FOLDER [--epochs 3]

Knowledge distillation with soft labels. ``--opinions``: what ``teacher.py`` wrote. The loss is the cross entropy
against the teacher's probabilities of a sentence's end, of a comma and of neither, after every word; and a share of
that of the next token.
"""

import argparse
import json
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from antiphon.models.utterance_pieces import Pieces
from train.turn.words import run
from train.turn.words.model import Utterance
from train.turn.words.opinions import Row, judged, row_of
from train.turn.words.steps import Steps, groups

HELD_OUT = 50
"""One of so many sayings is kept apart and reported on."""
RATE = 2e-3
NEXT_COUNTS = 0.1
"""How much the next token's loss counts, asked at a fifth of the places: what keeps the embedding general."""


def batches(rows: Sequence[Row], rng: random.Random) -> Iterator[tuple[Tensor, Tensor]]:
    """Rows of about one length: tokens [rows, steps], padded with -1; targets [rows, steps, 2], padded with NaN."""
    for group in groups([len(row.tokens) for row in rows], run.TOKENS, rng):
        steps = max(len(rows[at].tokens) for at in group)
        tokens = torch.full((len(group), steps), -1)
        targets = torch.full((len(group), steps, 2), math.nan)
        for number, at in enumerate(group):
            tokens[number, : len(rows[at].tokens)] = torch.from_numpy(rows[at].tokens.astype(np.int64))
            targets[number, : len(rows[at].tokens)] = torch.from_numpy(rows[at].targets.astype(np.float32))
        yield tokens, targets


def loss_of(model: Utterance, tokens: Tensor, targets: Tensor, cast: bool) -> tuple[Tensor, Tensor]:
    """Cross entropy against the teacher, less the teacher's own entropy; and of next tokens."""
    with torch.autocast("cpu", torch.bfloat16, enabled=cast):
        odds, x = model(tokens.clamp(min=0))
        here = (tokens[:, 1:] != -1) & (torch.rand(tokens[:, 1:].shape) < run.ASKED)
        next_odds = model.next(x[:, :-1][here])
    keep = ~targets[..., 0].isnan()
    p = targets[keep]
    p = torch.cat((1 - p.sum(-1, keepdim=True).clamp(max=1), p[:, 1:], p[:, :1]), -1).clamp(1e-5, 1)
    log_q = torch.log_softmax(odds[keep].float(), -1)
    log_q = torch.stack((log_q[:, 0], log_q[:, 1], torch.logaddexp(log_q[:, 2], log_q[:, 3])), -1)
    apart = (p * (p.log() - log_q)).sum(-1).mean()
    return apart, torch.nn.functional.cross_entropy(next_odds.float(), tokens[:, 1:][here])


@torch.no_grad()
def judged_by(model: Utterance, rows: Sequence[Row]) -> dict[str, float]:
    """How far from the teacher on sayings that were kept: books, and what people say."""
    found = {}
    for name, closed in (("books", False), ("said", True)):
        some = [row for row in rows if row.closed is closed]
        each = [float(loss_of(model, *batch, cast=False)[0]) for batch in batches(some, random.Random(1))]
        found[name] = round(float(np.mean(each)), 4)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--opinions", type=Path, required=True)
    parser.add_argument("--after", type=Path, required=True, help="weights to begin with")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=float, default=3.0)
    args = parser.parse_args()
    torch.manual_seed(run.SEED)
    rng = random.Random(run.SEED)
    args.out.mkdir(parents=True, exist_ok=True)
    vocabulary, state = run.read(args.after)
    known = Pieces(vocabulary)
    rows = [row_of(one, known) for one in judged(args.opinions)]
    rng.shuffle(rows)
    kept, rows = rows[: len(rows) // HELD_OUT], rows[len(rows) // HELD_OUT :]
    rows += [row for row in rows if row.closed for _ in range(run.SAID_COUNTS - 1)]
    model = Utterance(len(vocabulary), run.WIDTH, run.BLOCKS, run.INNER)
    model.load_state_dict(state)
    steps = Steps(model, RATE, warm=100)
    lengths = [len(row.tokens) for row in rows]
    most = round(args.epochs * len(groups(lengths, run.TOKENS, random.Random(0))))
    print(f"{len(rows)} sayings, {sum(lengths)} tokens, {most} steps", flush=True)
    print(judged_by(steps.average, kept), flush=True)
    losses: list[tuple[float, float]] = []
    while steps.count < most:
        for tokens, targets in batches(rows, rng):
            if steps.count == most:
                break
            apart, of_next = loss_of(model, tokens, targets, cast=True)
            steps.step(apart + NEXT_COUNTS * of_next, steps.count / most)
            losses.append((apart.item(), of_next.item()))
            if steps.count % 250 == 0:
                print(f"{steps.count} {steps.count / most:.0%} {np.mean(losses[-250:], axis=0).round(4)}", flush=True)
            if steps.count % 1000 == 0:
                print(judged_by(steps.average, kept), flush=True)
                run.write(steps.average, vocabulary, args.out / "utterance.npz")
    print(json.dumps(judged_by(steps.average, kept)), flush=True)
    run.write(steps.average, vocabulary, args.out / "utterance.npz")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
