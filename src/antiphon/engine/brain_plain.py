"""The brain of a server that was given none: it greets, repeats, says what it is, and knows nothing of any business."""

from antiphon.core.clock import today
from antiphon.engine.brain import RuleBrain
from antiphon.engine.brain_book import Book, Intent, Phrases, Reply

_WHAT = "This is Antiphon, a voice server. It hears you and speaks, but it was given no language model to answer with."

PLAIN_BOOK = Book(
    intent=[
        Intent(
            name="about",
            said_as="hear what this is",
            examples=["what is this", "what is antiphon", "tell me about yourself", "what does this do"],
            keywords=["antiphon", "about yourself", "tell me about you"],
            reply=[Reply(say=_WHAT)],
        ),
        Intent(
            name="hearing",
            said_as="know whether you can be heard",
            examples=["can you hear me", "do you hear me", "is this working", "sound check"],
            keywords=["hear me", "testing", "microphone", "sound check"],
            reply=[Reply(say="Yes, I can hear you.")],
        ),
    ],
    phrases=Phrases(
        greeting="Hello! This is Antiphon.",
        goodbye="Goodbye!",
        thanks="You are welcome.",
        help="I can greet you, repeat what I said, and tell you what this is.",
        unknown="I heard you, but I have only a few fixed rules here and no answer to that.",
        still_unknown="I heard you, but I have no answer to that either.",
        offer_handover="I heard you, but I have no answer to that either.",
        anything_else="All right.",
        all_done="All right.",
    ),
)


def plain_brain() -> RuleBrain:
    return RuleBrain(PLAIN_BOOK, today)
