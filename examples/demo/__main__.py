"""Holds the conversation, prints it, writes ``demo.wav`` and ``demo.html``. Exit code 1: it did not go as it should."""

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from examples.demo import text
from examples.demo.caller import Held, hold, rehearsed
from examples.demo.checks import Check, checks
from examples.demo.house import Book, DemoFailed, fresh_book, read_book, serving
from examples.demo.page import page
from examples.demo.records import read_records
from examples.demo.script import SCRIPT
from examples.demo.story import Story, told

import antiphon
from antiphon.bench.conversation_call import News
from antiphon.core.errors import AntiphonError

NEXT = (
    "antiphon serve --config examples/orders/agent.toml   the same order desk, for your own programs",
    "antiphon talk http://127.0.0.1:8080                  ... to speak with it yourself",
    "python examples/speak.py                             the voice alone, through the Cartesia SDK",
    "antiphon --help                                      everything else; docs/ says how it works",
)
LATE_S, SLOW_FINAL_S = 0.05, 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER", help="where demo.wav and demo.html go")
    out: Path = parser.parse_args(arguments).out
    try:
        story = play()
        found = checks(story)
        wav, html = write(story, found, out)
    except (AntiphonError, DemoFailed, OSError) as failure:
        print(f"the demo could not be held: {failure}", file=sys.stderr)
        return 1
    _tell(story, found)
    print(f"\n{wav}: {story.call.recording.length_s:.1f} s, the caller left, the agent as it was heard right")
    print(f"{html}: the same as a page: listen, look at each silence, read the ledger")
    _say("Try next", NEXT)
    wrong = [check for check in found if not check.ok]
    if wrong:
        sys.stdout.flush()
        print(f"\nthe conversation did not go as it should: {len(wrong)} of {len(found)}", file=sys.stderr)
        for check in wrong:
            print(f"  {check.name}: {check.found}", file=sys.stderr)
        if busy(story):
            print(f"  {busy(story)}", file=sys.stderr)
    return 1 if wrong else 0


def play() -> Story:
    """The whole of it, in real time. Raises ``DemoFailed``, ``AntiphonError``, ``OSError``."""
    with tempfile.TemporaryDirectory(prefix="antiphon-demo-") as name:
        folder = Path(name)
        book, records = folder / "orders.sqlite", folder / "records"
        today = date.today()
        print("the caller learns its lines ...", flush=True)
        part = rehearsed(SCRIPT)
        before: Book = fresh_book(book, today)
        print("the server starts ...", flush=True)
        live = text.Live()

        def tell(at_s: float, event: News | str) -> None:
            for line in live.lines(at_s, event):
                print(line, flush=True)

        with serving(folder, book, records) as house:
            print(f"ready after {house.ready_s:.1f} s: {house.url}\n", flush=True)
            held: Held = hold(house.url, part, tell)
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        return told(
            held,
            read_records(records, held.began_unix_s),
            before=before,
            after=read_book(book),
            today=today,
            ready_s=house.ready_s,
            load=load,
        )


def write(story: Story, found: list[Check], out: Path) -> tuple[Path, Path]:
    out.mkdir(parents=True, exist_ok=True)
    wav, html = out / "demo.wav", out / "demo.html"
    wav.write_bytes(story.call.recording.wav())
    html.write_text(page(story, found, facts(story)), "utf-8")
    return wav, html


def facts(story: Story) -> list[tuple[str, str]]:
    """Of the run: what a reader must know to judge its figures."""
    return [
        ("when", f"{story.today:%A} {story.today.isoformat()}"),
        ("machine", f"{platform.machine()}, {platform.system()} {platform.release()}, {story.cores} cores"),
        ("load", f"load average {story.load:.1f} when the call was over; caller and server share the cores"),
        ("versions", f"Antiphon {antiphon.__version__}, Python {platform.python_version()}"),
        ("agent", "examples/orders: the rule brain, four tools over SQLite; embedded ear and voice"),
        ("caller", "the embedded voice, lower; its lines are always the same. Easier to understand than people are"),
        ("caller's lateness", f"its worst piece of sound was sent {1e3 * story.call.behind_s:.0f} ms late"),
        ("server", f"ready {story.ready_s:.1f} s after its start, models loaded and warm"),
    ]


def busy(story: Story) -> str:
    """Whether it is to be feared that somebody else had the cores, in words; "" if not."""
    finals_s = [spent_s for record in story.records for name, spent_s in record.stages if name == "final"]
    late = story.call.behind_s > LATE_S or max(finals_s, default=0.0) > SLOW_FINAL_S
    if not late or story.load <= story.cores:
        return ""
    return (
        f"this machine is busy (load average {story.load:.1f} on {story.cores} cores, the caller's sound up to "
        f"{1e3 * story.call.behind_s:.0f} ms late): try again when it is not"
    )


def _tell(story: Story, found: list[Check]) -> None:
    _say("Where each silence went (from the caller's last sound to the agent's first)", text.waterfalls(story))
    if busy(story):
        _say("Note", [f"  {busy(story)}"])
    _say("The ledger: every decision, with its second of the recording", text.ledger(story))
    _say("What was heard of the interrupted answer", text.heard(story))
    _say("The order book", text.order_books(story.before, story.after))
    _say("Did it go as it should?", text.verdicts(found))


def _say(title: str, lines: Iterable[str]) -> None:
    print(f"\n{title}\n")
    for line in lines:
        print(line if line.startswith(" ") or not line else f"  {line}")


if __name__ == "__main__":
    sys.exit(main())
