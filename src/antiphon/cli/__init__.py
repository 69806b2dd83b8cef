"""The commands. Each file registers its own on :data:`app`."""

import sys

from antiphon.cli.app import app
from antiphon.cli import bench, check, models, say, serve, voices  # noqa: F401  (they register themselves)
from antiphon.core.errors import AntiphonError


def main() -> None:
    """Entry point: an error that a user can act on is one line, never a traceback."""
    try:
        app()
    except AntiphonError as error:
        print(f"antiphon: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(0)
