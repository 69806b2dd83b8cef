"""The order book as tools of an agent (agent.toml names these functions).

The book is at ORDERS_DB if that is set; else there is one for each day in ~/.cache/antiphon/orders, written fresh, so
that its deliveries are always ahead.
"""

import os
import tempfile
from datetime import date
from pathlib import Path
from typing import Annotated

from examples.orders.book import OrderBook, Result
from examples.orders.seed import write

OrderId = Annotated[str, "the order number, four digits"]


def lookup_order(order_id: OrderId) -> Result:
    """Find an order: status, items, total, delivery day."""
    return _book().lookup_order(order_id)


def reschedule_delivery(
    order_id: OrderId,
    day: Annotated[str, "the new day, YYYY-MM-DD"],
    part: Annotated[str, "morning, afternoon or evening; left out: any time"] = "",
    *,
    idempotency_key: str = "",
) -> Result:
    """Move an order's delivery to another day."""
    return _book().keyed(idempotency_key).reschedule_delivery(order_id, day, part)


def cancel_order(order_id: OrderId, *, idempotency_key: str = "") -> Result:
    """Cancel an order that is not delivered yet."""
    return _book().keyed(idempotency_key).cancel_order(order_id)


def opening_hours(day: Annotated[str, "YYYY-MM-DD; left out: the whole week"] = "") -> Result:
    """Opening hours of the shop."""
    return _book().opening_hours(day)


def _book() -> OrderBook:
    given = os.environ.get("ORDERS_DB")
    if given:
        return OrderBook(Path(given))
    folder = Path("~/.cache/antiphon/orders").expanduser()
    path = folder / f"{date.today().isoformat()}.sqlite"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as fresh:  # whoever comes at the same moment has another one
            write(Path(fresh) / "book", date.today())
            os.replace(Path(fresh) / "book", path)
    return OrderBook(path)
