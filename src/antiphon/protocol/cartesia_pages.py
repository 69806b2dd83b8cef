"""Cursors of Cartesia's lists."""

from collections.abc import Mapping
from dataclasses import dataclass

from antiphon.core.errors import InvalidInput

MAX_PAGE = 100
DEFAULT_PAGE = 10


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which part of a list is asked for. At most one of the cursors, which are ids of things in the list."""

    limit: int = DEFAULT_PAGE
    starting_after: str | None = None
    ending_before: str | None = None

    @staticmethod
    def read(query: Mapping[str, str]) -> "PageQuery":
        """Raises ``InvalidInput``. Unknown names are ignored, and so is what is blank."""
        given = {name: value.strip() for name, value in query.items() if value.strip()}
        limit = given.get("limit", str(DEFAULT_PAGE))
        if not limit.isascii() or not limit.isdigit() or len(limit) > 9 or not 1 <= int(limit) <= MAX_PAGE:
            raise InvalidInput(f"limit: must be between 1 and {MAX_PAGE}", "limit")
        if "starting_after" in given and "ending_before" in given:
            raise InvalidInput("ending_before: give either starting_after or ending_before, not both", "ending_before")
        return PageQuery(int(limit), given.get("starting_after"), given.get("ending_before"))
