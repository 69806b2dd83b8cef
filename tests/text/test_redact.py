import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.text import redact as rules
from antiphon.text.redact import LONG_DIGITS, Redactor, luhn, redact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my card is 4111 1111 1111 1111 thanks", "my card is [card] thanks"),
        ("5500-0000-0000-0004", "[card]"),
        ("378282246310005.", "[card]."),
        ("four one one one, one one one one, one one one one, one one one one", "[card]"),
        ("write to Anna.Meyer+shop@mail.example.com please", "write to [email] please"),
        ("it's anna dot meyer at example dot com", "it's [email]"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN [iban]"),
        ("GB29NWBK60161331926819 is mine", "[iban] is mine"),
        ("my social is 078-05-1120", "my social is [ssn]"),
        ("call +49 (0)30 901820 tomorrow", "call [phone] tomorrow"),
        ("call 555-867-5309", "call [phone]"),
        ("(212) 555 0187", "[phone]"),
        ("0171 2345678", "[phone]"),
        ("account 123456789012345678901", "account [number]"),
        ("it is five five five eight six seven five three oh nine", "it is [number]"),
        ("my PIN is 4711", "my PIN is [number]"),
        ("the pin is four seven one one", "the pin is [number]"),
        ("the CVV: 123", "the CVV: [number]"),
        ("٤١١١ ١١١١ ١١١١ ١١١١", "[card]"),
    ],
)
def test_numbers_and_addresses_are_replaced(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My name is Anna Meyer and I want to order", "My name is [name] and I want to order"),
        ("hello my name is anna meyer from the shop", "hello my name is [name] from the shop"),
        ("My name is Jean-Luc O'Neil. Where is it", "My name is [name] Where is it"),
        ("my name is S M I T H", "my name is [name]"),
        ("This is Bob Stone speaking", "This is [name] speaking"),
        ("Ich heiße Jürgen und brauche Hilfe", "Ich heiße [name] und brauche Hilfe"),
        ("je m'appelle Chloé et toi", "je m'appelle [name] et toi"),
        ("me llamo José", "me llamo [name]"),
    ],
)
def test_introduced_names_are_replaced(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "my order is 4711 and the invoice 20931",
        "on 2026-12-24 at 14:30, or 24.12.2026, or 12/24/2026",
        "two or three, maybe four of them",
        "one two three",
        "the pin fell on the floor",
        "this is what I want",
        "my name is on the list",
        "it costs 1,299.00 euros",
        "look at this",
        "version 1.32.0",
        "",
    ],
)
def test_what_is_no_personal_data_stays(text: str) -> None:
    assert redact(text) == text


def test_a_name_is_remembered_from_where_it_was_introduced() -> None:
    one = Redactor()
    assert one("Anna is not known yet") == "Anna is not known yet"
    assert one("my name is Anna Meyer") == "my name is [name]"
    assert one("Thank you, Anna. Is MEYER right? Annabel is another.") == (
        "Thank you, [name]. Is [name] right? Annabel is another."
    )
    assert redact("Anna") == "Anna"


def test_redacting_twice_changes_nothing_more() -> None:
    one = Redactor()
    text = "my name is Anna, a@b.example, 4111111111111111, +1 212 555 0187, pin 4711"
    once = one(text)
    assert one(once) == once


def test_a_wrong_check_digit_is_still_a_long_number() -> None:
    assert redact("4111111111111112") == "[number]"
    assert redact("9" * LONG_DIGITS) == "[number]"
    assert redact("9" * (LONG_DIGITS - 1)) == "9" * (LONG_DIGITS - 1)


@pytest.mark.parametrize("digits", ["79927398713", "4111111111111111", "0"])
def test_luhn(digits: str) -> None:
    assert luhn(digits)
    assert not luhn(digits[:-1] + str((int(digits[-1]) + 1) % 10))


@pytest.mark.parametrize(
    "text",
    ["1 " * 20_000, "a." * 20_000, "a dot " * 10_000, "one " * 10_000, "my name is " * 5_000, "DE89 " * 10_000,
     "+(" * 20_000, "pin is " * 10_000, "x@" * 20_000],
)  # fmt: skip
def test_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    assert len(redact(text)) <= len(text) + 64


def test_only_so_many_names_are_remembered() -> None:
    one = Redactor()
    for index in range(200):
        one(f"my name is N{chr(97 + index % 26)}{chr(97 + index // 26)}x")
    assert len(one._names) <= 32


SAID = (
    "my card is 4111 1111 1111 1111.", "four one one one. one one one one. one one one one. one one one one.",
    "write to Anna.Meyer+shop@mail.example.com please.", "it's anna dot meyer at example dot com!",
    "it was anna. dot meyer at example dot com", "IBAN DE89 3704 0044 0532 0130 00?", "call +49 (0)30 901820.",
    "the pin is four seven one one;", "My name is Jean-Luc O'Neil.", "This is Bob Stone speaking.", "Where is Bob.",
    '{"phone": "555-867-5309", "to":"a@b.example"}', "There is nothing in this one.",
    "On Monday. At noon. Two or three.", "my name is J. R. Smith. Who are you",
)  # fmt: skip


@given(st.lists(st.sampled_from(SAID), min_size=1, max_size=12), st.integers(1, 90))
def test_long_text_is_cut_only_where_no_rule_sees_both_sides(said: list[str], size: int) -> None:
    # twelve words keep introductions apart: one name is looked for in so many
    text = " And so on and so forth until it is enough of it. ".join(said)
    whole = redact(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "_PIECE_CHARS", size)
        assert redact(text) == whole
        assert "".join(rules._pieces(text)) == text


@pytest.mark.parametrize("text", ["It is so and so. " * 3_000, '["a b","c d"],' * 3_000])
def test_no_search_is_through_more_than_a_few_thousand_characters(text: str) -> None:
    pieces = list(rules._pieces(text))
    assert max(map(len, pieces)) < 3_000
    assert "".join(pieces) == text


def test_a_name_that_is_given_late_in_a_long_text_is_replaced_from_its_beginning() -> None:
    text = "Anna has a question. " * 300 + "My name is Anna."
    assert "Anna" not in redact(text)
