import pytest

from antiphon.text.reader import SpeechReader
from antiphon.text.unit import Ipa, Spell, Text, Unit


def read(text: str, size: int = 1, **options: object) -> list[Unit]:
    reader = SpeechReader(**options)  # type: ignore[arg-type]
    units: list[Unit] = []
    for at in range(0, len(text), size):
        units += reader.push(text[at : at + size], 0.0)
    return units + reader.flush(0.0)


def spoken(units: list[Unit]) -> str:
    return " ".join(unit.text for unit in units)


def test_T15_markdown_that_straddles_tokens_leaves_words_only():
    reader = SpeechReader()
    units: list[Unit] = []
    tokens = ["# Ti", "tle\n", "This is *", "*bold", "*", "* and `co", "de` with a [li", "nk](http://x.y", "/z) in"]
    for token in [*tokens, " it: 2 *", " 3."]:
        units += reader.push(token, 0.0)
    units += reader.flush(0.0)
    assert spoken(units) == "Title This is bold and code with a link in it: 2 * 3."
    assert units[0].text == "Title"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_T17_inline_phonemes_are_kept_as_phonemes(size):
    (unit,) = read("[Kokoro](/kˈOkəɹO/) is here.", size)
    assert unit.pieces == (Ipa("Kokoro", "kˈOkəɹO"), Text(" is here."))


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_tags_split_across_deltas(size):
    text = 'Good morning to you. <speed ratio="1.2"/>Now <spell>A1</spell> it is. <break time="500ms"/>Bye for now.'
    units = read(text, size)
    assert [(unit.text, unit.speed, unit.pause_s) for unit in units] == [
        ("Good morning to you.", 1.0, 0.0),
        ("Now A1 it is.", 1.2, 0.5),
        ("Bye for now.", 1.2, 0.0),
    ]
    assert Spell("A1") in units[1].pieces


def test_delay_zero_never_glues_pushes_nor_tags():
    reader = SpeechReader(max_buffer_delay_s=0.0)
    assert spoken(reader.push("Hi there.", 0.0)) == "Hi there."
    assert spoken(reader.push("Second **one*", 0.0)) == "Second one"
    assert reader.push("<break ti", 0.0) == []
    assert reader.push('me="1s"/>', 0.0)[0].pause_s == 1.0


def test_set_prosody_applies_to_what_is_pushed_next():
    reader = SpeechReader()
    units = reader.push("One two three. ", 0.0)
    reader.set_prosody(speed=1.4, emotion="happy")
    units += reader.push("Four five six.", 0.0) + reader.flush(0.0)
    assert [(unit.text, unit.speed, unit.emotion) for unit in units] == [
        ("One two three.", 1.0, None),
        ("Four five six.", 1.4, "happy"),
    ]


@pytest.mark.parametrize("text", ["That was it, **really!**", "That was it!", "That was it, see <", "So [see"])
def test_held_text_goes_out_in_time(text):
    reader = SpeechReader(max_buffer_delay_s=1.0)
    units = reader.push(text, 0.0)
    now_s = 0.0
    while reader.due_s is not None:
        assert reader.due_s > now_s - 1e-9
        now_s = max(now_s, reader.due_s)
        units += reader.tick(now_s)
        assert now_s < 5.0
    assert spoken(units).replace(" ", "") == text.replace("*", "").replace(" ", "")
    assert reader.pending_chars == 0


def test_half_a_tag_is_never_spoken():
    reader = SpeechReader(max_buffer_delay_s=0.5)
    units = reader.push('All is well here. <break time="1', 0.0)
    units += reader.tick(0.5) + reader.tick(5.0) + reader.tick(9.0)
    assert spoken(units) == "All is well here."
    units = reader.push('s"/>Next.', 9.0) + reader.flush(9.0)
    assert [(unit.text, unit.pause_s) for unit in units] == [("", 1.0), ("Next.", 0.0)]


def test_sounds_are_reported_not_spoken():
    reader = SpeechReader()
    units = reader.push("That is [laughter] so funny.", 0.0) + reader.flush(0.0)
    assert spoken(units).split() == ["That", "is", "so", "funny."]
    assert reader.sounds == ["laughter"]


def test_pending_characters_are_counted_and_emptied():
    reader = SpeechReader()
    reader.push("some words <spell>AB", 0.0)
    assert reader.pending_chars >= len("some words AB")
    reader.flush(0.0)
    assert reader.pending_chars == 0


def test_markdown_can_be_left_alone():
    assert spoken(read("a **b** c", markdown=False)) == "a **b** c"


def test_lists_pause_between_their_items():
    units = read("We have:\n- red apples\n- green pears\n\nThat is it.", 4)
    assert [(unit.text, unit.ending) for unit in units] == [
        ("We have:", "sentence"),
        ("red apples", "sentence"),
        ("green pears", "paragraph"),
        ("That is it.", "sentence"),
    ]
