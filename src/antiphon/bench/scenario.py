"""Conversations that are played again and again: what the caller says and when, what the model answers, what is right.

A scenario is a file, ``scenarios/conversation-*.toml``. It is frozen: changing one makes figures of different versions
incomparable, so a change gets a new ``version``, and the hash of all goes into every report.
"""

import hashlib
import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from antiphon.core.brain import Effect
from antiphon.core.errors import InvalidInput

PREFIX = "conversation-"
Kind: TypeAlias = Literal["turn", "interruption", "backchannel"]
"""``turn``: said when the agent is silent, wants an answer. ``interruption``: said over the agent, wants it to stop and
to answer. ``backchannel``: said over the agent, wants nothing."""


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool of the caller's side. ``result``: what it gives, as JSON text; ``{name}`` in it is an argument."""

    name: str
    effect: Effect
    result: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    takes_s: float = 0.05


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the model does when ``heard`` (a pattern) is found in the user's last words, or ``after`` is the tool that
    has just given its result. The first one that fits counts.

    ``say``: the answer; ``{name}`` in it is a field of the tool's result. ``call``: the tool asked for; ``arguments``:
    name -> pattern, whose last match in the user's words is the value (an argument that is not found: no fit).
    ``breaks_after``: the stream dies after so many words, the first time.
    """

    heard: str = ""
    after: str = ""
    say: str = ""
    call: str = ""
    arguments: dict[str, str] = {}
    breaks_after: int = 0


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A write that must have happened, with exactly these arguments."""

    tool: str
    arguments: dict[str, str] = {}


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One utterance. ``say``: pieces of text; a number between two is a pause in seconds.

    ``wait_s``: how long the agent has been silent when a turn begins. ``into_s``: how long it has been speaking when an
    interruption or a backchannel begins. ``expects``: a pattern in the answer's text.
    """

    say: tuple[str | float, ...]
    kind: Kind = "turn"
    wait_s: float = 1.0
    into_s: float = 1.5
    expects: str = ""

    @property
    def text(self) -> str:
        return " ".join(part for part in self.say if isinstance(part, str))


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``calls``: all writes that are right, in order; any other is a wrong action. ``corrected``: the scenario is about
    a correction within one turn, which ``calls`` says the outcome of. ``leaves_after_s``: the caller hangs up so long
    after its last line, whatever the agent says."""

    version: int
    name: str
    about: str
    steps: tuple[Step, ...]
    answers: tuple[Answer, ...]
    greeting: str = ""
    tools: tuple[Tool, ...] = ()
    calls: tuple[Call, ...] = ()
    corrected: bool = False
    leaves_after_s: float | None = None

    def check(self) -> None:
        """Raises ``InvalidInput`` for what cannot be played."""
        names = {tool.name for tool in self.tools}
        asked = {answer.call for answer in self.answers} | {answer.after for answer in self.answers} - {""}
        asked |= {call.tool for call in self.calls}
        if unknown := asked - names - {""}:
            raise InvalidInput(f"{self.name}: no such tool: {', '.join(sorted(unknown))}", "tools")
        patterns = [step.expects for step in self.steps] + [answer.heard for answer in self.answers]
        patterns += [pattern for answer in self.answers for pattern in answer.arguments.values()]
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise InvalidInput(f"{self.name}: {pattern!r} is no pattern: {error}") from None
        if not self.steps or (self.steps[0].kind != "turn" and not self.greeting):
            raise InvalidInput(f"{self.name}: the first step must be a turn", "steps")


def read_scenario(text: str, where: str) -> Scenario:
    """Raises ``InvalidInput`` naming ``where``."""
    try:
        scenario = msgspec.convert(tomllib.loads(text), Scenario)
    except (ValueError, msgspec.ValidationError) as error:
        raise InvalidInput(f"{where}: {error}", "scenario") from None
    scenario.check()
    return scenario


def shipped_scenarios() -> dict[str, Scenario]:
    """Name -> scenario, of those that come with the bench."""
    folder = resources.files("antiphon.bench").joinpath("scenarios")
    files = [file for file in folder.iterdir() if file.name.startswith(PREFIX) and file.name.endswith(".toml")]
    found = [read_scenario(file.read_text("utf-8"), file.name) for file in sorted(files, key=lambda file: file.name)]
    return {scenario.name: scenario for scenario in found}


def chosen_scenarios(names: tuple[str, ...], files: tuple[Path, ...] = ()) -> tuple[Scenario, ...]:
    """Shipped ones by name (all, if none is named and no file is given), and those of ``files``. Raises
    ``InvalidInput``."""
    shipped = shipped_scenarios()
    if unknown := set(names) - set(shipped):
        raise InvalidInput(f"no such scenario: {', '.join(sorted(unknown))}; known: {', '.join(shipped)}", "scenario")
    wanted = names if names or files else tuple(shipped)
    found = [shipped[name] for name in wanted]
    for path in files:
        try:
            found.append(read_scenario(path.read_text("utf-8"), str(path)))
        except OSError as error:
            raise InvalidInput(f"cannot read {path}: {error.strerror}", "scenario") from None
    return tuple(found)


def scenarios_hash(scenarios: tuple[Scenario, ...]) -> str:
    """sha256 of what is played and answered."""
    digest = hashlib.sha256()
    for scenario in scenarios:
        digest.update(msgspec.json.encode(scenario, order="deterministic") + b"\n")
    return digest.hexdigest()


def tool_result(tool: Tool, arguments: dict[str, Any]) -> str:
    """What ``tool`` gives for these arguments."""
    result = tool.result
    for name, value in arguments.items():
        result = result.replace("{" + name + "}", str(value))
    return result
