"""A server that belongs to the command which started it, and is not to outlive it, however that ends."""

import os
import signal
import sys
import threading
from typing import Annotated

import typer

OPTION = "--while-stdin"
WhileStdin = Annotated[bool, typer.Option(OPTION, help="Leave when standard input ends.", hidden=True)]


def leave_with_stdin() -> None:
    """End this process as SIGTERM does once standard input has ended. It is a pipe whose other end the parent holds:
    the system closes it even where the parent was killed."""
    stdin = sys.stdin.fileno()

    def watch() -> None:
        while os.read(stdin, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()
