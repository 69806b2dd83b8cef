import pytest

from antiphon.text.turn_openers import asks_yes_or_no, only_begins


@pytest.mark.parametrize(
    "text",
    ["All right.", "Okay.", "okay", "Right,", "Well...", "Alright. So", "Okay, well", "OK. All right.", "So", "Now so"],
)  # fmt: skip
def test_words_that_begin_something(text: str) -> None:
    assert only_begins(text)


@pytest.mark.parametrize(
    "text",
    ["", "...", "Yes.", "No.", "Thanks.", "Okay, thank you.", "All right, goodbye.", "All", "Great.",
     "All right. So I need", "Right now.", "Stop.", "Well done.", "Okay okay okay okay okay."],
)  # fmt: skip
def test_words_that_are_whole_or_have_gone_on(text: str) -> None:
    assert not only_begins(text)


@pytest.mark.parametrize(
    "text",
    ["Shall I book it?", "Order 4711 is on its way. Is there anything else?", "You want Thursday, right?",
     "That is Thursday afternoon. Is that right?", "So it's four seven one one?", "Anything else?",
     "I will cancel the order now. Please confirm.", "Would you like me to move it to Friday?",
     "Are you still there?", "Do you want to go on? Say yes or no."],
)  # fmt: skip
def test_questions_that_okay_answers(text: str) -> None:
    assert asks_yes_or_no(text)


@pytest.mark.parametrize(
    "text",
    ["", "Hello! How can I help you?", "Which order is it? Please tell me the four digits.", "For which day?",
     "And what is your name?", "Could you tell me the number?", "May I have your name, please?",
     "Your order is on its way.", "Is it late? I am looking it up.", "What would you like?",
     "When does that suit you?"],
)  # fmt: skip
def test_what_okay_is_no_answer_to(text: str) -> None:
    assert not asks_yes_or_no(text)
