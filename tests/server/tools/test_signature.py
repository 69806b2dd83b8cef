"""A callable's hints and docstring become a schema; what has none is said with what to do."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import partial
from typing import Annotated, Any, Literal

import pytest

from antiphon.core.errors import InvalidInput
from antiphon.server.tools.outcome import ToolContext
from antiphon.server.tools.signature import read_docstring, signature_of


class Part(Enum):
    MORNING = "morning"


@dataclass
class Item:
    name: str


def book(
    order_id: Annotated[str, "four digits"],
    day: date,
    items: list[Item],
    part: Part | None = None,
    how: Literal["fast", "slow"] = "fast",
    *,
    idempotency_key: str = "",
    where: ToolContext | None = None,
) -> None:
    """Book a thing.

    It may take a while.

    Args:
        day: the day
            it comes
        how (str): fast or slow
    Returns:
        nothing
    """


def test_hints_and_docstring_make_the_schema() -> None:
    found = signature_of(book, derive=True, where="book")
    assert found.description == "Book a thing. It may take a while."
    assert found.takes_key
    properties = found.schema["properties"]
    assert "idempotency_key" not in properties
    assert properties["order_id"] == {"type": "string", "description": "four digits"}
    assert properties["day"] == {"type": "string", "format": "date", "description": "the day it comes"}
    assert properties["how"] == {"enum": ["fast", "slow"], "description": "fast or slow"}
    assert properties["items"] == {"type": "array", "items": {"$ref": "#/$defs/Item"}}
    assert found.schema["required"] == ["order_id", "day", "items"]
    assert found.schema["additionalProperties"] is False


def test_a_context_is_asked_for_by_its_type() -> None:
    def act(context: str, call: ToolContext) -> None: ...

    found = signature_of(act, derive=True, where="act")
    assert found.context == "call"
    assert list(found.schema["properties"]) == ["context"]


def test_partials_keep_their_functions_hints() -> None:
    def act(a: int, b: str) -> None:
        """Acts."""

    found = signature_of(partial(act, b="x"), derive=True, where="act")
    assert found.schema["properties"]["a"] == {"type": "integer"}


def rest(**more: str) -> None: ...


def odd(what: Callable[[], None]) -> None: ...


def lost(what: "NoSuchType") -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize("call", [rest, odd, lost])
def test_what_has_no_schema_asks_for_one(call: Callable[..., Any]) -> None:
    with pytest.raises(InvalidInput, match="declare `parameters`"):
        signature_of(call, derive=True, where="here")


def test_a_docstring_in_fields() -> None:
    text = "Find it.\n\n:param str order_id: the number\n    of it\n:param day: when\n:returns: it"
    assert read_docstring(text) == ("Find it.", {"order_id": "the number of it", "day": "when"})
