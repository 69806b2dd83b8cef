"""The demo's conversation as it should go, never spoken: tones, made-up stamps and records; and ways to spoil it."""

from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from examples.demo.caller import Held
from examples.demo.house import Book, Order
from examples.demo.records import Decision, ToolRun, TurnRecord
from examples.demo.script import SCRIPT
from examples.demo.story import Story, told

from antiphon.protocol import native_messages as wire

from ..bench.planted_call import Planted

TODAY = date(2026, 12, 1)  # a Tuesday
HOURS = "We are open Monday to Friday from nine to six, Thursday until eight."
OTHER = "Order 4 7 1 4 is ordered: 1 espresso kettle and 1 hand grinder."
FOUND = "Order 4 7 1 1 is on its way: 1 garden lamp and 2 extension cords."
MOVED = "Done. Order 4 7 1 1 now comes Thursday, December 3 afternoon."
BYE = "Goodbye, and thank you for calling."
WRITE = ToolRun("w1", "reschedule_delivery", "write", "done", '{"order_id": "4711"}')
READ = ToolRun("r1", "lookup_order", "read", "done", '{"order_id": "4714"}')


@dataclass
class Plan:
    """What may be spoiled before the story is put together."""

    backchannel_stops: bool = False
    interruption_stops: bool = True
    answered: bool = True
    sound_after_clear: bool = False
    greets: bool = True
    moved_text: str = MOVED
    writes: tuple[ToolRun, ...] = (WRITE,)
    heard_of_other: str = "Order 4 7 1 4 is ordered:"
    after: Book | None = None
    changes: int = 1
    facts: dict[str, Any] = field(default_factory=dict)

    def story(self) -> Story:
        held = Held(self._call(), began_unix_s=0.0)
        after = self.after or book("2026-12-03", "afternoon", changes=self.changes)
        facts = {"before": book("2026-12-03", ""), "after": after, "today": TODAY, "ready_s": 1.0, **self.facts}
        return told(held, self._records(), **facts)

    def _call(self) -> Any:
        plan = Planted(SCRIPT, length_s=30.0)
        if self.greets:
            plan.reply("greeting", 0.2, 1.0, text="Hello, this is the order desk.")
        plan.line(2.0, 1.0)
        plan.turn_ends(3.2, "Hello, when are you open, please?")
        plan.reply("r1", 3.5, 2.6 if self.backchannel_stops else 4.0, text=HOURS)
        plan.line(5.5, 0.3)
        if self.backchannel_stops:
            plan.note(6.0, wire.Clear(reply_id="r1", fade_ms=40))
        plan.line(9.0, 1.0)
        plan.turn_ends(10.2, "And where is my order, 4714?")
        plan.reply("r2", 10.5, 1.7 if self.interruption_stops else 3.0, text=OTHER)
        plan.line(12.0, 1.0)
        if self.interruption_stops:
            plan.note(12.21, wire.Clear(reply_id="r2", fade_ms=40))
        if self.sound_after_clear:
            plan.sound("r2", 12.3, plan.said[0][1][:2400], first=40_800)
        plan.turn_ends(13.2, "No, wait. I mean order 4711.")
        plan.reply("r3", 13.5, 1.5, text=FOUND)
        plan.line(16.0, 1.5)
        plan.turn_ends(17.7, "Please move it to Friday, no, Thursday afternoon.")
        if self.answered:
            plan.reply("r4", 18.0, 2.0, text=self.moved_text)
        plan.line(21.0, 1.0)
        plan.turn_ends(22.2, "Thank you, goodbye.")
        plan.reply("r5", 22.5, 1.0, text=BYE)
        return plan.call()

    def _records(self) -> tuple[TurnRecord, ...]:
        outcome = "interrupted" if self.interruption_stops else "answered"
        return (
            record(1, 2.0, 3.0, HOURS, tools=(replace(READ, name="opening_hours", arguments="{}"),)),
            TurnRecord(2, "ignored", "", None, (), {}, ledger=(Decision(5.6, "turn.started"),)),
            record(3, 9.0, 10.0, OTHER, outcome=outcome, heard=self.heard_of_other, tools=(READ,)),
            record(4, 12.0, 13.0, FOUND),
            record(5, 16.0, 17.5, self.moved_text, tools=self.writes),
            record(6, 21.0, 22.0, BYE),
        )


def record(number: int, start_s: float, end_s: float, reply: str, **fields: Any) -> TurnRecord:
    """A turn said in ``[start_s, end_s)`` that is answered half a second later, prepared on a guess."""
    stages = (("final", 0.1), ("turn", 0.2), ("unit", 0.0), ("tts", 0.0), ("send", 0.05), ("playback", 0.15))
    moments = {"speech_end": end_s, "final": end_s + 0.1, "turn_end": end_s + 0.3, "llm_first": end_s + 0.2}
    moments |= {"unit": end_s + 0.2, "tts_first": end_s + 0.25, "sent": end_s + 0.35, "heard": end_s + 0.5}
    ledger = (Decision(start_s + 0.1, "turn.started"), Decision(end_s + 0.3, "turn.ended"))
    fields = {"outcome": "answered", "heard": reply, **fields}
    return TurnRecord(
        number, cause="", silence_s=0.5, stages=stages, moments=moments, speculation="right", said=f"words {number}",
        reply=reply, ledger=ledger, **fields,
    )  # fmt: skip


def book(day: str, part: str, *, changes: int = 0, other: str = "") -> Book:
    return Book(
        (
            Order("4711", "Ana Keller", "shipped", day, part),
            Order("4714", "Luis Brandt", "ordered", "2026-12-07", other),
        ),
        changes,
    )
