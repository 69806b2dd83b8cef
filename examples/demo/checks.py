"""Did the conversation go as it should? Each fact that must hold, and what was found. Pure."""

from dataclasses import dataclass
from datetime import date

from examples.demo.script import MOVED, PART, THURSDAY
from examples.demo.story import Chapter, Story

from antiphon.bench.conversation_call import Arrived
from antiphon.protocol import native_messages as wire

WRITE = "reschedule_delivery"


@dataclass(frozen=True, slots=True)
class Check:
    """``found``: what is the case, in words."""

    name: str
    ok: bool
    found: str


def checks(story: Story) -> list[Check]:
    """All of them, in the order in which they matter to a reader. None of them is about how long anything took."""
    found = [_held(story), _greeted(story)]
    found += [_chapter(chapter) for chapter in story.chapters]
    found += [_interruption(story), _silenced(story), _booked(story), _once(story), _untouched(story), _ended(story)]
    return found


def _held(story: Story) -> Check:
    missed = [chapter.step.text for chapter in story.chapters if chapter.measured.said != "said"]
    if story.call.error:
        return Check("the call is held to its end", False, story.call.error)
    told = f"not said, since the agent did not speak then: {'; '.join(missed)}" if missed else "every line was said"
    return Check("the call is held to its end", not missed, told)


def _greeted(story: Story) -> Check:
    at_s = story.greeting_heard_s
    told = "the caller spoke into silence" if at_s is None else f"first heard {at_s:.2f} s after the call began"
    return Check("the agent greets first", at_s is not None, told)


def _chapter(chapter: Chapter) -> Check:
    turn, text = chapter.measured, chapter.step.text
    if chapter.step.kind == "backchannel":
        told = "the agent stopped, or was not speaking"
        if turn.stopped is False:
            told = f"the agent went on; its longest silence around it was {1e3 * (turn.hole_s or 0.0):.0f} ms"
        return Check(f"{text!r} does not stop the agent", turn.stopped is False, told)
    name = f"{text!r} is answered"
    if turn.v2v_s is None:
        told = "it spoke before the caller had ended" if turn.cut_off else "silence: no answer was heard"
        return Check(name, False, f"{told}; understood: {turn.transcript!r}")
    if turn.met is False:
        return Check(name, False, f"understood {turn.transcript!r}, answered {turn.reply!r}")
    return Check(name, True, turn.reply)


def _interruption(story: Story) -> Check:
    name = "the interrupted answer is remembered as far as it was heard"
    record = story.interrupted()
    if record is None:
        return Check(name, False, "no answer was interrupted")
    heard, whole = record.heard.split(), record.reply.split()
    partly = 0 < len(heard) < len(whole) and whole[: len(heard)] == heard
    return Check(name, partly, f"heard {record.heard!r} of {record.reply!r}")


def _silenced(story: Story) -> Check:
    """Nothing of a reply that was cleared follows."""
    cleared: set[str] = set()
    late = 0
    for _, event in story.call.events:
        if isinstance(event, wire.Clear):
            cleared.add(event.reply_id)
        elif isinstance(event, Arrived) and event.reply_id in cleared:
            late += event.samples
    told = f"{late} samples came after the end" if late else f"{len(cleared)} cut off, not one sample followed"
    return Check("nothing of a reply that was cut off follows", bool(cleared) and not late, told)


def _booked(story: Story) -> Check:
    order = story.after.order(MOVED)
    day = date.fromisoformat(order.delivery_day)
    right = day.weekday() == THURSDAY and order.part == PART and day > story.today
    told = f"{day:%A} {order.delivery_day} {order.part}".rstrip()
    return Check(f"order {MOVED} comes on a Thursday {PART}", right, f"in the book: {told}")


def _once(story: Story) -> Check:
    runs = [tool for record in story.records for tool in record.tools if tool.name == WRITE]
    made = story.after.changes - story.before.changes
    done = sum(tool.state == "done" for tool in runs)
    told = f"{made} change{'s' * (made != 1)} in the book, {len(runs)} call{'s' * (len(runs) != 1)} of {WRITE}"
    return Check("the correction is one change, not two", made == 1 and done == 1 and len(runs) == 1, told)


def _untouched(story: Story) -> Check:
    before = {order.id: order for order in story.before.orders if order.id != MOVED}
    after = {order.id: order for order in story.after.orders if order.id != MOVED}
    wrong = [number for number in sorted(before | after) if before.get(number) != after.get(number)]
    told = f"changed: {', '.join(wrong)}" if wrong else f"{len(after)} as they were"
    return Check("no other order is touched", not wrong, told)


def _ended(story: Story) -> Check:
    tools = [tool for record in story.records for tool in record.tools]
    left = [tool.name for tool in tools if tool.state == "running"]
    told = f"still running: {', '.join(left)}" if left else f"{len(tools)} calls, all ended"
    return Check("every tool call came to its end", bool(tools) and not left, told)
