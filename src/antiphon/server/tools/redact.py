"""Keeps secrets out of whatever is told, logged or shown."""

from collections.abc import Iterable

from pydantic import SecretStr

_SHORTEST = 6
"""Shorter parts are words, not secrets ("Basic", "v1")."""


class Redactor:
    """Replaces secrets by ``***``: each whole, and its parts ("Bearer abc..." is echoed as "abc..." too)."""

    def __init__(self, secrets: Iterable[SecretStr] = ()) -> None:
        found: set[str] = set()
        for secret in secrets:
            value = secret.get_secret_value().strip()
            found |= {part for part in (value, *value.split()) if len(part) >= _SHORTEST}
        self._secrets = sorted(found, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text
