from pathlib import Path

import pytest

from antiphon.bench.library import Library, failures, read, read_file
from antiphon.bench.report import json_bytes, write
from antiphon.core.errors import InvalidInput, NotFound

from .reports import group, plan, report


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "deep" / "bench.db")


def test_a_report_comes_back_as_it_was(library: Library) -> None:
    kept = report(group(plan("stall")), group(plan("healthy")), notes=("on the train",))
    assert library.report(library.keep(kept)) == kept


def test_the_newest_come_first_with_their_systems_and_faults(library: Library) -> None:
    first = library.keep(report(group(plan("healthy"))))
    second = library.keep(report(group(plan("stall")), group(plan("delay"))))
    entries = library.newest()
    assert [entry.id for entry in entries] == [second, first]
    assert entries[0].systems == "stall, delay"
    assert [entry.faults for entry in entries] == [3, 0]
    assert len(library.newest(limit=1)) == 1


def test_words_of_notes_and_of_failures_are_found(library: Library) -> None:
    train = library.keep(report(group(plan("healthy")), notes=("measured on the train",)))
    stall = library.keep(report(group(plan("stall"))))
    assert [entry.id for entry in library.search("train")] == [train]
    (found,) = library.search('"never made up"')
    assert found.id == stall
    assert "[never made up]" in found.excerpt
    assert {entry.id for entry in library.search("train OR stalls")} == {train, stall}, "words are found by their stem"
    assert library.search("nowhere") == []


@pytest.mark.parametrize("query", ['"', "a AND", "(", "x:y", "NEAR(", "-", ""])
def test_what_is_no_query_is_taken_as_words(library: Library, query: str) -> None:
    library.keep(report(notes=("something",)))
    assert library.search(query) == []


def test_what_is_not_there_and_what_is_no_report_is_said(library: Library, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="report 7"):
        library.report(7)
    with pytest.raises(InvalidInput, match="no report"):
        read(b"{}")
    with pytest.raises(InvalidInput, match=r"absent\.json"):
        read_file(tmp_path / "absent.json")
    (tmp_path / "file").write_text("not a database, and long enough to be looked at as one" * 40)
    with pytest.raises(InvalidInput, match="file"):
        Library(tmp_path / "file").newest()


def test_a_file_that_was_written_is_read(tmp_path: Path) -> None:
    made = report(group(plan("jitter")))
    write(made, tmp_path / "r.json")
    assert read_file(tmp_path / "r.json") == made
    assert read(json_bytes(made)) == made


def test_failures_are_faults_and_errors_in_words() -> None:
    said = failures(report(group(plan("refusal"))))
    assert any("refusal (server)" in line for line in said)
    assert "planted refusal" in said
