"""Limits that a capacity run wrote are read by the settings, below all that is set elsewhere."""

from pathlib import Path

import pytest

from antiphon.bench.admission import Admission, admit, write_limits
from antiphon.bench.capacity import Capacity, Limits
from antiphon.settings import SettingsError, load


def test_the_written_file_is_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "limits.toml"
    write_limits(Admission(184, 37, Limits(0.2), cores=2, price_per_hour=0.1), path, "report 7")
    assert load(None, {"server.limits_file": path}).stream_limit == 37
    assert load(None, {"server.limits_file": path, "server.max_streams": 5}).stream_limit == 5
    text = path.read_text()
    assert "184 listeners" in text
    assert "first audible p95 at most 200 ms" in text


def test_a_file_that_is_not_there_or_holds_other_keys_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="absent"):
        load(None, {"server.limits_file": tmp_path / "absent.toml"})
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[server]\nmax_stream = 3\n")
    with pytest.raises(SettingsError, match="max_streams"):
        load(None, {"server.limits_file": wrong})


def test_what_a_stream_costs() -> None:
    admission = admit(Capacity(200, 204, ()), Capacity(40, None, ()), Limits(), cores=4, gpus=2, price_per_hour=0.5)
    assert (admission.per_core, admission.per_gpu) == (50, 100)
    assert admission.per_dollar == pytest.approx(400)
    assert admission.dollars_per_hour == pytest.approx(0.0025)
    assert admit(Capacity(8, None, ()), Capacity(1, None, ()), Limits(), cores=1).per_dollar is None


def test_where_nothing_held_there_is_no_limit() -> None:
    with pytest.raises(ValueError, match="not even the smallest"):
        admit(Capacity(0, 4, ()), Capacity(4, None, ()), Limits(), cores=2)
