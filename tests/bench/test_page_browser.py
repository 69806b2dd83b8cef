"""A report read by a browser, as a stranger reads it. ``make soak`` and ``make bench`` install the browser.

``SCREENSHOT=FILE`` keeps the picture, which the docs show.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image

from antiphon.bench.page import page

from .reports import group, plan, report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = (1100, 1540)


@pytest.mark.soak
def test_a_stranger_can_read_who_made_the_caller_wait(tmp_path: Path) -> None:
    shown = report(group(plan("healthy")), group(plan("delay")), group(plan("silence padding")), group(plan("stall")))
    source, picture = tmp_path / "report.html", tmp_path / "report.png"
    source.write_text(page([shown]))
    text = browse("--dump-dom", source)
    for said in ("waited 650 ms, 100 % of it for the server", "it for the voice", "it for the delivery", "<svg"):
        assert said in text
    browse(f"--screenshot={picture}", source)
    with Image.open(picture) as image:
        assert image.size == SIZE
        colours = {colour for _, colour in image.convert("RGB").getcolors(1 << 24) or []}
    # the bars of the server, of the voice and of the delivery are there
    assert {(0xC8, 0x55, 0x3D), (0xD9, 0xA4, 0x41), (0x7B, 0x5E, 0xA7)} <= colours
    if kept := os.environ.get("SCREENSHOT"):
        shutil.copy(picture, kept)


def browse(what: str, source: Path) -> str:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert browser, "no browser: run tests/bench/browser.sh"
    # no sandbox: tests may run as root, and the page is our own
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    room = [f"--user-data-dir={source.parent / 'profile'}", f"--window-size={SIZE[0]},{SIZE[1]}"]
    command = [browser, *options, *room, what, source.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True).stdout
