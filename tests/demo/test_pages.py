"""What the demo shows: lines while it happens, and a page that needs nothing else."""

import base64
import io
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import soundfile
from examples.demo import text
from examples.demo.checks import checks
from examples.demo.page import page
from examples.demo.svg import waterfall

from antiphon.client import Heard
from antiphon.protocol import native_messages as wire

from .planted_story import HOURS, OTHER, Plan

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Whole(HTMLParser):
    """Raises for a tag that is closed out of order; keeps addresses and counts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.counts: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"{tag} closes what is not open"


def shown() -> tuple[str, Whole]:
    story = Plan().story()
    html = page(story, checks(story), [("machine", "a <small> one")])
    whole = Whole()
    whole.feed(html)
    whole.close()
    return html, whole


def test_the_page_is_whole_and_needs_nothing_else() -> None:
    html, whole = shown()
    assert whole.open == []
    assert whole.addresses
    assert all(address.startswith("data:") for address in whole.addresses)
    assert not re.search(r"@import|url\(|https?://", html)
    assert "a &lt;small&gt; one" in html


def test_the_sound_in_the_page_is_the_recording() -> None:
    _, whole = shown()
    sound, rate_hz = soundfile.read(io.BytesIO(base64.b64decode(whole.addresses[0].partition("base64,")[2])))
    recording = Plan().story().call.recording
    assert (rate_hz, sound.shape[1]) == (recording.rate_hz, 2)
    assert abs(len(sound) / rate_hz - recording.length_s) < 0.2


def test_the_drawings_are_well_formed_and_have_all_parts() -> None:
    html, _ = shown()
    drawings = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]
    wave, fall = drawings
    assert {"caller", "agent"} <= {element.get("class") for element in wave}
    assert sum(element.get("class") == "mark" for element in wave) == 6
    assert sum((element.get("class") or "").startswith("s-") for element in fall) == 5 * 4  # stages that took time


def test_what_was_not_heard_is_struck_out() -> None:
    html, _ = shown()
    assert "Order 4 7 1 4 is ordered: <del>1 espresso kettle and 1 hand grinder.</del>" in html


def test_a_turn_without_any_stage_can_be_drawn() -> None:
    ElementTree.fromstring(waterfall([("nothing <here>", [])]))
    ElementTree.fromstring(waterfall([]))


def words(*parts: str) -> list[wire.Word]:
    return [wire.Word(text=part, start_sample=100 * at, end_sample=100 * (at + 1)) for at, part in enumerate(parts)]


def lines(*events: object) -> list[str]:
    live = text.Live()
    return [" ".join(line.split()) for at_s, event in enumerate(events) for line in live.lines(at_s, event)]  # type: ignore[arg-type]


def test_an_interruption_is_told_as_it_happens() -> None:
    assert lines(
        wire.ReplyStarted(reply_id="a"),
        wire.ReplyText(reply_id="a", delta="It is "),
        wire.ReplyText(reply_id="a", delta="on its way."),
        wire.ReplyWords(reply_id="a", words=words("It", "is", "on", "its", "way.")),
        Heard("a", 150, 0, False),
        Heard("a", 200, 0, False),
        "No, wait.",
        wire.ReplyPaused(reply_id="a", fade_ms=40),
        wire.Clear(reply_id="a", fade_ms=40),
        Heard("a", 230, 0, True),
        wire.UserEnded(transcript=" No, wait.", at_sample=1),
    ) == [
        "4.00 agent It is on its way.",
        "6.00 caller No, wait.",
        "7.00 the agent pauses, to hear whether the caller wants the floor",
        "8.00 the agent stops: the caller has the floor",
        "9.00 heard of it: 'It is'",
        "10.00 understood: 'No, wait.'",
    ]  # fmt: skip


def test_what_is_said_to_its_end_is_told_once() -> None:
    assert lines(
        wire.ReplyStarted(reply_id="a"),
        wire.ReplyText(reply_id="a", delta="Done. "),
        Heard("a", 50, 0, False),
        wire.ReplyText(reply_id="a", delta="Goodbye."),
        wire.ReplyWords(reply_id="a", words=words("Done.", "Goodbye.")),
        wire.ReplyEnded(reply_id="a", samples=200, reason="completed"),
        Heard("a", 200, 0, True),
    ) == ["2.00 agent Done.", "5.00 agent Goodbye."]


def test_the_waterfall_names_every_stage_and_the_recording() -> None:
    told = "\n".join(text.waterfalls(Plan().story()))
    for label in ("end of speech", "final words", "turn end", "brain first token", "TTS first byte",
                  "first audible sent", "first heard"):  # fmt: skip
        assert told.count(label) == 5
    assert told.count("within 20 ms") == 5
    assert "NOT within" not in told
    assert "ready 100 ms before the turn's end" in told


def test_the_ledger_and_the_book_are_told_whole() -> None:
    story = Plan().story()
    told = "\n".join(text.ledger(story))
    assert told.count("turn.started") == 6
    assert "(no turn: a listener's word)" in told
    assert "write reschedule_delivery" in told
    rows = list(text.order_books(story.before, story.after))
    assert [row for row in rows if "<- changed" in row] == [row for row in rows if "4711" in row]
    assert f"was to say:  {OTHER}" in "\n".join(text.heard(story))
    assert HOURS in "\n".join(text.verdicts(checks(story)))
