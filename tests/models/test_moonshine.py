"""The recogniser on speech of the embedded voice, and its pure parts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
import soxr
from hibari import Hibari
from hypothesis import given
from hypothesis import strategies as st

from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.models.moonshine import (
    MAX_PIECE_SAMPLES,
    SAMPLE_RATE_HZ,
    Decoding,
    Encoded,
    Moonshine,
    pieces_of,
)
from antiphon.models.moonshine_loops import loop_period, without_loop
from antiphon.models.moonshine_words import detokenize, read_vocabulary
from antiphon.settings import load
from antiphon.store.store import ModelStore

NAME = "moonshine-tiny-en"
Speak = Callable[[str], Samples]


@pytest.fixture(scope="module")
def store() -> ModelStore:
    models = load().models
    store = ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)
    try:
        store.pull([NAME])  # nothing to do, and no network, where `make setup` has run
    except ModelUnavailable as error:
        pytest.fail(f"the embedded models are part of the tests: run `make setup` ({error})")
    return store


@pytest.fixture(scope="module")
def moonshine(store: ModelStore) -> Moonshine:
    files = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")
    return Moonshine(*(store.path(NAME, file) for file in files))


@pytest.fixture(scope="module")
def speak() -> Speak:
    voice = Hibari(threads=1)

    def speak(text: str) -> Samples:
        return np.asarray(soxr.resample(voice(text, seed=0), 24_000, SAMPLE_RATE_HZ), np.float32)

    return speak


def words(text: str) -> list[str]:
    return "".join(c for c in text.lower() if c.isalpha() or c == " ").split()


@pytest.mark.parametrize(
    "sentence",
    [
        "Could you book a table for two people, please?",
        "The weather in London is cold and rainy this evening.",
        "Stop.",
    ],
)
def test_speech_is_recognised(moonshine: Moonshine, speak: Speak, sentence: str) -> None:
    heard = moonshine.transcribe(speak(sentence))
    assert words(heard.text) == words(sentence)
    assert heard.text[0].isupper()
    assert -0.5 < heard.avg_logprob < 0.0
    assert not heard.looped
    assert moonshine.text(heard.tokens) == heard.text


def test_short_word_without_silence_around_it_is_said_once(moonshine: Moonshine, speak: Speak) -> None:
    spoken = speak("No.")
    loud = np.flatnonzero(np.abs(spoken) > 0.01)
    bare = spoken[loud[0] : loud[-1]]
    assert len(bare) < 0.4 * SAMPLE_RATE_HZ
    assert words(moonshine.transcribe(bare).text) == ["no"]


@pytest.mark.parametrize("samples", [0, 1, 100, 126, 127, 800, 1021, 1022, 5000])
def test_any_length_is_taken(moonshine: Moonshine, samples: int) -> None:
    noise = np.random.default_rng(0).standard_normal(samples).astype(np.float32) * np.float32(0.01)
    assert len(moonshine.transcribe(noise).tokens) <= 6


def test_digital_silence_is_empty(moonshine: Moonshine) -> None:
    heard = moonshine.transcribe(np.zeros(3 * SAMPLE_RATE_HZ, np.float32))
    assert (heard.text, heard.tokens, heard.avg_logprob) == ("", (), 0.0)


def test_long_audio_is_recognised_in_pieces(moonshine: Moonshine, speak: Speak) -> None:
    sentence = "The old man walked slowly along the river and looked at the boats."
    long = np.concatenate([speak(sentence)] * 4)
    assert len(long) > MAX_PIECE_SAMPLES
    assert words(moonshine.transcribe(long).text) == words(sentence) * 4


def test_speech_after_a_long_silence_is_heard(moonshine: Moonshine, speak: Speak) -> None:
    silence = np.zeros(20 * SAMPLE_RATE_HZ, np.float32)
    heard = moonshine.transcribe(np.concatenate([silence, speak("Good morning to you.")]))
    assert words(heard.text) == ["good", "morning", "to", "you"]


def decode(moonshine: Moonshine, encoded: Encoded, prefix: tuple[int, ...] = ()) -> Decoding:
    decoding = moonshine.begin(encoded, prefix)
    while not decoding.ended:
        decoding = moonshine.step(encoded, decoding)
    return decoding


def test_a_full_stop_is_surer_after_a_whole_sentence_and_every_way_of_decoding_tells_the_same(
    moonshine: Moonshine, speak: Speak
) -> None:
    def decoded(samples: Samples, draft: tuple[int, ...] = ()) -> Decoding:
        encoded = moonshine.encode(samples)
        decoding = moonshine.begin(encoded, draft=draft)
        while not decoding.ended:
            decoding = moonshine.step(encoded, decoding)
        return decoding

    audio = speak("She put the old blue umbrella, and her coat, into the cupboard.")
    whole = decoded(audio)
    mark, comma, word = moonshine.after(whole)
    assert np.exp(mark) + np.exp(comma) + np.exp(word) < 1.0 + 1e-6
    assert mark > comma
    begun = decoded(audio[: round(0.38 * len(audio))])
    assert len(begun.tokens) < len(whole.tokens)
    assert np.subtract(*moonshine.after(begun)[:2]) < mark - comma
    for draft in (whole.tokens, whole.tokens[:-1], whole.tokens[:3]):
        # its numbers are rounded by how many tokens one call reads
        assert moonshine.after(decoded(audio, draft)) == pytest.approx((mark, comma, word), abs=0.3)


def test_decode_that_begins_with_settled_tokens_ends_as_the_whole_one(moonshine: Moonshine, speak: Speak) -> None:
    encoded = moonshine.encode(speak("My brother has bought a small green car."))
    whole = decode(moonshine, encoded)
    continued = decode(moonshine, encoded, whole.tokens[:4])
    assert continued.tokens == whole.tokens
    assert len(whole.logprobs) == len(whole.tokens) + 1
    # int8 arithmetic scales by the largest value in a tensor, so several tokens at once differ a little from one by one
    assert continued.logprobs == pytest.approx(whole.logprobs, abs=0.2)


def test_decoding_is_a_value_that_can_be_continued_twice(moonshine: Moonshine, speak: Speak) -> None:
    encoded = moonshine.encode(speak("Please call me tomorrow."))
    first = moonshine.begin(encoded)
    kept = {name: value.copy() for name, value in first.cache.items()}
    once, again = moonshine.step(encoded, first), moonshine.step(encoded, first)
    assert once.tokens == again.tokens
    assert once.logprobs == again.logprobs
    assert all(np.array_equal(first.cache[name], value) for name, value in kept.items())


def test_transcripts_do_not_depend_on_who_else_is_served(moonshine: Moonshine, speak: Speak) -> None:
    spoken = [speak(text) for text in ("We leave at noon.", "Bring two warm coats.", "He sold the farm.")]
    alone = [moonshine.transcribe(samples) for samples in spoken]
    with ThreadPoolExecutor(3) as workers:
        together = list(workers.map(moonshine.transcribe, spoken * 2))
    assert together == alone * 2


def test_bad_samples_are_refused(moonshine: Moonshine) -> None:
    with pytest.raises(InvalidInput, match="mono"):
        moonshine.transcribe(np.zeros((2, 16_000), np.float32))
    with pytest.raises(InvalidInput, match="finite"):
        moonshine.transcribe(np.array([0.0, np.nan], np.float32))


def test_missing_graph_is_named(store: ModelStore, tmp_path_factory: pytest.TempPathFactory) -> None:
    nowhere = tmp_path_factory.mktemp("models") / "encoder_model.ort"
    with pytest.raises(ModelUnavailable, match=r"encoder_model\.ort cannot be loaded"):
        Moonshine(nowhere, nowhere, nowhere)


@given(st.integers(0, 5000), st.integers(200, 900), st.integers(0, 2**32 - 1))
def test_pieces_cover_everything_once_and_are_short_enough(length: int, longest: int, seed: int) -> None:
    samples = np.random.default_rng(seed).standard_normal(length).astype(np.float32)
    pieces = pieces_of(samples, longest)
    assert all(0 < end - start <= longest for start, end in pieces)
    assert [start for start, _ in pieces][:1] == [0][: len(pieces)]
    assert all(left[1] == right[0] for left, right in pairwise(pieces))
    assert (pieces[-1][1] if pieces else 0) == length


def test_cut_falls_into_the_pause() -> None:
    samples = np.random.default_rng(1).standard_normal(20 * SAMPLE_RATE_HZ).astype(np.float32)
    samples[9 * SAMPLE_RATE_HZ : 9 * SAMPLE_RATE_HZ + 4_800] *= 0.01
    (_, cut), _ = pieces_of(samples)
    assert 9 * SAMPLE_RATE_HZ < cut < 9 * SAMPLE_RATE_HZ + 4_800


def test_cut_leaves_no_tiny_tail() -> None:
    samples = np.random.default_rng(1).standard_normal(MAX_PIECE_SAMPLES + 800).astype(np.float32)
    samples[-1_600:] = 0
    assert all(end - start >= SAMPLE_RATE_HZ - 1_600 for start, end in pieces_of(samples))


@pytest.mark.parametrize(
    ("tokens", "period"),
    [
        ([5] * 12, 1),
        ([1, 2, 3] + [7, 8] * 6, 2),
        ([9] + [1, 2, 3, 4, 5] * 3, 5),
        ([5] * 11, 0),
        ([7, 8] * 5, 0),
        ([1, 2, 3, 4, 5, 6, 7] * 2, 0),
        ([7, 8] * 6 + [9], 0),
        ([], 0),
    ],
)
def test_loops_are_found_and_repeated_words_are_not(tokens: list[int], period: int) -> None:
    assert loop_period(tokens) == period


def test_loop_is_kept_once() -> None:
    assert without_loop((1, 2, *([7, 8, 9] * 5))) == (1, 2, 7, 8, 9)
    assert without_loop((4, 4, 4)) == (4, 4, 4)


def test_vocabulary_with_short_and_long_entries() -> None:
    long = b"x" * 300
    data = b"\x01a" + bytes([128 + 300 % 128, 300 // 128]) + long + b"\x00" + b"\x02bc"
    assert read_vocabulary(data) == (b"a", long, b"", b"bc")


def test_text_of_tokens() -> None:
    space = "\u2581".encode()
    assert detokenize([b"<s>", space + b"Caf", b"<0xC3>", b"<0xA9>", space + b"<3", b"</s>"]) == "Café <3"
    assert detokenize([b"caf", b"<0xC3>"]) == "caf"
