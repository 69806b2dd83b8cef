"""Tools of an agent under test that die, hang or take their time, as their argument ``fate`` says; with a list of what
was done."""

import json
import os
import time
from pathlib import Path
from typing import Any, Literal

from antiphon.server.tools import ToolFailed

FOLDER = "FAULTY_DESK"
"""Names the variable with the folder that holds ``desk.jsonl``."""

Fate = Literal["well", "dies", "dies_once", "hangs", "slow"]
HANG_S, SLOW_S = 2.5, 2.2
TIMEOUT_S = 1.0
"""Of the read."""


def look_up(item: str, fate: Fate = "well") -> dict[str, Any]:
    """Find an item."""
    return _do("look_up", item, fate, "")


def book(item: str, idempotency_key: str, fate: Fate = "well") -> dict[str, Any]:
    """Book an item."""
    return _do("book", item, fate, idempotency_key)


def done(folder: Path) -> list[dict[str, str]]:
    """What was begun and what was finished, in order."""
    file = folder / "desk.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def _do(name: str, item: str, fate: Fate, key: str) -> dict[str, Any]:
    folder = Path(os.environ[FOLDER])
    before = sum(line["item"] == item and line["name"] == name and line["what"] == "began" for line in done(folder))
    _note(folder, what="began", name=name, item=item, key=key, fate=fate)
    if fate == "dies" or (fate == "dies_once" and not before):
        raise ToolFailed(f"{item} fell off the desk") if key else RuntimeError("the desk broke down")
    if fate in ("hangs", "slow"):
        time.sleep(HANG_S if fate == "hangs" else SLOW_S)
    receipt = f"receipt-{name}-{item}"
    _note(folder, what="finished", name=name, item=item, key=key, receipt=receipt)
    return {"item": item, "receipt": receipt}


def _note(folder: Path, **line: str) -> None:
    with (folder / "desk.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
