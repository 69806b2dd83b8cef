"""Dictionaries in SQLite, and over the wire."""

import sqlite3
from itertools import count
from pathlib import Path

import pytest

from antiphon.core.errors import InvalidInput, NotFound
from antiphon.core.speech import Pronunciation
from antiphon.protocol.cartesia_dictionaries import DictionaryDraft
from antiphon.protocol.cartesia_pages import PageQuery
from antiphon.server import dictionaries
from antiphon.server.dictionaries import Dictionaries, DictionariesUnavailable
from tests.server.support import VOICE, ScriptedEngine, run, serving, settings

NGINX = Pronunciation("nginx", "engine x")
CAT = Pronunciation("cat", "<<k|æ|t>>", case_sensitive=True)


@pytest.fixture
def kept(tmp_path: Path) -> Dictionaries:
    ticks = count(1_700_000_000)
    return Dictionaries(tmp_path / "deep" / "dictionaries.db", lambda: float(next(ticks)))


def test_what_is_made_is_found_again_by_another_server(kept: Dictionaries, tmp_path: Path) -> None:
    made = kept.create("alice", DictionaryDraft("Mine", (NGINX, CAT)))
    assert (made.name, made.owner_id, made.pinned, made.created_at) == ("Mine", "alice", False, "2023-11-14T22:13:20Z")
    assert [(item.text, item.alias, item.pronunciation, item.case_sensitive) for item in made.items] == [
        ("nginx", "engine x", "engine x", False),
        ("cat", "<<k|æ|t>>", "<<k|æ|t>>", True),
    ]
    other = Dictionaries(tmp_path / "deep" / "dictionaries.db")
    assert other.get("alice", made.id) == made
    assert other.pronunciations("alice", made.id) == (NGINX, CAT)


def test_an_update_is_seen_by_every_server_at_once(kept: Dictionaries, tmp_path: Path) -> None:
    made = kept.create("", DictionaryDraft("Mine", (NGINX,)))
    assert made.owner_id == "local"
    other = Dictionaries(tmp_path / "deep" / "dictionaries.db")
    assert other.pronunciations("", made.id) == (NGINX,)
    kept.update("", made.id, DictionaryDraft(None, (CAT,)))
    assert other.pronunciations("", made.id) == (CAT,)
    assert kept.update("", made.id, DictionaryDraft("Yours", None)).name == "Yours"
    assert other.get("", made.id).items[0].text == "cat"
    assert kept.pin("", made.id, True).pinned
    assert not kept.pin("", made.id, False).pinned
    kept.delete("", made.id)
    with pytest.raises(NotFound):
        other.pronunciations("", made.id)


def test_nobody_sees_what_is_another_s(kept: Dictionaries) -> None:
    made = kept.create("alice", DictionaryDraft("Mine", (NGINX,)))
    draft = DictionaryDraft("Stolen", ())
    for attempt in (
        lambda: kept.get("bob", made.id),
        lambda: kept.update("bob", made.id, draft),
        lambda: kept.pin("bob", made.id, True),
        lambda: kept.delete("bob", made.id),
        lambda: kept.pronunciations("bob", made.id),
    ):
        with pytest.raises(NotFound):
            attempt()
    assert kept.page("bob", PageQuery()).data == []
    assert kept.get("alice", made.id) == made


def test_pages_are_newest_first_and_outlive_what_their_cursor_named(kept: Dictionaries) -> None:
    ids = [kept.create("a", DictionaryDraft(f"d{n}", ())).id for n in range(5)]
    first = kept.page("a", PageQuery(2))
    assert [one.id for one in first.data] == [ids[4], ids[3]]
    assert (first.has_more, first.next_page) == (True, ids[3])
    kept.delete("a", ids[3])
    second = kept.page("a", PageQuery(2, first.next_page))
    assert [one.id for one in second.data] == [ids[2], ids[1]]
    last = kept.page("a", PageQuery(2, second.next_page))
    assert ([one.id for one in last.data], last.has_more, last.next_page) == ([ids[0]], False, None)
    assert kept.page("a", PageQuery(2, ids[0])).data == []
    back = kept.page("a", PageQuery(2, None, ids[0]))
    assert ([one.id for one in back.data], back.has_more) == ([ids[2], ids[1]], True)


def test_nothing_is_written_before_there_is_something_to_keep(kept: Dictionaries, tmp_path: Path) -> None:
    assert kept.page("a", PageQuery()).data == []
    with pytest.raises(NotFound):
        kept.get("a", "pdict_1")
    assert list(tmp_path.iterdir()) == []


def test_one_owner_cannot_fill_the_disk(kept: Dictionaries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionaries, "MAX_OF_ONE_OWNER", 2)
    for _ in range(2):
        kept.create("a", DictionaryDraft("d", ()))
    with pytest.raises(InvalidInput, match="delete some"):
        kept.create("a", DictionaryDraft("d", ()))
    kept.create("b", DictionaryDraft("d", ()))


def test_a_file_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "d.db").write_bytes(b"not a database, but long enough to look like one" * 20)
    with pytest.raises(DictionariesUnavailable, match=r"d\.db"):
        Dictionaries(tmp_path / "d.db").get("a", "pdict_1")
    with pytest.raises(DictionariesUnavailable, match="cannot open"):
        Dictionaries(tmp_path / "d.db" / "below.db").create("a", DictionaryDraft("d", ()))


def test_who_writes_keeps_nobody_from_reading(kept: Dictionaries, tmp_path: Path) -> None:
    made = kept.create("a", DictionaryDraft("d", (NGINX,)))
    writer = sqlite3.connect(tmp_path / "deep" / "dictionaries.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE dictionaries SET name = 'half'")
    assert kept.pronunciations("a", made.id) == (NGINX,)
    writer.close()


SPEECH = {
    "model_id": "sonic-3",
    "transcript": "We use nginx.",
    "voice": VOICE.id,
    "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000},
}


def test_over_the_wire(tmp_path: Path) -> None:
    keys = {"server": {"api_keys": {"alice": "sk-a", "bob": "sk-b"}}, "tts": {"dictionaries": tmp_path / "d.db"}}

    async def test() -> None:
        engine = ScriptedEngine(answers=True)
        async with serving(engine, settings(**keys)) as served, served.client() as client:  # type: ignore[arg-type]
            alice, bob = ({"x-api-key": key} for key in ("sk-a", "sk-b"))
            body = {"name": "Mine", "items": [{"text": "nginx", "alias": "engine x"}]}
            assert (await client.post("/pronunciation-dicts/", json=body)).status_code == 401
            made = (await client.post("/pronunciation-dicts/", json=body, headers=alice)).json()
            one = f"/pronunciation-dicts/{made['id']}"
            assert (await client.get(one, headers=alice)).json() == made
            listed = (await client.get("/pronunciation-dicts", headers=alice)).json()
            assert listed == {"data": [made], "has_more": False, "next_page": None}
            assert (await client.post(f"{one}/pin", headers=alice)).json()["pinned"]
            assert not (await client.post(f"{one}/unpin", headers=alice)).json()["pinned"]
            changed = await client.patch(one, json={"name": "Yours"}, headers=alice)
            assert (changed.json()["name"], changed.json()["items"]) == ("Yours", made["items"])

            refused = await client.get(one, headers=bob)
            assert (refused.status_code, refused.json()["error_code"]) == (404, "pronunciation_dict_not_found")
            bad = {"name": "x", "items": [{"text": "a", "alias": "<<k|@>>"}]}
            refused = await client.post("/pronunciation-dicts", json=bad, headers=alice)
            assert refused.status_code == 400
            assert "items[0].alias" in refused.json()["message"]
            assert "U+0040" in refused.json()["message"]

            spoken = {**SPEECH, "pronunciation_dict_id": made["id"]}
            assert (await client.post("/tts/bytes", json=spoken, headers=alice)).status_code == 200
            assert engine.streams[-1].config.pronunciations == (NGINX,)
            refused = await client.post("/tts/bytes", json=spoken, headers=bob)
            assert (refused.status_code, refused.json()["error_code"]) == (404, "pronunciation_dict_not_found")
            assert (await client.delete(one, headers=alice)).status_code == 204
            assert (await client.get(one, headers=alice)).status_code == 404

    run(test())
