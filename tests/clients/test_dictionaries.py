"""Pronunciation dictionaries through the real `cartesia` SDK: round-trip, and heard in every way of speaking."""

from collections.abc import Iterator
from typing import Any

import pytest

from .required import required
from .running import Server, strict

cartesia = required("cartesia")

LIMIT_S = 30.0
RAW_24K = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
TEXT = "We met in Gloucester. I use nginx."
ITEMS = [
    {"text": "gloucester", "alias": "<<ˈ|z|I|b|ə>>"},
    {"text": "nginx", "alias": "engine x", "case_sensitive": True},
]


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Any]:
    with strict(cartesia.Cartesia, server.http, server.key) as made:
        yield made


@pytest.fixture
def dictionary(client: Any) -> Iterator[str]:
    made = client.pronunciation_dicts.create(name="Names", items=ITEMS)
    yield made.id
    client.pronunciation_dicts.delete(made.id)


def test_a_dictionary_goes_round(client: Any) -> None:
    made = client.pronunciation_dicts.create(name="Names", items=ITEMS)
    assert made.name == "Names"
    assert not made.pinned
    assert made.owner_id
    assert [(item.text, item.alias, item.case_sensitive) for item in made.items] == [
        ("gloucester", "<<ˈ|z|I|b|ə>>", False),
        ("nginx", "engine x", True),
    ]
    assert client.pronunciation_dicts.retrieve(made.id) == made
    renamed = client.pronunciation_dicts.update(made.id, name="Places")
    assert (renamed.name, renamed.items) == ("Places", made.items)
    emptied = client.pronunciation_dicts.update(made.id, items=[])
    assert (emptied.name, emptied.items, emptied.created_at) == ("Places", [], made.created_at)
    client.pronunciation_dicts.delete(made.id)
    for gone in (client.pronunciation_dicts.retrieve, client.pronunciation_dicts.delete):
        with pytest.raises(cartesia.NotFoundError) as raised:
            gone(made.id)
        assert raised.value.body["error_code"] == "pronunciation_dict_not_found"


def test_the_list_ends_and_can_be_emptied_while_it_is_read(client: Any) -> None:
    made = [client.pronunciation_dicts.create(name=f"Number {n}").id for n in range(5)]
    seen = []
    for one in client.pronunciation_dicts.list(limit=2):
        seen.append(one.id)
        assert len(seen) < 50, "the pages never end"
        if one.id in made:
            client.pronunciation_dicts.delete(one.id)
    assert [one for one in seen if one in made] == made[::-1]
    assert not set(made) & {one.id for one in client.pronunciation_dicts.list(limit=100)}


@pytest.mark.parametrize(
    ("items", "about"),
    [
        ([{"text": "cat", "alias": "<<k|@|t>>"}], "items[0].alias for 'cat': phonemes 'k@t': '@' (U+0040)"),
        ([{"text": "cat", "alias": "the <<k|æ|t>>"}], "either other words, or phonemes alone"),
        ([{"text": "a", "alias": "b"}, {"text": "A", "alias": "c"}], "items[1].text: 'A' is there twice"),
    ],
)
def test_a_bad_dictionary_is_told_what_is_bad(client: Any, items: Any, about: str) -> None:
    with pytest.raises(cartesia.BadRequestError) as raised:
        client.pronunciation_dicts.create(name="Bad", items=items)
    assert about in raised.value.body["message"]


def sse(client: Any, **asked: Any) -> tuple[list[str], str]:
    """Words and phonemes of an answer."""
    words, phonemes = [], []
    for event in client.tts.generate_sse(
        model_id=asked.pop("model_id", "sonic-3"),
        transcript=asked.pop("transcript", TEXT),
        voice=asked.pop("voice", "Heart"),
        output_format=RAW_24K,
        add_timestamps=True,
        add_phoneme_timestamps=True,
        **asked,
    ):
        if event.type == "timestamps":
            words += event.word_timestamps.words
        elif event.type == "phoneme_timestamps":
            phonemes += event.phoneme_timestamps.phonemes
    return words, " ".join(phonemes)


@pytest.mark.parametrize("voice", ["Heart", "River", "espeak-en"])
def test_it_is_heard_in_events_by_every_voice(client: Any, dictionary: str, voice: str) -> None:
    if voice not in [name for one in client.voices.list(limit=100) for name in (one.name, f"espeak-{one.language}")]:
        pytest.skip(f"{voice} is not installed")
    plain = sse(client, voice=voice)[1]
    words, phonemes = sse(client, voice=voice, pronunciation_dict_id=dictionary)
    assert words == TEXT.split()
    assert "z aɪ b ə" in phonemes
    assert "z aɪ b ə" not in plain
    assert "n dʒ ə n ɛ k s" in phonemes or "n dʒ ɪ n ɛ k s" in phonemes
    spoken, _ = sse(client, voice=voice, pronunciation_dict_id=dictionary, use_normalized_timestamps=True)
    assert spoken[-2:] in (["engine", "x."], ["engine", "x", "."][:2], ["x", "."])


def test_it_is_heard_in_bytes_and_on_the_socket(server: Server, client: Any, dictionary: str) -> None:
    def length(**asked: Any) -> int:
        body = client.tts.generate(
            model_id="sonic-3", transcript="Gloucester", voice="Heart", output_format=RAW_24K, **asked
        )
        return len(body.read())

    assert length(pronunciation_dict_id=dictionary) != length()
    with cartesia.Cartesia(api_key=server.key, websocket_base_url=server.ws) as sockets:  # noqa: SIM117
        with sockets.tts.websocket_connect() as connection:
            context = connection.context(
                voice="Heart",
                output_format=RAW_24K,
                add_timestamps=True,
                use_normalized_timestamps=True,
                pronunciation_dict_id=dictionary,
                timeout=LIMIT_S,
            )
            for delta in ("We use ngi", "nx today", "."):
                context.push(delta)
            context.no_more_inputs()
            times = [event.word_timestamps for event in context.receive() if event.type == "timestamps"]
            spoken = [word for one in times for word in one.words]
            assert " ".join(spoken) == "We use engine x today."

            unknown = connection.context(
                voice="Heart", output_format=RAW_24K, pronunciation_dict_id="pdict_none", timeout=LIMIT_S
            )
            unknown.push("Hello there.")
            [error] = list(unknown.receive())
            assert (error.type, error.status_code, error.error_code) == ("error", 404, "pronunciation_dict_not_found")


def test_an_unknown_one_is_not_found(client: Any) -> None:
    for speak in (client.tts.generate, client.tts.generate_sse):
        with pytest.raises(cartesia.NotFoundError) as raised:
            speak(
                model_id="sonic-3", transcript="Hi.", voice="Heart", output_format=RAW_24K, pronunciation_dict_id="none"
            )
        assert raised.value.body["error_code"] == "pronunciation_dict_not_found"


def test_inline_phonemes_are_said_and_wrong_ones_refused(server: Server, client: Any) -> None:
    words, phonemes = sse(client, transcript="Say <<ˈ|z|aɪ|b|ə>> and stop.")
    assert "z aɪ b ə" in phonemes
    assert words[0] == "Say"
    assert len(words) == 4
    for wrong in ("Say <<k|@|t>>.", "Say <<ǃ|a>>.", "This is quite a long sentence that says <<k|@|t>> somewhere."):
        with pytest.raises(cartesia.BadRequestError) as raised:
            client.tts.generate(model_id="sonic-3", transcript=wrong, voice="Heart", output_format=RAW_24K)
        assert "phonemes" in raised.value.body["message"]


def test_a_dictionary_is_its_owners(secured: Server) -> None:
    options = {"base_url": secured.http, "max_retries": 0}
    import httpx

    with cartesia.Cartesia(
        api_key=secured.key, http_client=httpx.Client(verify=secured.trust, trust_env=False), **options
    ) as owner:
        made = owner.pronunciation_dicts.create(name="Mine", items=ITEMS)
        assert made.owner_id == "tester"
        owner.pronunciation_dicts.delete(made.id)
