"""What a channel gives: its stream's events in order, and nothing of a stream that has ended."""

from antiphon.core.clock import ManualClock
from antiphon.core.engine import Stream
from antiphon.core.event import Audio, Event, Flushed
from antiphon.core.speech import Prosody
from antiphon.server.admission import Place
from antiphon.server.journal import AudioSent, Entry, Journal, StreamEnded
from antiphon.server.lines import Line
from antiphon.server.session.channel import Channel


class Box:
    """A stream with nothing but events."""

    def __init__(self, events: list[Event]) -> None:
        self._events = events

    def push(self, item: str | Prosody | bytes) -> None: ...

    def flush(self, marker: object, *, last: bool = False) -> None: ...

    def pull(self, limit: int | None = None) -> list[Event]:
        taken = self._events[:limit]
        del self._events[: len(taken)]
        return taken

    def tick(self, now_s: float) -> float | None:
        return None

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def line(events: list[Event], entries: list[Entry]) -> Line:
    stream: Stream = Box(events)
    return Line(1, stream, Place(lambda: None), Journal(entries.append), ManualClock())


def audio(ms: int) -> Audio:
    return Audio(b"\1\0" * ms, 0, ms, 1_000, 0.5)


def test_events_come_one_by_one_in_order() -> None:
    channel = Channel(1, line([Flushed(n) for n in range(11)], []))
    channel.fresh = True
    assert [channel.pull() for _ in range(12)] == [*(Flushed(n) for n in range(11)), None]


def test_a_stream_that_gave_less_than_it_was_asked_for_is_left_alone_until_it_calls() -> None:
    events: list[Event] = [Flushed(0)]
    channel = Channel(1, line(events, []))
    channel.fresh = True
    assert [channel.pull(), channel.pull()] == [Flushed(0), None]
    events.append(Flushed(1))
    assert channel.pull() is None
    channel.fresh = True
    assert channel.pull() == Flushed(1)


def test_nothing_comes_of_a_stream_that_has_ended_though_it_was_pulled() -> None:
    channel = Channel(1, line([Flushed(n) for n in range(11)], []))
    channel.fresh = True
    assert channel.pull() == Flushed(0)
    channel.line = None
    assert channel.pull() is None


def test_the_journal_is_told_of_the_first_chunk_at_once_and_of_the_others_together() -> None:
    entries: list[Entry] = []
    told = line([], entries)
    told.pulled(audio(200))
    assert entries == [AudioSent(0.0, 1, 400, 0.2, 0.5)]
    for _ in range(5):
        told.pulled(audio(200))
    assert len(entries) == 1
    told.settle()
    told.settle()
    assert entries[1:] == [AudioSent(0.0, 1, 2000, 1.0, 2.5)]
    told.pulled(audio(200))
    told.end("done")
    told.settle()
    assert entries[2:] == [AudioSent(0.0, 1, 400, 0.2, 0.5), StreamEnded(0.0, 1, "done", "")]


def test_a_line_that_has_ended_is_listed_no_more() -> None:
    listed: dict[int, Line] = {}
    stream: Stream = Box([])
    for number in (1, 2):
        listed[number] = Line(number, stream, Place(lambda: None), Journal(), ManualClock(), listed)
    listed[1].end("done")
    assert list(listed) == [2]
    ended = listed[2]
    ended.end("dropped")
    ended.end("dropped")
    assert listed == {}
