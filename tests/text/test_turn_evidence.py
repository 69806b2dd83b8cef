"""What the words say about the end of a turn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.text.turn_evidence import FEATURES, WEIGHTS, TurnEvidence, turn_evidence

OPEN = {
    "dangling": (
        "I would like to",
        "Could you put it into my",
        "I'm calling because.",
        "Send it to Boston and",
        "My husband and I",
    ),
    "weak_dangling": ("I would like to book a table for.", "The problem is", "My internet has been down since"),
    "filler": ("I would like to book a table for um", "So, uh."),
    "lacks_object": (
        "I want to change",
        "So I was wondering",
        "Could you tell me?",
        "The app keeps",
        "Do you feel as if you?",
    ),
    "lacks_main_clause": ("If the delivery doesn't come today", "When I come home,"),
    "number_open": (
        "My number is 0 7 7",
        "My number is zero seven seven.",
        "It's 583-1.",
        "The order number is X57. 341.",
        "My card number is 4942 9749 1360",
    ),
    "spelling_open": ("My name is spelled J O", "The last name is M E", "That's A as in apple, B."),
    "address_open": ("My email is Anna.", "Send it to anna dot", "anna underscore miller at", "My email is anna at"),
    "list_open": ("We need chairs, tables, lamps.", "I'd like milk, bread, butter"),
    "correction": (
        "Make it Friday no wait",
        "Make it Friday. No, wait.",
        "Please send it to Boston. I mean",
        "I need two tickets, sorry",
        "Book it for six. Actually no.",
    ),
    "goes_on": ("We took the bus,", "We took the bus -", "We took the bus..."),
}

DONE = {
    "question": (
        "What time do you close today?",
        "Do you have any vegetarian dishes",
        "Who am I speaking with?",
        "And where is the station",
        "So can I pay by card",
    ),
    "answer": ("Yes.", "no thanks", "Hello!", "That's right.", "I don't know."),
    "closer": ("I'd like the salad please.", "That would be all, thank you."),
    "number_done": ("My number is 229-712-6575.", "It's 0 7 7 0 0 9 0 0 1 2", "My card number is 4942 9749 1360 9149"),
    "address_done": ("My email is anna at gmail.com.", "Send it to anna dot lee at orchard dot org", "a.b@c.co.uk"),
    "list_done": ("We need chairs, tables, and two lamps.", "I can do Monday, Wednesday or Friday morning."),
    "request": ("Turn off the lights in the kitchen.", "Please cancel my appointment."),
    "adverbial": ("I'd like to come tomorrow.",),
}


@pytest.mark.parametrize(("feature", "text"), [(name, text) for name, texts in OPEN.items() for text in texts])
def test_what_is_unfinished_is_noticed(feature: str, text: str) -> None:
    evidence = turn_evidence(text)
    assert getattr(evidence, feature) == 1.0
    assert evidence.logit < -1.0
    assert evidence.question == 0.0


@pytest.mark.parametrize(("feature", "text"), [(name, text) for name, texts in DONE.items() for text in texts])
def test_what_is_finished_is_noticed(feature: str, text: str) -> None:
    evidence = turn_evidence(text)
    assert getattr(evidence, feature) == 1.0
    assert evidence.logit > 0.25
    assert not any(getattr(evidence, name) for name in OPEN)


@pytest.mark.parametrize(
    "text", ["I would like to book a table for four people", "My number is 0 7 7", "What time do you close", "yes"]
)
def test_a_recognisers_own_full_stop_is_hardly_evidence(text: str) -> None:
    assert turn_evidence(text + ".").logit - turn_evidence(text).logit < 0.5


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("Book it for six.", "number_open"),
        ("Four people at seven thirty.", "number_open"),
        ("Make that 7:30.", "number_open"),
        ("I need two tickets.", "number_open"),
        ("Let's meet at the station.", "address_open"),
        ("No.", "correction"),
        ("Sorry.", "correction"),
        ("If it rains, call me.", "lacks_main_clause"),
        ("When I try to log in it says no.", "lacks_main_clause"),
        ("What does it say?", "lacks_object"),
        ("I like what he said.", "lacks_object"),
        ("When I try to log in", "question"),
        ("I am a teacher, a writer.", "list_open"),
    ],
)
def test_what_only_looks_like_it_is_not(text: str, feature: str) -> None:
    assert getattr(turn_evidence(text), feature) == 0.0


def test_B1_a_number_stays_open_until_it_is_long_enough() -> None:
    spoken = ["my", "number", "is", "0", "7", "7", "3", "4", "5", "6", "7", "8", "9"]
    logits = [turn_evidence(" ".join(spoken[:count])).logit for count in range(4, len(spoken) + 1)]
    assert all(logit < -1.5 for logit in logits[:-1])
    assert logits[-1] > 0.5


def test_sentences_before_do_not_hide_a_dictation_and_old_openers_do_not_count() -> None:
    assert turn_evidence("It's 5831. 387.").number_open
    assert not turn_evidence("If you like. That is fine by my brother.").lacks_main_clause


@pytest.mark.parametrize("language", ["de", "fr-FR", "ja", ""])
def test_other_languages_get_no_opinion(language: str) -> None:
    assert turn_evidence("Ich hätte gern einen Tisch für", language) == TurnEvidence()
    assert turn_evidence("um", language).logit == 0.0


@pytest.mark.parametrize("language", ["en", "en-US", "EN_gb"])
def test_all_english_is_judged(language: str) -> None:
    assert turn_evidence("My", language).dangling == 1.0


def test_no_words_are_no_end() -> None:
    assert turn_evidence("").empty == turn_evidence(" ... ").empty == 1.0
    assert turn_evidence("").logit < 0


def test_every_feature_has_a_weight_of_its_kind() -> None:
    assert tuple(WEIGHTS) == FEATURES
    assert all(WEIGHTS[name] < 0 for name in OPEN)
    assert all(WEIGHTS[name] > 0 for name in DONE)


@given(st.text(max_size=60), st.sampled_from(("en", "de")))
def test_any_text_has_a_bounded_logit(text: str, language: str) -> None:
    evidence = turn_evidence(text, language)
    assert all(0.0 <= value <= 1.0 for value in evidence.vector)
    assert abs(evidence.logit) < 15


def test_a_number_of_an_expected_length_is_whole() -> None:
    said = "And where is my order? Four, seven, one, four."
    assert turn_evidence(said).number_open == 1.0
    known = turn_evidence(said, "en", (4, 10))
    assert (known.number_open, known.number_done) == (0.0, 1.0)
    assert known.logit - turn_evidence(said).logit > 3
    assert turn_evidence("My order is four seven one", "en", (4, 10)).number_open == 1.0
    assert turn_evidence("My order is 47141", "en", (4, 10)).number_open == 1.0


@pytest.mark.parametrize("said", ["Thank you, good-bye.", "Thank you, goodbye.", "Bye-bye.", "Okay, see you tomorrow."])
def test_a_farewell_is_an_end_however_it_is_written(said: str) -> None:
    assert turn_evidence(said).logit > 0.9


@pytest.mark.parametrize("said", ["Hello, good morning.", "Thank you, goodbye.", "Okay, great, thank you very much."])
def test_courtesies_in_a_row_are_an_answer(said: str) -> None:
    assert turn_evidence(said).answer == 1.0


def test_a_question_needs_no_verb() -> None:
    assert turn_evidence("And what about the blue one?").lacks_verb == 0.0
    assert turn_evidence("And the blue one over there.").lacks_verb == 1.0


@pytest.mark.parametrize("said", ["Hello, when", "Hello, I am", "Okay, cancel", "Yes, what"])
def test_an_answer_that_goes_on_is_none(said: str) -> None:
    assert turn_evidence(said).answer == 0.0


@pytest.mark.parametrize("said", ["Stop.", "Stop, please.", "No, stop.", "Good. Please stop."])
def test_who_wants_silence_may_have_more_to_say(said: str) -> None:
    assert turn_evidence(said).logit < -1


def test_a_wish_with_its_object_is_a_request() -> None:
    assert turn_evidence("Hi, I want to ask about the green bike.").request == 1.0
    assert turn_evidence("I'd like to order.").request == 0.0
    assert turn_evidence("I would like to book a table for").request == 0.0


def test_what_is_said_instead_needs_no_sentence_of_its_own() -> None:
    instead = turn_evidence("Please book the service for Tuesday. No sorry for Thursday.")
    assert (instead.lacks_verb, instead.fragment, instead.correction) == (0.0, 0.0, 0.0)
    assert turn_evidence("Please book the service for Tuesday. No sorry.").correction == 1.0


def test_a_question_may_begin_with_a_word_of_its_own() -> None:
    assert turn_evidence("Good, when are you open?").question == 1.0
    assert turn_evidence("Yes, what is the price?").question == 1.0


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        ("question", "Wait how much does it cost?"),
        ("question", "Hello is the red bike ready."),
        ("corrected", "I need two tickets, sorry, three tickets for Saturday."),
        ("corrected", "Send it to Boston. I mean to Baltimore."),
        ("consequence", "If it doesn't come today, I want my money back."),
        ("statement", "My parcel never came."),
        ("statement", "I lost my card yesterday."),
        ("request_whole", "Please cancel my appointment."),
    ],
)
def test_what_needs_nothing_more_vouches_for_itself(feature: str, text: str) -> None:
    assert getattr(turn_evidence(text), feature) == 1.0


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        ("corrected", "I need two tickets, sorry"),
        ("corrected", "I'm sorry. I did not understand your answer."),
        ("consequence", "If it doesn't come today, and"),
        ("consequence", "After the tone, say your name."),
        ("statement", "My parcel"),
        ("statement", "I want to change my"),
        ("request_whole", "Please cancel my"),
        ("request_whole", "Send it to Boston."),
    ],
)
def test_what_may_need_more_does_not(feature: str, text: str) -> None:
    assert getattr(turn_evidence(text), feature) == 0.0


@pytest.mark.parametrize(
    "text",
    ["Where is my order?", "Can I change my order?", "I want to cancel that order.", "It is on the books.",
     "Was it sent?", "The parcel was never sent.", "Has it been paid?"],
)  # fmt: skip
def test_nouns_and_passives_lack_no_object(text: str) -> None:
    assert turn_evidence(text).lacks_object == 0.0


@pytest.mark.parametrize("text", ["I want to order", "Could you send", "Can I book", "The app keeps"])
def test_verbs_do(text: str) -> None:
    assert turn_evidence(text).lacks_object == 1.0


@pytest.mark.parametrize("text", ["Is it ready?", "Are you open?", "Okay, is this right?", "Was it sent?"])
def test_a_question_may_be_three_words(text: str) -> None:
    assert turn_evidence(text).question == 1.0


@pytest.mark.parametrize("text", ["Is it the", "Can you hear", "Are you in", "Is that your"])
def test_three_words_that_are_none(text: str) -> None:
    assert turn_evidence(text).question == 0.0


def test_a_question_that_is_taken_back_was_not_asked() -> None:
    assert turn_evidence("Can you book it for Friday?").asked
    assert not turn_evidence("Can you book it for Friday, no wait?").asked
    assert not turn_evidence("Can you book it for Friday").asked
    assert not turn_evidence("I can book it for Friday?").asked
