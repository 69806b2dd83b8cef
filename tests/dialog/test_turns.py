"""The settings of turn detection."""

import pytest

from antiphon.core.errors import InvalidInput
from antiphon.dialog.turns import TurnSettings


def test_defaults_are_those_of_the_protocol() -> None:
    settings = TurnSettings()
    assert (settings.start_threshold, settings.eager_end_threshold, settings.end_threshold) == (0.8, 0.4, 0.2)
    assert settings.end_timeout_ms == 5600


@pytest.mark.parametrize(
    ("field", "low", "high"),
    [
        ("start_threshold", 0.49, 0.91),
        ("eager_end_threshold", 0.29, 0.61),
        ("end_threshold", 0.04, 0.51),
        ("end_timeout_ms", 639, 11_201),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(field: str, low: float, high: float) -> None:
    for value in (low, high, float("nan"), "0.5", True):
        with pytest.raises(InvalidInput) as refused:
            TurnSettings(**{field: value})  # type: ignore[arg-type]
        assert refused.value.param == field


def test_thresholds_must_descend_strictly() -> None:
    with pytest.raises(InvalidInput, match="start_threshold must be greater"):
        TurnSettings(start_threshold=0.5, eager_end_threshold=0.5)
    with pytest.raises(InvalidInput, match="eager_end_threshold must be greater"):
        TurnSettings(eager_end_threshold=0.4, end_threshold=0.4)


def test_several_fields_change_at_once() -> None:
    changed = TurnSettings().changed(eager_end_threshold=0.6, end_threshold=0.5)
    assert changed == TurnSettings(0.8, 0.6, 0.5, 5600)
    assert TurnSettings().changed() == TurnSettings()


def test_a_change_is_judged_together_with_what_stays() -> None:
    with pytest.raises(InvalidInput):
        TurnSettings(eager_end_threshold=0.4).changed(end_threshold=0.45)
