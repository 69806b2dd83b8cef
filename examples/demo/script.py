"""What the synthetic caller says and when, and what must come of it. The same words in every run."""

from antiphon.bench.scenario import Scenario, Step

GREETING = "Hello, this is the order desk. How can I help you?"
"""Of ``examples/orders/agent.toml``: the caller waits for it."""
MOVED = "4711"
"""The order whose delivery is moved."""
THURSDAY, PART = 3, "afternoon"

SCRIPT = Scenario(
    version=1,
    name="demo",
    about="A caller asks, listens, interrupts, corrects itself and says goodbye.",
    greeting=GREETING,
    answers=(),
    steps=(
        Step(say=("Hello, when are you open, please?",), wait_s=1.0, expects="monday to friday"),
        Step(say=("Uh-huh.",), kind="backchannel", into_s=2.4),
        Step(say=("And where is my order, four seven one four?",), wait_s=1.0, expects="4 ?7 ?1 ?4.*hand grinder"),
        Step(
            say=("No, wait. I mean order four seven one one.",), kind="interruption", into_s=2.2,
            expects="4 ?7 ?1 ?1.*garden lamp",
        ),
        Step(
            say=("Please move it to Friday,", 0.2, "no, Thursday afternoon."), wait_s=1.0,
            # on a Wednesday the agent says "tomorrow"; which day it is, the check of the order book says
            expects="4 ?7 ?1 ?1 now comes.*(thursday|tomorrow).*afternoon",
        ),
        Step(say=("Thank you, goodbye.",), wait_s=1.0, expects="goodbye"),
    ),
)  # fmt: skip
"""Played by the bench's own caller: a pause inside a line is a number of seconds."""

SHOWS = (
    "a question, answered from the shop's hours",
    "a listener's word over the answer, which goes on",
    "a lookup in the order book",
    "an interruption: the answer stops, the next one begins",
    "a correction within one turn: one change, of the corrected day",
    "a goodbye",
)
"""What each step is there to show."""
