"""Frozen scenarios for voices: committed texts and loads, under a name with a version and a hash."""

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import msgspec

from antiphon.bench.workload import text_hash
from antiphon.core.errors import InvalidInput, NotFound

PREFIX = "tts-"


class ScenarioText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    language: str
    text: str


class ScenarioLoad(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``closed``: numbers of callers, each one request after the other. ``open``: numbers of streams, Poisson starts.
    ``rates_hz``: Poisson starts a second. ``starts``: measured per load; ``warm_up``: requests before them in a closed
    loop (an open loop warms up for twice the playing time)."""

    closed: tuple[int, ...] = (1,)
    open: tuple[int, ...] = ()
    rates_hz: tuple[float, ...] = ()
    starts: int = 100
    warm_up: int = 1


class TtsScenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    kind: str
    version: int
    description: str
    load: ScenarioLoad
    texts: tuple[ScenarioText, ...]

    @property
    def title(self) -> str:
        return f"{PREFIX}{self.name} v{self.version}"

    @property
    def sha256(self) -> str:
        """Of languages and texts, in order: the workload's hash."""
        return text_hash(f"{each.language}\t{each.text}" for each in self.texts)


@dataclass(frozen=True, slots=True)
class Known:
    name: str
    description: str


def known() -> list[Known]:
    """The scenarios that come with the bench."""
    folder = resources.files("antiphon.bench").joinpath("scenarios")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.startswith(PREFIX))
    return [Known(name.removesuffix(".toml"), scenario(name.removesuffix(".toml")).description) for name in names]


def scenario(name: str) -> TtsScenario:
    """By name (``tts-short``, or ``short``), or the path of a file. Raises ``NotFound``, ``InvalidInput``."""
    if name.endswith(".toml"):
        try:
            return _parsed(Path(name).read_bytes(), name)
        except OSError as error:
            raise InvalidInput(f"cannot read {name}: {error.strerror}", "scenario") from None
    file = name if name.startswith(PREFIX) else PREFIX + name
    entry = resources.files("antiphon.bench").joinpath(f"scenarios/{file}.toml")
    if not entry.is_file():
        raise NotFound(f"no scenario {name!r}; known: {', '.join(each.name for each in known())}", "scenario")
    return _parsed(entry.read_bytes(), file)


def _parsed(data: bytes, name: str) -> TtsScenario:
    try:
        found = msgspec.convert(tomllib.loads(data.decode()), TtsScenario)
    except (msgspec.ValidationError, ValueError) as error:
        raise InvalidInput(f"{name} is no scenario: {error}", "scenario") from None
    if found.kind != "tts" or not found.texts or not (found.load.closed or found.load.open or found.load.rates_hz):
        raise InvalidInput(f"{name} is no scenario for voices: it needs kind tts, texts and a load", "scenario")
    return found
