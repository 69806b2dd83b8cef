"""Cartesia's pronunciation dictionaries: what clients send and get. Where they are kept is the shell's business.

The client's types decide where the documents differ: ``case_sensitive`` is false if absent (any capitals match). Newer
documents call an item's ``alias`` ``pronunciation``; either is read, both are given back.
"""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from msgspec import UNSET, UnsetType

from antiphon.core.errors import InvalidInput, NotFound
from antiphon.core.speech import Pronunciation
from antiphon.protocol.http import decode_json, shown

MAX_ITEMS = 1_000
MAX_NAME_CHARS = 200
MAX_TEXT_CHARS = 100
MAX_ALIAS_CHARS = 400
"""Documented are 100; phonemes of a long word, set apart by strokes, are more."""

Check = Callable[[str, str], object]
"""``check(text, said)`` raises ``InvalidInput`` for what cannot be said."""


class ItemGiven(msgspec.Struct, frozen=True):
    text: str
    alias: str | None = None
    pronunciation: str | None = None
    case_sensitive: bool | None = None


class CreateDictionary(msgspec.Struct, frozen=True):
    """``POST /pronunciation-dicts``."""

    name: str
    items: list[ItemGiven] | None = None


class UpdateDictionary(msgspec.Struct, frozen=True):
    """``PATCH /pronunciation-dicts/{id}``: what is absent stays; items are replaced as a whole."""

    name: str | UnsetType | None = UNSET
    items: list[ItemGiven] | UnsetType | None = UNSET


class ItemBody(msgspec.Struct, frozen=True):
    text: str
    alias: str
    pronunciation: str
    case_sensitive: bool


class DictionaryBody(msgspec.Struct, frozen=True):
    id: str
    name: str
    owner_id: str
    pinned: bool
    created_at: str
    items: list[ItemBody]


class DictionaryPage(msgspec.Struct, frozen=True):
    """The newest first. ``next_page`` is the cursor for ``starting_after``, None on the last page."""

    data: list[DictionaryBody]
    has_more: bool
    next_page: str | None


@dataclass(frozen=True, slots=True)
class DictionaryDraft:
    """What a client wants; None: as it is."""

    name: str | None
    items: tuple[Pronunciation, ...] | None


_create = msgspec.json.Decoder(CreateDictionary)
_update = msgspec.json.Decoder(UpdateDictionary)


def read_create(body: bytes, check: Check) -> DictionaryDraft:
    """Raises ``InvalidInput`` naming the item at fault."""
    asked = decode_json(body, _create)
    return DictionaryDraft(_name(asked.name), _items(asked.items or [], check))


def read_update(body: bytes, check: Check) -> DictionaryDraft:
    """Raises ``InvalidInput`` naming the item at fault."""
    asked = decode_json(body, _update)
    return DictionaryDraft(
        _name(asked.name) if isinstance(asked.name, str) else None,
        _items(asked.items, check) if isinstance(asked.items, list) else None,
    )


def no_dictionary(dictionary: str) -> NotFound:
    """404, for one of somebody else's as well: whether it exists is nobody's business."""
    return NotFound(f"there is no pronunciation dictionary {shown(dictionary, 80)!r}", "pronunciation_dict_id")


def item_body(item: Pronunciation) -> ItemBody:
    return ItemBody(item.text, item.said, item.said, item.case_sensitive)


def _name(name: str) -> str:
    if not name.strip() or len(name) > MAX_NAME_CHARS:
        raise InvalidInput(f"name: must have 1 to {MAX_NAME_CHARS} characters", "name")
    return name.strip()


def _items(given: list[ItemGiven], check: Check) -> tuple[Pronunciation, ...]:
    if len(given) > MAX_ITEMS:
        raise InvalidInput(f"items: at most {MAX_ITEMS}, not {len(given)}", "items")
    items: list[Pronunciation] = []
    known: set[tuple[str, bool]] = set()
    for index, item in enumerate(given):
        read = _item(item, f"items[{index}]", check)
        key = (read.text if read.case_sensitive else read.text.lower(), read.case_sensitive)
        if key in known:
            raise InvalidInput(f"items[{index}].text: {read.text!r} is there twice", f"items[{index}].text")
        known.add(key)
        items.append(read)
    return tuple(items)


def _item(given: ItemGiven, where: str, check: Check) -> Pronunciation:
    text = " ".join(given.text.split())
    if not any(c.isalnum() for c in text) or len(text) > MAX_TEXT_CHARS:
        raise InvalidInput(
            f"{where}.text: must be a word or several, of at most {MAX_TEXT_CHARS} characters", f"{where}.text"
        )
    said = given.alias if given.alias is not None else given.pronunciation
    if said is None:
        raise InvalidInput(f"{where}.alias: this field is required", f"{where}.alias")
    if len(said) > MAX_ALIAS_CHARS:
        raise InvalidInput(f"{where}.alias: at most {MAX_ALIAS_CHARS} characters", f"{where}.alias")
    try:
        check(text, said)
    except InvalidInput as error:
        raise InvalidInput(f"{where}.{error}", f"{where}.alias") from None
    return Pronunciation(text, said.strip(), bool(given.case_sensitive))
