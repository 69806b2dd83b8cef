"""What settings are made of."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, SecretStr
from pydantic_settings import NoDecode

from antiphon.core.errors import InvalidInput


class SettingsError(InvalidInput):
    """The settings are wrong; the message names the key and what would be right."""


class Section(BaseModel):
    """One table of the tree: frozen, and strict about its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def _user_path(value: Any) -> Any:
    return Path(value).expanduser() if isinstance(value, str | Path) else value


UserPath = Annotated[Path, BeforeValidator(_user_path)]
"""A path in which ``~`` is the user's home."""


def _split(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


Item = TypeVar("Item")
Listed = Annotated[tuple[Item, ...], NoDecode, BeforeValidator(_split)]
"""Several values; in the environment and on the command line separated by commas."""


def named_keys(value: Any) -> Any:
    """``name = "secret"`` is short for ``[name] key = "secret"``."""
    if not isinstance(value, Mapping):
        return value
    return {name: {"key": key} if isinstance(key, str | SecretStr) else key for name, key in value.items()}
