"""Secrets are nowhere to be read."""

from pydantic import SecretStr

from antiphon.server.tools.redact import Redactor


def test_a_secret_is_replaced_whole_and_in_its_parts() -> None:
    redact = Redactor([SecretStr("Bearer abc-123-def"), SecretStr("v1")])
    assert redact("got Bearer abc-123-def, or abc-123-def at v1") == "got ***, or *** at v1"


def test_the_longer_secret_goes_first() -> None:
    assert Redactor([SecretStr("swordfish"), SecretStr("swordfish-42")])("swordfish-42") == "***"
