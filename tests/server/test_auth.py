import pytest

from antiphon.protocol.http import Forbidden, Unauthenticated
from antiphon.server.auth import MAX_TOKEN_S, REALTIME, Gate, Principal, gate_for
from antiphon.settings import ApiKey, SettingsError

from .support import settings

NOW_S = 1_000_000.0
ALICE = Principal("alice", 4)


def gate(secret: bytes = b"s" * 32, **keys: str) -> Gate:
    keys = keys or {"alice": "sk-alice", "bob": "sk-bob"}
    return Gate({name: ApiKey(key=key, max_streams=4) for name, key in keys.items()}, secret)  # type: ignore[arg-type]


def test_a_key_names_its_holder_and_limit() -> None:
    assert gate().admit("sk-bob", None, NOW_S) == Principal("bob", 4)


@pytest.mark.parametrize("credential", [None, "", "sk-ali", "sk-alice ", "x.y.z", "ключ", "..", "\ud800"])
def test_others_are_strangers(credential: str | None) -> None:
    with pytest.raises(Unauthenticated):
        gate().admit(credential, "tts", NOW_S)


def test_without_keys_everyone_is_let_in() -> None:
    assert Gate({}).is_open
    assert Gate({}).admit(None, None, NOW_S) == Principal("")
    assert Gate({}).admit("anything", "tts", NOW_S) == Principal("")


def test_a_token_is_good_for_its_grants_and_counts_for_its_maker() -> None:
    token = gate().issue(ALICE, frozenset({"tts"}), 60, NOW_S)
    assert gate().admit(token, "tts", NOW_S + 59) == Principal("alice", 4, frozenset({"tts"}))
    with pytest.raises(Forbidden):
        gate().admit(token, "stt", NOW_S)
    with pytest.raises(Forbidden):
        gate().admit(token, None, NOW_S)


def test_a_token_expires_and_never_lasts_longer_than_allowed() -> None:
    short, long = (gate().issue(ALICE, frozenset({"tts"}), seconds, NOW_S) for seconds in (60, 10 * MAX_TOKEN_S))
    with pytest.raises(Unauthenticated, match="expired"):
        gate().admit(short, "tts", NOW_S + 60)
    gate().admit(long, "tts", NOW_S + MAX_TOKEN_S - 1)
    with pytest.raises(Unauthenticated, match="expired"):
        gate().admit(long, "tts", NOW_S + MAX_TOKEN_S)


def test_a_token_cannot_be_altered_or_made_with_another_secret() -> None:
    token = gate().issue(ALICE, frozenset({"stt"}), 60, NOW_S)
    richer = gate().issue(ALICE, frozenset({"tts"}), 60, NOW_S)
    forged = ".".join([token.split(".")[0], richer.split(".")[1], token.split(".")[2]])
    for bad in (forged, token[:-2], token + "A", Gate({}, b"other" * 8).issue(ALICE, frozenset({"tts"}), 60, NOW_S)):
        with pytest.raises(Unauthenticated):
            gate().admit(bad, "tts", NOW_S)


def test_taking_a_key_away_takes_its_tokens_away() -> None:
    token = gate().issue(ALICE, frozenset({"tts"}), 60, NOW_S)
    with pytest.raises(Unauthenticated, match="no longer"):
        gate(bob="sk-bob").admit(token, "tts", NOW_S)


def test_a_client_secret_carries_its_session_until_it_expires() -> None:
    secret, expires_s = gate().issue_secret(ALICE, b'{"a": 1}', 60, NOW_S)
    assert expires_s == NOW_S + 60
    admitted = gate().admit(secret, REALTIME, NOW_S + 59)
    assert admitted == Principal("alice", 4, frozenset({REALTIME}), b'{"a": 1}')
    for grant in ("tts", "stt", None):
        with pytest.raises(Forbidden):
            gate().admit(secret, grant, NOW_S)
    with pytest.raises(Unauthenticated, match="expired"):
        gate().admit(secret, REALTIME, NOW_S + 60)
    with pytest.raises(Unauthenticated, match="no longer"):
        gate(bob="sk-bob").admit(secret, REALTIME, NOW_S)
    with pytest.raises(Unauthenticated):
        gate(b"t" * 32).admit(secret, REALTIME, NOW_S)


def test_a_token_is_no_client_secret_and_a_secret_no_token() -> None:
    token = gate().issue(ALICE, frozenset({REALTIME}), 60, NOW_S)
    secret, _ = gate().issue_secret(ALICE, b"{}", 60, NOW_S)
    for forged in (f"ek_{token}", secret.removeprefix("ek_")):
        with pytest.raises(Unauthenticated):
            gate().admit(forged, REALTIME, NOW_S)


@pytest.mark.parametrize("secret", ["ek_", "ek_.", "ek_x.y", "ek_ключ", "ek_\ud800"])
def test_what_only_looks_like_a_client_secret_opens_nothing(secret: str) -> None:
    for one in (gate(), Gate({})):
        with pytest.raises(Unauthenticated):
            one.admit(secret, REALTIME, NOW_S)


def test_an_open_server_is_not_put_where_others_reach_it() -> None:
    with pytest.raises(SettingsError, match="--insecure"):
        gate_for(settings(server={"host": "0.0.0.0"}).server)
    assert gate_for(settings(server={"host": "0.0.0.0", "insecure": True}).server).is_open
    assert not gate_for(settings(server={"host": "0.0.0.0", "api_keys": {"a": "k"}}).server).is_open
    for host in ("127.0.0.1", "127.0.0.2", "localhost", "::1"):
        assert gate_for(settings(server={"host": host}).server).is_open
