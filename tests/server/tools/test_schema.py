"""Arguments that do not fit are named, with what would fit."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.server.tools.schema import faults, parse_arguments

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string", "description": "four digits", "pattern": r"^\d{4}$"},
        "day": {"type": "string", "format": "date"},
        "part": {"enum": ["morning", "evening"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "maxItems": 2},
        "note": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]},
    },
    "required": ["order_id"],
    "additionalProperties": False,
    "$defs": {"Item": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"order_id": "4711"},
        {"order_id": "4711", "day": "2026-12-04", "part": "evening", "count": 2, "note": None},
        {"order_id": "4711", "items": [{"name": "lamp"}, {"name": "cord", "more": 1}], "count": 3.0},
    ],
)
def test_what_fits_has_no_faults(arguments: dict[str, Any]) -> None:
    assert faults(ORDER, arguments) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "order_id: is missing (four digits)"),
        ({"order_id": 4711}, "order_id: should be string (four digits), is 4711"),
        ({"order_id": "47"}, 'order_id: should match ^\\d{4}$ (four digits), is "47"'),
        ({"order_id": "4711", "day": "Friday"}, 'day: should be a date, YYYY-MM-DD, is "Friday"'),
        ({"order_id": "4711", "part": "night"}, 'part: should be one of "morning", "evening", is "night"'),
        ({"order_id": "4711", "count": True}, "count: should be integer, is true"),
        ({"order_id": "4711", "count": 0}, "count: should be at least 1, is 0"),
        ({"order_id": "4711", "count": 1.5}, "count: should be integer, is 1.5"),
        ({"order_id": "4711", "items": [{}]}, "items[0].name: is missing"),
        ({"order_id": "4711", "items": [{"name": "a"}] * 3}, "items: should have at most 2 items, has 3"),
        ({"order_id": "4711", "note": "too long"}, "note: should have at most 5 characters, has 8"),
        (
            {"order_id": "4711", "dya": "x"},
            "dya: there is no such argument; known are order_id, day, part, count, items, note",
        ),
    ],
)
def test_what_does_not_fit_is_said(arguments: dict[str, Any], says: str) -> None:
    assert faults(ORDER, arguments) == [says]


def test_no_more_than_five_faults_are_named_and_none_at_length() -> None:
    found = faults(ORDER, {"order_id": "x" * 10_000, **{f"n{i}": i for i in range(9)}})
    assert len(found) == 5
    assert max(len(fault) for fault in found) < 200


@pytest.mark.parametrize(
    ("text", "read"),
    [("", {}), ('{"a": 1}', {"a": 1}), ("[1]", "the arguments are not a JSON object"), ("null", None), ("{", None)],
)
def test_arguments_come_as_text(text: str, read: Any) -> None:
    assert parse_arguments(text) == read if read is not None else isinstance(parse_arguments(text), str)


def test_a_schema_that_refers_to_itself_ends() -> None:
    tree = {"type": "object", "properties": {"below": {"$ref": "#"}}, "additionalProperties": False}
    value: dict[str, Any] = {}
    for _ in range(100):
        value = {"below": value}
    assert faults(tree, value) == []
    assert faults({"$ref": "#"}, {}) == []


PLAIN = st.none() | st.booleans() | st.integers() | st.text()


@settings(max_examples=50)
@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_value_is_judged_without_a_fault_of_ours(value: Any) -> None:
    for name in ORDER["properties"]:
        assert all(isinstance(fault, str) for fault in faults(ORDER, {"order_id": "4711", name: value}))
