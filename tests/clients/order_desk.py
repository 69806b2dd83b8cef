"""The order book's tools as an agent of the server under test runs them, with a list of what was done."""

import json
import os
from pathlib import Path
from typing import Any

from examples.orders.book import OrderBook

FOLDER = "ORDER_DESK"
"""Names the variable with the folder that holds ``orders.sqlite``, and ``calls.jsonl`` afterwards."""


def lookup_order(order_id: str) -> dict[str, Any]:
    """Find an order: its status, items, total and delivery day."""
    return _do("lookup_order", order_id=order_id)


def reschedule_delivery(order_id: str, day: str, part: str = "") -> dict[str, Any]:
    """Move an order's delivery to another day."""
    return _do("reschedule_delivery", order_id=order_id, day=day, part=part)


def opening_hours(day: str = "") -> dict[str, Any]:
    """When the shop is open."""
    return _do("opening_hours", day=day)


def calls(folder: Path) -> list[tuple[str, dict[str, str]]]:
    file = folder / "calls.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return [(name, arguments) for name, arguments in map(json.loads, lines)]


def _do(name: str, **arguments: str) -> dict[str, Any]:
    folder = Path(os.environ[FOLDER])
    with (folder / "calls.jsonl").open("a") as file:
        file.write(json.dumps([name, arguments]) + "\n")
    result: dict[str, Any] = getattr(OrderBook(folder / "orders.sqlite"), name)(**arguments)
    return result
