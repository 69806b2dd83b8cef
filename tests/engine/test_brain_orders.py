"""The order book of the demo: its tools do what their declarations say."""

import inspect
import json
from datetime import date
from pathlib import Path

import pytest
from examples.orders.book import SPECS, OrderBook
from examples.orders.seed import ORDERS, write

from antiphon.engine.brain_book import load_book

TODAY = date(2026, 11, 30)  # a Monday


@pytest.fixture
def orders(tmp_path: Path) -> OrderBook:
    write(tmp_path / "orders.sqlite", TODAY)
    return OrderBook(tmp_path / "orders.sqlite", lambda: TODAY)


def test_every_declared_tool_exists_with_its_parameters(orders: OrderBook) -> None:
    for spec in SPECS:
        tool = orders.tools()[spec.name]
        declared = json.loads(spec.parameters)
        parameters = inspect.signature(tool).parameters
        assert list(declared["properties"]) == list(parameters)
        assert declared["required"] == [name for name, p in parameters.items() if p.default is p.empty]
        assert tool.__doc__
        assert ("Writes" in tool.__doc__) == (spec.effect == "write")


def test_the_file_fills_the_tools_parameters() -> None:
    declared = {spec.name: json.loads(spec.parameters) for spec in SPECS}
    for intent in load_book(Path("examples/orders/brain.toml")).intent:
        assert {slot.name for slot in intent.slot} == set(declared[intent.tool]["properties"])
        assert {slot.name for slot in intent.slot if slot.required} == set(declared[intent.tool]["required"])


def test_the_same_day_gives_the_same_book_and_no_delivery_on_a_sunday(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, TODAY)
    one, other = OrderBook(tmp_path / "a"), OrderBook(tmp_path / "b")
    found = [one.lookup_order(number) for number, *_ in ORDERS]
    assert found == [other.lookup_order(number) for number, *_ in ORDERS]
    assert all(date.fromisoformat(order["delivery_day"]).weekday() != 6 for order in found)


def test_reads_change_nothing(orders: OrderBook, tmp_path: Path) -> None:
    before = (tmp_path / "orders.sqlite").read_bytes()
    orders.lookup_order("4711")
    orders.opening_hours("2026-12-05")
    assert (tmp_path / "orders.sqlite").read_bytes() == before


def test_a_write_done_twice_is_done_once(orders: OrderBook) -> None:
    once = orders.reschedule_delivery("4711", "2026-12-03", "afternoon")
    assert orders.reschedule_delivery("4711", "2026-12-03", "afternoon") == once
    found = orders.lookup_order("4711")
    assert (found["delivery_day"], found["part"]) == ("2026-12-03", "afternoon")
    assert orders.cancel_order("4711") == orders.cancel_order("4711")
    assert orders.lookup_order("4711")["status"] == "cancelled"


def test_a_write_under_a_key_is_done_once_whatever_else_it_says(orders: OrderBook) -> None:
    once = orders.keyed("k").reschedule_delivery("4711", "2026-12-03")
    assert orders.keyed("k").reschedule_delivery("4711", "2026-12-04") == once
    assert orders.keyed("another").reschedule_delivery("4711", "2026-12-04") != once
    assert "error" in orders.keyed("no").cancel_order("9999")
    assert orders.keyed("k").cancel_order("4711") == once
    assert orders.lookup_order("4711")["status"] == "shipped"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("9999", "2026-12-03"), "cannot find"),
        (("4711", "2026-11-30"), "after today"),
        (("4711", "2026-12-06"), "Sundays"),
        (("4711", "someday"), "as a date"),
        (("4711", "2026-12-03", "night"), "evening"),
        (("4713", "2026-12-03"), "already been delivered"),
    ],
)
def test_what_cannot_be_done_is_said(orders: OrderBook, arguments: tuple[str, ...], says: str) -> None:
    assert says in orders.reschedule_delivery(*arguments)["error"]


def test_opening_hours_of_a_day_and_of_the_week(orders: OrderBook) -> None:
    assert orders.opening_hours("2026-12-05") == {
        "day": "2026-12-05",
        "open": True,
        "opens": "10:00",
        "closes": "14:00",
    }
    assert orders.opening_hours("2026-12-06")["open"] is False
    assert "Saturday" in orders.opening_hours()["week"]


def test_a_missing_book_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"examples\.orders\.seed"):
        OrderBook(tmp_path / "none.sqlite").lookup_order("4711")
