"""The state-space voice's graphs and vocoder: chunked equals whole, alone equals among others, as the reference."""

import hashlib
from dataclasses import fields

import numpy as np
import pytest

from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.models.ssm import FRAMES_PER_STEP, Frames, SsmModel, noise_of
from antiphon.models.ssm_knobs import Knobs
from antiphon.models.ssm_sound import HOP, SAMPLE_RATE_HZ
from antiphon.models.ssm_state import SsmState
from antiphon.models.ssm_track import SsmTrack
from antiphon.text.unit import Text, Unit
from tests.models.ssm_weights import folder, voice
from train.voice import dsp, stream

FOLDER = folder()
SAYINGS = (
    "Hello there.",
    "The quick brown fox jumps over the lazy dog.",
    "Your order number is four five one, and it ships today.",
    "Is that all right with you?",
    "Thank you for calling, have a very nice day!",
)
ROUNDING = 1e-4
"""Steps are rounded one by one, so here the samples are the same to the last bit; another CPU's matrix products may
round by the shape of the call, and then phases drift apart."""
LONG = (
    "Thank you for waiting, I have looked at your account, and I can see that the invoice was paid on Monday, the "
    "parcel left our house on Tuesday morning, so it should be with you by the end of the week, and that is all."
)
"""Ten seconds."""


def model() -> SsmModel:
    return voice().model


def spoken(text: str, seed: int = 0, knobs: Knobs | None = None) -> SsmTrack:
    track = voice().track(seed)
    track.speak(Unit((Text(text),)), knobs or Knobs())
    return track


def sound(track: SsmTrack, chunks: list[int]) -> np.ndarray:
    """Steps in chunks of these sizes, over and over."""
    made, turn = [], 0
    while (steps := track.steps_ready(chunks[turn % len(chunks)])) > 0:
        samples, track.state = model().advance(track.frames(steps), track.state)
        made.append(samples[0])
        turn += 1
    return np.concatenate(made)


def test_it_makes_what_the_slow_reference_makes() -> None:
    reference = stream.Voice(FOLDER)
    knobs = Knobs(speed=1.1, pitch=1.0, f0_range=1.2, energy=0.1)
    theirs = stream.Stream(reference, seed=3, knobs=stream.Knobs(1.1, 1.0, 1.2, 0.1))
    track = spoken(SAYINGS[1], 3, knobs)
    ids = [held.frames for held in track.queue]
    script = voice().frontend.script((Text(SAYINGS[1]),)).symbols
    theirs.push(reference.ids(script))
    theirs.end(list(ids))
    theirs.durations[-1] = ids[-1]
    # The product shortens the leading pad and evens the last: the reference is told the same durations.
    theirs._queue = [stream.Held(held.encoding, held.frames) for held in track.queue]
    expected = theirs.pull()
    got = sound(track, [theirs.steps_per_call])
    assert np.abs(expected).max() > 0.05
    np.testing.assert_allclose(got, expected, atol=2e-5)


def test_encodings_and_durations_are_the_references() -> None:
    reference = stream.Voice(FOLDER)
    theirs = stream.Stream(reference)
    symbols = voice().frontend.script((Text(SAYINGS[2]),)).symbols
    theirs.push(reference.ids(symbols))
    theirs.end()
    track = spoken(SAYINGS[2])
    ours = [held.frames for held in track.queue]
    assert len(ours) == len(theirs.durations)
    # Of the first only the lead is set by hand; what rounding carries over evens out.
    assert abs(sum(ours[1:]) - sum(theirs.durations[1:])) <= 2
    for held, other in zip(track.queue, theirs._queue, strict=True):
        np.testing.assert_allclose(held.encoding, other.encoding, atol=1e-4)


@pytest.mark.parametrize("chunks", [[1], [2, 4, 8], [3, 1, 7], [8]])
def test_chunked_equals_whole_but_for_rounding(chunks: list[int]) -> None:
    whole = sound(spoken(SAYINGS[1]), [10_000])
    got = sound(spoken(SAYINGS[1]), chunks)
    assert len(got) == len(whole)
    assert np.abs(got - whole).max() < ROUNDING


def test_a_slot_moved_between_batches_of_all_shapes_goes_on_as_it_was() -> None:
    rng = np.random.default_rng(1)
    whole = sound(spoken(LONG), [8])
    assert len(whole) > 9.5 * SAMPLE_RATE_HZ
    others, track, made, turn = [], spoken(LONG), [], 0
    while track.steps_ready(1):
        if turn % 4 == 0:  # moves: about fifty in all
            track.state = model().load(model().init_state(1), 0, model().save(track.state, 0))
            others = [spoken(LONG, seed) for seed in range(1, 1 + int(rng.integers(0, 8)))]
        steps = track.steps_ready(int(rng.integers(1, 4)))
        rows = [track, *(other for other in others if other.steps_ready(steps) == steps)]
        samples, state = model().advance(
            Frames.join([row.frames(steps) for row in rows]), SsmState.join([row.state for row in rows])
        )
        for index, row in enumerate(rows):
            row.state = state.take([index])
        made.append(samples[0])
        turn += 1
    assert turn > 180
    assert np.abs(np.concatenate(made) - whole).max() < ROUNDING


def test_symbols_one_by_one_are_the_symbols_all_at_once() -> None:
    ids = [0, *(model().symbols[symbol] for symbol in voice().frontend.script((Text(SAYINGS[1]),)).symbols), 0]
    whole, lasts, end = model().encode(ids, model().lookahead, Knobs(), model().init_state(1))
    state, encodings, durations = model().init_state(1), [], []
    for place, symbol in enumerate(ids):
        gap = model().lookahead if place == len(ids) - 1 else 0
        part, frames, state = model().encode([symbol], gap, Knobs(), state)
        encodings += list(part)
        durations += list(frames)
    np.testing.assert_allclose(encodings, whole, atol=1e-5)
    np.testing.assert_allclose(durations, lasts, atol=1e-4)
    np.testing.assert_allclose(state.encoder, end.encoder, atol=1e-5)


def test_a_slot_alone_equals_the_slot_among_others() -> None:
    alone = [sound(spoken(text, seed), [4]) for seed, text in enumerate(SAYINGS)]
    tracks = [spoken(text, seed) for seed, text in enumerate(SAYINGS)]
    made: list[list[np.ndarray]] = [[] for _ in tracks]
    while ready := [index for index, track in enumerate(tracks) if track.steps_ready(4) == 4]:
        state = SsmState.join([tracks[index].state for index in ready])
        samples, state = model().advance(Frames.join([tracks[index].frames(4) for index in ready]), state)
        for row, index in enumerate(ready):
            tracks[index].state = state.take([row])
            made[index].append(samples[row])
    for one, parts in zip(alone, made, strict=True):
        together = np.concatenate(parts)
        assert np.abs(together - one[: len(together)]).max() < ROUNDING


def test_a_masked_step_leaves_the_others_as_they_were() -> None:
    tracks = [spoken(text) for text in SAYINGS[:3]]
    inputs = Frames.join([track.frames(2) for track in tracks])
    state = model().init_state(3)
    samples, after = model().step(inputs, state, np.array([True, False, True]))
    assert not samples[1].any()
    assert samples[0].any()
    for field in fields(SsmState):
        before = getattr(state, field.name)
        np.testing.assert_array_equal(getattr(after, field.name)[1], before[1])
    assert (after.decoder[0] != state.decoder[0]).any()
    _, alone = model().step(inputs, state, np.array([True, False, False]))
    np.testing.assert_allclose(alone.decoder[0], after.decoder[0], atol=1e-4)


def test_the_state_is_small_and_does_not_grow() -> None:
    track = spoken(" ".join(SAYINGS))
    before = track.state.bytes_per_slot
    sound(track, [8])
    assert track.state.bytes_per_slot == before < 40_000


def test_a_saved_slot_is_the_slot() -> None:
    track = spoken(SAYINGS[0])
    first, track.state = model().advance(track.frames(2), track.state)
    other = model().load(model().init_state(2), 1, model().save(track.state, 0))
    frames = track.frames(2)
    expected, _ = model().advance(frames, track.state)
    got, _ = model().advance(frames, other.take([1]))
    np.testing.assert_array_equal(got, expected)
    assert first.any()


def test_a_snapshot_that_is_not_this_voices_is_refused() -> None:
    snapshot = model().save(model().init_state(1), 0)
    state = model().init_state(1)
    for bad, why in (
        (snapshot[:40], "no snapshot"),
        (b"x" + snapshot[1:], "no snapshot"),
        (snapshot[:6] + b"\x09" + snapshot[7:], "version 9"),
        (snapshot[:100] + b"\x01" + snapshot[101:], "damaged"),
    ):
        with pytest.raises(InvalidInput, match=why):
            model().load(state, 0, bad)
    body = snapshot[:7] + bytes(32) + snapshot[39:-32]
    with pytest.raises(InvalidInput, match="other weights"):
        model().load(state, 0, body + hashlib.sha256(body).digest())


def test_noise_is_a_function_of_seed_and_absolute_sample() -> None:
    many = noise_of(7, 1200, 5)
    for index in range(5):
        np.testing.assert_array_equal(many[index], dsp.noise(7, 1200 + HOP * index))
    assert (noise_of(8, 1200, 1) != many[:1]).any()


def test_speed_and_pitch_are_heard() -> None:
    plain, fast = (sum(h.frames for h in spoken(SAYINGS[1], knobs=Knobs(speed)).queue) for speed in (1.0, 2.0))
    assert 0.4 < fast / plain < 0.62
    slow = sum(h.frames for h in spoken(SAYINGS[1], knobs=Knobs(0.5)).queue)
    assert 1.7 < slow / plain < 2.3
    cycles = []
    for track in (spoken(SAYINGS[1]), spoken(SAYINGS[1], knobs=Knobs(pitch=3.0))):
        f0 = []
        while (steps := track.steps_ready(8)) > 0:
            _, track.state = model().advance(track.frames(steps), track.state)
            f0.append(float(track.state.f0[0]))
        cycles.append(np.median(f0))
    assert cycles[1] / cycles[0] == pytest.approx(2 ** (3 / 12), rel=0.04)


def test_a_folder_that_is_damaged_or_missing_is_told(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        SsmModel(tmp_path)
    for name in ("voice.json", "encoder.onnx", "decoder.onnx"):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    with (tmp_path / "decoder.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ModelUnavailable, match="damaged"):
        SsmModel(tmp_path)
    (tmp_path / "voice.json").write_text('{"sha256": {}}')
    with pytest.raises(ModelUnavailable, match="incomplete"):
        SsmModel(tmp_path)


def test_a_step_is_two_frames() -> None:
    track = spoken(SAYINGS[0])
    frames = track.frames(3)
    assert frames.encodings.shape[1] == 3 * FRAMES_PER_STEP
    samples, _ = model().advance(frames, track.state)
    assert samples.shape == (1, 3 * FRAMES_PER_STEP * HOP)
