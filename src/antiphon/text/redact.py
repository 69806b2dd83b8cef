"""Takes personal data out of text before it is written anywhere: by rules, on this machine, for any recogniser.

What is replaced, and by what: card numbers (``[card]``, by length and Luhn's check digit), e-mail addresses, also as
they are spoken (``[email]``), IBANs (``[iban]``), US social security numbers (``[ssn]``), telephone numbers
(``[phone]``), other numbers of seven digits and more, also as words (``[number]``), PINs and the like behind their name
(``[number]``), and names that someone introduces themselves by (``[name]``). In doubt it is replaced. What no rule can
see stays: addresses, names that nobody introduced, short numbers.

Long text is read piece by piece, cut where no rule could see both sides at once: a search holds the interpreter, and
with it every other thread, until it is done.
"""

import re
from collections.abc import Iterator

MARKS = ("[card]", "[email]", "[iban]", "[ssn]", "[phone]", "[number]", "[name]")
LONG_DIGITS = 7
_MAX_NAMES = 32
_PIECE_CHARS = 2_000

_DIGIT_WORDS = {
    "0": "zero oh o nought null zéro cero nul",
    "1": "one eins un une uno um uma een één",
    "2": "two zwei zwo deux dos due dois duas twee",
    "3": "three drei trois tres tre três drie",
    "4": "four vier quatre cuatro quattro quatro",
    "5": "five fünf cinq cinco cinque vijf",
    "6": "six sechs seis sei zes",
    "7": "seven sieben sept siete sette sete zeven",
    "8": "eight acht huit ocho otto oito",
    "9": "nine neun neuf nueve nove negen",
}
_DIGIT_OF = {word: digit for digit, words in _DIGIT_WORDS.items() for word in words.split()}
_OTHER_NUMBERS = """
    double triple ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
    twenty thirty forty fifty sixty seventy eighty ninety hundred
"""
_NUMBER_WORDS = (*_DIGIT_OF, *_OTHER_NUMBERS.split())
_WORD = "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True))

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_SPOKEN_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}(?:\s(?:dot|punkt|point|punto|ponto|underscore|dash|hyphen|minus|plus)\s[\w.+-]{1,64}){0,5}"
    r"\s(?:at|@|ät|arroba|arobase|chiocciola)\s"
    r"[\w-]{1,63}(?:\s(?:dot|punkt|point|punto|ponto)\s[\w-]{1,63}){1,3}\b",
    re.IGNORECASE,
)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?\b")
_DIGITS = re.compile(
    r"(?P<date>\b(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2}(?:\d{2})?)(?!\d|[./ -]\d{3}))"
    r"|(?P<run>(?:\+|(?<![\w-]))\(?\d(?:[ \u00a0().,/\u2010-\u2014-]{0,3}\d){5,})"
)
_SSN = re.compile(r"\d{3}([ -])\d{2}\1\d{4}")
_SPOKEN_DIGITS = re.compile(
    rf"\b(?:{_WORD}|\d{{1,4}})(?:[ ,.\u00a0-]{{1,3}}(?:{_WORD}|\d{{1,4}})){{5,}}\b", re.IGNORECASE
)
_SECRET = re.compile(
    rf"\b(pin|cvv|cvc|passcode|security code|password|passwort|kennwort|contraseña|mot de passe)"
    rf"((?:\s(?:number|code|is|ist|es|est|lautet)|:|=){{0,3}}\s*)"
    rf"(?:\d(?:[ -]?\d){{2,11}}|(?:{_WORD})(?:[ ,-]{{1,2}}(?:{_WORD})){{2,11}})\b",
    re.IGNORECASE,
)
_INTRODUCED = re.compile(
    r"\b(my (?:full |first |last )?name(?:'s|’s| is)|i am called|i'm called|(?:you can )?call me|the name(?:'s|’s| is)"
    r"|mein name ist|ich hei(?:ß|ss)e|je m['’]appelle|mon nom est|me llamo|mi nombre es|mi chiamo|il mio nome è"
    r"|(?:o )?meu nome é|chamo-me|me chamo|mijn naam is|ik heet)[\s:,]+"
    r"([^\W\d_][\w'’-]*(?:[ ][^\W\d_][\w'’.-]*){0,11})",
    re.IGNORECASE,
)
_SPEAKING = re.compile(
    r"\b(this is)\s([^\W\d_][\w'’-]*(?:\s[^\W\d_][\w'’-]*)?)(?=\s(?:speaking|calling|here)\b)",
    re.IGNORECASE,
)
_NO_NAMES = """
    a an and are as at but by calling can could did do for from has have he her here his how i i'm if in is it it's
    its me my not of on or our please she so speaking that the their there they this to under want was we what when
    where which who with would you your aber der die das ich ist und von wie y de del el la los que con et le les une
    e il lo o os en het ik van
"""
_NO_NAME = frozenset(_NO_NAMES.split())

_BETWEEN = re.compile(
    r"""["!?;{}<>]"""  # stands in nothing that a rule replaces
    r"|(?<=[^\W\d_]{2})\.(?=\s+(?!(?:dot|punkt|point|punto|ponto|underscore|dash|hyphen|minus|plus|at|ät|arroba|arobase"
    r"|chiocciola)\b)[^\W\d_])",
    re.IGNORECASE,
)
"""Where text may be cut: behind a mark, or behind the full stop of a sentence, unless an address is being spoken."""


class Redactor:
    """Replaces personal data. Remembers the names that were introduced, and replaces them from then on."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._known: re.Pattern[str] | None = None

    def __call__(self, text: str) -> str:
        """``text`` with marks in the places of personal data."""
        cleaned = [self._marked(piece) for piece in _pieces(text)]
        known = self._known  # also by what was said further on
        return "".join(cleaned if known is None else (known.sub("[name]", piece) for piece in cleaned))

    def _marked(self, text: str) -> str:
        text = _EMAIL.sub("[email]", text)
        text = _SPOKEN_EMAIL.sub("[email]", text)
        text = _IBAN.sub(_iban, text)
        text = _SECRET.sub(lambda found: f"{found[1]}{found[2]}[number]", text)
        text = _DIGITS.sub(_digits, text)
        text = _SPOKEN_DIGITS.sub(_spoken, text)
        text = _INTRODUCED.sub(self._introduce, text)
        return _SPEAKING.sub(self._introduce, text)

    def _introduce(self, found: re.Match[str]) -> str:
        words = found[2].split(" ")
        count = _name_length(words)
        if not count:
            return found[0]
        for word in words[:count]:
            plain = word.strip(".'’-").casefold()
            if len(plain) > 2 and plain not in _NO_NAME and len(self._names) < _MAX_NAMES:
                self._names[plain] = None
        if self._names:
            names = "|".join(map(re.escape, self._names))
            self._known = re.compile(rf"(?<![\w\[])(?:{names})(?![\w\]])", re.IGNORECASE)
        head = found[0][: found.start(2) - found.start()]
        tail = " ".join(words[count:])
        return head + "[name]" + (f" {tail}" if tail else "")


def redact(text: str) -> str:
    """``text`` with marks in the places of personal data, without any memory."""
    return Redactor()(text)


def _pieces(text: str) -> Iterator[str]:
    """``text`` in parts of about ``_PIECE_CHARS``, longer where there is no place to cut."""
    start = 0
    while len(text) - start > _PIECE_CHARS:
        places = _BETWEEN.finditer(text, start + _PIECE_CHARS)
        cut = next((place.end() for place in places if not _in_number(text, place.start())), len(text))
        yield text[start:cut]
        start = cut
    yield text[start:]


def _in_number(text: str, stop: int) -> bool:
    """Whether the mark at ``stop`` is a full stop behind a number that may go on."""
    last = re.split(r"[\W_]", text[max(0, stop - 20) : stop])[-1].casefold()
    return text[stop] == "." and last in _NUMBER_WORDS


def _name_length(words: list[str]) -> int:
    """How many of these words are the name. Where it has a capital, only capitals go on with it."""
    capital = words[0][:1].isupper()
    count = 0
    for index, word in enumerate(words):
        if word.casefold().strip(".,") in _NO_NAME and len(word) > 1:
            break
        letter = len(word.strip(".-")) == 1
        if not letter and (index >= 3 or (capital and not word[:1].isupper()) or (not capital and index >= 2)):
            break
        count += 1
        if word.endswith(".") and not letter:
            break
    return count


def _iban(found: re.Match[str]) -> str:
    return "[iban]" if sum(map(str.isdigit, found[0])) >= 8 else found[0]


def _digits(found: re.Match[str]) -> str:
    if found["run"] is None:
        return found[0]
    run = found[0]
    digits = [str(int(char)) for char in run if char.isdigit()]
    if len(digits) < LONG_DIGITS:
        return run
    if 13 <= len(digits) <= 19 and luhn("".join(digits)):
        return "[card]"
    if _SSN.fullmatch(run):
        return "[ssn]"
    spaced = any(not char.isdigit() for char in run)
    return "[phone]" if len(digits) <= 15 and (spaced or digits[0] == "0") else "[number]"


def _spoken(found: re.Match[str]) -> str:
    parts = [part.casefold() for part in re.split(r"[ ,.\u00a0-]+", found[0])]
    digits = "".join(part if part.isdigit() else _DIGIT_OF.get(part, "") for part in parts)
    return "[card]" if 13 <= len(digits) <= 19 and digits.isascii() and luhn(digits) else "[number]"


def luhn(digits: str) -> bool:
    """Whether the last of these decimal digits is the check digit of the others (ISO/IEC 7812-1, annex B)."""
    total = 0
    for index, char in enumerate(reversed(digits)):
        value = int(char) * (1 + index % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0
