"""The settings of turn detection."""

from dataclasses import replace

import pytest

from antiphon.core.errors import InvalidInput
from antiphon.core.turns import EndpointSettings


def test_defaults_are_those_of_the_protocol() -> None:
    assert EndpointSettings() == EndpointSettings(start=0.8, eager_end=0.4, end=0.2, end_timeout_s=5.6)


@pytest.mark.parametrize(
    ("field", "low", "high"),
    [("start", 0.49, 0.91), ("eager_end", 0.29, 0.61), ("end", 0.04, 0.51), ("end_timeout_s", 0.639, 11.201)],
)
def test_a_value_out_of_range_is_refused_by_name(field: str, low: float, high: float) -> None:
    for value in (low, high, float("nan")):
        with pytest.raises(InvalidInput) as refused:
            EndpointSettings(**{field: value})
        assert refused.value.param == field


def test_thresholds_must_fall_strictly() -> None:
    for fields in ({"start": 0.5, "eager_end": 0.5}, {"eager_end": 0.4, "end": 0.4}):
        with pytest.raises(InvalidInput, match="fall strictly"):
            EndpointSettings(**fields)


def test_a_change_is_judged_together_with_what_stays() -> None:
    assert replace(EndpointSettings(), eager_end=0.6, end=0.5).start == 0.8
    with pytest.raises(InvalidInput):
        replace(EndpointSettings(), end=0.45)
