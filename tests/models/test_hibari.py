"""The default voice: what is heard, when, and with which word times."""

import itertools
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hibari.tts import ASSETS

from antiphon.core.errors import EngineFailed
from antiphon.core.speech import Rendered
from antiphon.models.hibari import HEART, HibariVoice
from antiphon.models.hibari_dsp import Vocoder
from antiphon.models.hibari_phrase import Phrase, lay_out, phrases
from antiphon.text.unit import Ipa, Spell, Spoken, Text, Unit
from tests.models.odd_texts import ODD

RATE_HZ = 24_000
FRAME = 300


@pytest.fixture(scope="module")
def voice() -> HibariVoice:
    voice = HibariVoice(Path(ASSETS) / "hibari.onnx")
    voice.warm_up()
    return voice


def quanta(
    voice: HibariVoice, unit: Unit | str, at: int = 0, seed: int = 0, after: str | None = None
) -> list[Rendered]:
    unit = Unit((Text(unit),)) if isinstance(unit, str) else unit
    return list(voice.speak(HEART.id, unit, at, seed, after))


def sound(voice: HibariVoice, unit: Unit | str, at: int = 0, seed: int = 0, after: str | None = None) -> np.ndarray:
    parts = [rendered.samples for rendered in quanta(voice, unit, at, seed, after)]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def levels_db(samples: np.ndarray) -> np.ndarray:
    whole = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME).astype(np.float64)
    return 10 * np.log10((whole**2).mean(axis=1) + 1e-12)


def gap_ms(samples: np.ndarray) -> float:
    """The longest quiet stretch between the first and the last sound."""
    loud = np.flatnonzero(levels_db(samples) > -50)
    return float(np.diff(loud).max() * 12.5)


# -- sound ------------------------------------------------------------------------------------


def test_same_seed_same_samples(voice: HibariVoice) -> None:
    first, again, other = (sound(voice, "She found five fish.", seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert len(other) == len(first)
    assert not np.array_equal(other, first)


def test_two_threads_render_what_one_does(voice: HibariVoice) -> None:
    texts = ["The first caller asks for Blorvenia.", "The second one, in turn, waits for an answer."]
    alone = [sound(voice, text) for text in texts]
    together: list[list[np.ndarray]] = [[], []]

    def work(index: int) -> None:
        together[index].extend(sound(voice, texts[index]) for _ in range(4))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index in range(2):
        assert len(together[index]) == 4
        for samples in together[index]:
            np.testing.assert_array_equal(samples, alone[index])


@pytest.mark.parametrize("text", ["Hello there.", "Yes.", "She sells sea shells.", "Five!", "I know.", "Think."])
def test_A5_the_first_samples_are_near_zero(voice: HibariVoice, text: str) -> None:
    samples = sound(voice, text)
    assert np.abs(samples[:24]).max() < 1e-3
    assert np.abs(samples[-24:]).max() < 1e-3


@pytest.mark.parametrize("text", ["Hello there.", "Stop!", "She left.", "I saw it.", "Half of it.", "We are here."])
def test_padding_is_trimmed(voice: HibariVoice, text: str) -> None:
    loud = np.flatnonzero(levels_db(sound(voice, text)) > -45)
    assert loud[0] * 12.5 <= 100  # the graph pads 240 to 330 ms
    assert (len(levels_db(sound(voice, text))) - loud[-1]) * 12.5 <= 190  # and 300 to 520 ms


@pytest.mark.parametrize("word", ["Half", "Hello", "Fish", "Seven", "She", "Think", "Very", "Zero", "Left", "Now"])
def test_soft_onsets_survive_the_trim(voice: HibariVoice, word: str) -> None:
    # Read after a word, the onset is inside the sentence: it must be as strong at the start of a unit.
    script = voice._frontend.script((Text(f"{word} is the word."),))
    phrase = next(phrases(script, False))
    plan = voice._plan(phrase.line, 1.0)
    layout = lay_out(phrase, plan.durations, False, 1.0)
    vocoder = Vocoder(plan.f0, 1, 0, 0)
    untrimmed = levels_db(vocoder.push(voice._graph.decode(plan, 0, layout.start + 40)))
    cut_away = untrimmed[: layout.start - 1]
    assert cut_away.max(initial=-120) < -52  # 30 dB below a soft onset, 35 below speech
    assert untrimmed[layout.start - 1 :].max() > -30


def test_no_clicks_between_quanta(voice: HibariVoice) -> None:
    pieces = [r.samples for r in quanta(voice, "We are all aware that her own room was warm, and we are leaving now.")]
    samples = np.concatenate(pieces)
    edges = np.cumsum([len(piece) for piece in pieces])[:-1]
    assert len(edges) >= 2
    step = np.abs(np.diff(samples, 2))
    for edge in edges:
        around = step[edge - 600 : edge + 600]
        assert step[edge - 2 : edge + 2].max() <= np.percentile(around, 99.9) * 1.5 + 1e-3


# -- pauses -----------------------------------------------------------------------------------

SENTENCES = ["I went to the shop.", "She found five heavy fish.", "The train leaves at nine.", "My order is late."]


def two_units(voice: HibariVoice, first: Unit, second: Unit) -> np.ndarray:
    head = sound(voice, first)
    return np.concatenate((head, sound(voice, second, at=len(head), after=first.ending)))


def test_sentence_pauses_match_the_whole_reading(voice: HibariVoice) -> None:
    apart, whole = [], []
    for a, b in itertools.pairwise([*SENTENCES, SENTENCES[0]]):
        apart.append(gap_ms(two_units(voice, Unit((Text(a),)), Unit((Text(b),)))))
        whole.append(gap_ms(sound(voice, f"{a} {b}")))
    assert np.median(apart) == pytest.approx(np.median(whole), abs=80)


def test_clause_pauses_match_the_whole_reading(voice: HibariVoice) -> None:
    apart, whole = [], []
    for a, b in [
        ("Please wait,", "and then we will start again."),
        ("When the rain stops,", "we can walk home."),
        ("If you see him,", "tell him to call me."),
        ("The doctor is here,", "so you can go in now."),
    ]:
        first = Unit((Text(a),), ending="clause", after=b, first=True)
        apart.append(gap_ms(two_units(voice, first, Unit((Text(b),), before=a))))
        whole.append(gap_ms(sound(voice, f"{a} {b}")))
    assert np.median(apart) == pytest.approx(np.median(whole), abs=40)


def test_pauses_grow_with_the_ending_and_shrink_with_speed(voice: HibariVoice) -> None:
    lengths = [len(sound(voice, "Go on.", after=after)) for after in (None, "clause", "sentence", "paragraph")]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[2] < lengths[3]
    slow, fast = (
        len(sound(voice, Unit((Text("Go on."),), speed=speed), after="paragraph"))
        - len(sound(voice, Unit((Text("Go on."),), speed=speed)))
        for speed in (0.8, 1.4)
    )
    assert slow > fast > 0


def test_a_unit_without_words_is_its_break(voice: HibariVoice) -> None:
    samples = sound(voice, Unit((), pause_s=0.5))
    assert len(samples) == 12_000
    assert not samples.any()
    assert not quanta(voice, Unit(()))


def test_a_break_follows_the_words(voice: HibariVoice) -> None:
    plain, with_break = sound(voice, "Wait."), sound(voice, Unit((Text("Wait."),), pause_s=1.5))
    np.testing.assert_array_equal(with_break[: len(plain)], plain)
    assert len(with_break) - len(plain) == 36_000
    assert not with_break[len(plain) :].any()


# -- joins inside a sentence ------------------------------------------------------------------

CUT_SENTENCES = [
    ("Please wait a moment,", "and then we will start again."),
    ("When the rain stops,", "we can walk home together."),
    ("I think that your order", "will arrive on Tuesday morning."),
    ("My sister lives in Rome,", "but her husband travels to Paris every week."),
    ("If you see the manager,", "tell him to call me back."),
    ("The price of the ticket", "depends on the day you travel."),
    ("You can pay by card,", "or you can send us a check."),
    ("We will send the package", "to your office in Berlin."),
    ("Let me look that up", "and call you right back."),
    ("The meeting has been moved", "from Monday to Wednesday afternoon."),
    ("Once you have the code,", "enter it on the next page."),
    ("There are three rooms", "available on the second floor."),
    ("I am sorry to hear", "that your phone is broken."),
    ("Before we can continue,", "I need your account number."),
    ("She opened the window", "because the room was too warm."),
    ("The doctor can see you", "at nine or at half past ten."),
    ("Your new password", "must be at least eight letters long."),
    ("After the show ended,", "the crowd left in silence."),
    ("The store on the corner", "sells fresh bread and milk."),
    ("He told me yesterday", "that he would never come back."),
    ("Although it was late,", "the children were still awake."),
    ("We have looked at your claim", "and it has been approved."),
    ("The blue bag by the door", "belongs to my brother."),
    ("To change your booking,", "press two or stay on the line."),
    ("Our team is working", "on a fix for this problem."),
    ("The flight to Madrid", "is delayed by forty minutes."),
    ("She asked the waiter", "for a glass of cold water."),
    ("As soon as I know more,", "I will send you a message."),
    ("The old bridge over the river", "was built in eighteen ninety."),
    ("You should keep the receipt", "in case something goes wrong."),
    ("Most of our customers", "prefer to pay online."),
    ("In the summer months,", "the garden is full of roses."),
    ("The best way to get there", "is to take the number nine bus."),
    ("He picked up the phone", "and asked for the police."),
    ("Thank you for waiting,", "someone will be with you shortly."),
    ("The weather this weekend", "will be sunny and dry."),
    ("I would like to order", "two large pizzas with extra cheese."),
    ("It might take a while,", "but we will find the answer."),
    ("The last train home", "leaves at a quarter to twelve."),
    ("Whatever you decide,", "I will support you."),
]
EDGE = 600  # samples looked at on each side of a join: 25 ms


def edge_jump_db(left: np.ndarray, right: np.ndarray) -> float:
    power = [10 * np.log10((part.astype(np.float64) ** 2).mean() + 1e-8) for part in (left[-EDGE:], right[:EDGE])]
    return abs(power[0] - power[1])


def f0_jump(f0_left: np.ndarray, f0_right: np.ndarray) -> float | None:
    """Semitones between the voices nearest to the join, if both are within 150 ms of it."""
    left, right = f0_left[-12:][f0_left[-12:] > 60], f0_right[:12][f0_right[:12] > 60]
    return abs(12 * float(np.log2(right[0] / left[-1]))) if left.size and right.size else None


def own_f0(voice: HibariVoice, unit: Unit, joined: bool) -> np.ndarray:
    script = voice._frontend.script(unit.pieces, unit.before, unit.after)
    phrase = next(phrases(script, unit.ending in ("none", "clause")))
    plan = voice._plan(phrase.line, 1.0)
    layout = lay_out(phrase, plan.durations, joined, 1.0)
    return plan.f0[layout.start : layout.stop]


@pytest.fixture(scope="module")
def whole_joins(voice: HibariVoice) -> list[tuple[float, float | None]]:
    """Jumps of energy and F0 in the whole reading, where the first unit would end."""
    jumps = []
    for a, b in CUT_SENTENCES:
        whole = Unit((Text(f"{a} {b}"),))
        phrase = next(phrases(voice._frontend.script(whole.pieces), False))
        plan = voice._plan(phrase.line, 1.0)
        start = lay_out(phrase, plan.durations, False, 1.0).start
        count = len(voice._frontend.script((Text(a),), "", b).symbols)
        head = Phrase(phrase.symbols[:count], phrase.owners[:count], "", phrase.symbols[count:].strip())
        place = lay_out(head, plan.durations, False, 1.0).stop
        samples = sound(voice, whole)
        cut = (place - start) * FRAME
        jumps.append((edge_jump_db(samples[:cut], samples[cut:]), f0_jump(plan.f0[:place], plan.f0[place:])))
    return jumps


def ending_of(text: str) -> str:
    return "clause" if text.endswith(",") else "none"


@pytest.mark.parametrize("known", ["all", "two words", "nothing"])
def test_joins_are_as_smooth_as_the_whole_reading(
    voice: HibariVoice, whole_joins: list[tuple[float, float | None]], known: str
) -> None:
    energy: list[tuple[float, float]] = []
    pitch: list[tuple[float, float]] = []
    for (a, b), (usual_db, usual) in zip(CUT_SENTENCES, whole_joins, strict=True):
        after = {"all": b, "two words": " ".join(b.split()[:2]), "nothing": ""}[known]
        first, second = Unit((Text(a),), ending=ending_of(a), after=after), Unit((Text(b),), before=a)
        energy.append((edge_jump_db(sound(voice, first), sound(voice, second, after=first.ending)), usual_db))
        jump = f0_jump(own_f0(voice, first, False), own_f0(voice, second, True))
        if jump is not None and usual is not None:
            pitch.append((jump, usual))
    assert len(pitch) >= 20
    for jumps in (np.array(energy), np.array(pitch)):
        assert np.median(jumps[:, 0]) <= 1.5 * np.median(jumps[:, 1])


def test_context_is_read_but_never_spoken(voice: HibariVoice) -> None:
    alone = quanta(voice, Unit((Text("on the second floor"),), ending="none"))
    within = quanta(
        voice, Unit((Text("on the second floor"),), ending="none", before="There are rooms", after="of the house.")
    )
    spoken = [[word.text for r in parts for word in r.words] for parts in (alone, within)]
    assert spoken[0] == spoken[1] == ["on", "the", "second", "floor"]
    lengths = [sum(len(r.samples) for r in parts) for parts in (alone, within)]
    assert lengths[1] == pytest.approx(lengths[0], rel=0.25)


# -- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Hello there, my name is Anna.",
        "It costs $3.50, i.e. \"less\" than 4 euros — right?",
        "Call 555-0134 at 7:30pm on 3/4/2024!",
        "Dr. O'Neil's e-mail is ana@firma.example.dev (work).",
        "🙂 Well 🙂 done 🎉",
        "Bring 5 kg of flour & 2 lb of rice...",
        "  spaces   everywhere \n and\nlines ",
    ],
)
def test_every_word_has_its_time_once_and_in_order(voice: HibariVoice, text: str) -> None:
    at = 10_000
    made, heard, normalized = at, [], []
    for rendered in quanta(voice, text, at=at):
        for word in (*rendered.words, *rendered.phonemes):
            assert word.start_sample >= made  # never about audio that has left
        made += len(rendered.samples)
        for word in (*rendered.words, *rendered.phonemes):
            assert word.start_sample <= made  # nor later than its own
            assert word.start_sample <= word.end_sample
        heard += rendered.words
        normalized += rendered.normalized
    assert [word.text for word in heard] == text.split()
    starts = [word.start_sample for word in heard]
    assert starts == sorted(starts)
    assert max(word.end_sample for word in heard) <= made
    assert len(normalized) >= sum(any(c.isalnum() for c in word) for word in text.split())


def test_word_times_lie_on_the_sound(voice: HibariVoice) -> None:
    parts = quanta(voice, "Stop, listen, and then speak.")
    samples = np.concatenate([r.samples for r in parts])
    db = levels_db(samples)
    for word in [word for r in parts for word in r.words]:
        inside = db[word.start_sample // FRAME : max(word.end_sample // FRAME, word.start_sample // FRAME + 1)]
        assert inside.max() > -40


def test_numbers_are_shown_as_written_and_as_spoken(voice: HibariVoice) -> None:
    parts = quanta(voice, "It costs $100 today.")
    words = [word for r in parts for word in r.words]
    spoken = [word for r in parts for word in r.normalized]
    price = next(word for word in words if word.text == "$100")
    inside = [w.text for w in spoken if price.start_sample <= w.start_sample < price.end_sample]
    assert len(inside) >= 1
    today = next(word for word in words if word.text == "today.")
    assert price.end_sample <= today.start_sample + 1_200
    assert price.end_sample - price.start_sample > 0.5 * RATE_HZ  # three words long


def test_phoneme_times(voice: HibariVoice) -> None:
    phonemes = [p for r in quanta(voice, "Hello there.") for p in r.phonemes]
    assert [p.text for p in phonemes] == ["h", "ə", "l", "oʊ", "ð", "ɛ", "ɹ"]
    assert all(p.end_sample > p.start_sample for p in phonemes)


# -- pieces -----------------------------------------------------------------------------------


def spoken_phonemes(voice: HibariVoice, *pieces: Spoken) -> str:
    return "".join(p.text for r in quanta(voice, Unit(pieces)) for p in r.phonemes)


def test_spelled_text_is_read_letter_by_letter(voice: HibariVoice) -> None:
    assert "biɛs" not in spoken_phonemes(voice, Text("The code is "), Text("bus"), Text("."))
    spelled = spoken_phonemes(voice, Text("The code is "), Spell("BUS"), Text("."))
    assert "bi" in spelled
    assert spelled.endswith("ɛs")


def test_inline_phonemes_are_used(voice: HibariVoice) -> None:
    parts = quanta(voice, Unit((Text("I said "), Ipa("tomato", "t|ə|ˈm|ɑ|t|oʊ"), Text(", thanks."))))
    assert "təmɑtoʊ" in "".join(p.text for r in parts for p in r.phonemes)
    assert [word.text for r in parts for word in r.words] == ["I", "said", "tomato,", "thanks."]


# -- what must not break it -------------------------------------------------------------------

@pytest.mark.parametrize("name", ODD)
def test_odd_text_is_spoken_in_bounded_quanta(voice: HibariVoice, name: str) -> None:
    text = ODD[name]
    made, words = 0, 0
    for rendered in itertools.islice(voice.speak(HEART.id, Unit((Text(text),)), 0, 0, None), 40):
        assert len(rendered.samples) <= 200 * FRAME
        assert np.isfinite(rendered.samples).all()
        made += len(rendered.samples)
        words += len(rendered.words)
    if any(character.isalnum() for character in text):
        assert made > 0.3 * RATE_HZ
    assert words >= min(1, len(text.split()))


def test_a_quantum_stays_within_the_stated_bound(voice: HibariVoice) -> None:
    unit = Unit((Text("Sixty nine thousand reasons, and 1234567890123 digits of it. " * 6),))

    def spent_s() -> list[float]:
        steps, out = voice.speak(HEART.id, unit, 0, 0, None), []
        while True:
            began = time.thread_time()
            if next(steps, None) is None:
                return out
            out.append(time.thread_time() - began)

    runs = np.array([spent_s() for _ in range(3)])
    assert runs.min(axis=0).max() < voice.quantum_bound_s


def test_an_unknown_voice_is_an_error(voice: HibariVoice) -> None:
    with pytest.raises(EngineFailed, match="no voice"):
        list(voice.speak("nobody", Unit((Text("Hi."),)), 0, 0, None))


# -- speed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.25, 0.5, 0.8, 1.25, 1.5, 2.0, 4.0])
def test_speed_over_the_whole_range(voice: HibariVoice, speed: float) -> None:
    text = "The weather in Paris is sunny and warm today."
    usual = len(sound(voice, text))
    assert len(sound(voice, Unit((Text(text),), speed=speed))) == pytest.approx(usual / speed, rel=0.25)


def test_estimates_follow_the_text(voice: HibariVoice) -> None:
    short, long = Unit((Text("Hello."),)), Unit((Text("Hello there. " * 20),))
    assert 0 < voice.estimate_s(short) < voice.estimate_s(long)
    assert voice.estimate_s(Unit((Text("Hello there."),), speed=2.0)) < voice.estimate_s(Unit((Text("Hello there."),)))
