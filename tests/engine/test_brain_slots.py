"""Numbers, days, times, addresses and names as people say them."""

from datetime import date

import pytest

from antiphon.engine.brain_book import Slot
from antiphon.engine.brain_slots import read_email, read_slots
from antiphon.engine.brain_words import likeness, stem_of, tokens_of

TODAY = date(2026, 11, 30)  # a Monday


def read(text: str, kind: str, awaited: bool = False, **more: object) -> str:
    slot = Slot(name="x", type=kind, ask="?", **more)  # type: ignore[arg-type]
    return read_slots(text, [slot], TODAY, "x" if awaited else "").get("x", "")


@pytest.mark.parametrize(
    "text",
    [
        "4711", "number 4711.", "4 7 1 1", "47 11", "four seven one one", "Four, seven, one, one.",
        "forty-seven eleven", "four seven eleven", "four seven double one", "four thousand seven hundred eleven",
        "4,711", "4-7-1-1", "four thousand seven hundred and eleven", "order 4711 on the 5th at 3 pm",
        "on december fifth, 4711",
        "4712, no, 4711", "four seven one won", "for seven one one", "it's 4711 for two people",
    ],
)  # fmt: skip
def test_order_numbers(text: str) -> None:
    assert read(text, "id", digits=(4,)) == "4711"


@pytest.mark.parametrize(
    "text", ["", "no idea", "471", "47111", "move 711 to friday", "711 for you", "at 15:30", "one of them"]
)
def test_no_order_number(text: str) -> None:
    assert read(text, "id", digits=(4,)) == ""


@pytest.mark.parametrize(
    ("text", "value"), [("two hundred and five", "205"), ("twenty three", "23"), ("a table for six", "6"), ("90", "90")]
)
def test_plain_numbers(text: str, value: str) -> None:
    assert read(text, "number") == value


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("today", "2026-11-30"),
        ("tomorrow morning", "2026-12-01"),
        ("the day after tomorrow", "2026-12-02"),
        ("on Thursday", "2026-12-03"),
        ("this Thursday", "2026-12-03"),
        ("next Thursday", "2026-12-10"),
        ("Monday", "2026-12-07"),
        ("thursday week", "2026-12-10"),
        ("in three days", "2026-12-03"),
        ("in a week", "2026-12-07"),
        ("in 2 weeks", "2026-12-14"),
        ("the fifth", "2026-12-05"),
        ("on the 5th", "2026-12-05"),
        ("the thirty-first", "2026-12-31"),
        ("December 5", "2026-12-05"),
        ("december twenty-first", "2026-12-21"),
        ("the 3rd of January", "2027-01-03"),
        ("29 february", "2028-02-29"),
        ("2026-12-24", "2026-12-24"),
        ("Friday the fourth", "2026-12-04"),
        ("at the weekend", "2026-12-05"),
        ("Friday, no, Thursday", "2026-12-03"),
        ("Friday, I mean Thursday", "2026-12-03"),
        ("Friday ... actually Thursday", "2026-12-03"),
        ("from Friday to Thursday", "2026-12-03"),
        ("to Thursday instead of Friday", "2026-12-03"),
        ("not Friday but Thursday", "2026-12-03"),
        ("Thursday, not Friday", "2026-12-03"),
        ("Friday is bad, Thursday is good", "2026-12-03"),
        ("I'm away on Friday, so Thursday", "2026-12-03"),
        ("sometime", ""),
        ("the 32nd", ""),
        ("next week", ""),
        ("february 30", ""),
        ("it may be late", ""),
    ],
)
def test_days(text: str, day: str) -> None:
    assert read(text, "date") == day


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("at 3 pm", "15:00"), ("three o'clock", "15:00"), ("10 a.m.", "10:00"), ("half past nine", "09:30"),
        ("a quarter to ten", "09:45"), ("15:30", "15:30"), ("8:15 pm", "20:15"), ("at noon", "12:00"),
        ("at five", "17:00"),
        ("12 am", "00:00"), ("at nine, no, at ten", "10:00"), ("number 3", ""), ("25:00", ""), ("at 4 7 1 1", ""),
    ],
)  # fmt: skip
def test_times(text: str, time: str) -> None:
    assert read(text, "time") == time


@pytest.mark.parametrize(
    ("text", "part"), [("Friday morning", "morning"), ("good morning, Friday evening", "evening"), ("good morning", "")]
)
def test_parts_of_the_day(text: str, part: str) -> None:
    assert read(text, "part") == part


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("it's Ana.Lee@Example.org.", "ana.lee@example.org"),
        ("my mail is ana at example dot org", "ana@example.org"),
        ("ana dot lee at mail dot example dot org please", "ana.lee@mail.example.org"),
        ("ana underscore lee at example dot co", "ana_lee@example.co"),
        ("meet me at the shop", ""),
        ("at dot", ""),
    ],
)
def test_email_addresses(text: str, address: str) -> None:
    assert read_email(text) == address


@pytest.mark.parametrize(
    ("text", "awaited", "name"),
    [
        ("my name is Ana Lee", False, "Ana Lee"),
        ("this is ana lee speaking", True, "Ana Lee"),
        ("Zoë O'Neill-Marsh", True, "Zoë O'Neill-Marsh"),
        ("Zoë O'Neill", False, ""),
        ("yes please", True, ""),
    ],
)
def test_names(text: str, awaited: bool, name: str) -> None:
    assert read(text, "name", awaited) == name


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("the large one", "big"),
        ("larg please", "big"),
        ("small, no, big", "big"),
        ("extra small", "tiny"),
        ("green", ""),
    ],
)
def test_choices(text: str, choice: str) -> None:
    options = {"big": ["large"], "small": ["little"], "tiny": ["extra small"]}
    assert read(text, "choice", options=options) == choice


def test_forms_of_a_word_meet_and_slips_look_alike() -> None:
    assert len({stem_of(word) for word in ("move", "moves", "moved", "moving")}) == 1
    assert len({stem_of(word) for word in ("cancel", "cancels", "cancelled", "cancelling", "cancellation")}) == 1
    assert likeness("cancel", "cancle") > 0.6 > likeness("cancel", "castle")


def test_a_word_that_nobody_says_costs_nothing_and_means_nothing() -> None:
    endless = "a" * 50_000
    assert likeness("cancel", endless) == 0.0
    assert tokens_of(endless)[-1].text == "a" * 4_000
    assert [token.text for token in tokens_of("a." * 25_000 + " write to anna@example.org")][-1] == "anna@example.org"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [("reschedule", "reschedul", 0.85), ("move", "moving", 0.4), ("order", "ordres", 0.5), ("track", "trekk", 0.4)],
)
def test_likeness_is_the_better_of_letters_in_threes_and_of_slips(one: str, other: str, alike: float) -> None:
    assert likeness(one, other) == likeness(other, one)
    assert likeness(one, other) >= alike
