"""What the synthesised speakers say: requests, questions, dictations, lists, corrections; one piece per breath.

The two halves share no carrier phrase, so that what is tuned on one is not known from the other.
"""

from dataclasses import dataclass

import numpy as np

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NAMES = {
    "tune": ("anna", "miller", "jones", "peter", "clara", "robin"),
    "report": ("maria", "carter", "smith", "david", "nora", "felix"),
}
_HOSTS = {"tune": ("gmail", "orchard", "northwind"), "report": ("outlook", "riverside", "bluebird")}
_LETTERS = tuple("ABCDEFGHJKLMNOPRSTVWXYZ")


@dataclass(frozen=True)
class Dictation:
    """``pieces`` are said with a pause after each; the turn ends after the last."""

    category: str
    pieces: tuple[str, ...]


_TUNE = (
    ("phone", "My number is {d3},|{d3},|{d4}."),
    ("phone", "You can reach me at {d3},|{d2} {d2},|{d3}."),
    ("phone", "It's {d4},|{d3},|{d3}."),
    ("phone", "Please call {d3} {d3},|{d4}."),
    ("email", "My email is {name},|at {host} dot com."),
    ("email", "Send it to {name} dot,|{name},|at {host} dot org."),
    ("email", "It's {name} {d2},|at {host},|dot com."),
    ("number", "The order number is {l1} {d2},|{d3},|{d2}."),
    ("number", "My postcode is {l2},|{d1} {d1},|{l2}."),
    ("number", "The card number is {d4},|{d4},|{d4},|{d4}."),
    ("spelling", "My name is spelled {l2},|{l2},|{l2}."),
    ("spelling", "That's {l1} as in apple,|{l1} as in bravo,|{l1}."),
    ("correction", "Let's make it Friday,|no wait,|Thursday afternoon."),
    ("correction", "I need two tickets,|sorry,|three tickets for Saturday."),
    ("correction", "Book it for six,|actually no,|make that seven thirty."),
    ("correction", "Please send it to Boston,|I mean,|to Baltimore."),
    ("list", "I'd like milk,|bread,|butter,|and a dozen eggs."),
    ("list", "We need chairs,|tables,|and two lamps."),
    ("list", "I can do Monday,|Wednesday,|or Friday morning."),
    ("hesitation", "I would like to book a table for,|um,|four people tonight."),
    ("hesitation", "Could you tell me,|when the next train to,|London leaves?"),
    ("hesitation", "I'm calling because,|my internet has been down since,|last night."),
    ("hesitation", "If the delivery doesn't come today,|I want my money back."),
    ("hesitation", "So I was wondering,|if you have any rooms left,|for the weekend."),
    ("hesitation", "The problem is that,|the app keeps,|crashing when I open it."),
    ("hesitation", "I want to change,|the address on,|my account please."),
    ("question", "What time do you close today?"),
    ("question", "Do you have any vegetarian dishes?"),
    ("question", "How much does the large one cost?"),
    ("question", "Can I pay by card?"),
    ("question", "Where is the nearest station?"),
    ("question", "Is there parking nearby?"),
    ("request", "Please cancel my appointment."),
    ("request", "I'd like to speak to a manager please."),
    ("request", "Turn off the lights in the kitchen."),
    ("request", "Set an alarm for seven in the morning."),
    ("request", "I want to return these shoes."),
    ("request", "Tell me a joke."),
    ("short", "Yes please."),
    ("short", "No, thank you."),
    ("short", "Hello."),
    ("short", "That's right."),
    ("short", "Okay great."),
)

_REPORT = (
    ("phone", "The best number for me is {d3},|{d3},|{d4}."),
    ("phone", "Sure, so that's {d2} {d2},|{d3},|{d3}."),
    ("phone", "Ring me on {d4},|{d3} {d3}."),
    ("phone", "Her mobile is {d3},|{d4},|{d3}."),
    ("email", "You can write to {name},|at {host} dot net."),
    ("email", "The address is {name} underscore,|{name},|at {host} dot com."),
    ("email", "That would be {name} {name},|at {host},|dot co dot U K."),
    ("number", "My reference is {l2} {d2},|{d2},|{d3}."),
    ("number", "The tracking code starts with {l1} {d1},|{d3},|{l1} {d2}."),
    ("number", "My account ends in {d2},|{d2}."),
    ("spelling", "The last name is {l2},|{l3},|{l2}."),
    ("spelling", "Spelled {l3},|{l2}."),
    ("correction", "Make it Friday,|no wait,|Thursday afternoon."),
    ("correction", "I'll have the soup,|oh sorry,|the salad please."),
    ("correction", "We are five people,|hang on,|six people in total."),
    ("correction", "Move my meeting to ten,|or rather,|half past ten."),
    ("list", "Add apples,|oranges,|bananas,|and some cheese."),
    ("list", "I've tried restarting it,|unplugging it,|and calling support."),
    ("list", "The colours are red,|green,|and dark blue."),
    ("hesitation", "I'm looking for a,|uh,|birthday present for my sister."),
    ("hesitation", "Is it possible to,|move my booking to,|next Tuesday?"),
    ("hesitation", "When I try to log in,|it says that,|my password has expired."),
    ("hesitation", "Well I think,|the best option would be,|the earlier flight."),
    ("hesitation", "I need someone who can,|repair the window in,|the bathroom."),
    ("hesitation", "My husband and I,|are planning a trip to,|Portugal in May."),
    ("hesitation", "We ordered the,|large sofa about,|three weeks ago."),
    ("question", "Which platform does it leave from?"),
    ("question", "Are you open on Sundays?"),
    ("question", "Who am I speaking with?"),
    ("question", "Did my parcel arrive?"),
    ("question", "Why was I charged twice?"),
    ("question", "Will there be vegan options?"),
    ("request", "Play some quiet music."),
    ("request", "I'd like a refund for my ticket."),
    ("request", "Remind me to water the plants."),
    ("request", "Please transfer me to billing."),
    ("request", "My order never arrived."),
    ("request", "I forgot my password."),
    ("short", "Yes."),
    ("short", "No thanks."),
    ("short", "Good morning."),
    ("short", "I don't know."),
    ("short", "Thanks, bye."),
)


def dictations(split: str, seed: int) -> list[Dictation]:
    """All templates of a half, their slots filled from ``seed``."""
    rng = np.random.default_rng(seed)
    made = []
    for category, template in _TUNE if split == "tune" else _REPORT:
        text = template
        while "{" in text:
            before, _, rest = text.partition("{")
            slot, _, after = rest.partition("}")
            text = before + _fill(slot, split, rng) + after
        made.append(Dictation(category, tuple(text.split("|"))))
    return made


def _fill(slot: str, split: str, rng: np.random.Generator) -> str:
    if slot == "name":
        return str(rng.choice(_NAMES[split]))
    if slot == "host":
        return str(rng.choice(_HOSTS[split]))
    words = _DIGITS if slot[0] == "d" else _LETTERS
    return " ".join(str(word) for word in rng.choice(words, int(slot[1])))
