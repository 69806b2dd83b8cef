import pytest

from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.dialog.arrivals import Arrivals


def test_what_came_least_late_tells_when_a_sample_was_said() -> None:
    arrivals = Arrivals()
    for late_s, sample_s in ((0.3, 1.0), (0.1, 1.2), (0.2, 1.4), (0.0, 3.0)):
        arrivals.note(round(sample_s * EAR_RATE_HZ), 50.0 + sample_s + late_s)
    assert arrivals.came_s(round(0.9 * EAR_RATE_HZ), 60.0) == pytest.approx(50.0 + 0.9 + 0.1)
    assert arrivals.came_s(round(1.5 * EAR_RATE_HZ), 60.0) == pytest.approx(50.0 + 1.5 + 0.0)
    assert arrivals.came_s(4 * EAR_RATE_HZ, 60.0) == 60.0, "it has yet to come"


def test_a_sample_comes_in_once() -> None:
    arrivals = Arrivals()
    arrivals.note(EAR_RATE_HZ, 10.0)
    arrivals.note(EAR_RATE_HZ, 20.0)
    assert arrivals.came_s(EAR_RATE_HZ, 30.0) == pytest.approx(10.0)
    assert Arrivals().came_s(0, 5.0) == 5.0
