"""The streaming ear on its real models, with speech of the embedded voice, in virtual time."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import soxr
from hibari import Hibari

from antiphon.audio.pcm import encode
from antiphon.core.event import Event, Flushed
from antiphon.core.frame import Samples
from antiphon.core.hearing import Heard, HearingConfig, SpeechStarted, SpeechStopped
from antiphon.engine.ear import Ask, Closing, Hypothesis
from antiphon.engine.ear_fake import FakeScorer
from antiphon.engine.ear_moonshine import MoonshineEar, load_moonshine
from antiphon.engine.fake import VirtualLoop
from antiphon.engine.stt import SttEngine
from antiphon.models.moonshine import Encoded
from antiphon.models.moonshine_words import Tokenizer
from antiphon.models.silero import SileroVad
from antiphon.settings import load
from antiphon.store.store import ModelStore

RATE = 16_000
SENTENCE = "Could you book a table for two people, please?"
Speak = Callable[[str], Samples]


@pytest.fixture(scope="module")
def store() -> ModelStore:
    models = load().models
    store = ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)
    store.pull(["moonshine-tiny-en", "silero-vad"])  # nothing to do where `make setup` has run
    return store


@pytest.fixture(scope="module")
def ear(store: ModelStore) -> MoonshineEar:
    return load_moonshine(store.path)


@pytest.fixture(scope="module")
def vad(store: ModelStore) -> SileroVad:
    return SileroVad(store.path("silero-vad", "silero_vad.onnx"))


@pytest.fixture(scope="module")
def speak() -> Speak:
    voice = Hibari(threads=1)

    def speak(text: str) -> Samples:
        said = np.asarray(soxr.resample(voice(text, seed=0), 24_000, RATE), np.float32)
        loud = np.flatnonzero(np.abs(said) > 0.01)
        return np.concatenate([np.zeros(RATE // 2, np.float32), said[loud[0] : loud[-1]]])

    return speak


class Listening:
    def __init__(self, ear: MoonshineEar, vad: SileroVad) -> None:
        self.loop = VirtualLoop()
        self.engine = SttEngine([ear], vad, self.loop.scheduler, scorer=FakeScorer())

    def __call__(self, audio: Samples, config: HearingConfig | None = None, chunk_s: float = 0.1) -> list[Event]:
        config = config or HearingConfig()
        if config.sample_rate_hz != RATE:
            audio = np.asarray(soxr.resample(audio, RATE, config.sample_rate_hz), np.float32)
        stream = self.engine.open_stream(config, lambda: None)
        size, events = round(chunk_s * config.sample_rate_hz), []
        for start in range(0, len(audio), size):
            stream.push(encode(audio[start : start + size], config.encoding))
            self.loop.run()
            events += stream.pull()
        stream.flush("end", last=True)
        self.loop.run()
        events += stream.pull()
        assert events[-1] == Flushed("end")
        return events


@pytest.fixture
def listen(ear: MoonshineEar, vad: SileroVad) -> Listening:
    return Listening(ear, vad)


def text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Heard) and event.final)


def words(text: str) -> list[str]:
    return "".join(c for c in text.lower() if c.isalnum() or c == " ").split()


def test_a_sentence_is_heard_as_it_is_spoken_and_its_last_word_without_later_sound(
    listen: Listening, speak: Speak
) -> None:
    events = listen(speak(SENTENCE), HearingConfig(turns=True))
    assert words(text(events)) == words(SENTENCE)
    interims = [event for event in events if isinstance(event, Heard) and not event.final]
    assert len(interims) >= 3
    assert any(0 < event.stable_chars < len(text(events)) for event in interims)
    assert text(events).startswith(interims[-1].text[: interims[-1].stable_chars])


def test_words_stand_close_to_where_the_voice_said_them(listen: Listening, speak: Speak) -> None:
    audio = speak("We leave at noon.")
    final = next(event for event in listen(audio) if isinstance(event, Heard) and event.final)
    assert [word.text for word in final.words] == text([final]).split()
    assert abs(final.words[0].start_sample - RATE // 2) < 0.15 * RATE
    assert abs(final.words[-1].end_sample - len(audio)) < 0.2 * RATE
    assert all(0.0 < word.confidence <= 1.0 for word in final.words)


def test_S7_telephone_audio_is_heard_like_any_other(listen: Listening, speak: Speak) -> None:
    sentence = "The weather in London is cold and rainy this evening."
    audio = np.concatenate([speak(sentence), np.zeros(RATE, np.float32)])
    wide = listen(audio, HearingConfig(interim=False))
    phone = HearingConfig(encoding="pcm_mulaw", sample_rate_hz=8_000, interim=False)
    narrow = listen(audio, phone, chunk_s=0.02)
    assert words(text(narrow)) == words(text(wide)) == words(sentence)
    for kind in (SpeechStarted, SpeechStopped):
        (one,), (other,) = ([e for e in events if isinstance(e, kind)] for events in (wide, narrow))
        assert abs(one.at_sample - other.at_sample) <= 0.1 * RATE


def test_speech_begins_and_ends_where_it_does(listen: Listening, speak: Speak) -> None:
    audio = np.concatenate([speak("Good morning to you."), np.zeros(RATE, np.float32)])
    events = listen(audio, HearingConfig(interim=False))
    started = next(event for event in events if isinstance(event, SpeechStarted))
    stopped = next(event for event in events if isinstance(event, SpeechStopped))
    assert abs(started.at_sample - RATE // 2) < 0.08 * RATE
    assert abs(stopped.at_sample - (len(audio) - RATE)) < 0.15 * RATE


def test_a_keyterm_is_heard_that_is_not_without(listen: Listening, speak: Speak) -> None:
    audio, config = speak("Please ask Okonkwo to call me back tomorrow."), HearingConfig(interim=False)
    assert "Okonkwo" not in text(listen(audio, config))
    expecting = replace(config, keyterms=("Okonkwo", "Kowalczyk"))
    assert "Okonkwo" in text(listen(audio, expecting))
    other = speak("Please ask my sister to call me back tomorrow.")
    assert text(listen(other, expecting)) == text(listen(other, config))


@pytest.mark.parametrize("kind", ["silence", "white", "brown", "hum", "tune", "coughs"])
def test_nothing_is_heard_where_nobody_speaks(listen: Listening, kind: str) -> None:
    rng, n = np.random.default_rng(3), 8 * RATE
    t = np.arange(n) / RATE
    noise = rng.standard_normal(n).astype(np.float32)
    burst = np.exp(-((t % 2.0) * 12))
    audio = {
        "silence": np.zeros(n),
        "white": 0.1 * noise,
        "brown": np.cumsum(noise) / np.abs(np.cumsum(noise)).max() * 0.5,
        "hum": 0.2 * sum(np.sin(2 * np.pi * 50 * k * t) / k for k in (1, 2, 3, 5)),
        "tune": 0.2 * np.sin(2 * np.pi * np.cumsum(220 * 2 ** (np.floor(t * 3) % 7 / 12)) / RATE),
        "coughs": 0.5 * noise * burst,
    }[kind]
    assert text(listen(np.asarray(audio, np.float32), HearingConfig())) == ""


def decode(ear: MoonshineEar, samples: Samples, **ask: object) -> Hypothesis:
    answers = list(ear.decode(samples, Ask(**ask)))  # type: ignore[arg-type]
    assert len(answers) >= 2
    assert answers[-1] is not None
    return answers[-1]


def test_a_draft_changes_nothing_but_the_time(ear: MoonshineEar, speak: Speak) -> None:
    audio = speak(SENTENCE)
    whole = decode(ear, audio)
    for draft in (whole, decode(ear, audio[: len(audio) // 2]), decode(ear, speak("Something else entirely."))):
        again = decode(ear, audio, draft=draft)
        assert [word.text for word in again.words] == [word.text for word in whole.words]
        assert again.avg_logprob == pytest.approx(whole.avg_logprob, abs=0.1)


def test_words_are_written_with_the_model_s_own_tokens(ear: MoonshineEar, speak: Speak) -> None:
    heard = decode(ear, speak("My brother has bought a small green car."))
    tokenizer = Tokenizer(ear._model.vocabulary)
    for word in heard.words[1:]:
        assert tokenizer.tokens(word.text) == word.tokens
    assert ear._model.text(tokenizer.tokens("naïve façade, 你好!")) == "naïve façade, 你好!"


def test_how_sure_it_is_of_a_full_stop_is_told_of_a_decode_that_came_to_its_end(
    ear: MoonshineEar, speak: Speak, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closing(samples: Samples, ask: Ask) -> Closing | None:
        return [heard for heard in ear.decode(samples, ask) if heard is not None][-1].closing

    audio = speak(SENTENCE)
    found = closing(audio, Ask())
    assert found is not None
    assert found.comma > 0  # a whole sentence
    assert closing(audio, Ask(interim=True)) is None  # of one of many there is no place to judge
    monkeypatch.setattr(Encoded, "max_tokens", 4)
    assert closing(audio, Ask()) is None
