"""Signed bytes: whoever has no key can neither make nor alter them."""

import pytest

from antiphon.core.errors import InvalidInput
from antiphon.core.seal import SIGNATURE_BYTES, seal, unseal


def test_what_was_sealed_is_opened_with_the_same_key_only() -> None:
    sealed = seal(b"a stream", b"secret")
    assert unseal(sealed, b"secret") == b"a stream"
    altered = [sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :] for at in range(len(sealed))]
    for wrong in (*altered, sealed[:-1], sealed + b"x", sealed[:10], b"", b"a stream"):
        with pytest.raises(InvalidInput, match="signature"):
            unseal(wrong, b"secret")
    with pytest.raises(InvalidInput, match="signature"):
        unseal(sealed, b"other")
    assert unseal(seal(b"", b"k"), b"k") == b""
    assert len(sealed) == SIGNATURE_BYTES + len(b"a stream")
