"""The streaming ear on scripted models, in virtual time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from antiphon.core.errors import AtCapacity, InvalidInput
from antiphon.core.event import Event, Failed, Flushed, Warned
from antiphon.core.frame import Samples
from antiphon.core.hearing import Heard, HearingConfig, Listened, SpeechStarted, SpeechStopped, TurnScored
from antiphon.engine.ear import Ask, Closing, Hypothesis
from antiphon.engine.ear_fake import WORD_SAMPLES, FakeEar, FakeScorer, FakeVad, hush, spell
from antiphon.engine.fake import VirtualLoop
from antiphon.engine.scorer import TurnPause
from antiphon.engine.stt import MAX_BACKLOG_S, SttEngine, SttStream

RATE = 16_000
CONFIG = HearingConfig(encoding="pcm_f32le")
TURNS = HearingConfig(encoding="pcm_f32le", turns=True)


class Room:
    """One engine in virtual time, one simulated worker."""

    def __init__(
        self, capacity: int = 8, scorer: FakeScorer | None = None, cost_s: float = 0.02, **ear: object
    ) -> None:
        self.loop = VirtualLoop()
        self.ear = FakeEar(self.loop.clock, cost_s, **ear)  # type: ignore[arg-type]
        self.engine = SttEngine([self.ear], FakeVad(), self.loop.scheduler, capacity, scorer)

    def open(self, config: HearingConfig = CONFIG) -> "Caller":
        return Caller(self, config)


class Caller:
    """One caller, who takes events as soon as they are there. ``events`` are ``(time, event)``."""

    def __init__(self, room: Room, config: HearingConfig) -> None:
        self.events: list[tuple[float, Event]] = []
        self._room = room
        self.stream: SttStream = room.engine.open_stream(config, self.pull)

    def pull(self) -> None:
        now_s = self._room.loop.clock.now_s()
        self.events.extend((now_s, event) for event in self.stream.pull())

    def speak(self, audio: Samples, at_s: float = 0.0, chunk_s: float = 0.04, flush: bool = True) -> float:
        """Plan ``audio`` in real time from ``at_s`` on; returns when it is over."""
        step = round(chunk_s * RATE)
        for start in range(0, len(audio), step):
            piece = audio[start : start + step]
            end_s = at_s + (start + len(piece)) / RATE
            self._room.loop.at(end_s, lambda piece=piece: self.stream.push(piece.tobytes()))
        end_s = at_s + len(audio) / RATE
        if flush:
            self._room.loop.at(end_s, lambda: self.stream.flush("end"))
        return end_s

    def of(self, *kinds: type) -> list[Event]:
        return [event for _, event in self.events if isinstance(event, kinds)]

    def heard(self) -> list[Heard]:
        return [event for _, event in self.events if isinstance(event, Heard)]

    def text(self) -> str:
        return "".join(heard.text for heard in self.heard() if heard.final)


def said(numbers: Sequence[int]) -> list[str]:
    return [f"w{number}" for number in numbers]


def words(text: str) -> list[str]:
    return text.replace(".", "").split()


def play(audio: Samples, config: HearingConfig = CONFIG, scorer: FakeScorer | None = None, **room: object) -> Caller:
    caller = Room(scorer=scorer, **room).open(config)  # type: ignore[arg-type]
    caller.speak(audio)
    caller._room.loop.run()
    return caller


def test_words_are_heard_and_the_marker_comes_last() -> None:
    caller = play(np.concatenate([hush(0.5), spell([3, 1, 4]), hush(0.5)]))
    assert words(caller.text()) == said([3, 1, 4])
    assert caller.events[-1][1] == Flushed("end")
    assert [type(event) for event in caller.of(SpeechStarted, SpeechStopped)] == [SpeechStarted, SpeechStopped]


def test_interim_text_comes_while_the_speaker_goes_on() -> None:
    caller = play(spell(range(10)))
    interims = [(at_s, event) for at_s, event in caller.events if isinstance(event, Heard) and not event.final]
    assert len(interims) >= 5
    first_s, first = interims[0]
    assert first_s < 1.2
    assert words(first.text)[0] == "w0"


def test_committed_text_is_append_only_also_across_finals() -> None:
    audio = np.concatenate([spell(range(12)), hush(0.3), spell(range(12, 40)), hush(1.5), spell(range(40, 50))])
    committed = before = ""
    for heard in play(audio, TURNS, FakeScorer(0.9)).heard():
        stable = before + heard.text[: heard.stable_chars]
        assert stable.startswith(committed)
        committed = stable
        if heard.final:
            assert heard.stable_chars == len(heard.text)
            before += heard.text
    assert words(before) == said(range(50))


def test_text_is_committed_before_the_speaker_is_done() -> None:
    heard = [event for event in play(spell(range(15)), TURNS, FakeScorer()).heard() if not event.final]
    assert heard[-1].stable_chars > 0.5 * len(heard[-1].text)


def test_S2_a_short_word_and_silence_are_said_once() -> None:
    caller = play(np.concatenate([spell([7]), hush(20.0)]))
    assert words(caller.text()) == ["w7"]
    assert [words(heard.text) for heard in caller.heard() if heard.text] == [["w7"]] * len(caller.heard())


def test_S2_words_at_the_joints_of_windows_are_said_once() -> None:
    numbers = list(range(120))  # 38 s without a pause
    caller = play(spell(numbers))
    assert words(caller.text()) == said(numbers)
    assert len([heard for heard in caller.heard() if heard.final]) >= 3


@pytest.mark.parametrize("cut", [0, GAP := 320, 1000, 4000])
def test_S4_the_last_word_needs_no_later_sound(cut: int) -> None:
    audio = spell([1, 2, 3])
    audio = audio[: len(audio) - GAP] if not cut else np.concatenate([audio, hush(cut / RATE)])
    assert words(play(audio).text()) == said([1, 2, 3])


def test_a_pause_is_decoded_before_somebody_asks() -> None:
    room = Room(cost_s=0.05)
    caller = room.open()
    end_s = caller.speak(np.concatenate([spell(range(8)), hush(0.4)]))
    room.loop.run()
    flushed_s = next(at_s for at_s, event in caller.events if event == Flushed("end"))
    assert flushed_s - end_s < 0.001
    assert words(caller.text()) == said(range(8))


def test_finalize_in_the_middle_of_speech_takes_what_is_there() -> None:
    room = Room()
    caller = room.open()
    middle_s = caller.speak(spell([1, 2, 3]), flush=False)
    room.loop.at(middle_s, lambda: caller.stream.flush("first"))
    caller.speak(spell([4, 5]), at_s=middle_s)
    room.loop.run()
    order = [event for event in caller.of(Heard, Flushed) if isinstance(event, Flushed) or event.final]  # type: ignore[union-attr]
    assert [words(event.text) if isinstance(event, Heard) else event.marker for event in order] == [
        said([1, 2, 3]), "first", said([4, 5]), "end",
    ]  # fmt: skip
    assert caller.text().split(" ")[0] == "w1"
    assert order[2].text.startswith(" ")  # type: ignore[union-attr]


def test_flush_without_audio_and_flush_twice_return_their_markers() -> None:
    room = Room()
    caller = room.open()
    caller.stream.flush(1)
    caller.stream.flush(2)
    room.loop.run()
    caller.speak(spell([5]), at_s=0.1)
    room.loop.run()
    caller.stream.flush(3)
    caller.stream.flush(4, last=True)
    room.loop.run()
    assert [event.marker for event in caller.of(Flushed)] == [1, 2, "end", 3, 4]  # type: ignore[union-attr]
    assert words(caller.text()) == ["w5"]
    assert room.engine.places.taken == 0


def test_nothing_but_the_detector_runs_in_silence() -> None:
    room = Room()
    caller = room.open()
    caller.speak(hush(60.0))
    room.loop.run()
    assert room.ear.windows == []
    assert caller.heard() == []
    assert caller.of(SpeechStarted) == []


def test_S8_cost_and_memory_stay_flat() -> None:
    room = Room()
    caller = room.open(HearingConfig(encoding="pcm_f32le", interim=False))
    stretch = np.concatenate([spell(range(40)), hush(2.0), spell(range(9)), hush(0.5), spell(range(90)), hush(30.0)])
    costs, sizes = [], []
    for _ in range(12):  # 16 minutes
        before = len(room.ear.windows)
        for start in range(0, len(stretch), RATE):
            caller.stream.push(stretch[start : start + RATE].tobytes())
            room.loop.run()
        caller.stream.flush("stretch")
        room.loop.run()
        costs.append(sum(room.ear.windows[before:]))
        sizes.append(len(caller.stream._listener._tape._data))
        assert words(caller.text()) == said([*range(40), *range(9), *range(90)])
        caller.events.clear()
    assert max(costs[1:]) <= 1.02 * min(costs[1:])
    assert max(sizes) <= 1.1 * sizes[0]
    assert max(room.ear.windows) <= room.ear.max_window_s * RATE


def test_streams_do_not_mix_and_do_not_depend_on_each_other() -> None:
    audio = {n: np.concatenate([hush(0.1 * n), spell(range(n, n + 20)), hush(0.6), spell([n])]) for n in range(4)}
    config = HearingConfig(encoding="pcm_f32le", interim=False)
    alone = {n: play(piece, config).text() for n, piece in audio.items()}
    room = Room(cost_s=0.05)
    callers = {n: room.open(config) for n in audio}
    for n, caller in callers.items():
        caller.speak(audio[n], chunk_s=0.02 + 0.013 * n)
    room.loop.run()
    assert {n: caller.text() for n, caller in callers.items()} == alone
    assert words(alone[2]) == said([*range(2, 22), 2])


def test_finals_keep_their_priority_while_many_speak() -> None:
    room = Room(cost_s=0.015)
    talkers = [room.open() for _ in range(6)]
    for talker in talkers:
        talker.speak(spell(range(60)), flush=False)
    asker = room.open()
    end_s = asker.speak(spell(range(10)), at_s=3.0)
    room.loop.run()
    flushed_s = next(at_s for at_s, event in asker.events if event == Flushed("end"))
    # what it costs itself, and at most a few quanta of the others
    assert flushed_s - end_s < 0.015 * 3.4 + 0.15
    assert words(asker.text()) == said(range(10))


def test_interims_slow_down_under_load() -> None:
    def gaps(cost_s: float) -> float:
        caller = play(spell(range(60)), cost_s=cost_s)
        times = [at_s for at_s, event in caller.events if isinstance(event, Heard) and not event.final]
        return float(np.median(np.diff(times)))

    assert gaps(0.005) < 0.5
    assert 0.6 < gaps(0.2) < 2.5


def test_a_file_does_not_freeze_a_live_caller() -> None:
    room = Room(cost_s=0.03)
    live, file = room.open(), room.open(HearingConfig(encoding="pcm_f32le", interim=False))
    end_s = live.speak(spell(range(12)))
    room.loop.at(1.0, lambda: file.stream.push(spell(range(80)).tobytes()))
    room.loop.at(1.0, lambda: file.stream.flush("file", last=True))
    room.loop.run()
    flushed_s = next(at_s for at_s, event in live.events if event == Flushed("end"))
    assert flushed_s - end_s < 0.3
    assert words(file.text()) == said(range(80))
    assert words(live.text()) == said(range(12))


def test_a_file_at_once_gives_what_real_time_gives() -> None:
    audio = np.concatenate([spell(range(10)), hush(0.5), spell(range(50)), hush(1.2), spell([3])])
    config = HearingConfig(encoding="pcm_f32le", interim=False)
    live = play(audio, config)
    room = Room()
    file = room.open(config)
    file.stream.push(audio.tobytes())
    file.stream.flush("end")
    room.loop.run()
    assert file.text() == live.text()
    assert [heard for heard in file.heard() if not heard.final] == []


def test_too_much_audio_at_once_is_refused_and_the_stream_lives() -> None:
    room = Room()
    caller = room.open()
    second = spell(range(4))[:RATE].tobytes()
    for _ in range(int(MAX_BACKLOG_S) - 1):
        caller.stream.push(second)
    caller.stream.push(second)
    with pytest.raises(AtCapacity, match="more slowly"):
        caller.stream.push(second)
    assert caller.stream.backlog_s <= MAX_BACKLOG_S
    caller.stream.flush("end")
    room.loop.run()
    assert caller.events[-1][1] == Flushed("end")
    assert caller.stream.backlog_s < 0.04


def test_nothing_made_before_a_cancel_is_pulled_after_it() -> None:
    room = Room()
    caller = room.open()
    caller.stream.push(spell([1, 2, 3, 4]).tobytes())
    caller.stream.flush("gone")
    for _ in range(4):
        room.loop.scheduler.run_next()
    caller.stream.cancel()
    caller.events.clear()
    caller.speak(spell([8, 9]), at_s=room.loop.clock.now_s())
    room.loop.run()
    assert words(caller.text()) == said([8, 9])
    assert caller.of(Flushed) == [Flushed("end")]
    started = caller.of(SpeechStarted)[0]
    assert abs(started.at_sample - 4 * (WORD_SAMPLES + 320)) < 1024  # type: ignore[union-attr]


def test_a_piece_of_any_size_is_taken_while_less_than_the_limit_waits() -> None:
    room = Room()
    caller = room.open()
    second = spell(range(4))[:RATE].tobytes()
    caller.stream.push(second)
    caller.stream.push(second * int(MAX_BACKLOG_S))
    with pytest.raises(AtCapacity):
        caller.stream.push(second)
    caller.stream.flush("end")
    room.loop.run()
    assert caller.events[-1][1] == Flushed("end")


def test_close_gives_the_place_back_once_and_ends_everything() -> None:
    room = Room(capacity=1)
    caller = room.open()
    with pytest.raises(AtCapacity):
        room.open()
    caller.stream.push(spell([1]).tobytes())
    caller.stream.close()
    caller.stream.close()
    assert room.engine.places.taken == 0
    caller.stream.push(spell([1]).tobytes())
    caller.stream.flush("late")
    room.loop.run()
    assert caller.stream.pull() == []


@pytest.mark.parametrize(
    ("change", "param", "hint"),
    [
        ({"encoding": "pcm_s24le"}, "encoding", "pcm_s16le"),
        ({"sample_rate_hz": 4_000}, "sample_rate", "16000"),
        ({"language": "de"}, "language", "en"),
        ({"keyterms": ("x",) * 101}, "keyterm", "100"),
        ({"turns": True}, "turns", "manual"),
    ],
)
def test_a_bad_request_costs_no_place(change: dict[str, object], param: str, hint: str) -> None:
    room = Room(capacity=1)
    with pytest.raises(InvalidInput, match=hint) as caught:
        room.open(HearingConfig(**change))  # type: ignore[arg-type]
    assert caught.value.param == param
    room.open()


def test_a_failing_recogniser_costs_one_window_and_no_marker() -> None:
    caller = play(np.concatenate([spell([1, 2, 66]), hush(1.5), spell([3, 4])]), fail_on=66)
    assert len(caller.of(Failed)) >= 1
    assert words(caller.text())[-2:] == said([3, 4])
    assert caller.events[-1][1] == Flushed("end")


def test_words_stand_where_they_were_said() -> None:
    caller = play(np.concatenate([hush(0.7), spell([1, 2]), hush(0.3), spell([3]), hush(1.0)]))
    final = caller.heard()[-1]
    starts = [word.start_sample for word in final.words]
    assert starts == [11_200, 16_320, 26_240]
    assert final.start_sample <= 11_200
    assert final.end_sample >= final.words[-1].end_sample
    assert abs(caller.of(SpeechStarted)[0].at_sample - 11_200) < 600  # type: ignore[union-attr]


def test_without_voice_or_certainty_nothing_is_told() -> None:
    assert play(np.concatenate([spell([1, 2, 3]), hush(1.0)]), logprob=-2.0).text() == ""
    blip = np.concatenate([hush(0.5), spell([1])[:600], hush(1.0)])
    assert play(blip).text() == ""


def test_interims_can_be_switched_off() -> None:
    caller = play(spell(range(20)), HearingConfig(encoding="pcm_f32le", interim=False))
    assert all(heard.final for heard in caller.heard())
    assert words(caller.text()) == said(range(20))


def test_a_dear_recogniser_gives_interims_only_while_idle_and_says_so() -> None:
    caller = play(spell(range(40)), interims=False, max_window_s=28.0, cost_s=0.1)
    assert len(caller.of(Warned)) == 1
    assert len([heard for heard in caller.heard() if not heard.final]) < 10
    assert words(caller.text()) == said(range(40))


def test_words_before_a_likely_end_are_committed_at_once_and_their_mark_is_left_open() -> None:
    audio = np.concatenate([spell(range(8)), hush(0.7), spell(range(8, 12)), hush(0.3)])
    caller = play(audio, TURNS, FakeScorer(0.6))
    pause_s = 8 * (WORD_SAMPLES + 320) / RATE
    told = [h for at_s, h in caller.events if isinstance(h, Heard) and pause_s < at_s < pause_s + 0.3]
    committed = told[-1].text[: told[-1].stable_chars]
    assert committed.split() == said(range(8))
    assert words(caller.text()) == said(range(12))
    assert "w7. w8" not in caller.text()


def test_the_language_that_was_found_out_is_what_turns_are_judged_by() -> None:
    class German(FakeEar):
        languages = ("de",)

        def decode(self, samples: Samples, ask: Ask) -> Iterator[Hypothesis | None]:
            for heard in super().decode(samples, ask):
                yield heard and replace(heard, language="de")

    class Listener(FakeScorer):
        def score(self, pause: TurnPause) -> float:
            languages.add(pause.language)
            return super().score(pause)

    languages: set[str] = set()
    loop = VirtualLoop()
    engine = SttEngine([German()], FakeVad(), loop.scheduler, scorer=Listener())
    stream = engine.open_stream(HearingConfig(language="", encoding="pcm_f32le", turns=True), lambda: None)
    stream.push(np.concatenate([spell([1, 2, 3]), hush(0.5)]).tobytes())
    loop.run()
    assert languages == {"de"}


def test_turns_are_scored_through_a_pause_with_the_words_so_far() -> None:
    scorer = FakeScorer(0.9)
    caller = play(np.concatenate([spell([1, 2, 3]), hush(3.0)]), TURNS, scorer)
    silences = [event.silence_samples / RATE for event in caller.of(TurnScored)]  # type: ignore[union-attr]
    assert silences[0] == pytest.approx(0.12, abs=0.03)
    assert all(later - sooner < 0.1 + 0.2 * sooner for sooner, later in pairwise(silences))
    assert silences[-1] > 2.4
    assert {words(text) == said([1, 2, 3]) for _, text, _ in scorer.asked} == {True}
    assert max(samples for samples, _, _ in scorer.asked) <= 8 * RATE


def test_what_the_recogniser_makes_of_a_pause_reaches_the_scorer_and_that_of_an_earlier_one_does_not() -> None:
    class Telling(FakeEar):
        def decode(self, samples: Samples, ask: Ask) -> Iterator[Hypothesis | None]:
            for heard in super().decode(samples, ask):
                count = float(len(heard.words)) if heard else 0.0
                yield heard and replace(heard, closing=Closing(count, -count))

    class Judge(FakeScorer):
        def score(self, pause: TurnPause) -> float:
            told.append((len(pause.text.split()), pause.closing))
            return 0.9

    told: list[tuple[int, Closing | None]] = []
    loop = VirtualLoop()
    engine = SttEngine([Telling()], FakeVad(), loop.scheduler, scorer=Judge())
    stream = engine.open_stream(TURNS, lambda: None)
    stream.push(np.concatenate([spell([1, 2]), hush(0.3), spell([3]), hush(0.3)]).tobytes())
    loop.run()
    assert set(told) == {(2, Closing(2.0, -2.0)), (3, Closing(3.0, -3.0))}


def test_words_are_final_before_a_turn_is_judged_over() -> None:
    caller = play(np.concatenate([spell([1, 2, 3]), hush(0.3), spell([4]), hush(0.3)]), TURNS, FakeScorer(0.1))
    order = caller.of(Heard, TurnScored)
    first = next(n for n, event in enumerate(order) if isinstance(event, TurnScored))
    final = order[first - 1]
    assert isinstance(final, Heard)
    assert final.final
    assert words(final.text) == said([1, 2, 3])
    assert words(caller.text()) == said([1, 2, 3, 4])


def test_words_of_one_turn_are_scored_together_and_those_of_the_last_turn_are_not() -> None:
    class Judge(FakeScorer):
        def score(self, pause: TurnPause) -> float:
            super().score(pause)
            return 0.1 if "w4" in pause.text else 0.5

    scorer = Judge()
    audio = np.concatenate([spell([1, 2]), hush(0.35), spell([3, 4]), hush(0.3), spell([5]), hush(0.3)])
    play(audio, TURNS, scorer)
    texts = list(dict.fromkeys(" ".join(words(text)) for _, text, _ in scorer.asked))
    assert texts == ["w1 w2", "w1 w2 w3 w4", "w5"]


def test_media_time_is_told_at_least_every_100_ms() -> None:
    caller = play(np.concatenate([spell([1]), hush(3.0)]), TURNS, FakeScorer())
    told = [event.at_sample for event in caller.of(Listened)]  # type: ignore[union-attr]
    assert max(np.diff(told)) <= 0.13 * RATE
    assert told[-1] > 3.1 * RATE


def test_keyterms_reach_the_recogniser() -> None:
    room = Room()
    room.open(HearingConfig(encoding="pcm_f32le", keyterms=("Antiphon",)))
    assert room.ear.expected == [("Antiphon",)]


def test_S6_wrong_scaling_is_warned_about_once_and_heard() -> None:
    caller = play(spell([1, 2]) * np.float32(32_768))
    assert len(caller.of(Warned)) == 1
    assert words(caller.text()) == said([1, 2])


def test_odd_pieces_of_bytes_change_nothing() -> None:
    audio = np.concatenate([spell([1, 2, 3]), hush(0.4)])
    room = Room()
    caller = room.open(HearingConfig(encoding="pcm_f32le", interim=False))
    data = audio.tobytes() + b"\x00"
    cuts = np.random.default_rng(0).integers(1, 999, 400).cumsum()
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        caller.stream.push(data[start:end])
    caller.stream.flush("end")
    room.loop.run()
    assert words(caller.text()) == said([1, 2, 3])


