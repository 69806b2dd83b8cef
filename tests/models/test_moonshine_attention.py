"""Word times: the most attended path, the graph that gives attention, and both against a voice's own exact times."""

from pathlib import Path

import numpy as np
import pytest
import soxr

from antiphon.core.errors import ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.engine.ear import Ask
from antiphon.engine.ear_moonshine import MoonshineEar
from antiphon.models.hibari import HEART, HibariVoice
from antiphon.models.moonshine import Moonshine
from antiphon.models.moonshine_attention import attentive_decoder, token_frames, with_branch_outputs
from antiphon.settings import load
from antiphon.store.store import ModelStore
from antiphon.text.unit import Text, Unit

NAME = "moonshine-tiny-en"


@pytest.fixture(scope="module")
def store() -> ModelStore:
    models = load().models
    store = ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)
    store.pull([NAME, "hibari"])  # nothing to do where `make setup` has run
    return store


def test_the_path_follows_the_attention_one_token_after_another() -> None:
    attention = np.full((3, 12), 0.01, np.float32)
    attention[0, 0:4] = attention[1, 4:5] = attention[2, 5:12] = 0.5
    assert token_frames(attention) == [(0, 4), (4, 5), (5, 12)]


def test_every_token_gets_a_frame_and_none_is_left() -> None:
    attention = np.random.default_rng(0).random((20, 20), np.float32)
    assert token_frames(attention) == [(n, n + 1) for n in range(20)]
    spans = token_frames(np.random.default_rng(1).random((9, 50), np.float32))
    assert (spans[0][0], spans[-1][1]) == (0, 50)
    assert all(a[1] == b[0] and a[0] < a[1] for a, b in zip(spans, [*spans[1:], (50, 51)], strict=True))


def test_the_path_is_the_best_one() -> None:
    attention = np.random.default_rng(2).random((3, 9), np.float32)

    def worth(first: int, second: int) -> float:
        return float(attention[0, :first].sum() + attention[1, first:second].sum() + attention[2, second:].sum())

    best = max(((a, b) for a in range(1, 8) for b in range(a + 1, 9)), key=lambda cut: worth(*cut))
    assert [start for start, _ in token_frames(attention)[1:]] == list(best)


@pytest.mark.parametrize("model", [b"", b"\x3a\x02\x12\x00"])
def test_a_graph_of_another_kind_is_refused(model: bytes) -> None:
    with pytest.raises(ValueError, match="no "):
        with_branch_outputs(model, ["x"])


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "decoder.ort"
    path.write_bytes(b"nothing")
    with pytest.raises(ModelUnavailable, match=r"decoder\.ort"):
        attentive_decoder(path)


def test_a_draft_changes_nothing_about_where_the_decoder_looked(store: ModelStore) -> None:
    """What is read at once looks where it looked token by token, so word times cost no second reading."""
    files = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")
    model = Moonshine(*(store.path(NAME, file) for file in files))
    voice = HibariVoice(store.path("hibari", "hibari.onnx"))
    rendered = voice.speak(HEART.id, Unit((Text("He sold the farm and bought a boat."),)), 0, 0, None)
    audio = np.concatenate([piece.samples for piece in rendered])
    encoded = model.encode(np.asarray(soxr.resample(audio, 24_000, 16_000), np.float32))
    steps = model.begin(encoded)
    while not steps.ended:
        steps = model.step(encoded, steps)
    for draft in (steps.tokens, steps.tokens[:5], (*steps.tokens[:3], 77, *steps.tokens[4:])):
        read = model.begin(encoded, draft=draft)
        while not read.ended:
            read = model.step(encoded, read)
        assert read.tokens == steps.tokens
        assert len(read.attention) == len(steps.tokens) + 1
        moved = np.subtract(token_frames(np.stack(read.attention)), token_frames(np.stack(steps.attention)))
        # int8: what is read together is quantised together, and every CPU rounds in its own way. With all tokens at
        # once one boundary moved by three frames of 24 ms on a CPU with AMX, by none on others.
        assert np.abs(moved).max() <= (4 if draft == steps.tokens else 1)
        assert (moved == 0).mean() >= 0.75


def test_words_stand_where_the_voice_says_it_spoke_them(store: ModelStore) -> None:
    files = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")
    paths = [store.path(NAME, file) for file in files]
    ear = MoonshineEar(Moonshine(*paths))
    voice = HibariVoice(store.path("hibari", "hibari.onnx"))
    starts, ends = [], []
    for text in (
        "The weather in London is cold and rainy this evening.",
        "My brother has bought a small green car, and he drives it to work every day.",
        "He sold the farm, bought a boat and never came back.",
    ):
        rendered = list(voice.speak(HEART.id, Unit((Text(text),)), 0, 0, None))
        spoken = [word for piece in rendered for word in piece.words]
        audio: Samples = np.concatenate([piece.samples for piece in rendered])
        *_, heard = ear.decode(np.asarray(soxr.resample(audio, 24_000, 16_000), np.float32), Ask())
        assert heard is not None
        assert len(heard.words) == len(spoken)
        for word, truth in zip(heard.words, spoken, strict=True):
            starts.append(abs(word.start_sample / 16_000 - truth.start_sample / 24_000))
            ends.append(abs(word.end_sample / 16_000 - truth.end_sample / 24_000))
    assert np.median(starts) < 0.05
    assert np.median(ends) < 0.05
    assert np.percentile(starts, 90) < 0.15
    assert np.percentile(ends, 90) < 0.15
