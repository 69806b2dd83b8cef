"""A saved stream of speech on its way between two servers: what the engine gave, with what the socket has to know,
dated and signed. It holds text, readable for whoever has it. Pure; the time is passed in."""

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from antiphon.core.errors import InvalidInput
from antiphon.core.seal import SIGNATURE_BYTES, seal, unseal
from antiphon.protocol.native_messages import AudioShape

_MAGIC = b"ANTSPEECH\x01"
_OVERHEAD_BYTES = 64 << 10
"""More than all but the engine's part can have."""


class SavedSpeech(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``sample``: how many were sent. ``flushes``: ids of those whose audio is still to come. ``ended``: whether the
    text is complete. ``stream``: the engine's part, for the voice ``voice``."""

    owner: str
    voice: str
    output: AudioShape
    sample: int
    flushes: list[str]
    ended: bool
    expires_unix_s: float
    stream: bytes


@dataclass(frozen=True, slots=True)
class SpeechSeal:
    """How a server signs snapshots, and which it accepts. ``shared``: whether ``key`` is known to other servers."""

    key: bytes = field(repr=False)
    shared: bool
    ttl_s: float
    limit_bytes: int
    now_unix_s: Callable[[], float]

    @property
    def stream_limit_bytes(self) -> int:
        """Of the engine's part."""
        return self.limit_bytes - _OVERHEAD_BYTES

    def close(self, saved: SavedSpeech) -> bytes:
        return seal(_MAGIC + msgspec.msgpack.encode(saved), _purpose(self.key))

    def open(self, sealed: bytes, owner: str) -> SavedSpeech:
        """Raises ``InvalidInput`` for what is too large, forged, altered, expired, or somebody else's."""
        if len(sealed) > self.limit_bytes:
            raise _refused(f"it has {len(sealed)} bytes; at most {self.limit_bytes} are taken")
        if sealed[SIGNATURE_BYTES : SIGNATURE_BYTES + len(_MAGIC)] != _MAGIC:
            raise _refused("it is none of a stream of speech, or one of another version")
        try:
            body = unseal(sealed, _purpose(self.key))
        except InvalidInput:
            why = "it was altered, or signed with another key"
            if not self.shared:
                why += (
                    "; this server made its own key when it started, so it knows only its own snapshots: "
                    "set the same tts.snapshot_key on all servers"
                )
            raise _refused(why) from None
        try:
            saved = msgspec.msgpack.decode(body[len(_MAGIC) :], type=SavedSpeech)
            saved.output.check("output")
        except (msgspec.DecodeError, InvalidInput) as error:
            raise _refused(f"it cannot be read: {error}") from None
        late_s = self.now_unix_s() - saved.expires_unix_s
        if late_s > 0:
            raise _refused(f"it expired {late_s:.0f} s ago; a snapshot can be resumed for {self.ttl_s:g} s")
        if saved.owner != owner:
            raise _refused("it was made for another API key")
        return saved


def _purpose(key: bytes) -> bytes:
    """A key for this alone, whatever else the same secret is used for."""
    return hmac.digest(key, _MAGIC, "sha256")


def _refused(why: str) -> InvalidInput:
    return InvalidInput(f"the snapshot cannot be resumed: {why}", "snapshot")
