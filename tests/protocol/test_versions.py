import pytest

from antiphon.protocol.versions import KNOWN, NEWEST, errors_say_done, has_structured_errors, pick_version


@pytest.mark.parametrize("version", KNOWN)
def test_known_versions_are_taken_from_either_place(version: str) -> None:
    assert pick_version(version, None) == version
    assert pick_version(None, version) == version


def test_F4_the_query_beats_the_header() -> None:
    assert pick_version("2025-04-16", "2026-08-14") == "2025-04-16"


@pytest.mark.parametrize("odd", [None, "", "2031-01-01", "latest", "2025-4-16"])
def test_F4_absent_and_unknown_mean_the_newest(odd: str | None) -> None:
    assert pick_version(odd, None) == NEWEST
    assert pick_version(None, odd) == NEWEST
    assert pick_version("2031-01-01", "2025-04-16") == NEWEST


def test_what_versions_change() -> None:
    assert [has_structured_errors(version) for version in KNOWN] == [False, False, False, True, True]
    assert [errors_say_done(version) for version in KNOWN] == [False, False, False, True, True]
