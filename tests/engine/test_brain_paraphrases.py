"""Does the rule brain generalise? Ways of asking that neither the code nor the order book's file contains.

All of these were tuned on in the end; ``paraphrases_later`` has those that were not, and are only reported.
"""

import json
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from examples.orders.book import SPECS
from examples.orders.seed import ORDERS

import antiphon
from antiphon.core.brain import BrainRequest, Message, TextDelta, ToolCall
from antiphon.engine.brain import RuleBrain
from antiphon.engine.brain_book import load_book

from .paraphrases_later import LATER, Case

TODAY = date(2026, 11, 30)  # a Monday
FILE = Path("examples/orders/brain.toml")
BRAIN = RuleBrain(load_book(FILE), lambda: TODAY)
TUE, WED, THU, FRI, SAT = (f"2026-12-0{day}" for day in range(1, 6))

LOOKUP: list[Case] = [
    ("where has my parcel four seven one one got to", {"order_id": "4711"}),
    ("could you tell me what's going on with order 4712 please", {"order_id": "4712"}),
    ("i'm calling about order number 4711, has it been sent out yet", {"order_id": "4711"}),
    ("i still haven't received my package, it's number four seven one three", {"order_id": "4713"}),
    ("any news on forty-seven eleven", {"order_id": "4711"}),
    ("is 4714 on its way", {"order_id": "4714"}),
    ("i'd like to know how far along order four seven one two is", {"order_id": "4712"}),
    ("hi there, just checking on a shipment, the number is 4 7 1 5", {"order_id": "4715"}),
    ("can you look up order four thousand seven hundred and eleven", {"order_id": "4711"}),
    ("what happened to my delivery number 4713", {"order_id": "4713"}),
    ("when can i expect order 4712 to get here", {"order_id": "4712"}),
    ("did four seven one four leave the warehouse already", {"order_id": "4714"}),
    ("give me an update on order 4711", {"order_id": "4711"}),
    ("i want to find out where my stuff is, order four seven double one", {"order_id": "4711"}),
    ("track order number four seven one five for me", {"order_id": "4715"}),
    ("how's my order coming along, it's 4713", {"order_id": "4713"}),
    ("hello, um, i ordered something last week and i wonder when it arrives, it's 4711", {"order_id": "4711"}),
    ("do you have any information about order four seven one four", {"order_id": "4714"}),
    ("has the courier picked up order 4712", {"order_id": "4712"}),
    ("please check the progress of four seven one three", {"order_id": "4713"}),
    ("my package was supposed to be here, order 4711, where is it", {"order_id": "4711"}),
    ("what stage is order forty seven twelve at", {"order_id": "4712"}),
    ("order four seven one one, what's the stattus", {"order_id": "4711"}),
    ("i need the details of order number 4715", {"order_id": "4715"}),
    ("whereabouts is order 4714 right now", {"order_id": "4714"}),
    ("so uh i'm waiting for a parcel, order four seven one two, is it coming", {"order_id": "4712"}),
    ("tell me about my order, that's four seven, no sorry, four seven one three", {"order_id": "4713"}),
    ("can you see when number 4711 will be deliverd", {"order_id": "4711"}),
    ("has 4715 been dispatched", {"order_id": "4715"}),
    ("i placed an order, the number is four seven one four, is it ready", {"order_id": "4714"}),
    ("would you mind checking where four seven one one is", {"order_id": "4711"}),
    ("what is in order 4713", {"order_id": "4713"}),
    ("i'm trying to trace my shippment 4712", {"order_id": "4712"}),
    ("how long until order four seven one five shows up", {"order_id": "4715"}),
    ("i was told my parcel would be here by now, number 4711", {"order_id": "4711"}),
    ("would you look into order four seven one four for me", {"order_id": "4714"}),
    ("is there a delay with order 4712", {"order_id": "4712"}),
    ("what's happening with four seven one three", {"order_id": "4713"}),
    ("i never got my package, the order number is 4715", {"order_id": "4715"}),
    ("can you find order forty seven eleven in your system", {"order_id": "4711"}),
]

RESCHEDULE: list[Case] = [
    ("can you bring order 4711 on thursday instead", {"order_id": "4711", "day": THU}),
    ("i won't be home, please push delivery of four seven one one to friday", {"order_id": "4711", "day": FRI}),
    ("i need order 4712 a day later, make it wednesday", {"order_id": "4712", "day": WED}),
    (
        "could we do a different day for order four seven one two, thursday would be good",
        {"order_id": "4712", "day": THU},
    ),
    ("postpone 4711 to the day after tomorrow", {"order_id": "4711", "day": WED}),
    ("move order 4711 to friday, no, thursday afternoon", {"order_id": "4711", "day": THU, "part": "afternoon"}),
    (
        "please shift order 4712 to wednesday, um, actually friday morning",
        {"order_id": "4712", "day": FRI, "part": "morning"},
    ),
    (
        "i'd like to have order 4711 delivered on wednesday, sorry, i mean thursday",
        {"order_id": "4711", "day": THU},
    ),
    ("deliver four seven one two on saturday instead of friday", {"order_id": "4712", "day": SAT}),
    ("change the delivery date of order 4711 to december fourth", {"order_id": "4711", "day": FRI}),
    ("friday doesn't suit me, can order 4712 come on wednesday", {"order_id": "4712", "day": WED}),
    ("put off delivery of four seven one one until friday", {"order_id": "4711", "day": FRI}),
    ("i'm away tomorrow, so bring order 4711 on thursday", {"order_id": "4711", "day": THU}),
    ("is it possible to get 4712 on thursday evening instead", {"order_id": "4712", "day": THU, "part": "evening"}),
    ("reschedule forty-seven eleven for the fifth of december", {"order_id": "4711", "day": SAT}),
    (
        "i have to change the day for order 4711, wednesday afternoon please",
        {"order_id": "4711", "day": WED, "part": "afternoon"},
    ),
    ("delay my parcel four seven one two by moving it to friday", {"order_id": "4712", "day": FRI}),
    (
        "can the driver come with order 4711 tomorrow afternoon rather than today",
        {"order_id": "4711", "day": TUE, "part": "afternoon"},
    ),
    ("set delivery of order 4712 for thursday, no wait, make that friday", {"order_id": "4712", "day": FRI}),
    ("nobody's in on tuesday, could you deliver 4711 on saturday", {"order_id": "4711", "day": SAT}),
    ("order four seven one one should come on friday, not thursday", {"order_id": "4711", "day": FRI}),
    ("switch order 4712 from wednesday to thursday", {"order_id": "4712", "day": THU}),
    ("i want my package 4711 to arrive on friday morning", {"order_id": "4711", "day": FRI, "part": "morning"}),
    ("let's rearrange the delivery for order four seven one two, saturday works", {"order_id": "4712", "day": SAT}),
    ("would thursday be possible for order 4711 instead", {"order_id": "4711", "day": THU}),
    ("please reskedule 4712 to wednesday", {"order_id": "4712", "day": WED}),
    ("make the delivery of 4711 in three days", {"order_id": "4711", "day": THU}),
    ("bring forward order four seven one two to tomorrow", {"order_id": "4712", "day": TUE}),
    ("move 4712, no, 4711, to friday", {"order_id": "4711", "day": FRI}),
    ("not thursday, friday please, for the delivery of order 4711", {"order_id": "4711", "day": FRI}),
    ("i don't want to cancel it, just move order 4711 to saturday", {"order_id": "4711", "day": SAT}),
    ("can i get order 4712 earlier, say, wednesday", {"order_id": "4712", "day": WED}),
    ("book order four seven one one in for friday the fourth", {"order_id": "4711", "day": FRI}),
    (
        "another time would be better for 4712, how about thursday morning",
        {"order_id": "4712", "day": THU, "part": "morning"},
    ),
]

CANCEL: list[Case] = [
    ("i don't want order 4711 any more", {"order_id": "4711"}),
    ("please call off order four seven one two", {"order_id": "4712"}),
    ("scrap order 4711 please", {"order_id": "4711"}),
    ("i changed my mind about order 4712, i don't need it", {"order_id": "4712"}),
    ("can i still cancel four seven one one", {"order_id": "4711"}),
    ("get rid of order number 4712 for me", {"order_id": "4712"}),
    ("i'd like to withdraw order 4711", {"order_id": "4711"}),
    ("could you stop order four seven one two from being sent", {"order_id": "4712"}),
    ("i no longer need forty seven eleven", {"order_id": "4711"}),
    ("drop order 4712, i found it cheaper elsewhere", {"order_id": "4712"}),
    ("undo my order 4711", {"order_id": "4711"}),
    ("i made a mistake ordering 4712, please take it back", {"order_id": "4712"}),
    ("cancle order four seven one one", {"order_id": "4711"}),
    ("annul the purchase with number 4712", {"order_id": "4712"}),
    ("don't send me 4711 after all", {"order_id": "4711"}),
    ("i want my money back for order four seven one two", {"order_id": "4712"}),
    ("please remove order 4711 from the system", {"order_id": "4711"}),
    ("is it too late to back out of order 4712", {"order_id": "4712"}),
    ("abort order number four seven one one", {"order_id": "4711"}),
    ("i would like a cancellation for order 4712", {"order_id": "4712"}),
    ("cancel order 4712, sorry, 4711", {"order_id": "4711"}),
    ("i need to revoke order four seven one two", {"order_id": "4712"}),
    ("forget about order 4711, i don't want it", {"order_id": "4711"}),
    ("terminate my order 4712 please", {"order_id": "4712"}),
    ("we won't be needing order 4711 so please cancel that", {"order_id": "4711"}),
    ("delete four seven one two", {"order_id": "4712"}),
    ("can you please kancel my order, number 4711", {"order_id": "4711"}),
    ("i decided against order four seven one two", {"order_id": "4712"}),
    ("don't move 4711, cancel it", {"order_id": "4711"}),
    ("i'd rather not have order 4712 anymore", {"order_id": "4712"}),
    ("please void order number 4711", {"order_id": "4711"}),
    ("i wish to cancel the thing i ordered, four seven one two", {"order_id": "4712"}),
    ("please have order four seven one one cancelled", {"order_id": "4711"}),
    ("order 4712 is not needed any longer, please cancel", {"order_id": "4712"}),
    ("kill order 4711", {"order_id": "4711"}),
    ("i bought the wrong thing, can you cancel number four seven one two", {"order_id": "4712"}),
    ("i want to return my money for order 4711, please stop it", {"order_id": "4711"}),
    ("my husband already bought one, so i don't need order 4712", {"order_id": "4712"}),
    ("can we just forget the whole order four seven one one", {"order_id": "4711"}),
    ("take 4712 off my list, i no longer want it", {"order_id": "4712"}),
]

HOURS: list[Case] = [
    ("how late are you open", {}),
    ("until what time is the shop open on saturday", {"day": SAT}),
    ("what time do you close", {}),
    ("are you open tomorrow", {"day": TUE}),
    ("when does the store open in the morning", {}),
    ("could you tell me your business hours", {}),
    ("till when can i come by on friday", {"day": FRI}),
    ("is anybody there on saturday", {"day": SAT}),
    ("what are your hours", {}),
    ("when are you guys open this week", {}),
    ("do you close early on friday", {"day": FRI}),
    ("at what time does the store shut today", {"day": "2026-11-30"}),
    ("may i know the openning times", {}),
    ("when could i drop by your shop tomorrow", {"day": TUE}),
    ("how long is the store open on thursday", {"day": THU}),
    ("are you closed on saturday", {"day": SAT}),
    ("i'd like to visit the shop, when is it open", {}),
    ("from when to when are you open", {}),
    ("what's the earliest i can come in on wednesday", {"day": WED}),
    ("when do you shut on saturday", {"day": SAT}),
    ("hi, what time do you guys open up", {}),
    ("are you still open now", {}),
    ("tell me the hours for tomorrow please", {"day": TUE}),
    ("is your shop open at the weekend", {"day": SAT}),
    ("do you open on saturdays", {"day": SAT}),
    ("can i come to the store on friday evening", {"day": FRI}),
    ("what are the opening times on friday, no, saturday", {"day": SAT}),
    ("when's closing time", {}),
    ("how early do you open tomorrow", {"day": TUE}),
    ("what time does your place open", {}),
    ("which days are you open", {}),
    ("at what hour do you close on thursday", {"day": THU}),
]

REQUESTS = {
    "lookup_order": LOOKUP,
    "reschedule_delivery": RESCHEDULE,
    "cancel_order": CANCEL,
    "opening_hours": HOURS,
}


@cache
def called(text: str) -> tuple[str, dict[str, str]]:
    """The tool that the brain asks for and its arguments; a question for confirmation is answered with yes."""
    messages: tuple[Message, ...] = (Message("user", text),)
    for _ in range(2):
        events = BRAIN.answer(BrainRequest(messages, SPECS))
        for event in events:
            if isinstance(event, ToolCall):
                return event.name, json.loads(event.arguments)
        said = "".join(event.text for event in events if isinstance(event, TextDelta))
        messages += (Message("assistant", said), Message("user", "yes please"))
    return "", {}


def missed(cases: list[Case], tool: str) -> list[str]:
    return [f"{text} -> {called(text)}" for text, wanted in cases if called(text) != (tool, wanted)]


@pytest.mark.parametrize("tool", REQUESTS)
def test_thirty_ways_of_asking_and_more_are_handled(tool: str) -> None:
    assert len({text for text, _ in REQUESTS[tool]}) >= 30
    assert missed(REQUESTS[tool], tool) == []


def test_ways_of_asking_that_were_held_out() -> None:
    """49 of 60. They guard against a fall; how far they stand for callers at large is said in docs/brains.md."""
    misses = [line for tool, cases in LATER.items() for line in missed(cases, tool)]
    total = sum(len(cases) for cases in LATER.values())
    print(f"held out: {total - len(misses)} of {total}", *misses, sep="\n")
    assert (total - len(misses)) / total >= 0.8


@pytest.mark.parametrize("tool", REQUESTS)
def test_a_request_that_is_missed_changes_nothing_else(tool: str) -> None:
    effects = {spec.name: spec.effect for spec in SPECS}
    asked = [text for text, _ in (*REQUESTS[tool], *LATER[tool])]
    wrong = [text for text in asked if called(text)[0] != tool and effects.get(called(text)[0]) == "write"]
    assert wrong == []


SOURCE = "\n".join(p.read_text(encoding="utf-8") for p in sorted(Path(antiphon.__file__).parent.rglob("*.py"))).lower()


def test_no_paraphrase_is_in_the_file_or_in_the_source() -> None:
    file = FILE.read_text(encoding="utf-8").lower()
    sentences = [text for cases in (*REQUESTS.values(), *LATER.values()) for text, _ in cases]
    assert [text for text in sentences if f'"{text}"' in file or text in SOURCE] == []


def test_the_source_knows_nothing_of_the_demo() -> None:
    book = load_book(FILE)
    told = [example for intent in book.intent for example in intent.examples if len(example.split()) > 3]
    told += [reply.say for intent in book.intent for reply in intent.reply]
    told += [slot.ask for intent in book.intent for slot in intent.slot if slot.ask]
    told += [spec.name for spec in SPECS] + [intent.name for intent in book.intent]
    told += [text for order in ORDERS for text in (f'"{order[0]}"', order[1], *(name for _, name, _ in order[4]))]
    assert len(told) > 50
    assert [words for words in told if words.lower() in SOURCE] == []
