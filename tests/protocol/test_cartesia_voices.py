"""The list of voices: bodies that old and new SDKs read, filters, and pages that come to an end."""

from typing import Any

import msgspec
import pytest
from cartesia.types import Voice

from antiphon.core.errors import InvalidInput
from antiphon.core.speech import VoiceInfo
from antiphon.protocol.cartesia_voices import VoicePage, VoiceQuery, list_voices, voice_body


def info(at: int, **fields: Any) -> VoiceInfo:
    facts: dict[str, Any] = {
        "id": f"v{at:02}",
        "name": f"Voice {at}",
        "engine": "hibari",
        "language": "en",
        "locales": ("en-US", "en-GB"),
        "gender": "female",
        "description": "A warm voice that reads out the news in the evening",
        "quality": "good",
        "licence": "Apache-2.0",
        "source": "somewhere",
    }
    return VoiceInfo(**{**facts, **fields})


VOICES = tuple(
    info(at, gender="male" if at % 3 == 0 else "feminine", language="fr" if at % 5 == 0 else "en") for at in range(25)
)


def page(**query: str) -> VoicePage:
    return list_voices(VOICES, VoiceQuery.read(query))


def ids(found: VoicePage) -> list[str]:
    return [voice.id for voice in found.data]


def test_the_sdk_reads_a_voice() -> None:
    raw = msgspec.json.encode(voice_body(info(1)))
    voice = Voice.model_validate_json(raw)
    assert (voice.gender, voice.access, voice.visibility, voice.is_owner) == ("feminine", "public", "all", False)
    assert [(locale.locale, locale.is_native) for locale in voice.locales] == [("en-US", True), ("en-GB", False)]
    assert voice.country == "US"
    assert len(voice.tagline) <= 32
    assert voice.created_at.year == 2026


def test_a_tagline_is_whole_words() -> None:
    told = {
        "Warm, clear American English; reads a sentence fast.": "Warm, clear American English",
        "Short.": "Short.",
        "x" * 40: "x" * 32,
        "exactly thirty-two characters, x More": "exactly thirty-two characters, x",
    }
    for description, tagline in told.items():
        assert voice_body(info(1, description=description)).tagline == tagline


def test_F35_old_and_new_names_and_our_own() -> None:
    body = msgspec.to_builtins(voice_body(info(1)))
    assert body["is_public"] is True
    assert (body["engine"], body["quality"], body["licence"]) == ("hibari", "good", "Apache-2.0")


def test_F34_pages_end_for_a_client_that_asks_until_nothing_comes() -> None:
    seen: list[str] = []
    query: dict[str, str] = {}
    for _ in range(10):
        found = page(**query)
        if not found.data:
            break
        seen += ids(found)
        query = {"starting_after": found.data[-1].id}
    assert seen == [voice.id for voice in VOICES]
    assert page(starting_after="v24").data == []


def test_default_page_and_its_cursor() -> None:
    first = page()
    assert (len(first.data), first.has_more, first.next_page) == (10, True, "v09")
    last = page(starting_after="v19")
    assert (ids(last), last.has_more, last.next_page) == ([f"v{at}" for at in range(20, 25)], False, None)


def test_backwards() -> None:
    found = page(ending_before="v05", limit="3")
    assert (ids(found), found.has_more) == (["v02", "v03", "v04"], True)
    assert page(ending_before="v00").data == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"gender": "masculine", "limit": "3"}, ["v00", "v03", "v06"]),
        ({"gender": "male", "limit": "1"}, ["v00"]),
        ({"language": "fr"}, ["v00", "v05", "v10", "v15", "v20"]),
        ({"language": "fr-CA", "gender": "feminine"}, ["v05", "v10", "v20"]),
        ({"q": "VOICE 17"}, ["v17"]),
        ({"q": "v08"}, ["v08"]),
        ({"q": "nobody"}, []),
        ({"is_owner": "true"}, []),
        ({"is_owner": "false", "limit": "1"}, ["v00"]),
        ({"starting_after": "v01", "language": "fr"}, ["v05", "v10", "v15", "v20"]),
        ({"q": "", "limit": "2", "unknown": "x", "expand[]": "preview_file_url"}, ["v00", "v01"]),
    ],
)
def test_filters(query: dict[str, str], found: list[str]) -> None:
    assert ids(page(**query)) == found


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "0"},
        {"limit": "101"},
        {"limit": "-1"},
        {"limit": "ten"},
        {"limit": "²"},
        {"gender": "robot"},
        {"is_owner": "maybe"},
        {"starting_after": "nobody"},
        {"ending_before": "nobody"},
        {"starting_after": "v01", "ending_before": "v03"},
    ],
)
def test_bad_queries(query: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        page(**query)
