"""The utterance model: embedding, gated linear recurrences, what mark follows, and which token comes next."""

import torch
from torch import Tensor, nn

from train.voice.blocks import Norm, Stack


class Utterance(nn.Module):
    """Tokens [rows, steps] -> log odds of the mark after each [rows, steps, 4], and what :meth:`next` reads."""

    def __init__(self, vocabulary: int, width: int, blocks: int, inner: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embed.weight, std=0.05)
        self.stack = Stack(blocks, width, inner)
        self.norm = Norm(width)
        self.mark = nn.Linear(width, 4)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        x, _ = self.stack(self.embed(tokens) * 8, self.stack.start(len(tokens)))
        x = self.norm(x)
        return self.mark(x), x

    def next(self, x: Tensor) -> Tensor:
        """[n, width] -> [n, vocabulary], with the embedding's own weights."""
        return x @ self.embed.weight.T.to(x.dtype)


def loss_of(
    model: Utterance, tokens: Tensor, marks: Tensor, weight: Tensor, cast: bool, share: float = 1.0
) -> tuple[Tensor, Tensor]:
    """Losses of marks and of next tokens. Padding is -1; ``marks``: -1 where no word ends, 4: a comma *or* an end.

    ``share`` of the places are asked for the next token: the larger part of the work is there.
    """
    with torch.autocast("cpu", torch.bfloat16, enabled=cast):
        odds, x = model(tokens[:, :-1].clamp(min=0))
        here = tokens[:, 1:] != -1
        if share < 1:
            here &= torch.rand(here.shape) < share
        next_odds = model.next(x[here])
    log_p = torch.log_softmax(odds.float(), -1)
    ends = torch.logaddexp(log_p[..., 2], log_p[..., 3])
    soft = torch.logaddexp(log_p[..., 1], ends)
    each = torch.stack((log_p[..., 0], log_p[..., 1], ends, log_p[..., 3], soft), -1)
    marks = marks[:, : each.shape[1]]
    known = marks >= 0
    picked = each.gather(-1, marks.clamp(min=0)[..., None])[..., 0]
    w = known * weight[:, None]
    of_marks = -(picked * w).sum() / w.sum()
    of_next = nn.functional.cross_entropy(next_odds.float(), tokens[:, 1:][here])
    return of_marks, of_next
