"""Write a fresh order book: python -m examples.orders.seed FILE [TODAY]. The same day gives the same book."""

import sqlite3
import sys
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

SCHEMA = """
CREATE TABLE orders (
    id TEXT PRIMARY KEY, customer TEXT NOT NULL, status TEXT NOT NULL, total_cents INTEGER NOT NULL,
    delivery_day TEXT NOT NULL, part TEXT NOT NULL DEFAULT ''
);
CREATE TABLE items (order_id TEXT NOT NULL REFERENCES orders(id), quantity INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE changes (key TEXT PRIMARY KEY, result TEXT NOT NULL);
"""
# number, customer, status, days until delivery, items: (quantity, name, cents each)
ORDERS = [
    ("4711", "Ana Keller", "shipped", 2, [(1, "garden lamp", 3995), (2, "extension cords", 1250)]),
    ("4712", "Joon Park", "packed", 4, [(1, "oak bookshelf", 18900)]),
    ("4713", "Mira Okafor", "delivered", -1, [(3, "linen cushions", 2400)]),
    ("4714", "Luis Brandt", "ordered", 6, [(1, "espresso kettle", 6450), (1, "hand grinder", 5200)]),
    ("4715", "Sofia Lind", "shipped", 1, [(2, "wool blankets", 8900)]),
]


def write(path: Path, today: date) -> None:
    """Replace what is at ``path`` by a new book whose days are counted from ``today``; none falls on a Sunday."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(SCHEMA)
        for number, customer, status, days, items in ORDERS:
            day = today + timedelta(days)
            day += timedelta(day.weekday() == 6)
            total = sum(quantity * cents for quantity, _, cents in items)
            db.execute(
                "INSERT INTO orders (id, customer, status, total_cents, delivery_day) VALUES (?, ?, ?, ?, ?)",
                (number, customer, status, total, day.isoformat()),
            )
            db.executemany(
                "INSERT INTO items VALUES (?, ?, ?)", [(number, quantity, name) for quantity, name, _ in items]
            )


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    write(Path(sys.argv[1]), date.fromisoformat(sys.argv[2]) if len(sys.argv) == 3 else date.today())
    print(f"wrote {sys.argv[1]}")
