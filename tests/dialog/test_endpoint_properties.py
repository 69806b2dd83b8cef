"""What holds whatever an ear says: the order of events, and that no text is lost, said twice or taken back."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from antiphon.core.event import Event
from antiphon.core.hearing import EAR_RATE_HZ, Heard, Listened, SpeechStarted, SpeechStopped, TurnScored
from antiphon.core.turns import (
    EndpointSettings,
    TurnEagerEnded,
    TurnEnded,
    TurnEvent,
    TurnResumed,
    TurnStarted,
    TurnUpdated,
)
from antiphon.dialog.endpoint import FINAL_WAIT_S, STALL_GRACE_S, Endpoint

WORDS = ("yes", "no,", "seven", "make", "it", "Friday.", "and")

any_events = st.one_of(
    st.builds(SpeechStarted, st.integers(0, 400_000)),
    st.builds(SpeechStopped, st.integers(0, 400_000)),
    st.builds(TurnScored, st.integers(0, 400_000), st.floats(0, 1), st.integers(0, 60_000)),
    st.builds(Listened, st.integers(0, 400_000), st.booleans()),
    st.builds(
        Heard,
        st.lists(st.sampled_from([" " + word for word in WORDS]), max_size=5).map("".join),
        st.integers(0, 12),
        st.booleans(),
        end_sample=st.integers(0, 400_000),
    ),
)

steps = st.lists(st.tuples(any_events, st.floats(0, 2), st.booleans()), max_size=60)


def check_order(events: list[TurnEvent]) -> None:
    """The state machine of the protocol, and append-only transcripts."""
    state, text = "idle", ""
    for event in events:
        match event:
            case TurnStarted():
                assert state == "idle"
                state, text = "speaking", ""
            case TurnUpdated(transcript):
                assert state == "speaking"
                assert transcript.startswith(text)
                assert len(transcript) > len(text)
                text = transcript
            case TurnEagerEnded(transcript):
                assert state == "speaking"
                assert transcript.startswith(text)
                assert transcript.strip()
                state, text = "eager", transcript
            case TurnResumed():
                assert state == "eager"
                state = "speaking"
            case TurnEnded(transcript):
                assert state in ("speaking", "eager")
                assert transcript.startswith(text)
                state = "idle"


@given(steps)
def test_any_sequence_of_events_keeps_the_order(script: list[tuple[Event, float, bool]]) -> None:
    endpoint, now_s = Endpoint(), 0.0
    events: list[TurnEvent] = []
    for event, passed_s, ticks in script:
        now_s += passed_s
        if ticks:
            events += endpoint.tick(now_s)
        events += endpoint.handle(event, now_s)
        started, ended = (sum(isinstance(e, kind) for e in events) for kind in (TurnStarted, TurnEnded))
        assert endpoint.in_turn == (started > ended)
    events += endpoint.close()
    check_order(events)
    assert not endpoint.in_turn


@given(steps)
def test_any_open_turn_ends_by_the_wall_clock(script: list[tuple[Event, float, bool]]) -> None:
    endpoint, now_s = Endpoint(), 0.0
    for event, passed_s, _ in script:
        now_s += passed_s
        endpoint.handle(event, now_s)
    events = endpoint.tick(now_s + endpoint.settings.end_timeout_s + STALL_GRACE_S)
    assert not endpoint.in_turn
    assert endpoint.deadline_s is None
    assert len(events) <= 1


@dataclass
class _Phrase:
    """A stretch of speech as a lawful ear reports it: interims with a growing committed prefix, a pause, a final."""

    words: list[str]
    interims: list[tuple[int, int]]
    """For each: how many words are heard, how many of them are committed."""
    likelihoods: list[float]
    final_after: int
    """After how many of the scores the final comes; beyond their number: when the next phrase begins."""
    pause_s: float


@st.composite
def phrases(draw: st.DrawFn) -> _Phrase:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
    known = sorted(draw(st.lists(st.integers(0, len(words)), max_size=4)))
    interims, committed = [], 0
    for count in known:
        committed = draw(st.integers(committed, count))
        interims.append((count, committed))
    return _Phrase(
        words,
        interims,
        draw(st.lists(st.floats(0, 1), max_size=5)),
        draw(st.integers(0, 6)),
        draw(st.floats(0.05, 8.0)),
    )


def lawful(script: list[_Phrase]) -> tuple[list[Event], str]:
    """The events of an ear that keeps its contract, and all that was said."""
    events: list[Event] = []
    at, whole = 0, ""
    for phrase in script:
        lead = " " if whole else ""
        text = lead + " ".join(phrase.words)
        whole += text
        start = at
        events.append(SpeechStarted(at))
        for heard, committed in phrase.interims:
            at += EAR_RATE_HZ // 4
            events.append(Listened(at, True))
            known, stable = (lead + " ".join(phrase.words[:n]) if n else "" for n in (heard, committed))
            events.append(Heard(known, len(stable), False, start_sample=start, end_sample=at))
        at += EAR_RATE_HZ // 4
        stopped = at
        events.append(SpeechStopped(stopped))
        final = Heard(text, len(text), True, start_sample=start, end_sample=stopped)
        for number, likelihood in enumerate([*phrase.likelihoods, 1.0]):
            if number == min(phrase.final_after, len(phrase.likelihoods)):
                events.append(final)
            at += EAR_RATE_HZ // 20
            events.append(Listened(at, False))
            if number < len(phrase.likelihoods):
                events.append(TurnScored(at, likelihood, at - stopped))
        for _ in range(int(phrase.pause_s / 0.25)):
            at += EAR_RATE_HZ // 4
            events.append(Listened(at, False))
    return events, whole


@given(st.lists(phrases(), max_size=5))
def test_turns_of_a_lawful_ear_concatenate_to_the_full_text(script: list[_Phrase]) -> None:
    heard, whole = lawful(script)
    endpoint, events = Endpoint(), []
    for event in heard:
        at = getattr(event, "at_sample", getattr(event, "end_sample", 0))
        events += endpoint.handle(event, at / EAR_RATE_HZ)
    events += endpoint.close()
    check_order(events)
    said = "".join(event.transcript for event in events if isinstance(event, TurnEnded))
    # A full stop inside a sentence that went on is the recogniser's, and left out.
    assert said.replace(".", "") == whole.replace(".", "")


@given(st.lists(phrases(), max_size=5), st.floats(0.3, 0.6), st.floats(0.05, 0.29))
def test_a_turn_ends_only_below_the_threshold_or_after_the_timeout(
    script: list[_Phrase], eager: float, end: float
) -> None:
    settings = EndpointSettings(eager_end=eager, end=end)
    endpoint = Endpoint(settings)
    low = high = False  # whether the last scores of this pause ask for an end; whether silence was long enough
    stopped: int | None = None
    for event in lawful(script)[0]:
        at = getattr(event, "at_sample", getattr(event, "end_sample", 0))
        match event:
            case SpeechStarted():
                low, stopped = False, None
            case SpeechStopped():
                stopped = event.at_sample
            case TurnScored():
                low = event.likelihood < end
                high = high or event.likelihood < eager
        for out in endpoint.handle(event, at / EAR_RATE_HZ):
            if isinstance(out, TurnEnded):
                assert stopped is not None
                waited_s = (at - stopped) / EAR_RATE_HZ
                if out.reason == "model":
                    assert low
                else:
                    assert 5.6 <= waited_s < 5.6 + FINAL_WAIT_S + 0.5
            elif isinstance(out, TurnEagerEnded):
                assert high
