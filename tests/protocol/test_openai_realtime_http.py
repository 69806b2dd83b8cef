"""The Realtime socket's URL and its client secrets, and how settings map to turns."""

import json
from typing import Any

import msgspec
import pytest
from openai.types.realtime import ClientSecretCreateResponse

from antiphon.core.errors import InvalidInput
from antiphon.protocol.http import NotSupported
from antiphon.protocol.openai_realtime_http import SecretReply, key_in, read_secret_request, session_at
from antiphon.protocol.openai_realtime_session import SemanticVad, ServerVad, Settings, endpoint_settings


def test_the_url_names_model_and_intent() -> None:
    settings = session_at("model=gpt-realtime-2&x=1", Settings())
    assert (settings.kind, settings.model) == ("realtime", "gpt-realtime-2")
    assert session_at("intent=transcription&model=w", Settings()).kind == "transcription"
    assert session_at("", Settings()) == Settings()


def test_what_the_url_may_not_ask() -> None:
    with pytest.raises(NotSupported):
        session_at("call_id=rtc_1", Settings())
    with pytest.raises(InvalidInput):
        session_at("intent=dance", Settings())


def test_browsers_hide_the_key_in_a_subprotocol() -> None:
    assert key_in(["realtime", "openai-insecure-api-key.ek_1", "x"]) == "ek_1"
    assert key_in(["realtime"]) is None


@pytest.mark.parametrize("kind", ["realtime", "transcription"])
def test_a_client_secret_carries_its_session(kind: str) -> None:
    body: dict[str, Any] = {
        "expires_after": {"anchor": "created_at", "seconds": 60},
        "session": {"type": kind, "audio": {"input": {"turn_detection": None}}},
    }
    settings, lifetime_s = read_secret_request(json.dumps(body).encode(), Settings(id="sess_1", expires_at=9))
    assert (settings.kind, settings.input.turn_detection, lifetime_s) == (kind, None, 60)
    reply = msgspec.json.encode(SecretReply("ek_1", 9, settings.echo()))
    assert ClientSecretCreateResponse.model_validate_json(reply).value == "ek_1"


def test_secrets_live_ten_minutes_unless_told_otherwise() -> None:
    assert read_secret_request(b"", Settings()) == (Settings(), 600)
    with pytest.raises(InvalidInput):
        read_secret_request(b'{"expires_after":{"anchor":"created_at","seconds":5}}', Settings())


@pytest.mark.parametrize(("eagerness", "longest_s"), [("low", 8.0), ("medium", 4.0), ("auto", 4.0), ("high", 2.0)])
def test_eagerness_is_the_longest_pause(eagerness: Any, longest_s: float) -> None:
    assert endpoint_settings(SemanticVad(eagerness=eagerness)).end_timeout_s == longest_s


def test_eager_turns_end_at_a_higher_likelihood() -> None:
    low, high = (endpoint_settings(SemanticVad(eagerness=name)) for name in ("low", "high"))  # type: ignore[arg-type]
    assert low.end < high.end
    assert low.eager_end < high.eager_end


@pytest.mark.parametrize(("silence_ms", "timeout_s"), [(0, 0.64), (500, 0.64), (900, 0.9), (60_000, 11.2)])
def test_server_vad_goes_by_silence(silence_ms: int, timeout_s: float) -> None:
    settings = endpoint_settings(ServerVad(silence_duration_ms=silence_ms))
    assert settings.end_timeout_s == timeout_s
    assert settings.end == 0.05


def test_a_higher_threshold_asks_for_surer_speech() -> None:
    assert endpoint_settings(ServerVad(threshold=0.5)).start == 0.8
    assert endpoint_settings(ServerVad(threshold=1.0)).start == 0.9
    assert endpoint_settings(ServerVad(threshold=0.0)).start == 0.5
