"""The page needs nothing from outside, and says who made the caller wait."""

import re

import pytest

from antiphon.bench.page import page, verdicts
from antiphon.bench.plots import figures, knee
from antiphon.bench.report import Table
from antiphon.bench.sheet import sheet
from antiphon.core.errors import InvalidInput

from .reports import group, plan, report


def test_the_page_names_the_component_that_made_the_caller_wait() -> None:
    text = page([report(group(plan("delay")), group(plan("silence padding")), group(plan("stall")))])
    assert "delay, 1 stream: callers near the p95 waited 650 ms, 100 % of it for the server" in text
    assert "for the voice (silence played before speech)" in text
    assert "for the delivery (gaps while playing)" in text
    assert "never made up" in text


def test_the_page_is_whole_and_loads_nothing() -> None:
    text = page([report(group(plan("healthy")), tables=(Table("A <table>", ("x",), ((1.5,),)),))])
    assert text.startswith("<!doctype html>")
    assert text.count("<svg") == text.count("</svg>") == 2
    assert "A &lt;table&gt;" in text
    assert not re.search(r"""(?:src|href)=["']https?://|<script|@import|url\(http""", text)


def test_good_and_bad_are_told_apart() -> None:
    (good, _, none), (bad, _, faults) = verdicts([group(plan("healthy")), group(plan("stall"))])
    assert (good, none) == (True, ())
    assert not bad
    assert len(faults) == 2
    ((mute, head, _),) = verdicts([group(plan("refusal"))])
    assert not mute
    assert "nobody was heard" in head


def test_pictures_follow_from_what_was_measured() -> None:
    names = [figure.title for figure in figures([group(plan("healthy")), group(plan("healthy"), "8 streams", 8.0)])]
    assert "Latency against load" in names
    assert "Errors against latency" not in names, "no error rate was measured"
    assert figures([]) == []


def test_the_knee_is_the_first_load_that_doubles_the_p95() -> None:
    assert knee([1, 4, 16, 64], [0.01, 0.012, 0.021, 0.2]) == 2
    assert knee([1, 4], [0.01, 0.02]) is None


def test_the_same_report_gives_the_same_page() -> None:
    made = report(group(plan("jitter")))
    assert page([made]) == page([made])


def test_the_sheet_is_a_png_of_the_same() -> None:
    made = sheet(report(group(plan("delay")), group(plan("stall"))))
    assert made.startswith(b"\x89PNG")
    assert 10_000 < len(made) < 300_000
    with pytest.raises(InvalidInput, match="no systems"):
        sheet(report())
