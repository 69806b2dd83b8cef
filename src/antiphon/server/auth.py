"""API keys and access tokens.

Keys are compared in constant time against every key, so that timing tells nothing. Tokens are JSON Web Tokens signed
with HMAC-SHA256 (RFC 7515, RFC 7519), good for the granted generation endpoints only and never for making more tokens.
Client secrets (``ek_...``) open one kind of socket, and carry what it begins as, so that any server that knows the
signing secret can serve them; whoever holds one can read it.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec

from antiphon.core.errors import InvalidInput
from antiphon.protocol.http import Forbidden, Unauthenticated
from antiphon.protocol.openai_realtime_http import SECRET_PREFIX
from antiphon.settings import ApiKey, ServerSettings, SettingsError

MAX_TOKEN_S = 3600
DEFAULT_TOKEN_S = 60
REALTIME = "realtime"
"""The grant of a client secret."""
MAX_SECRET_CHARS = 7_800
"""A secret travels in a header, and a line of a handshake may have 8 KiB."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls. ``grants`` is None for an API key (everything), else the generation endpoints a token may use.
    ``session``: what a client secret says about the socket that it opens, as JSON."""

    name: str
    max_streams: int | None = None
    grants: frozenset[str] | None = None
    session: bytes | None = None


class _Claims(msgspec.Struct, frozen=True):
    sub: str
    exp: int
    grants: tuple[str, ...] = ()


class _SecretClaims(msgspec.Struct, frozen=True):
    sub: str
    exp: int
    session: msgspec.Raw


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
        if self.is_open and not (grant == REALTIME and (credential or "").startswith(SECRET_PREFIX)):
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
        secret = credential.startswith(SECRET_PREFIX)
        principal = self._bearer(credential, now_s) if secret else self._holder(credential, now_s)
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

    def issue_secret(
        self, principal: Principal, session: bytes, lifetime_s: int, now_s: float
    ) -> tuple[str, int]:
        """A client secret for a Realtime socket, and when it expires (Unix seconds). ``session``: JSON.

        Raises ``InvalidInput``.
        """
        claims = _SecretClaims(principal.name, int(now_s) + lifetime_s, msgspec.Raw(session))
        body = SECRET_PREFIX + _encoded(zlib.compress(msgspec.json.encode(claims), 9))
        secret = f"{body}.{self._signature(body)}"
        if len(secret) > MAX_SECRET_CHARS:
            about = "session: too much for a client secret; give the rest by session.update when the socket is open"
            raise InvalidInput(about, "session")
        return secret, claims.exp

    def _bearer(self, secret: str, now_s: float) -> Principal:
        body, _, signature = secret.rpartition(".")
        if not secret.isascii() or not hmac.compare_digest(self._signature(body), signature):
            raise Unauthenticated("this client secret is not valid")
        try:
            told = zlib.decompress(_decoded(body.removeprefix(SECRET_PREFIX)))
            claims = msgspec.json.decode(told, type=_SecretClaims)
        except (msgspec.MsgspecError, zlib.error, ValueError):  # ours, of another version
            raise Unauthenticated("this client secret is not valid") from None
        principal = self._still_known(claims.sub, claims.exp, "client secret", now_s)
        return replace(principal, grants=frozenset((REALTIME,)), session=bytes(claims.session))

    def _still_known(self, name: str, expires_s: int, what: str, now_s: float) -> Principal:
        if now_s >= expires_s:
            raise Unauthenticated(f"this {what} has expired")
        if self.is_open:
            return Principal(name)
        api_key = self._api_keys.get(name)
        if api_key is None:  # taking a key away takes its tokens away
            raise Unauthenticated(f"the API key that made this {what} is no longer valid")
        return Principal(name, api_key.max_streams)

    def _holder(self, token: str, now_s: float) -> Principal:
        body, _, signature = token.rpartition(".")
        if not token.isascii() or not body or not hmac.compare_digest(self._signature(body), signature):
            raise Unauthenticated("this API key or access token is not valid")
        try:
            claims = msgspec.json.decode(_decoded(body.partition(".")[2]), type=_Claims)
        except (msgspec.MsgspecError, binascii.Error, ValueError):
            raise Unauthenticated("this access token is not valid") from None
        return replace(
            self._still_known(claims.sub, claims.exp, "access token", now_s), grants=frozenset(claims.grants)
        )

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
