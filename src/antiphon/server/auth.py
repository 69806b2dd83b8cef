"""API keys and access tokens.

Keys are compared in constant time against every key, so that timing tells nothing. Tokens are JSON Web Tokens signed
with HMAC-SHA256 (RFC 7515, RFC 7519), good for the granted generation endpoints only and never for making more tokens.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from antiphon.protocol.http import Forbidden, Unauthenticated
from antiphon.settings import ApiKey, ServerSettings, SettingsError

MAX_TOKEN_S = 3600
DEFAULT_TOKEN_S = 60


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls. ``grants`` is None for an API key (everything), else the generation endpoints a token may use."""

    name: str
    max_streams: int | None = None
    grants: frozenset[str] | None = None


class _Claims(msgspec.Struct, frozen=True):
    sub: str
    exp: int
    grants: tuple[str, ...] = ()


_HEADER = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').rstrip(b"=").decode()


class Gate:
    """Decides who a credential belongs to. Without keys everyone on this machine may come in."""

    def __init__(self, api_keys: Mapping[str, ApiKey], token_secret: bytes | None = None) -> None:
        self._api_keys = dict(api_keys)
        self._secret = token_secret or secrets.token_bytes(32)

    @property
    def is_open(self) -> bool:
        return not self._api_keys

    def admit(self, credential: str | None, grant: str | None, now_s: float) -> Principal:
        """``grant`` is what a token must allow ("tts"); None: only an API key will do. ``now_s``: Unix seconds.

        Raises ``Unauthenticated``, ``Forbidden``.
        """
        if self.is_open:
            return Principal("")
        if not credential:
            raise Unauthenticated(
                "an API key is needed: send it as 'Authorization: Bearer <key>' or 'X-API-Key: <key>'"
            )
        presented = credential.encode(errors="surrogatepass")
        found: Principal | None = None
        for name, api_key in self._api_keys.items():  # no early exit: the time must not tell which key matched
            if hmac.compare_digest(api_key.key.get_secret_value().encode(), presented):
                found = Principal(name, api_key.max_streams)
        if found:
            return found
        principal = self._holder(credential, now_s)
        if grant is None:
            raise Forbidden("an access token cannot be used here; use an API key")
        if grant not in (principal.grants or ()):
            raise Forbidden(f"this access token does not grant {grant!r}")
        return principal

    def issue(self, principal: Principal, grants: frozenset[str], expires_in_s: int | None, now_s: float) -> str:
        """A token for the holder of an API key; its streams count for that key."""
        lifetime_s = min(max(1, DEFAULT_TOKEN_S if expires_in_s is None else expires_in_s), MAX_TOKEN_S)
        claims = _Claims(principal.name, int(now_s) + lifetime_s, tuple(sorted(grants)))
        body = f"{_HEADER}.{_encoded(msgspec.json.encode(claims))}"
        return f"{body}.{self._signature(body)}"

    def _holder(self, token: str, now_s: float) -> Principal:
        body, _, signature = token.rpartition(".")
        if not token.isascii() or not body or not hmac.compare_digest(self._signature(body), signature):
            raise Unauthenticated("this API key or access token is not valid")
        try:
            claims = msgspec.json.decode(_decoded(body.partition(".")[2]), type=_Claims)
        except (msgspec.MsgspecError, binascii.Error, ValueError):
            raise Unauthenticated("this access token is not valid") from None
        if now_s >= claims.exp:
            raise Unauthenticated("this access token has expired")
        api_key = self._api_keys.get(claims.sub)
        if api_key is None:  # taking a key away takes its tokens away
            raise Unauthenticated("the API key that made this access token is no longer valid")
        return Principal(claims.sub, api_key.max_streams, frozenset(claims.grants))

    def _signature(self, body: str) -> str:
        return _encoded(hmac.new(self._secret, body.encode(), hashlib.sha256).digest())


def gate_for(server: ServerSettings) -> Gate:
    """Raises ``SettingsError`` where an open server would be reachable from other machines."""
    if not server.api_keys and not server.is_loopback and not server.insecure:
        raise SettingsError(
            f"server.host {server.host} can be reached from other machines, but no API key is set. "
            "Set one (ANTIPHON_SERVER__API_KEYS__<NAME>=<secret>), listen on 127.0.0.1, or pass --insecure.",
            "server.host",
        )
    secret = server.token_secret.get_secret_value().encode() if server.token_secret else None
    return Gate(server.api_keys, secret)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
