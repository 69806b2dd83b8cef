"""When a scripted caller says its next line. Pure: it is told what it hears, and decides at each frame."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from antiphon.bench.scenario import Scenario

PATIENCE_S = 10.0
"""A caller who gets no answer for so long says its next line all the same."""
FIRST_S = 0.5
LAST_S = 1.0

Said: TypeAlias = Literal["waiting", "said", "missed"]
"""``missed``: it was to be said over the agent, who had stopped speaking before."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the caller knows. ``quiet_since_s``: since when nothing sounds and nothing is announced (None: the agent
    speaks). ``began_s``: when the agent's speech after the caller's last own line began (None: not yet). ``sounding``:
    whether the agent is heard at this moment."""

    quiet_since_s: float | None
    began_s: float | None
    sounding: bool = True


class Director:
    """Ask :meth:`next_line` at each tick; it gives the step to be said now."""

    def __init__(self, scenario: Scenario, begin_s: float) -> None:
        self._steps = scenario.steps
        self._leaves_after_s = scenario.leaves_after_s
        self._next = 0
        self._greeted = not scenario.greeting
        self._begin_s = begin_s
        self._free_s = begin_s
        """When the last line is over."""
        self._awaits = bool(scenario.greeting)
        self.said: list[Said] = ["waiting" for _ in scenario.steps]

    def next_line(self, now_s: float, heard: Heard) -> int | None:
        """Index of the step to begin now. The caller says :meth:`spoken` when it knows how long it takes."""
        while self._next < len(self._steps) and now_s >= self._free_s:
            verdict = self._verdict(now_s, heard)
            if verdict is None:
                return None
            index, self._next = self._next, self._next + 1
            self.said[index] = "said" if verdict else "missed"
            if verdict:
                return index
        return None

    def spoken(self, index: int, until_s: float) -> None:
        """The step has begun, and takes until then."""
        self._free_s = until_s
        if self._steps[index].kind != "backchannel":
            self._awaits = True

    def is_over(self, now_s: float, heard: Heard) -> bool:
        """All is said, and answered as far as it will be."""
        if self._next < len(self._steps) or now_s < self._free_s:
            return False
        if self._leaves_after_s is not None and now_s >= self._free_s + self._leaves_after_s:
            return True
        return self._settled(now_s, heard, LAST_S)

    def _verdict(self, now_s: float, heard: Heard) -> bool | None:
        """Whether the next step can be said now; None: not decided yet."""
        step = self._steps[self._next]
        if step.kind == "turn":
            if self._next == 0 and not self._awaits:
                return True if now_s >= self._begin_s + FIRST_S else None
            return True if self._settled(now_s, heard, step.wait_s) else None
        if heard.quiet_since_s is None and heard.began_s is not None:
            return True if now_s >= heard.began_s + step.into_s and heard.sounding else None
        return False if self._settled(now_s, heard, LAST_S) else None

    def _settled(self, now_s: float, heard: Heard, quiet_s: float) -> bool:
        waited_s = now_s - self._free_s
        if self._awaits and heard.began_s is None:
            return waited_s >= PATIENCE_S
        return heard.quiet_since_s is not None and now_s >= max(heard.quiet_since_s, self._free_s) + quiet_s
