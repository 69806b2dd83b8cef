"""First audio by the way in which text goes to the voice: token by token, sentence by sentence, or the whole reply.

The same question, typed, to the same server and the same model, in turning order; measured as speech is measured
(``bench.measure``), the clock starting just before the question is sent.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from antiphon.bench.measure import Measured, distribution
from antiphon.bench.report import Cell, Table, milliseconds
from antiphon.bench.scenario import Answer, Scenario, Step

Feed: TypeAlias = Literal["tokens", "sentences", "reply"]
FEEDS: tuple[Feed, ...] = ("tokens", "sentences", "reply")
QUESTION = "What happens to my bike now?"
SCENARIO = Scenario(
    version=1,
    name="feeding",
    about="One question, one answer of three sentences.",
    steps=(Step(say=(QUESTION,)),),
    answers=(
        Answer(
            say=(
                "We take your bike into the workshop this afternoon and look at all of its parts. After that I call "
                "you and tell you what has to be done and what it costs. If you say yes, you can have it back on the "
                "next day."
            )
        ),
    ),
)


def turning_order(rounds: int) -> list[Feed]:
    """Each way as often, none always first."""
    return [FEEDS[(place + round_) % len(FEEDS)] for round_ in range(rounds) for place in range(len(FEEDS))]


def feeding(taken: Mapping[Feed, Sequence[Measured]], first_s: float, token_s: float) -> Table:
    rows: list[tuple[Cell, ...]] = []
    whole = distribution([one.ttfa_s for one in taken["reply"] if one.ttfa_s is not None])
    for feed in FEEDS:
        good = [one for one in taken[feed] if not one.error and one.ttfa_s is not None]
        ttfa = distribution([one.ttfa_s for one in good if one.ttfa_s is not None])
        heard = distribution([one.heard_s for one in good if one.heard_s is not None])
        rows.append(
            (
                {"tokens": "token by token", "sentences": "sentence by sentence", "reply": "whole reply"}[feed],
                len(good),
                milliseconds(ttfa.p50) if ttfa else None,
                f"{1e3 * ttfa.p50_ci.low:.0f} to {1e3 * ttfa.p50_ci.high:.0f}" if ttfa else "-",
                milliseconds(ttfa.p95) if ttfa else None,
                milliseconds(ttfa.max) if ttfa else None,
                milliseconds(heard.p50) if heard else None,
                whole.p50 / ttfa.p50 if whole and ttfa else None,
                sum(one.underruns for one in good),
            )
        )
    words = len(SCENARIO.answers[0].say.split())
    return Table(
        "Feeding the voice: first audible sample, ms",
        ("fed", "answers", "p50", "p50 CI", "p95", "max", "heard p50", "times sooner than the whole", "underruns"),
        tuple(rows),
        (
            f"From the question to the frame with the first audible sample. The model: {1e3 * first_s:.0f} ms to its "
            f"first token, {1e3 * token_s:.0f} ms to each of {words} words. One at a time, in turning order.",
        ),
    )
