"""The call put together: what was said, what the server recorded of it, what the recording shows. Values only."""

import os
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from examples.demo.caller import Held
from examples.demo.house import Book
from examples.demo.records import TurnRecord

from antiphon.bench.conversation_call import Call, Line
from antiphon.bench.conversation_measure import Turn, measure_call
from antiphon.bench.scenario import Step

TOLERANCE_S = 0.02


@dataclass(frozen=True, slots=True)
class Chapter:
    """A line of the caller and what came of it. ``measured``: from the recording. ``records``: the server's turns that
    began with it (more than one, where the caller went on after a pause that seemed an end)."""

    step: Step
    line: Line
    measured: Turn
    records: tuple[TurnRecord, ...]

    @property
    def answered(self) -> TurnRecord | None:
        """The turn whose answer was heard."""
        return next((one for one in reversed(self.records) if one.moments.get("heard") is not None), None)

    @property
    def apart_s(self) -> float | None:
        """The sum of the stages minus the silence in the recording; None where one of them is not known."""
        record = self.answered
        if record is None or self.measured.v2v_s is None or not record.stages:
            return None
        return sum(spent_s for _, spent_s in record.stages) - self.measured.v2v_s


@dataclass(frozen=True, slots=True)
class Story:
    """``load``: the machine's load average when the call was over, on ``cores`` of them."""

    call: Call
    chapters: tuple[Chapter, ...]
    records: tuple[TurnRecord, ...]
    before: Book
    after: Book
    today: date
    ready_s: float
    load: float = 0.0
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)

    @property
    def greeting_heard_s(self) -> float | None:
        """When the agent is first heard, if that is before the caller's first word."""
        first = min((piece.start_s for piece in self.call.pieces), default=None)
        starts = [line.start_s for line in self.call.lines if line.start_s is not None]
        if first is None:
            return None
        at_s = first - self.call.recording.begin_s
        return at_s if not starts or at_s < min(starts) else None

    def spoken(self) -> list[tuple[Chapter, TurnRecord]]:
        """The lines whose answer was heard, and the server's record of it."""
        return [
            (chapter, chapter.answered)
            for chapter in self.chapters
            if chapter.answered is not None and chapter.step.kind != "backchannel"
        ]

    def interrupted(self) -> TurnRecord | None:
        """The turn whose answer was cut off while it was heard."""
        return next((turn for turn in self.records if turn.outcome == "interrupted"), None)


def told(held: Held, records: tuple[TurnRecord, ...], **facts: Any) -> Story:
    """``facts``: the other fields of :class:`Story`."""
    call = held.call
    measured = measure_call(call).turns
    starts = [line.start_s for line in call.lines]
    chapters = []
    for index, line in enumerate(call.lines):
        until_s = min((start for start in starts[index + 1 :] if start is not None), default=float("inf"))
        own = () if line.start_s is None else tuple(
            record for record in records if line.start_s <= record.began_s < until_s
        )  # fmt: skip
        chapters.append(Chapter(call.scenario.steps[index], line, measured[index], own))
    return Story(call, tuple(chapters), records, **facts)
