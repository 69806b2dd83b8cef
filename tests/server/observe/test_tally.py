from antiphon.server.journal import Entry, PhaseChanged
from antiphon.server.observe.tally import Tallies, Tally, tallied

from .test_metrics import life


def test_an_entry_comes_with_the_tally_of_its_stream_that_entry_included() -> None:
    told: list[tuple[Entry, float | None]] = []

    def keep(entry: Entry, tally: Tally | None) -> None:
        told.append((entry, None if tally is None else tally.audio_s))

    fold = tallied(keep, keep)
    for entry in (PhaseChanged(1.0, "ready"), *life(1), life(1)[1]):
        fold(entry)
    assert told[::2] == told[1::2]
    assert [entry for entry, _ in told[::2]] == [PhaseChanged(1.0, "ready"), *life(1), life(1)[1]]
    assert [audio_s for _, audio_s in told[::2]] == [None, 0.0, 0.0, 0.0, 0.02, 0.06, 0.06, None]


def test_ended_streams_are_forgotten() -> None:
    tallies = Tallies()
    for stream in range(100):
        for entry in life(stream):
            tallies.update(entry)
    assert len(tallies) == 0
