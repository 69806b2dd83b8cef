"""What the synthetic caller's lines sound like."""

import numpy as np
import pytest

from antiphon.bench.conversation_call import CALLER_RATE_HZ
from antiphon.bench.conversation_caller import spoken_step
from antiphon.bench.scenario import Step
from antiphon.core.frame import Samples


def padded(text: str, seed: int, speed: float) -> Samples:
    """A second of tone with the silence around it that a voice puts there."""
    tone = 0.3 * np.sin(np.arange(CALLER_RATE_HZ) * 0.3)
    return np.concatenate((np.zeros(4_000), tone, np.zeros(8_000))).astype(np.float32)


@pytest.mark.parametrize(
    ("say", "seconds"),
    [
        (("one",), 0.25 + 1 + 0.5),
        (("one", 0.3, "two"), 0.25 + 1 + 0.3 + 1 + 0.5),
        (("one", "two"), 2 * 1.75),
        ((0.2, "one"), 0.2 + 1 + 0.5),
    ],
)
def test_a_pause_is_as_long_as_it_says(say: tuple[str | float, ...], seconds: float) -> None:
    assert len(spoken_step(padded, Step(say=say), 0)) / CALLER_RATE_HZ == pytest.approx(seconds, abs=0.025)
