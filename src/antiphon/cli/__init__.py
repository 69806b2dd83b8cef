"""The commands, one file each."""

import sys

from antiphon.cli import bench as _bench
from antiphon.cli import check as _check
from antiphon.cli import hear as _hear
from antiphon.cli import models as _models
from antiphon.cli import say as _say
from antiphon.cli import serve as _serve
from antiphon.cli import voices as _voices
from antiphon.cli.app import app
from antiphon.core.errors import AntiphonError

__all__ = ["app", "main"]

_COMMANDS = (_serve, _say, _hear, _voices, _models, _check, _bench)
"""Imported for what they register on the application."""


def main() -> None:
    """Entry point: an error that a user can act on is one line, never a traceback."""
    try:
        app()
    except AntiphonError as error:
        print(f"antiphon: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(0)
