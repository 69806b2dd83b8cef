"""How long the numbers are that tools ask for."""

import pytest

from antiphon.core.expected_digits import expected_digits


def schema(**prop: object) -> dict[str, object]:
    return {"type": "object", "properties": {"number": prop}}


@pytest.mark.parametrize(
    ("prop", "counts"),
    [
        ({"type": "string", "pattern": r"^\d{4}$"}, (4,)),
        ({"type": "string", "pattern": r"[0-9]{10}"}, (10,)),
        ({"type": "string", "pattern": r"^\d\d\d\d$"}, (4,)),
        ({"type": "string", "pattern": r"^AB-\d{6}$"}, (6,)),
        ({"type": "string", "pattern": r"^\d{7,9}$"}, (7, 8, 9)),
        ({"type": "string", "pattern": r"^\d{4,99}$"}, tuple(range(4, 21))),
        ({"type": "string", "pattern": r"^(a|b)+\d{4}.*$"}, ()),
        ({"type": "string", "description": "the order number, four digits"}, (4,)),
        ({"type": "string", "description": "A 10-digit phone number or a five digit PIN"}, (5, 10)),
        ({"type": "string", "description": "one or two digits"}, ()),
        ({"type": "integer", "minimum": 1000, "maximum": 9999}, (4,)),
        ({"type": "integer", "minimum": 1, "maximum": 9999}, ()),
        ({"type": "integer"}, ()),
        ({"type": "string", "pattern": 4, "description": None}, ()),
    ],
)
def test_the_length_of_a_number(prop: dict[str, object], counts: tuple[int, ...]) -> None:
    assert expected_digits([schema(**prop)]) == counts


def test_all_tools_count_and_odd_schemas_say_nothing() -> None:
    odd = [None, "", [], {}, {"properties": []}, {"properties": {"a": True}}]
    assert expected_digits(odd) == ()
    assert expected_digits([*odd, schema(pattern=r"\d{6}"), schema(pattern=r"\d{4}")]) == (4, 6)
