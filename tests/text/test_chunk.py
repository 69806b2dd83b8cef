import pytest

from antiphon.text.chunk import Chunker
from antiphon.text.reader import SpeechReader
from antiphon.text.sentences import sentences
from antiphon.text.unit import Break, Emotion, Ipa, Sound, Speed, Spell, Text, Unit, Volume
from antiphon.text.vocabulary import PHRASING
from antiphon.text.weight import word_count


def whole(text: str, language: str = "en", delay_s: float = 3.0) -> list[Unit]:
    chunker = Chunker(language, delay_s)
    return chunker.push([Text(text)], 0.0) + chunker.flush(0.0)


def by_tokens(tokens: list[str], language: str = "en", gap_s: float = 0.05) -> list[Unit]:
    chunker, now_s = Chunker(language), 0.0
    units: list[Unit] = []
    for token in tokens:
        units += chunker.push([Text(token)], now_s)
        now_s += gap_s
        if chunker.due_s is not None and chunker.due_s <= now_s:
            units += chunker.tick(now_s)
    return units + chunker.flush(now_s)


def texts(units: list[Unit]) -> list[str]:
    return [unit.text for unit in units]


# -- faults that users of other stacks reported ------------------------------------------------------------------


def test_T1_addresses_with_any_ending_stay_one_chunk_with_their_bytes():
    line = "Write to ana@firma.example.dev or see shop.berlin."
    assert texts(whole(line)) == [line]
    assert texts(by_tokens(list(line), gap_s=0.01)) == [line]


def test_T3_decimal_price_at_the_end_completes_the_sentence():
    line = "It costs $3.14. Thanks!"
    assert texts(whole(line)) == ["It costs $3.14.", "Thanks!"]
    tokens = ["It", " costs", " $", "3", ".", "14", ".", " Thanks", "!"]
    assert texts(by_tokens(tokens)) == ["It costs $3.14.", "Thanks!"]


def test_T3_sentence_goes_out_as_soon_as_the_next_begins():
    chunker = Chunker()
    assert chunker.push([Text("It costs $3.14. ")], 0.0) == []
    assert texts(chunker.push([Text("T")], 0.0)) == ["It costs $3.14."]


def test_T4_price_and_title_whose_tokens_come_apart_are_not_split():
    tokens = ["The price is $29", ".", "50", ".", " Mr", ".", " Smith", " pays", " it", "."]
    assert texts(by_tokens(tokens)) == ["The price is $29.50.", "Mr. Smith pays it."]


def test_T4_last_sentence_is_not_held_for_ever():
    chunker = Chunker(max_buffer_delay_s=3.0)
    assert chunker.push([Text("That is all for now.")], 10.0) == []
    assert chunker.due_s == pytest.approx(10.3)
    assert chunker.tick(10.29) == []
    assert texts(chunker.tick(10.3)) == ["That is all for now."]
    assert chunker.due_s is None


def test_T4_title_at_the_end_waits_for_its_name():
    chunker = Chunker(max_buffer_delay_s=3.0)
    chunker.push([Text("Please ask for Mr.")], 0.0)
    assert chunker.due_s == pytest.approx(3.0)


def test_T6_etc_breaks_only_where_a_sentence_starts():
    assert texts(whole("Bring pens, etc. to class. Also food, etc. Then go.")) == [
        "Bring pens, etc. to class.",
        "Also food, etc.",
        "Then go.",
    ]


@pytest.mark.parametrize("line", ["If x <3 then say so.", "It holds that 5 < 10 here.", "a<b and c>d holds, they say."])
def test_T8_less_than_is_text(line):
    reader = SpeechReader()
    units = [unit for c in line for unit in reader.push(c, 0.0)] + reader.flush(0.0)
    assert " ".join(texts(units)) == line


def test_T9_chinese_speaks_after_its_first_sentence():
    reply = "今天天气很好。" + "我们一起去公园散步，然后再去吃饭！你觉得这样安排怎么样？" * 10
    chunker, units, pushed = Chunker("zh"), list[Unit](), 0
    while not units:
        units = chunker.push([Text(reply[pushed])], 0.0)
        pushed += 1
    assert units[0].text == "今天天气很好。"
    assert pushed == len("今天天气很好。") + 1
    rest = units + chunker.push([Text(reply[pushed:])], 0.0) + chunker.flush(0.0)
    assert "".join(texts(rest)) == reply
    assert all(unit.text[-1] in "。！？，" for unit in rest)


def test_T9_chinese_without_marks_is_cut_small():
    units = whole("我们今天去公园然后再去吃饭你觉得怎么样" * 20, "zh")
    assert len(units[0].text) <= 22
    assert all(len(unit.text) <= 60 for unit in units)


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        ("３．１４です。", "ja", 1),
        ("ठीक है। अब", "hi", 2),
        ("هل فهمت؟ نعم", "ar", 2),
        ("Τι κάνεις; Καλά είμαι.", "el", 2),
    ],
)
def test_T11_marks_of_other_scripts(text, language, count):
    assert len(sentences(text, language)) == count


def test_T11_thai_splits_on_space_and_limit():
    units = whole("สวัสดีครับวันนี้อากาศดีมาก เราไปเที่ยวกันเถอะ" * 12, "th")
    assert units[0].text == "สวัสดีครับวันนี้อากาศดีมาก"
    assert all(len(unit.text) <= 160 for unit in units)
    assert not any(unit.text[0] in "\u0e31\u0e34\u0e35\u0e36\u0e37\u0e38\u0e39\u0e47\u0e48\u0e49" for unit in units)


def test_T12_text_without_punctuation_starts_small_and_grows():
    line = "this text has no marks at all and it just goes on with more words than anyone would want to say "
    words = (line * 8).split()
    chunker, units, spoken_after = Chunker(), [], None
    for i, word in enumerate(words):
        units += chunker.push([Text(word + " ")], 0.0)
        if units and spoken_after is None:
            spoken_after = i
    units += chunker.flush(0.0)
    assert spoken_after is not None
    assert spoken_after <= 12
    assert 3 <= len(units[0].text.split()) <= 8
    assert len(units[1].text) > len(units[0].text)
    assert " ".join(texts(units)).split() == words
    assert all(len(unit.text) <= 160 for unit in units)


@pytest.mark.parametrize(
    "run", ["a" * 10_000, "7" * 300, "我" * 10_000, "word " * 2_000, "http://a.example/" + "x/" * 400]
)
def test_T12_endless_runs_are_cut_within_the_budget(run):
    units = whole(run)
    assert "".join(texts(units)).replace(" ", "") == run.replace(" ", "")
    assert all(len(unit.text) <= 160 for unit in units)


def test_T14_tiny_sentence_joins_the_next_one():
    units = whole("Oui. Bien sûr, je regarde.", "fr")
    assert units[0].text.startswith("Oui. Bien sûr")


def test_T14_tiny_sentence_alone_is_spoken():
    assert texts(whole("Oui.", "fr")) == ["Oui."]
    chunker = Chunker("fr")
    chunker.push([Text("Oui.")], 0.0)
    assert chunker.due_s is not None
    assert texts(chunker.tick(chunker.due_s)) == ["Oui."]


def test_T14_tiny_sentence_does_not_wait_for_a_slow_next_one():
    chunker = Chunker()
    assert chunker.push([Text("Yes. Let")], 0.0) == []
    assert chunker.due_s is not None
    assert chunker.due_s < 1.0
    assert texts(chunker.tick(chunker.due_s)) == ["Yes."]


def test_T18_word_by_word_gives_the_units_of_sentences():
    lines = [
        "Thank you for calling, this is the order desk. ",
        "I can help you with that right away. ",
        "Your parcel left our warehouse on Tuesday and it should reach you before the end of the week. ",
        "Yes. Is there anything else?",
    ]
    words = [word + " " for line in lines for word in line.split()]
    assert texts(by_tokens(words)) == texts(whole("".join(lines)))
    assert texts(by_tokens(words)) == texts(by_tokens(lines, gap_s=0.0))


# -- the first unit ----------------------------------------------------------------------------------------------

LONG = [
    "I would like to book a table for two people at the restaurant on the corner of the street tomorrow evening.",
    "The quick brown fox jumped the lazy sleeping dog yesterday evening after a long and tiring day.",
    "Well, thank you very much for calling us today, how can I help you with your order?",
    "We have received your order and it will be shipped to the address that you gave us last week.",
    "Unfortunately the reservation system is not available at the moment because of scheduled maintenance work.",
    "You should be able to see the total of one hundred and twenty dollars on the next page of the form.",
    "My name is Ana and I am calling from the front desk of the hotel where you stayed last night.",
]


@pytest.mark.parametrize("line", LONG)
def test_first_unit_of_a_long_sentence_is_a_phrase(line):
    first, *rest = whole(line)
    assert 3 <= len(first.text.split()) <= 8
    assert first.first
    assert not any(unit.first for unit in rest)
    last_word = first.text.split()[-1].lower().strip(",")
    assert last_word not in {"the", "a", "an", "of", "to", "and", "at", "for", "is", "i", "or", "with", "hundred"}
    assert " ".join([first.text, *texts(rest)]) == line


@pytest.mark.parametrize("line", LONG)
def test_first_unit_does_not_wait_for_the_end(line):
    words = line.split()
    chunker, count = Chunker(), 0
    for word in words:
        count += 1
        if chunker.push([Text(word + " ")], 0.0):
            break
    assert count <= 13
    assert count < len(words)


def test_short_text_is_one_unit():
    assert texts(whole("Hello there!")) == ["Hello there!"]


def test_first_cut_prefers_a_comma_close_by():
    units = whole("We went home early and, as you may know, nobody was there to open the door for us.")
    assert units[0].text == "We went home early"
    units = whole("When you are ready, press the green button on the left side of the machine.")
    assert units[0].text == "When you are ready,"
    assert units[0].ending == "clause"


def test_after_silence_the_next_unit_is_first_again():
    chunker = Chunker()
    line = "We have received your order and it will be shipped to the address that you gave us last week."
    one = chunker.push([Text(line)], 0.0) + chunker.flush(0.0)
    soon = chunker.push([Text(line)], 0.5) + chunker.flush(0.5)
    late = chunker.push([Text(line)], 60.0) + chunker.flush(60.0)
    assert [unit.first for unit in one] == [True, False]
    assert [unit.first for unit in soon] == [False]
    assert texts(late) == texts(one)
    assert late[0].first


def test_context_of_a_cut_sentence_is_given_but_not_spoken():
    first, second = whole("We have received your order and it will be shipped to you tomorrow. Good bye now.")[:2]
    assert first.before == ""
    assert first.after == second.text
    assert second.before == first.text
    assert second.after == ""


# -- sentences ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. J. K. Rowling came at 5 p.m. Then she left.", ["Dr. J. K. Rowling came at 5 p.m.", "Then she left."]),
        ("The U.S. Army came on Jan. 5. No. 5 is alive.", ["The U.S. Army came on Jan. 5.", "No. 5 is alive."]),
        ("We live in the U.S. The food is good.", ["We live in the U.S.", "The food is good."]),
        ("It opens at 9 a.m. Monday to Friday.", ["It opens at 9 a.m. Monday to Friday."]),
        ("Go down Main St. The shop is there.", ["Go down Main St.", "The shop is there."]),
        ("We saw St. Paul and Mt. Rainier.", ["We saw St. Paul and Mt. Rainier."]),
        ("Use tools, e.g. hammers, i.e. Hammer time.", ["Use tools, e.g. hammers, i.e. Hammer time."]),
        ("Choose plan B. Then call us.", ["Choose plan B.", "Then call us."]),
        ('He said "Stop!" and left. "Why?" she asked.', ['He said "Stop!" and left.', '"Why?" she asked.']),
        ("Wait... what? No... Yes.", ["Wait... what?", "No...", "Yes."]),
        ("See the note (it is on p. 5. or so) below. Done.", ["See the note (it is on p. 5. or so) below.", "Done."]),
        ("ok so i left. then i came back.", ["ok so i left.", "then i came back."]),
        ("Version 3.2.1 is out. See shop.berlin. Now.", ["Version 3.2.1 is out.", "See shop.berlin.", "Now."]),
        ("1. Mix it. 2. Bake it.", ["1. Mix it.", "2. Bake it."]),
        ("Wait!What is it?", ["Wait!", "What is it?"]),
        ("See https://a.example/x?Y=1!Z now.", ["See https://a.example/x?Y=1!Z now."]),
        ("Title\n\nThe text.", ["Title", "The text."]),
        ("a wrapped line that goes on for quite a few words and\nthen goes on.",
         ["a wrapped line that goes on for quite a few words and\nthen goes on."]),
    ],
)  # fmt: skip
def test_where_english_sentences_end(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Am 3. Oktober ist frei. Komm vorbei.", "de", ["Am 3. Oktober ist frei.", "Komm vorbei."]),
        ("Das ist z.B. Obst usw. Dann geht es.", "de", ["Das ist z.B. Obst usw.", "Dann geht es."]),
        ("「えっ！」と言った。今日は。", "ja", ["「えっ！」と言った。", "今日は。"]),
        ("¿Qué tal? ¡Muy bien!", "es", ["¿Qué tal?", "¡Muy bien!"]),
        ("ہاں۔ ٹھیک ہے۔", "ur", ["ہاں۔", "ٹھیک ہے۔"]),
        ("他说Hello.我走了。", "zh", ["他说Hello.", "我走了。"]),
    ],
)
def test_where_sentences_end_in_other_languages(text, language, expected):
    assert sentences(text, language) == expected


# -- budget ------------------------------------------------------------------------------------------------------


def test_long_sentence_is_cut_at_its_clauses():
    clause = "the committee considered every one of the many proposals that it had received, "
    units = whole("Good morning everyone here. " + clause * 5 + "and then it went home.")
    assert all(len(unit.text) <= 160 for unit in units)
    assert all(unit.text.endswith(",") and unit.ending == "clause" for unit in units[1:-1])


def test_budget_cut_never_parts_a_number_from_its_unit_or_a_title_from_its_name():
    filler = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    for expression in ("$3 million", "Mr. Smith", "60 km", "+44 20 7946 0958", "5 p.m."):
        for size in range(60, len(filler), 3):
            cut = filler[:size].rsplit(" ", 1)[0]
            units = whole(f"Good morning to you. {cut} {expression} {filler * 2}")
            assert any(expression in unit.text for unit in units), (cut, expression, texts(units))


@pytest.mark.parametrize("language", sorted(PHRASING))
def test_words_that_lean_on_the_next_end_no_unit_while_a_better_cut_is_near(language):
    leaning = sorted(PHRASING[language].leaning - PHRASING[language].objects)
    text = " ".join(f"alpha{i} {leaning[i % len(leaning)]} beta{i} gamma{i}" for i in range(60))
    for unit in whole(text, language)[:-1]:
        assert unit.text.split()[-1] not in leaning


# -- time --------------------------------------------------------------------------------------------------------


def test_delay_zero_makes_each_push_its_own_utterance():
    chunker = Chunker(max_buffer_delay_s=0.0)
    assert texts(chunker.push([Text("Hello there.")], 0.0)) == ["Hello there."]
    two = chunker.push([Text("Second sentence here. And a third.")], 0.0)
    assert texts(two) == ["Second sentence here.", "And a third."]
    assert chunker.due_s is None
    assert chunker.flush(0.0) == []


def test_overdue_text_goes_out_up_to_a_sure_word():
    chunker = Chunker(max_buffer_delay_s=1.0)
    chunker.push([Text("I would like to talk to the man")], 5.0)
    assert chunker.due_s == pytest.approx(6.0)
    assert texts(chunker.tick(6.0)) == ["I would like to talk"]
    assert chunker.due_s == pytest.approx(7.0)
    last = chunker.tick(7.0)
    assert texts(last) == ["to the man"]
    assert last[0].before == "I would like to talk"
    assert last[0].ending == "none"


def test_delay_counts_from_the_first_text_that_waits():
    chunker = Chunker(max_buffer_delay_s=1.0)
    chunker.push([Text("One ")], 0.0)
    chunker.push([Text("two ")], 0.9)
    assert chunker.due_s == pytest.approx(1.0)


def test_white_space_alone_is_nothing():
    chunker = Chunker()
    assert chunker.push([Text(" \n ")], 0.0) == []
    assert chunker.due_s is None
    assert chunker.flush(0.0) == []
    assert whole("... — !!") == []


# -- pieces ------------------------------------------------------------------------------------------------------


def test_break_ends_a_unit_and_says_how_long():
    chunker = Chunker()
    units = chunker.push([Text("Hello you there "), Break(1.5), Text(" and welcome to this place.")], 0.0)
    units += chunker.flush(0.0)
    assert texts(units) == ["Hello you there", "and welcome to this place."]
    assert [unit.pause_s for unit in units] == [1.5, 0.0]


def test_break_with_nothing_before_it_is_a_unit_of_its_own():
    chunker = Chunker()
    units = chunker.push([Break(0.5), Break(0.25), Text("Hi to all.")], 0.0)
    assert [(unit.pieces, unit.pause_s) for unit in units] == [((), 0.5), ((), 0.25)]


def test_prosody_applies_from_its_place_on():
    chunker = Chunker()
    pieces = [Text("One two three. "), Speed(1.2), Volume(0.5), Emotion("sad"), Text("Four five six.")]
    units = chunker.push(pieces, 0.0) + chunker.flush(0.0)
    assert [(u.text, u.speed, u.volume, u.emotion) for u in units] == [
        ("One two three.", 1.0, 1.0, None),
        ("Four five six.", 1.2, 0.5, "sad"),
    ]


def test_prosody_that_changes_nothing_cuts_nothing():
    chunker = Chunker()
    units = chunker.push([Text("One two "), Speed(1.0), Text("three four.")], 0.0) + chunker.flush(0.0)
    assert texts(units) == ["One two three four."]


def test_a_change_of_prosody_lets_earlier_text_go_as_it_was():
    chunker = Chunker()
    chunker.push([Text("One two three")], 0.0)
    assert [(unit.text, unit.speed) for unit in chunker.push([Speed(2.0)], 0.0)] == [("One two three", 1.0)]
    chunker.push([Text(" four.")], 0.0)
    assert [(unit.text, unit.speed) for unit in chunker.flush(0.0)] == [("four.", 2.0)]


def test_spelled_and_phonemic_pieces_keep_their_place():
    chunker = Chunker()
    word = Ipa("Kokoro", "kˈOkəɹO")
    pieces = [Text("Your code, "), Spell("A.1"), Text(" is for "), word, Text(". "), Sound("laughter"), Text("Bye.")]
    units = chunker.push(pieces, 0.0) + chunker.flush(0.0)
    assert units[0].pieces == (Text("Your code, "), Spell("A.1"), Text(" is for "), word, Text("."))
    assert units[1].pieces == (Text("Bye."),)


def test_endings():
    units = whole("Stop here now. As for us,\n\nwe go on; they stay - and\u2028fine")
    assert (units[0].text, units[0].ending) == ("Stop here now.", "sentence")
    assert units[1].ending == "paragraph"
    assert units[-1].ending == "sentence"


def test_long_numbers_count_as_more_than_a_word():
    assert word_count("1234567890") == 5
    assert word_count("one two") == 2
