import json
from typing import Any

import pytest

from antiphon.core.errors import InvalidInput, NotFound
from antiphon.core.speech import Pronunciation
from antiphon.protocol.cartesia_dictionaries import (
    MAX_ITEMS,
    DictionaryDraft,
    no_dictionary,
    read_create,
    read_update,
)


def check(text: str, said: str) -> None:
    if "@" in said:
        raise InvalidInput(f"alias for {text!r}: '@' is no symbol", "alias")


def create(**fields: Any) -> DictionaryDraft:
    return read_create(json.dumps(fields).encode(), check)


def test_a_dictionary_as_clients_send_it() -> None:
    items = [
        {"text": " New   York ", "alias": "<<n|u>>"},
        {"text": "US", "pronunciation": " you ess ", "case_sensitive": True},
        {"text": "us", "alias": "a", "pronunciation": "b", "case_sensitive": False},
    ]
    assert create(name=" Mine ", items=items) == DictionaryDraft(
        "Mine",
        (
            Pronunciation("New York", "<<n|u>>"),
            Pronunciation("US", "you ess", case_sensitive=True),
            Pronunciation("us", "a"),
        ),
    )
    assert create(name="x", items=None) == create(name="x") == DictionaryDraft("x", ())


def test_an_update_changes_what_it_names() -> None:
    def update(**fields: Any) -> DictionaryDraft:
        return read_update(json.dumps(fields).encode(), check)

    assert update() == update(name=None, items=None) == DictionaryDraft(None, None)
    assert update(name="n") == DictionaryDraft("n", None)
    assert update(items=[]) == DictionaryDraft(None, ())


@pytest.mark.parametrize(
    ("fields", "param", "about"),
    [
        ({"items": []}, "name", "required"),
        ({"name": " "}, "name", "1 to 200"),
        ({"name": "x" * 201}, "name", "1 to 200"),
        ({"name": "x", "items": [{"text": "a", "alias": "b"}] * 2}, "items[1].text", "twice"),
        ({"name": "x", "items": [{"text": "A", "alias": "b"}, {"text": "a", "alias": "c"}]}, "items[1].text", "twice"),
        ({"name": "x", "items": [{"alias": "b"}]}, "items[0].text", "required"),
        ({"name": "x", "items": [{"text": "a"}]}, "items[0].alias", "required"),
        ({"name": "x", "items": [{"text": "...", "alias": "b"}]}, "items[0].text", "a word or several"),
        ({"name": "x", "items": [{"text": "a" * 101, "alias": "b"}]}, "items[0].text", "100 characters"),
        ({"name": "x", "items": [{"text": "a", "alias": "b" * 401}]}, "items[0].alias", "400 characters"),
        ({"name": "x", "items": [{"text": "a", "alias": "<<@>>"}]}, "items[0].alias", "'@' is no symbol"),
        ({"name": "x", "items": [{"text": f"a{n}", "alias": "b"} for n in range(MAX_ITEMS + 1)]}, "items", "at most"),
    ],
)
def test_a_bad_dictionary_is_told_what_is_bad(fields: dict[str, Any], param: str, about: str) -> None:
    with pytest.raises(InvalidInput, match=about) as raised:
        create(**fields)
    assert raised.value.param == param


def test_an_unknown_one_is_not_found() -> None:
    error = no_dictionary("x" * 500)
    assert isinstance(error, NotFound)
    assert len(str(error)) < 200
