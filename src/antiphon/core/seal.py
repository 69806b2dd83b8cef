"""Bytes that may pass through other hands: signed, so that nobody can make or alter them without the key."""

import hashlib
import hmac

from antiphon.core.errors import InvalidInput

SIGNATURE_BYTES = hashlib.sha256().digest_size


def seal(data: bytes, key: bytes) -> bytes:
    """``data`` behind its HMAC-SHA256. It can still be read by anybody."""
    return hmac.digest(key, data, "sha256") + data


def unseal(sealed: bytes, key: bytes) -> bytes:
    """Raises ``InvalidInput`` where the signature is not by ``key``."""
    signature, data = sealed[:SIGNATURE_BYTES], sealed[SIGNATURE_BYTES:]
    if not hmac.compare_digest(hmac.digest(key, data, "sha256"), signature):
        raise InvalidInput("the snapshot's signature is wrong: it was made with another key, or altered", "snapshot")
    return data
