"""Train the utterance model, from nothing or from where it stood, and write its weights.

python -m train.turn.words.run --books FOLDER --taskmaster FOLDER --polyai FOLDER --out FOLDER [--minutes 30]
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from antiphon.models.utterance_pieces import END as STOP
from antiphon.models.utterance_pieces import SOFT as COMMA
from antiphon.models.utterance_pieces import START, Pieces, normalised
from train.turn.words import corpus, pieces
from train.turn.words.model import Utterance, loss_of
from train.turn.words.steps import Steps, groups

SEED = 20261201
VOCABULARY = 4096
WIDTH, BLOCKS, INNER = 192, 2, 384
TOKENS = 6144
"""Of a batch, about."""
TOKENS_A_WORD = 1.4
SAID_COUNTS = 2
"""How often what people say is read for once a book."""
ASKED = 0.2
"""The share of places at which the next token is asked for."""
HELD_OUT = 50
"""One of so many sayings is kept for choosing."""


def tokens_of(said: corpus.Said, known: Pieces, rng: random.Random) -> tuple[list[int], list[int]]:
    """Tokens and, for the last of each word, its mark (else -1)."""
    found, marks = [START], [-1]
    for word, mark, sign in zip(said.words, said.marks, corpus.shown(said, rng), strict=True):
        parts = known.word(normalised(word))
        if not parts:
            continue
        found += parts
        marks += [-1] * (len(parts) - 1) + [mark]
        if sign:
            found.append(STOP if sign == "." else COMMA)
            marks.append(-1)
    return found, marks


def batches(
    sayings: Sequence[corpus.Said], known: Pieces, rng: random.Random
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Rows of about one length, padded with -1 (tokens) and -1 (marks)."""
    for group in groups([len(said.words) * TOKENS_A_WORD for said in sayings], TOKENS, rng):
        rows = [tokens_of(sayings[at], known, rng) for at in group]
        steps = max(len(tokens) for tokens, _ in rows)
        tokens = torch.full((len(rows), steps + 1), -1)
        marks = torch.full((len(rows), steps + 1), -1)
        for row, (of, after) in enumerate(rows):
            tokens[row, : len(of)] = torch.tensor(of)
            marks[row, : len(after)] = torch.tensor(after)
        weight = torch.tensor([2.0 if sayings[at].closed else 1.0 for at in group])
        yield tokens, marks, weight


@torch.no_grad()
def judged(model: Utterance, sayings: Sequence[corpus.Said], known: Pieces) -> dict[str, float]:
    """AUC of sentence ends against other words' ends, for books and for what people say; the losses."""
    found: dict[str, float] = {}
    for name, closed in (("books", False), ("said", True)):
        odds, ends, losses = [], [], []
        some = [said for said in sayings if said.closed is closed]
        for tokens, marks, weight in batches(some, known, random.Random(1)):
            of_marks, of_next = loss_of(model, tokens, marks, weight, cast=False)
            losses.append((float(of_marks), float(of_next)))
            p = torch.softmax(model(tokens[:, :-1].clamp(min=0))[0], -1)[..., 2:].sum(-1)
            at = marks[:, :-1]
            keep = (at >= 0) & (at != corpus.LOOSE)
            odds.append(p[keep])
            ends.append((at[keep] == corpus.END) | (at[keep] == corpus.DONE))
        p, end = torch.cat(odds).numpy(), torch.cat(ends).numpy()
        rank = np.empty(len(p))
        rank[np.argsort(p)] = np.arange(len(p))
        n = end.sum()
        found[f"{name} auc"] = float((rank[end].sum() - n * (n - 1) / 2) / (n * (len(p) - n)))
        found[f"{name} marks"], found[f"{name} next"] = map(float, np.mean(losses, axis=0))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    corpus.arguments(parser)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--after", type=Path, help="weights to begin with")
    parser.add_argument("--minutes", type=float, default=30.0, help="of the whole schedule, by the wall clock")
    args = parser.parse_args()
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    args.out.mkdir(parents=True, exist_ok=True)
    sayings = list(corpus.sayings(args))
    rng.shuffle(sayings)
    kept, sayings = sayings[: len(sayings) // HELD_OUT], sayings[len(sayings) // HELD_OUT :]
    before = read(args.after) if args.after else None
    vocabulary = before[0] if before else pieces.choose(
        (map(normalised, said.words) for said in sayings for _ in range(SAID_COUNTS if said.closed else 1)), VOCABULARY
    )  # fmt: skip
    known = Pieces(vocabulary)
    model = Utterance(len(vocabulary), WIDTH, BLOCKS, INNER)
    if before:
        model.load_state_dict(before[1])
    steps = Steps(model, rate=3e-3, warm=200)
    print(f"{len(sayings)} sayings, {sum(len(s.words) for s in sayings)} words,"
          f" {sum(p.numel() for p in model.parameters())} parameters", flush=True)  # fmt: skip
    began_s = time.monotonic()
    done, losses = 0.0, []
    while done < 1:
        epoch = [said for said in sayings for _ in range(SAID_COUNTS if said.closed else 1)]
        for tokens, marks, weight in batches(epoch, known, rng):
            done = (time.monotonic() - began_s) / (60 * args.minutes)
            if done >= 1:
                break
            of_marks, of_next = loss_of(model, tokens, marks, weight, cast=True, share=ASKED)
            steps.step(of_marks + 0.25 * of_next, done)
            losses.append((of_marks.item(), of_next.item()))
            if steps.count % 250 == 0:
                print(f"{steps.count} {done:.0%} {np.mean(losses[-250:], axis=0).round(3)}", flush=True)
            if steps.count % 1000 == 0:
                print({k: round(v, 4) for k, v in judged(steps.average, kept, known).items()}, flush=True)
                write(steps.average, vocabulary, args.out / "utterance.npz")
    print(json.dumps(judged(steps.average, kept, known)), flush=True)
    write(steps.average, vocabulary, args.out / "utterance.npz")


def read(file: Path) -> tuple[list[str], dict[str, Tensor]]:
    """Vocabulary and weights that :func:`write` wrote."""
    with np.load(file) as held:
        weights = {name: torch.tensor(held[name].astype(np.float32)) for name in held.files if name != "pieces"}
        return str(held["pieces"]).split("\n"), weights


def write(model: Utterance, vocabulary: Sequence[str], file: Path) -> None:
    """Half precision; the names are those of the module."""
    weights = {name: value.detach().numpy().astype(np.float16) for name, value in model.state_dict().items()}
    np.savez_compressed(file, pieces=np.array("\n".join(vocabulary)), **weights)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
