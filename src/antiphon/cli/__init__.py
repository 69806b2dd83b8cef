"""The commands, one file each."""

import sys

from antiphon.cli.app import app
from antiphon.core.errors import AntiphonError

__all__ = ["app", "main"]


def main() -> None:
    """Entry point: an error that a user can act on is one line, never a traceback."""
    try:
        app()
    except AntiphonError as error:
        print(f"antiphon: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(0)
