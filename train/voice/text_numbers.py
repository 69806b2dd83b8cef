"""Spoken numbers in all their shapes, as people and programs write them."""

# ruff: noqa: SIM905  # lists of words are easier to read as text

import random

MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third "
    "twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
).split()
UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHABET = (
    "Alpha Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliet Kilo Lima Mike November Oscar Papa Quebec Romeo "
    "Sierra Tango Uniform Victor Whiskey X-ray Yankee Zulu"
).split()


def in_words(number: int) -> str:
    """0 to 999,999 as it is said."""
    if number < 20:
        return UNITS[number]
    if number < 100:
        rest = number % 10
        return TENS[number // 10 - 2] + (f"-{UNITS[rest]}" if rest else "")
    if number < 1000:
        rest = number % 100
        return f"{UNITS[number // 100]} hundred" + (f" and {in_words(rest)}" if rest else "")
    rest = number % 1000
    return f"{in_words(number // 1000)} thousand" + (f" {in_words(rest)}" if rest else "")


def magnitude(rng: random.Random) -> int:
    """A whole number; all orders of magnitude below a million are equally likely."""
    return int(10 ** rng.uniform(0, 6))


def number(rng: random.Random) -> str:
    value = magnitude(rng)
    shape = rng.random()
    if shape < 0.35:
        return in_words(value)
    if shape < 0.45:
        return f"{value % 1000}.{rng.randrange(1, 100)}"
    return f"{value:,}" if shape < 0.75 else str(value % 10_000)


def small(rng: random.Random) -> str:
    value = rng.randint(2, 99)
    return str(value) if rng.random() < 0.4 else in_words(value)


def count(rng: random.Random) -> str:
    return in_words(rng.randint(2, 20))


def money(rng: random.Random) -> str:
    value = magnitude(rng) % 30_000 + 1
    cents = rng.choice((0, 5, 10, 20, 25, 40, 50, 75, 80, 95, 99, rng.randrange(100)))
    shape = rng.random()
    if shape < 0.4:
        return f"${value:,}" + (f".{cents:02d}" if cents else "")
    if shape < 0.75:
        return f"{in_words(value)} {'dollar' if value == 1 else 'dollars'}" + (
            f" and {in_words(cents)} cents" if cents > 1 else ""
        )
    if shape < 0.88:
        return f"{in_words(value)} {rng.choice(('euros', 'pounds'))}"
    return f"{rng.choice('€£')}{value:,}"


def date(rng: random.Random) -> str:
    day, month, year = rng.randint(1, 31), rng.choice(MONTHS), rng.randint(1920, 2035)
    day = min(day, 28) if month == "February" else day
    return rng.choice(
        (
            f"{month} {day}",
            f"{month} {ORDINALS[day - 1]}",
            f"the {ORDINALS[day - 1]} of {month}",
            f"{rng.choice(DAYS)}, {month} {ORDINALS[day - 1]}",
            f"{month} {day}, {year}",
            f"the {ORDINALS[day - 1]} of {month}, {year}",
        )
    )


def year(rng: random.Random) -> str:
    return str(rng.randint(1700, 2040))


def clock(rng: random.Random) -> str:
    hour, minute = rng.randint(1, 12), rng.choice((0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, rng.randrange(60)))
    shape = rng.random()
    if shape < 0.3:
        return f"{hour}:{minute:02d} {rng.choice(('AM', 'PM'))}"
    if shape < 0.45:
        return f"{hour}:{minute:02d}"
    if shape < 0.55:
        return f"{rng.choice(('half', 'quarter', 'ten', 'twenty'))} past {in_words(hour)}"
    if shape < 0.62:
        return f"{rng.choice(('a quarter', 'five', 'ten', 'twenty'))} to {in_words(hour)}"
    if minute == 0:
        return rng.choice(
            (f"{in_words(hour)} o'clock", f"{in_words(hour)} in the {rng.choice(('morning', 'evening'))}")
        )
    said = f"oh {in_words(minute)}" if minute < 10 else in_words(minute)
    return f"{in_words(hour)} {said}"


def digits(rng: random.Random, least: int = 3, most: int = 10) -> str:
    return " ".join(UNITS[rng.randrange(10)] for _ in range(rng.randint(least, most)))


def phone(rng: random.Random) -> str:
    run = "".join(str(rng.randrange(10)) for _ in range(10))
    area, mid, end = run[:3], run[3:6], run[6:]
    shape = rng.random()
    if shape < 0.25:
        return f"{area}-{mid}-{end}"
    said = [" ".join(UNITS[int(digit)] for digit in part) for part in (area, mid, end)]
    if shape < 0.85:
        return ", ".join(said)
    return f"plus {in_words(rng.randint(1, 98))}, {said[0]}, {said[1]} {said[2]}"


def letters(rng: random.Random, least: int = 2, most: int = 7) -> str:
    chosen = [rng.choice(LETTERS) for _ in range(rng.randint(least, most))]
    return rng.choice((" ", ", ", ". ")).join(chosen)


def spelled(word: str, rng: random.Random) -> str:
    return rng.choice((", ", " ", "-")).join(word.upper())


def code(rng: random.Random) -> str:
    count = rng.randint(2, 3)
    parts = [rng.choice((letters(rng, 1, 3), digits(rng, 1, 4), str(rng.randint(10, 99)))) for _ in range(count)]
    return rng.choice((" ", ", ")).join(parts)


def as_in(rng: random.Random) -> str:
    at = [rng.randrange(26) for _ in range(rng.randint(2, 4))]
    return ", ".join(f"{LETTERS[i]} as in {ALPHABET[i]}" for i in at)


def percent(rng: random.Random) -> str:
    whole = rng.randint(1, 100)
    value = rng.choice((str(whole), f"{rng.randint(0, 30)}.{rng.randint(1, 9)}", in_words(whole)))
    return f"{value}%" if value[0].isdigit() and rng.random() < 0.5 else f"{value} percent"


def measure(rng: random.Random) -> str:
    unit = rng.choice(
        "miles kilometers meters feet inches pounds kilograms grams liters gallons degrees minutes hours seconds weeks "
        "megabytes gigabytes volts watts acres ounces milligrams years days months".split()
    )
    return f"{rng.choice((small(rng), number(rng)))} {unit}"


def ordinal(rng: random.Random) -> str:
    return rng.choice(ORDINALS)


def fraction(rng: random.Random) -> str:
    return rng.choice(("half", "a third", "two thirds", "a quarter", "three quarters", "one fifth", "one tenth"))
