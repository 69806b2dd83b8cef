"""A decoder that repeats itself without end: how that is noticed, and what is kept. Pure."""

from collections.abc import Sequence

_MAX_LOOP_PERIOD = 16
_LOOP_TOKENS = 12
_LOOP_REPEATS = 3


def loop_period(tokens: Sequence[int]) -> int:
    """Length of the phrase that ``tokens`` end by repeating, 0 if they do not.

    A loop is at least three repetitions and at least twelve tokens: "no, no, no" and telephone numbers are none.
    """
    for period in range(1, _MAX_LOOP_PERIOD + 1):
        span = max(_LOOP_REPEATS * period, -(-_LOOP_TOKENS // period) * period)
        tail = tokens[-span:]
        if len(tail) == span and tail[period:] == tail[:-period]:
            return period
    return 0


def without_loop(tokens: tuple[int, ...]) -> tuple[int, ...]:
    """``tokens`` with the phrase that they end by repeating said once."""
    if period := loop_period(tokens):
        while len(tokens) >= 2 * period and tokens[-period:] == tokens[-2 * period : -period]:
            tokens = tokens[:-period]
    return tokens
