"""What the query of a listening socket asks for."""

from dataclasses import fields
from urllib.parse import quote, urlencode

import pytest

from antiphon.core.errors import InvalidInput
from antiphon.core.hearing import HearingConfig
from antiphon.core.turns import EndpointSettings
from antiphon.protocol.cartesia_stt_messages import TurnConfig
from antiphon.protocol.cartesia_stt_query import changed_settings, read_stt_query, read_turns_query

from .ear_shell import QUERY


def test_defaults() -> None:
    asked = read_stt_query(QUERY)
    assert asked.config == HearingConfig("ink-2", "en", "pcm_s16le", 16_000)
    assert (asked.max_silence_s, asked.min_volume) == (None, None)
    assert read_turns_query(QUERY).settings == EndpointSettings()
    assert read_turns_query(QUERY).config.turns is True


def test_all_of_it() -> None:
    asked = read_stt_query(
        "model=ink-whisper&encoding=pcm_mulaw&sample_rate=8000&language=fr&min_volume=0.2&max_silence_duration_secs=1.5"
        "&api_key=secret&access_token=t&cartesia_version=2026-03-01&cartesia_client=x&odd=1"
    )
    assert asked.config == HearingConfig("ink-whisper", "fr", "pcm_mulaw", 8000)
    assert (asked.max_silence_s, asked.min_volume) == (1.5, 0.2)


@pytest.mark.parametrize("encoding", ["pcm_s16le", "pcm_s32le", "pcm_f16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw"])
def test_every_encoding(encoding: str) -> None:
    assert read_stt_query(f"encoding={encoding}&sample_rate=44100").config.encoding == encoding


def test_F9_spaces_in_keyterms_come_as_plus_or_percent_20() -> None:
    terms = [("keyterm", "new york"), ("keyterm", "C++"), ("keyterm", "Zoë & co")]
    plus, percent = urlencode(terms), urlencode(terms, quote_via=quote)
    assert plus != percent
    lists = (percent.replace("keyterm=", "keyterm[]="), percent.replace("keyterm=", "keyterm%5B%5D="))
    for query in (plus, percent, *lists):
        assert read_stt_query(f"{QUERY}&{query}").config.keyterms == ("new york", "C++", "Zoë & co")


def test_keyterms_are_bounded_as_documented_and_blank_ones_do_not_count() -> None:
    hundred = "&".join(f"keyterm=a{at}" for at in range(100))
    assert len(read_stt_query(f"{QUERY}&{hundred}&keyterm=&keyterm=%20&keyterm=a1").config.keyterms) == 100
    with pytest.raises(InvalidInput, match="100 terms"):
        read_stt_query(f"{QUERY}&{hundred}&keyterm=b")
    with pytest.raises(InvalidInput, match="1200 characters"):
        read_stt_query(f"{QUERY}&keyterm={'x' * 1201}")


@pytest.mark.parametrize("missing", ["encoding", "sample_rate"])
def test_S6_what_decides_how_bytes_are_read_is_never_guessed(missing: str) -> None:
    query = "&".join(part for part in QUERY.split("&") if not part.startswith(missing))
    for read in (read_stt_query, read_turns_query):
        with pytest.raises(InvalidInput, match=f"{missing}: .* required") as caught:
            read(query)
        assert caught.value.param == missing


@pytest.mark.parametrize(
    ("odd", "param"),
    [
        ("encoding=opus", "encoding"),
        ("sample_rate=fast", "sample_rate"),
        ("sample_rate=16000.5", "sample_rate"),
        ("sample_rate=0", "sample_rate"),
        ("sample_rate=-16000", "sample_rate"),
        (f"sample_rate={'9' * 5000}", "sample_rate"),
        ("language=e", "language"),
        ("language=../en", "language"),
        ("min_volume=2", "min_volume"),
        ("min_volume=nan", "min_volume"),
        ("max_silence_duration_secs=0", "max_silence_duration_secs"),
        ("max_silence_duration_secs=inf", "max_silence_duration_secs"),
        (f"model={'m' * 500}", "model"),
    ],
)
def test_odd_values_are_named_in_few_words(odd: str, param: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_stt_query(f"{QUERY}&{odd}")
    assert caught.value.param == param
    assert param in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("absent", ["", "None", "null", "undefined"])
def test_absent_values_that_clients_wrote_out(absent: str) -> None:
    asked = read_turns_query(f"{QUERY}&language={absent}&turn_end_threshold={absent}&turn_end_timeout_ms={absent}")
    assert asked.config.language == "en"
    assert asked.settings == EndpointSettings()


def test_auto_means_find_out() -> None:
    assert read_stt_query(f"{QUERY}&language=auto").config.language == ""
    assert read_stt_query(f"{QUERY}&language=pt-BR").config.language == "pt-BR"


def test_a_query_with_thousands_of_fields_is_refused() -> None:
    with pytest.raises(InvalidInput):
        read_stt_query(QUERY + "&x=1" * 5000)


def test_thresholds() -> None:
    asked = read_turns_query(
        f"{QUERY}&turn_start_threshold=0.7&turn_eager_end_threshold=0.5&turn_end_threshold=0.3&turn_end_timeout_ms=640.0"
    )
    assert asked.settings == EndpointSettings(0.7, 0.5, 0.3, 0.64)


NAMES = ("turn_start_threshold", "turn_eager_end_threshold", "turn_end_threshold", "turn_end_timeout_ms")
ENDS = ((0.5, 0.9), (0.3, 0.6), (0.05, 0.5), (640, 11_200))


@pytest.mark.parametrize(("name", "low", "high"), [(name, *ends) for name, ends in zip(NAMES, ENDS, strict=True)])
def test_F32_thresholds_out_of_range_are_named_as_on_the_wire(name: str, low: float, high: float) -> None:
    for value in (low - 0.01, high + 0.01, "nan", "inf", "much"):
        with pytest.raises(InvalidInput) as caught:
            read_turns_query(f"{QUERY}&{name}={value}")
        assert caught.value.param == name
        assert name in str(caught.value)
        assert "end_timeout_s" not in str(caught.value)


@pytest.mark.parametrize(
    "odd",
    [
        "turn_start_threshold=0.5&turn_eager_end_threshold=0.5",
        "turn_eager_end_threshold=0.3&turn_end_threshold=0.3",
        "turn_end_threshold=0.45",
    ],
)
def test_F32_thresholds_must_fall_strictly(odd: str) -> None:
    with pytest.raises(InvalidInput, match=r"strictly: turn_start_threshold .* > turn_eager_end_threshold"):
        read_turns_query(f"{QUERY}&{odd}")


def test_the_ranges_on_the_wire_are_those_of_the_house() -> None:
    names = [field.name for field in fields(EndpointSettings)]
    names.remove("wordless_s")  # an agent's, and not on the wire
    names.remove("opener_s")
    assert names == ["start", "eager_end", "end", "end_timeout_s"]
    for settings in ((0.5, 0.3, 0.05, 0.64), (0.9, 0.6, 0.5, 11.2)):
        EndpointSettings(*settings)
    for name, (low, high) in zip(names, ENDS, strict=True):
        per_unit = 1000 if name == "end_timeout_s" else 1
        for beyond in (low - 0.02, high + 0.02):
            with pytest.raises(InvalidInput, match=f"^{name} must be"):
                EndpointSettings(**{name: beyond / per_unit})


def test_changes_are_partial_and_all_or_nothing() -> None:
    current = EndpointSettings(0.9, 0.6, 0.1, 2.0)
    assert changed_settings(current, TurnConfig()) == current
    assert changed_settings(current, TurnConfig(end_timeout_ms=1000)) == EndpointSettings(0.9, 0.6, 0.1, 1.0)
    both = changed_settings(current, TurnConfig(eager_end_threshold=0.4, end_threshold=0.3))
    assert both == EndpointSettings(0.9, 0.4, 0.3, 2.0)
    with pytest.raises(InvalidInput, match=r"start_threshold 0.9 > eager_end_threshold 0.3 > end_threshold 0.4"):
        changed_settings(current, TurnConfig(eager_end_threshold=0.3, end_threshold=0.4))
    with pytest.raises(InvalidInput, match=r"^end_timeout_ms: must be from 640 to 11200, not 5$"):
        changed_settings(current, TurnConfig(end_timeout_ms=5))
