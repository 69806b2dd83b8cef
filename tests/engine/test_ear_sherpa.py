"""A streaming transducer behind the recogniser's contract and inside the streaming ear, in virtual time."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from antiphon.core.errors import ModelUnavailable
from antiphon.core.event import Event, Flushed
from antiphon.core.frame import Samples
from antiphon.core.hearing import Heard, HearingConfig
from antiphon.engine.ear import Ask, Hypothesis, Reading
from antiphon.engine.ear_fake import FakeVad
from antiphon.engine.ear_sherpa import SherpaEar, words_of
from antiphon.engine.fake import VirtualLoop
from antiphon.engine.stt import SttEngine
from antiphon.models.sherpa import Piece, Transducer
from tests.models.tone_transducer import RATE_HZ, spoken, write_transducer

SENTENCE = "LOW HIGHER MID LOWER HIGH"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Transducer:
    return Transducer(write_transducer(tmp_path_factory.mktemp("tones")))


@pytest.fixture
def ear(model: Transducer) -> SherpaEar:
    return SherpaEar(model, ("en",), "tones")


def heard(reading: Reading, samples: Samples, *, interim: bool = False) -> Hypothesis:
    *_, found = reading.decode(samples, Ask(interim=interim))
    assert found is not None
    return found


def text(hypothesis: Hypothesis) -> str:
    return " ".join(word.text for word in hypothesis.words)


def test_the_last_word_needs_no_later_sound(ear: SherpaEar) -> None:
    audio = spoken(SENTENCE, gap_s=0.1)[: -RATE_HZ // 10]
    assert text(heard(ear.read(), audio)) == SENTENCE.lower()


def test_each_sample_is_heard_once_however_often_it_is_asked(ear: SherpaEar) -> None:
    audio, reading = spoken(SENTENCE), ear.read()
    said = [text(heard(reading, audio[:end], interim=True)) for end in range(3_200, len(audio), 3_200)]
    assert all(after.startswith(before) for before, after in pairwise(said))
    assert text(heard(reading, audio)) == SENTENCE.lower()
    assert reading._stream is not None
    fed = reading._stream.fed
    heard(reading, audio)
    heard(reading, audio[:-800], interim=True)
    assert reading._stream.fed == fed
    assert len(audio) < fed < len(audio) + RATE_HZ


def test_words_stand_where_they_were_said_whatever_silence_was_put_in(ear: SherpaEar) -> None:
    audio, pause = spoken("LOW HIGHER"), len(spoken("LOW"))
    whole = heard(ear.read(), audio)
    starts = [word.start_sample for word in whole.words]
    assert starts == pytest.approx([1_600, 6_400], abs=960)
    assert whole.words[0].end_sample == pytest.approx(4_800, abs=960)
    interrupted = ear.read()
    assert text(heard(interrupted, audio[:pause])) == "low"  # the speaker seemed to have done
    assert [word.start_sample for word in heard(interrupted, audio).words] == pytest.approx(starts, abs=960)


def test_a_hypothesis_says_how_sure_it_is(ear: SherpaEar) -> None:
    found = heard(ear.read(), spoken("LOW"))
    assert found.words[0].confidence == pytest.approx(1.0, abs=0.01)
    assert -0.01 < found.avg_logprob < 0
    assert found.language == "en"
    assert heard(ear.read(), np.zeros(RATE_HZ, np.float32)) == Hypothesis(language="en")


def test_upper_case_is_a_way_of_writing_only(model: Transducer) -> None:
    assert text(heard(SherpaEar(model, ("de",), "tones").read(), spoken("LOW"))) == "low"


def test_words_begin_with_a_space_or_are_characters() -> None:
    def words(*tokens: str) -> list[str]:
        return ["".join(piece.text for piece in word) for word in words_of([Piece(token, 0, 0.0) for token in tokens])]

    assert words(" HEL", "LO", " WORLD", "'", "S") == [" HELLO", " WORLD'S"]
    assert words("你", "好", " OK", "吗") == ["你", "好", " OK", "吗"]
    assert words("hel", "lo", " ", "you") == ["hello", " you"]


def test_its_languages_must_be_told(model: Transducer) -> None:
    with pytest.raises(ModelUnavailable, match="languages"):
        SherpaEar(model, (), "tones")


def listen(ear: SherpaEar, audio: Samples, *, turns: bool = False) -> list[Event]:
    """Played in pieces of 20 ms in real time of a clock of its own, then flushed."""
    from antiphon.engine.ear_fake import FakeScorer

    loop = VirtualLoop()
    engine = SttEngine([ear], FakeVad(), loop.scheduler, scorer=FakeScorer(0.9))
    stream = engine.open_stream(HearingConfig(encoding="pcm_f32le", turns=turns), lambda: None)
    events: list[Event] = []

    def drain() -> Iterator[Event]:
        while loop.scheduler.run_next():
            yield from stream.pull()
        yield from stream.pull()

    for at in range(0, len(audio), 320):
        stream.push(audio[at : at + 320].tobytes())
        loop.clock.advance(0.02)
        events.extend(drain())
    stream.flush("end", last=True)
    events.extend(drain())
    assert Flushed("end") in events
    return events


def test_the_streaming_ear_shows_words_as_they_come_and_changes_none(ear: SherpaEar) -> None:
    pause = np.zeros(RATE_HZ // 2, np.float32)
    audio = np.concatenate((spoken(SENTENCE, 0.03), pause, spoken("MID LOW", 0.03), 3 * [0.0]), dtype=np.float32)
    told = [event for event in listen(ear, audio) if isinstance(event, Heard)]
    assert "".join(event.text for event in told if event.final) == f"{SENTENCE} MID LOW".lower()
    shown = [event.text for event in told]
    assert all(after.startswith(before) for before, after in pairwise(shown))
    assert len(set(shown)) > 4


def test_in_turns_its_words_are_settled_while_the_speaker_goes_on(ear: SherpaEar) -> None:
    told = [event for event in listen(ear, spoken(SENTENCE, 0.03), turns=True) if isinstance(event, Heard)]
    assert any(event.stable_chars for event in told if not event.final)
    assert "".join(event.text for event in told if event.final) == SENTENCE.lower()


def test_who_never_pauses_loses_no_word(ear: SherpaEar) -> None:
    """A window that is full is cut between two words, and nothing is heard twice."""
    ear.max_window_s = 6.0
    sentence = " ".join(["LOW", "MID", "HIGHER", "MID", "LOWER"] * 7)
    told = [event for event in listen(ear, spoken(sentence, 0.03)) if isinstance(event, Heard)]
    finals = [event for event in told if event.final]
    assert len(finals) > 1
    assert "".join(event.text for event in finals) == sentence.lower()


def test_it_is_loaded_by_setting(tmp_path: Path) -> None:
    from antiphon.cli.house import open_store
    from antiphon.engine.build import build_ear
    from antiphon.settings import load

    folder = write_transducer(tmp_path / "tones")
    scheduler, engine = build_ear(open_store(load()).path, 1, 1, sherpa={"tones": (folder, ("en", "xx"))})
    try:
        assert engine.recogniser(HearingConfig(language="xx")).name == "tones"
        assert engine.recogniser(HearingConfig()).name == "tones"
        assert engine.recogniser(HearingConfig(model="moonshine-tiny-en")).name == "moonshine-tiny-en"
        engine.recognisers[0].warm_up()
    finally:
        scheduler.close()
