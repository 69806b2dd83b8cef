import pytest

from antiphon.core.errors import InvalidInput
from antiphon.protocol.cartesia_pages import PageQuery


def test_what_is_absent_or_blank_is_the_default() -> None:
    assert PageQuery.read({}) == PageQuery.read({"limit": " ", "other": "x"}) == PageQuery(10)
    assert PageQuery.read({"limit": "100", "starting_after": "a"}) == PageQuery(100, "a")
    assert PageQuery.read({"ending_before": "b"}) == PageQuery(10, None, "b")


@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "101"}, {"limit": "٣"}, {"limit": "x"}])
def test_limits_that_are_none(query: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="between 1 and 100"):
        PageQuery.read(query)


def test_one_cursor_at_a_time() -> None:
    with pytest.raises(InvalidInput, match="not both"):
        PageQuery.read({"starting_after": "a", "ending_before": "b"})
