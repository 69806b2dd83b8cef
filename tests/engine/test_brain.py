"""The rule brain holds conversations: everything comes from the messages, nothing is executed, nothing is pretended."""

import json
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from examples.orders.book import SPECS, OrderBook
from examples.orders.seed import write
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.core.brain import BrainDone, BrainEvent, BrainRequest, Message, TextDelta, ToolCall, ToolSpec
from antiphon.core.errors import InvalidInput
from antiphon.engine.brain import RuleBrain
from antiphon.engine.brain_book import load_book, parse_book
from antiphon.engine.brain_words import word_set

TODAY = date(2026, 11, 30)  # a Monday
HANDOVER = ToolSpec("handover", "Put the caller through to a person.", effect="write")
BOOK = load_book(Path("examples/orders/brain.toml"))


@dataclass
class Caller:
    """Talks to a brain and runs its tools at once; ``heard`` cuts a reply as an interruption would."""

    orders: OrderBook
    tools: tuple[ToolSpec, ...] = (*SPECS, HANDOVER)
    messages: list[Message] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    brain: RuleBrain = field(default_factory=lambda: RuleBrain(BOOK, lambda: TODAY))

    def say(self, text: str, heard: int | None = None) -> str:
        self.messages.append(Message("user", text))
        while True:
            events = self.brain.answer(BrainRequest(tuple(self.messages), self.tools))
            wishes = [event for event in events if isinstance(event, ToolCall)]
            said = said_in(events)
            if not wishes:
                self.messages.append(Message("assistant", said[:heard]))
                return said
            self.messages.append(Message("assistant", said, tuple(wishes)))
            for wish in wishes:
                arguments = json.loads(wish.arguments)
                self.calls.append((wish.name, arguments))
                result = {"ok": True} if wish.name == "handover" else self.orders.tools()[wish.name](**arguments)
                self.messages.append(Message("tool", json.dumps(result), call_id=wish.call_id))


def said_in(events: list[BrainEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    write(tmp_path / "orders.sqlite", TODAY)
    return Caller(OrderBook(tmp_path / "orders.sqlite", lambda: TODAY))


def test_a_lookup_is_answered_from_the_tools_result(caller: Caller) -> None:
    reply = caller.say("Where is my order 4711?")
    assert caller.calls == [("lookup_order", {"order_id": "4711"})]
    assert "4 7 1 1 is on its way" in reply
    assert "1 garden lamp and 2 extension cords" in reply
    assert "Wednesday, December 2" in reply


def test_a_missing_slot_is_asked_for_and_a_bare_answer_taken(caller: Caller) -> None:
    assert "four digits" in caller.say("I would like to move my delivery")
    assert "which day" in caller.say("four seven one one")
    assert "Friday, December 4 morning" in caller.say("Friday morning")
    assert caller.calls == [("reschedule_delivery", {"order_id": "4711", "day": "2026-12-04", "part": "morning"})]


def test_known_values_are_carried_into_the_next_request(caller: Caller) -> None:
    caller.say("Where is my order 4711?")
    caller.say("Can you bring it on Friday instead?")
    assert caller.calls[1] == ("reschedule_delivery", {"order_id": "4711", "day": "2026-12-04"})


def test_a_correction_within_the_turn_calls_once_with_the_last_value(caller: Caller) -> None:
    caller.say("Move order 4711 to Friday ... no, Thursday afternoon")
    assert caller.calls == [("reschedule_delivery", {"order_id": "4711", "day": "2026-12-03", "part": "afternoon"})]


def test_a_correction_after_the_turn_changes_what_was_said_and_keeps_the_rest(caller: Caller) -> None:
    caller.say("Move order 4711 to Friday afternoon")
    caller.say("Actually, make it Thursday")
    assert caller.calls[1:] == [("reschedule_delivery", {"order_id": "4711", "day": "2026-12-03", "part": "afternoon"})]


def test_a_variation_of_the_last_request(caller: Caller) -> None:
    caller.say("Where is my order 4711?")
    caller.say("and four seven one two?")
    assert [arguments["order_id"] for _, arguments in caller.calls] == ["4711", "4712"]


def test_one_turn_in_two_messages_is_one_request(caller: Caller) -> None:
    caller.messages.append(Message("user", "please move order 4711"))
    caller.say("to Thursday")
    assert caller.calls == [("reschedule_delivery", {"order_id": "4711", "day": "2026-12-03"})]


def test_a_write_with_confirmation_waits_for_yes(caller: Caller) -> None:
    assert caller.say("Please cancel order 4712") == "Shall I cancel order 4 7 1 2?"
    assert caller.calls == []
    assert caller.say("yes, go ahead") == "Order 4 7 1 2 is cancelled."
    assert caller.calls == [("cancel_order", {"order_id": "4712"})]


@pytest.mark.parametrize("refusal", ["no", "no, leave it", "better not", "never mind"])
def test_a_refusal_calls_nothing(caller: Caller, refusal: str) -> None:
    caller.say("Please cancel order 4712")
    caller.say(refusal)
    caller.say("yes")
    assert caller.calls == []


@pytest.mark.parametrize(
    "text",
    [
        "I'm not sure",
        "are you sure?",
        "is it ok if I call you later about it please",
        "okay but what does it cost to cancel",
        "what would happen if I cancel order 4712",
        "can I cancel it tomorrow as well",
        "maybe",
        "sure is cold today, who are you",
        "please don't cancel it",
        "mhm",
        "yes, but only if it has not left",
    ],
)
def test_what_is_no_plain_yes_does_not_confirm(caller: Caller, text: str) -> None:
    caller.say("Please cancel order 4712")
    caller.say(text)
    assert "cancel_order" not in [name for name, _ in caller.calls]


@pytest.mark.parametrize(
    "text",
    ["yes", "Yes, please do.", "um, yeah, go ahead", "sure", "yes that's right, cancel it", "cancel it", "do it"],
)
def test_a_plain_yes_confirms(caller: Caller, text: str) -> None:
    caller.say("Please cancel order 4712")
    caller.say(text)
    assert caller.calls == [("cancel_order", {"order_id": "4712"})]


def test_a_correction_of_the_confirmation_is_confirmed_anew(caller: Caller) -> None:
    caller.say("Please cancel order 4712")
    assert caller.say("no, 4711") == "Shall I cancel order 4 7 1 1?"
    caller.say("yes")
    assert caller.calls == [("cancel_order", {"order_id": "4711"})]


def test_yes_to_a_question_that_was_not_heard_does_not_count(caller: Caller) -> None:
    caller.say("Please cancel order 4712", heard=8)
    assert caller.say("yes") == "Shall I cancel order 4 7 1 2?"
    assert caller.calls == []
    caller.say("yes")
    assert caller.calls == [("cancel_order", {"order_id": "4712"})]


def test_another_request_instead_of_an_answer(caller: Caller) -> None:
    caller.say("Please cancel order 4712")
    caller.say("wait, when are you open on Saturday?")
    assert caller.calls == [("opening_hours", {"day": "2026-12-05"})]


def test_a_question_in_between_does_not_end_the_request(caller: Caller) -> None:
    caller.say("I would like to move my delivery")
    assert "Monday to Friday" in caller.say("and what are your opening hours?")
    assert "which day" in caller.say("it is 4712")
    caller.say("Saturday")
    assert caller.calls[1:] == [("reschedule_delivery", {"order_id": "4712", "day": "2026-12-05"})]


def test_a_number_said_first_is_used_later(caller: Caller) -> None:
    caller.say("it's about number 4711")
    caller.say("move it to Friday")
    assert caller.calls == [("reschedule_delivery", {"order_id": "4711", "day": "2026-12-04"})]


def test_thanks_after_a_write_does_not_write_again(caller: Caller) -> None:
    caller.say("Move order 4711 to Friday")
    for text in ("thank you", "thanks, see you on Saturday", "okay", "great, thanks", "mhm", "bye"):
        caller.say(text)
    assert len(caller.calls) == 1


def test_an_error_of_the_tool_is_said(caller: Caller) -> None:
    assert "cannot find an order 9 9 9 9" in caller.say("where is order 9999")
    assert "do not deliver on Sundays" in caller.say("move order 4711 to Sunday")


@pytest.mark.parametrize(
    "text", ["say that again", "sorry, what did you say?", "pardon?", "what?", "Could you repeat that please"]
)
def test_repeat_says_all_of_it_even_if_it_was_cut(caller: Caller, text: str) -> None:
    reply = caller.say("Where is my order 4711?", heard=10)
    assert caller.say(text) == reply
    assert len(caller.calls) == 1


def test_what_the_conversation_said_itself_can_be_repeated(caller: Caller) -> None:
    caller.messages.append(Message("assistant", "Welcome to the shop."))
    assert caller.say("say that again") == "Welcome to the shop."


def test_an_answer_that_broke_off_goes_on_from_where_it_was_heard(caller: Caller) -> None:
    reply = caller.say("Where is my order 4711?", heard=11)
    events = caller.brain.answer(BrainRequest(tuple(caller.messages), caller.tools))
    assert reply[:11] + said_in(events) == reply


@pytest.mark.parametrize(
    "text",
    [
        "Are you a robot?",
        "am I talking to a real person",
        "are you chatgpt",
        "what are you",
        "are you an AI or a human",
    ],
)
def test_it_is_honest_about_what_it_is(caller: Caller, text: str) -> None:
    reply = caller.say(text)
    assert "fixed rules" in reply
    assert "not a language model" in reply
    assert "not a person" in reply
    assert caller.calls == []


@pytest.mark.parametrize(
    "text",
    [
        "I want to speak to a human",
        "get me a real person please",
        "can I talk to somebody",
        "put me through to an agent",
    ],
)
def test_handover_is_asked_for_with_its_reason(caller: Caller, text: str) -> None:
    assert "through to a person" in caller.say(text)
    assert caller.calls == [("handover", {"reason": text})]


def test_handover_that_nobody_offers_is_not_promised(caller: Caller) -> None:
    caller.tools = SPECS
    assert "cannot put you through" in caller.say("I want to speak to a human")


def test_a_tool_that_is_not_offered_is_not_called(caller: Caller) -> None:
    caller.tools = ()
    assert "cannot do that" in caller.say("Where is my order 4711?")
    request = BrainRequest((Message("user", "Where is my order 4711?"),), SPECS, tool_choice="none")
    assert not [event for event in caller.brain.answer(request) if isinstance(event, ToolCall)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hello", "help you"),
        ("good morning", "help you"),
        ("what can you do?", "move a delivery"),
        ("thank you very much", "welcome"),
        ("goodbye", "Goodbye"),
        ("um, uh", "Take your time"),
        ("mhm", "What else"),
        ("4711", "hear about an order, move a delivery or cancel an order?"),
        ("hold on a second", "Take your time"),
        ("the moon is made of cheese", "did not understand"),
        ("", "did not understand"),
        ("...", "did not understand"),
    ],
)
def test_small_talk(caller: Caller, text: str, says: str) -> None:
    assert says in caller.say(text)
    assert caller.calls == []


def test_a_greeting_does_not_hide_the_request(caller: Caller) -> None:
    caller.say("Hi, good morning, where is my order 4711 please, thanks")
    assert caller.calls == [("lookup_order", {"order_id": "4711"})]


def test_three_misses_offer_a_person(caller: Caller) -> None:
    replies = [caller.say(text) for text in ("purple elephants", "a cold tuba", "seven umbrellas dance")]
    assert len(set(replies)) == 3
    assert "put you through to a person" in replies[-1]
    caller.say("yes please")
    assert [name for name, _ in caller.calls] == ["handover"]


def test_an_offered_person_can_be_refused(caller: Caller) -> None:
    for text in ("purple elephants", "a cold tuba", "seven umbrellas dance"):
        caller.say(text)
    assert "else" in caller.say("no thanks")
    assert caller.calls == []


def test_a_slot_that_is_never_given_ends_in_an_offer(caller: Caller) -> None:
    caller.say("I would like to move my delivery")
    replies = [caller.say("I do not know it") for _ in range(3)]
    assert ["four digits" in reply for reply in replies] == [True, True, False]
    assert "put you through to a person" in replies[-1]
    assert "which day" in caller.say("oh, here it is, 4711")


def test_two_likely_meanings_are_asked_about(caller: Caller) -> None:
    book = parse_book(
        """
        [[intent]]
        name = "red"
        said_as = "hear of red"
        keywords = ["colour"]
        examples = ["red"]
        reply = [{ say = "It is red." }]
        [[intent]]
        name = "blue"
        said_as = "hear of blue"
        keywords = ["colour"]
        examples = ["blue"]
        reply = [{ say = "It is blue." }]
        [[intent]]
        name = "third"
        examples = ["third"]
        reply = [{ say = "Third." }]
        """
    )
    caller.brain = RuleBrain(book, lambda: TODAY)
    assert caller.say("the colour") == "Do you want to hear of red, or hear of blue?"
    assert caller.say("blue") == "It is blue."


def test_the_same_messages_give_the_same_answer_from_a_new_brain(caller: Caller) -> None:
    for text in ("I would like to move my delivery", "4711", "what did you say", "Friday", "no, Thursday"):
        caller.say(text)
    request = BrainRequest(tuple(caller.messages[:-1]), caller.tools)
    assert RuleBrain(BOOK, lambda: TODAY).answer(request) == caller.brain.answer(request)


def test_it_takes_over_a_conversation_of_another_brain(caller: Caller) -> None:
    caller.messages += [
        Message("system", "You are a shop."),
        Message("user", "yo what's up with the lamp thing"),
        Message("assistant", "", (ToolCall("call_9", "lookup_order", '{"order_id": "4711"}'),)),
        Message("tool", '{"status": "shipped", "order_id": "4711"}', call_id="call_9"),
        Message("assistant", "Your lamp is on its way!"),
    ]
    caller.say("can you bring it on Friday instead?")
    assert caller.calls == [("reschedule_delivery", {"order_id": "4711", "day": "2026-12-04"})]


def test_call_ids_are_unique_even_in_a_cut_history(caller: Caller) -> None:
    history = (
        Message("assistant", "", (ToolCall("rule_3", "lookup_order", "{}"),)),
        Message("tool", "{}", call_id="rule_3"),
        Message("user", "where is order 4711"),
    )
    (call,) = (e for e in caller.brain.answer(BrainRequest(history, SPECS)) if isinstance(e, ToolCall))
    assert call.call_id != "rule_3"


def test_results_of_two_calls_are_both_said(caller: Caller) -> None:
    calls = (
        ToolCall("a", "lookup_order", '{"order_id": "4711"}'),
        ToolCall("b", "opening_hours", "{}"),
    )
    caller.messages += [
        Message("user", "where is 4711 and when are you open"),
        Message("assistant", "", calls),
        Message("tool", '{"status": "cancelled"}', call_id="a"),
        Message("tool", '{"week": "all week"}', call_id="b"),
    ]
    said = said_in(caller.brain.answer(BrainRequest(tuple(caller.messages), SPECS)))
    assert said == "Order 4 7 1 1 was cancelled. We are open all week."


def test_results_that_are_no_json_are_said(caller: Caller) -> None:
    caller.messages += [
        Message("user", "where is 4711"),
        Message("assistant", "", (ToolCall("a", "look_it_up", "[]"),)),
        Message("tool", "It left today.", call_id="a"),
    ]
    assert "It left today." in said_in(caller.brain.answer(BrainRequest(tuple(caller.messages), SPECS)))


def test_the_shape_of_an_answer(caller: Caller) -> None:
    events = caller.brain.answer(BrainRequest((Message("user", "hello"),), SPECS))
    assert isinstance(events[-1], BrainDone)
    assert events[-1].reason == "stop"
    assert len([event for event in events if isinstance(event, TextDelta)]) > 1


def test_asked_to_speak_first_it_greets(caller: Caller) -> None:
    for messages in ((), (Message("system", "Be brief."),)):
        events = caller.brain.answer(BrainRequest(messages))
        assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Hello! How can I help you?"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "intent"),
        ("[[intent]]\nname = 'a'\nexamples = []\ntool = 't'\nspeed = 3", "speed"),
        ("[[intent]]\nname = 'a'\nexamples = []", "needs a tool or a reply"),
        (
            "[[intent]]\nname = 'a'\nexamples = []\ntool = 't'\nslot = [{name = 'x', type = 'colour', ask = '?'}]",
            "colour",
        ),
        ("[[intent]]\nname = 'a'\nexamples = []\ntool = 't'\nslot = [{name = 'x', type = 'id'}]", "needs `ask`"),
        (
            "[[intent]]\nname = 'a'\nexamples = []\ntool = 't'\nslot = [{name = 'x', type = 'choice', ask = '?'}]",
            "options",
        ),
        ("[[intent]]\nname = 'a'\nexamples = []\ntool = 't'\n" * 2, "two intents"),
        ("[[", "not valid"),
    ],
)
def test_a_file_that_is_not_valid_says_where(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        parse_book(text)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nowhere"):
        load_book(tmp_path / "nowhere.toml")


WORDS = st.sampled_from(
    sorted(
        word_set(
            "no yes actually sorry order 4711 four seven double one friday the fifth of may at half past to from not "
            "cancel move where open don't never mind again person hundred thousand and oh @ . , ? 99 25:00 next in 31st"
        )
    )
)


@given(st.lists(st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=30), min_size=1, max_size=5))
@settings(max_examples=150, deadline=None)
def test_whatever_is_said_gets_one_well_formed_answer(texts: list[str]) -> None:
    brain, messages = RuleBrain(BOOK, lambda: TODAY), []
    required = {spec.name: set(json.loads(spec.parameters).get("required", ())) for spec in (*SPECS, HANDOVER)}
    for text in texts:
        messages.append(Message("user", text))
        events = brain.answer(BrainRequest(tuple(messages), (*SPECS, HANDOVER)))
        assert isinstance(events[-1], BrainDone)
        assert len(events) > 1
        for event in events:
            if isinstance(event, ToolCall):
                assert required[event.name] <= set(json.loads(event.arguments))
                messages.append(Message("assistant", "", (event,)))
                messages.append(Message("tool", "{}", call_id=event.call_id))
        messages.append(Message("assistant", said_in(events)))
