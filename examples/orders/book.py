"""An order book in SQLite, and what an agent may do with it.

    python -m examples.orders.seed orders.sqlite     # write a fresh book
    OrderBook(Path("orders.sqlite")).lookup_order("4711")

Each tool is a plain callable that returns a dict; an ``error`` in it is a sentence for the caller. ``SPECS`` says how a
brain sees them, and whether they only read or also write.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

from antiphon.core.brain import ToolSpec

Result = dict[str, Any]

HOURS = {0: ("09:00", "18:00"), 1: ("09:00", "18:00"), 2: ("09:00", "18:00"), 3: ("09:00", "20:00"),
         4: ("09:00", "18:00"), 5: ("10:00", "14:00")}  # fmt: skip
"""Weekday (Monday is 0) -> opening and closing; Sunday is closed."""
PARTS = ("morning", "afternoon", "evening")


class OrderBook:
    """The tools over one database file. ``today`` is the day that "now" is. ``key``: a change that was made under it
    is not made again; what was said of it then is said again."""

    def __init__(self, path: Path, today: Callable[[], date] = date.today, key: str = "") -> None:
        self._path = path
        self._today = today
        self._key = key

    def keyed(self, key: str) -> "OrderBook":
        """The same book, for one change under this key."""
        return OrderBook(self._path, self._today, key)

    def lookup_order(self, order_id: str) -> Result:
        """Find an order: its status, items, total and delivery day. Reads only."""
        with closing(self._open()) as db:
            order = db.execute("SELECT * FROM orders WHERE id = ?", (order_id,)).fetchone()
            if order is None:
                return _unknown(order_id)
            items = db.execute("SELECT quantity, name FROM items WHERE order_id = ? ORDER BY rowid", (order_id,))
            return {**dict(order), "items": [f"{item['quantity']} {item['name']}" for item in items]}

    def reschedule_delivery(self, order_id: str, day: str, part: str = "") -> Result:
        """Move an order's delivery to another day (ISO date) and part of the day. Writes; the same call twice changes
        nothing more."""
        try:
            wanted = date.fromisoformat(day)
        except ValueError:
            return {"error": "I need the day as a date."}
        if wanted <= self._today():
            return {"error": "The new day has to be after today."}
        if wanted.weekday() == 6:
            return {"error": "We do not deliver on Sundays."}
        if part and part not in PARTS:
            return {"error": "We deliver in the morning, in the afternoon or in the evening."}
        return self._change(order_id, "delivery_day = ?, part = ?", (day, part), "rescheduled")

    def cancel_order(self, order_id: str) -> Result:
        """Cancel an order that is not delivered yet. Writes; the same call twice changes nothing more."""
        return self._change(order_id, "status = 'cancelled'", (), "cancelled")

    def opening_hours(self, day: str = "") -> Result:
        """Opening hours of the shop on a day (ISO date), or of the whole week. Reads only."""
        if not day:
            return {"week": "Monday to Friday from nine to six, Thursday until eight, and Saturday from ten to two"}
        try:
            hours = HOURS.get(date.fromisoformat(day).weekday())
        except ValueError:
            return {"error": "I need the day as a date."}
        return {"day": day, "open": hours is not None} | (
            dict(zip(("opens", "closes"), hours, strict=True)) if hours else {}
        )

    def tools(self) -> dict[str, Callable[..., Result]]:
        """The callables by the names in ``SPECS``."""
        return {spec.name: getattr(self, spec.name) for spec in SPECS}

    def _change(self, order_id: str, setting: str, values: tuple[str, ...], done: str) -> Result:
        with closing(self._open()) as db, db:
            db.execute("BEGIN IMMEDIATE")  # the key and the change are written together, or neither
            made = db.execute("SELECT result FROM changes WHERE key = ?", (self._key,)).fetchone()
            if made is not None:
                return dict(json.loads(made["result"]))
            order = db.execute("SELECT * FROM orders WHERE id = ?", (order_id,)).fetchone()
            if order is None:
                return _unknown(order_id)
            if order["status"] == "delivered":
                return {"error": f"Order {' '.join(order_id)} has already been delivered."}
            if order["status"] == "cancelled" and done != "cancelled":
                return {"error": f"Order {' '.join(order_id)} was cancelled."}
            db.execute(f"UPDATE orders SET {setting} WHERE id = ?", (*values, order_id))
            order = db.execute("SELECT * FROM orders WHERE id = ?", (order_id,)).fetchone()
            result = {**dict(order), "done": done}
            if self._key:
                db.execute("INSERT INTO changes (key, result) VALUES (?, ?)", (self._key, json.dumps(result)))
            return result

    def _open(self) -> sqlite3.Connection:
        if not self._path.exists():
            raise FileNotFoundError(f"no order book at {self._path}: write one with python -m examples.orders.seed")
        db = sqlite3.connect(self._path)
        db.row_factory = sqlite3.Row
        return db


def _unknown(order_id: str) -> Result:
    return {"error": f"I cannot find an order {' '.join(order_id)}."}


def _schema(required: list[str], **fields: str) -> str:
    properties = {name: {"type": "string", "description": text} for name, text in fields.items()}
    return json.dumps({"type": "object", "properties": properties, "required": required})


_ORDER_ID = "the order number, four digits"
SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        "lookup_order", "Find an order: status, items, total, delivery day.", _schema(["order_id"], order_id=_ORDER_ID)
    ),
    ToolSpec(
        "reschedule_delivery",
        "Move an order's delivery to another day.",
        _schema(
            ["order_id", "day"], order_id=_ORDER_ID, day="the new day, YYYY-MM-DD", part="morning, afternoon or evening"
        ),
        effect="write",
    ),
    ToolSpec("cancel_order", "Cancel an order.", _schema(["order_id"], order_id=_ORDER_ID), effect="write"),
    ToolSpec("opening_hours", "Opening hours of the shop.", _schema([], day="YYYY-MM-DD; left out: the whole week")),
)
