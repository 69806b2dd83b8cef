"""The order desk of the examples: its file, its tools and its rules fit together."""

import json
from datetime import date
from pathlib import Path

import pytest
from examples.orders.book import SPECS, OrderBook
from examples.orders.seed import write

from antiphon.core.brain import BrainRequest, Message, TextDelta, ToolCall
from antiphon.engine.brain import RuleBrain
from antiphon.engine.brain_book import load_book
from antiphon.server.tools import ToolBox, tool_box
from antiphon.settings import Settings, load

from ..support import run


@pytest.fixture
def settings() -> Settings:
    return load(Path("examples/orders/agent.toml"))


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OrderBook:
    path = tmp_path / "orders.sqlite"
    write(path, date.today())
    monkeypatch.setenv("ORDERS_DB", str(path))
    return OrderBook(path)


def test_the_tools_are_those_that_the_book_declares(settings: Settings) -> None:
    made = {spec.name: spec for spec in tool_box(settings.agent.tools).specs()}
    assert list(made) == [spec.name for spec in SPECS]
    for spec in SPECS:
        mine, theirs = json.loads(made[spec.name].parameters), json.loads(spec.parameters)
        assert list(mine["properties"]) == list(theirs["properties"])
        assert mine["required"] == theirs["required"]
        assert made[spec.name].effect == spec.effect


async def say(box: ToolBox, brain: RuleBrain, messages: tuple[Message, ...], text: str) -> tuple[Message, ...]:
    """One turn: the brain's calls are run, until it only speaks."""
    messages += (Message("user", text),)
    for number in range(3):
        events = brain.answer(BrainRequest(messages, box.specs()))
        calls = tuple(event for event in events if isinstance(event, ToolCall))
        said = "".join(event.text for event in events if isinstance(event, TextDelta))
        messages += (Message("assistant", said, calls),)
        if not calls:
            return messages
        for call in calls:
            outcome = await box.call(call.name, call.arguments, f"{len(messages)}-{number}")
            messages += (Message("tool", outcome.content, call_id=call.call_id),)
    raise AssertionError("the brain asks for ever")


def test_a_caller_is_served_by_rules_and_tools(settings: Settings, orders: OrderBook) -> None:
    async def test() -> None:
        assert settings.brain.rules is not None
        box, brain = tool_box(settings.agent.tools), RuleBrain(load_book(settings.brain.rules), date.today)
        talk = await say(box, brain, (), "Where is order 4711?")
        assert "1 garden lamp" in talk[-1].content
        talk = await say(box, brain, talk, "Bring it next Friday, no, next Thursday afternoon.")
        moved = date.fromisoformat(str(orders.lookup_order("4711")["delivery_day"]))
        assert moved.weekday() == 3
        assert "afternoon" in talk[-1].content
        talk = await say(box, brain, talk, "Cancel it, please.")
        assert orders.lookup_order("4711")["status"] != "cancelled"
        await say(box, brain, talk, "Yes.")
        assert orders.lookup_order("4711")["status"] == "cancelled"
        await box.aclose()

    run(test())
