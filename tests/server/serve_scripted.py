"""``serve`` in a process of its own, over the scripted engine: what `antiphon serve` does, minus the models."""

import asyncio
import sys

from antiphon.core.errors import ModelUnavailable
from antiphon.server.run import serve
from antiphon.settings import SettingsError, load

from .support import ScriptedEngine


class KeptOpen:
    """A brain with connections of its own, which must be closed while its loop still runs."""

    name = "kept-open"

    async def aclose(self) -> None:
        asyncio.get_running_loop()
        print("brain closed", flush=True)


class House:
    device = "cpu"

    def __init__(self) -> None:
        self.registry = ScriptedEngine(answers=True)
        self.brain = KeptOpen()

    def close(self) -> None:
        print("house closed", flush=True)


def build(_: object) -> House:
    if "no-model" in sys.argv:
        raise ModelUnavailable("hibari is not installed: run `antiphon models pull --embedded`")
    house = House()
    if "cold" in sys.argv:

        def fail() -> None:
            raise RuntimeError("graph does not run")

        house.registry.warm_up = fail  # type: ignore[method-assign]
    return house


try:
    given = load()
except SettingsError as error:
    sys.exit(str(error))
sys.exit(serve(given, build))  # type: ignore[arg-type]
