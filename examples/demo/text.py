"""What the demo prints: the conversation while it happens, then where the time went and what was decided. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from examples.demo.checks import Check
from examples.demo.house import Book, Order
from examples.demo.records import TurnRecord
from examples.demo.stages import bars
from examples.demo.story import TOLERANCE_S, Chapter, Story

from antiphon.bench.conversation_call import News
from antiphon.client import Heard
from antiphon.protocol import native_messages as wire

WIDTH = 44
"""Characters of a waterfall."""


@dataclass(slots=True)
class _Reply:
    text: str = ""
    told_chars: int = 0
    words: list[wire.Word] = field(default_factory=list)


class Live:
    """Takes what happens in a call, with its moment, and gives lines for a terminal."""

    def __init__(self) -> None:
        self._replies: dict[str, _Reply] = {}

    def lines(self, at_s: float, event: News | str) -> Iterator[str]:
        match event:
            case str():
                yield _line(at_s, "caller", event)
            case wire.UserEnded():
                yield _line(at_s, "", f"understood: {event.transcript.strip()!r}")
            case wire.UserResumed():
                yield _line(at_s, "", "the caller goes on: what was prepared is dropped")
            case wire.ReplyStarted():
                self._replies[event.reply_id] = _Reply()
            case wire.ReplyText() if event.reply_id in self._replies:
                self._replies[event.reply_id].text += event.delta
            case wire.ReplyWords() if event.reply_id in self._replies:
                self._replies[event.reply_id].words += event.words
            case wire.ReplyPaused():
                yield from self._agent(at_s, event.reply_id)
                yield _line(at_s, "", "the agent pauses, to hear whether the caller wants the floor")
            case wire.ReplyContinued():
                yield _line(at_s, "", "the agent goes on where it stopped")
            case wire.Clear():
                yield from self._agent(at_s, event.reply_id)
                yield _line(at_s, "", "the agent stops: the caller has the floor")
            case wire.ReplyEnded():
                yield from self._agent(at_s, event.reply_id)
            case Heard() if event.reply_id in self._replies:
                yield from self._heard(at_s, event)
            case wire.ErrorMessage():
                yield _line(at_s, "", f"the server says: {event.message}")
            case wire.HandedOver():
                yield _line(at_s, "", f"handed over to a person: {event.reason}")
            case _:
                pass

    def _agent(self, at_s: float, reply_id: str) -> Iterator[str]:
        """What it says and was not shown yet."""
        reply = self._replies.get(reply_id)
        if reply is not None and (new := " ".join(reply.text[reply.told_chars :].split())):
            reply.told_chars = len(reply.text)
            yield _line(at_s, "agent", new)

    def _heard(self, at_s: float, heard: Heard) -> Iterator[str]:
        reply = self._replies[heard.reply_id]
        if heard.sample and reply.text.rstrip().endswith((".", "?", "!")):
            yield from self._agent(at_s, heard.reply_id)
        if not heard.over:
            return
        del self._replies[heard.reply_id]
        words = [word.text for word in reply.words if word.end_sample <= heard.sample]
        if len(words) < len(reply.words):
            yield _line(at_s, "", f"heard of it: {' '.join(words)!r}")


def waterfalls(story: Story) -> Iterator[str]:
    """Each turn that was answered: its stages, and the silence that the recording shows."""
    spoken = story.spoken()
    longest_s = max((sum(bar.seconds for bar in bars(record)) for _, record in spoken), default=0.1)
    for number, (chapter, record) in enumerate(spoken):
        if number:
            yield ""
        yield from _waterfall(chapter, record, max(longest_s, 0.1))


def _waterfall(chapter: Chapter, record: TurnRecord, longest_s: float) -> Iterator[str]:
    cause = f", because of {record.cause}" if record.cause else ""
    yield f"  turn {record.number}: {chapter.step.text}"
    yield f"      {record.outcome}{cause}; prepared on a guess: {_GUESSES.get(record.speculation, record.speculation)}"
    yield f"      {'':<20}{'took':>8}{'at':>8}"
    yield f"      {'end of speech':<20}{'':>8}{'0 ms':>8}"
    for bar in bars(record):
        if bar.seconds:
            begin, end = (round(WIDTH * at_s / longest_s) for at_s in (bar.from_s, bar.to_s))
            drawn = " " * begin + ("#" * (end - begin) or "|")
        else:
            drawn = f"ready {1e3 * bar.early_s:.0f} ms before the turn's end" if bar.early_s else ""
        yield f"      {bar.label:<20}{_ms(bar.seconds):>8}{_ms(bar.to_s):>8}  {drawn}".rstrip()
    total_s = sum(bar.seconds for bar in bars(record))
    yield f"      {'sum of the stages':<20}{_ms(total_s):>8}"
    if chapter.measured.v2v_s is not None and chapter.apart_s is not None:
        within = "within" if abs(chapter.apart_s) <= TOLERANCE_S else "NOT within"
        yield (
            f"      {'in the recording':<20}{_ms(chapter.measured.v2v_s):>8}          "
            f"{1e3 * abs(chapter.apart_s):.0f} ms apart, {within} {1e3 * TOLERANCE_S:.0f} ms"
        )


_GUESSES = {"right": "yes, and the guess was right", "wrong": "yes, the guess was wrong and dropped", "none": "no"}


def ledger(story: Story) -> Iterator[str]:
    for record in story.records:
        yield f"  turn {record.number}: {said(record)}"
        for entry in record.ledger:
            fault = f"  [fault: {entry.fault}]" if entry.fault else ""
            yield f"    {entry.at_s:8.3f}  {entry.kind:<20}{entry.reason}{fault}".rstrip()
        for tool in record.tools:
            yield f"    {'':8}  {tool.effect + ' ' + tool.name:<28}{tool.arguments} -> {tool.state}"


def said(record: TurnRecord) -> str:
    return record.said or ("(no turn: a listener's word)" if record.outcome == "ignored" else "(nothing understood)")


def heard(story: Story) -> Iterator[str]:
    record = story.interrupted()
    if record is not None:
        yield f"  was to say:  {record.reply}"
        yield f"  was heard:   {record.heard}"
        yield "  The agent's memory keeps what was heard, and no more."


def order_books(before: Book, after: Book) -> Iterator[str]:
    yield f"  {'order':<7}{'customer':<14}{'status':<11}{'delivery before':<24}{'after'}"
    for one in before.orders:
        other = after.order(one.id)
        mark = "  <- changed" if other != one else ""
        yield f"  {one.id:<7}{one.customer:<14}{other.status:<11}{_when(one):<24}{_when(other)}{mark}"
    yield f"  changes written: {after.changes - before.changes}"


def verdicts(found: list[Check]) -> Iterator[str]:
    for check in found:
        yield f"  {'ok  ' if check.ok else 'NOT '} {check.name}: {check.found}"


def _when(order: Order) -> str:
    return f"{order.delivery_day} {order.part}".rstrip()


def _line(at_s: float, who: str, text: str) -> str:
    return f"  {max(0.0, at_s):6.2f}  {who:<7} {text}"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.0f} ms"
