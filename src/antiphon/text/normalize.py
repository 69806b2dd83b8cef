"""Readings of written forms in English, ahead of a voice's own reading of plain numbers, dates, times and dollars.

Covers what those readers lack or get wrong: addresses, versions, codes, telephone and card numbers, compound units,
ranges, signs, other currencies. Other languages: :mod:`antiphon.text.verbalize`.
"""

import re

from antiphon.text import units
from antiphon.text.addresses import HANDLE, HOST, LINK, MAIL, PATH, say_host, say_link, say_mail, say_path
from antiphon.text.languages import base_language
from antiphon.text.spelling import cardinal, digits, letters, short_number, spell, tidy
from antiphon.text.verbalize import verbalize

__all__ = ["normalize", "spell"]

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF10, 0xFF1A)} | {0xFF0E: 0x2E, 0xFF0C: 0x2C}
_FULL_WIDTH_NUMBER = re.compile(r"[０-９][０-９．，]*")

_DIGIT = re.compile(r"[0-9]")
_FACE = re.compile(r"[:;=8xX(<^]")
_MARKS = re.compile(r"[/#+&.]")
_INNER_DOT = re.compile(r"\w\.\w")
_SMILEY = re.compile(
    r"(?<!\S)(?:[:;=]['’]?-?[)(\]DPpoO/|*]|[:;]-?[)(]+|[8xX]-[)(D]|\(-?[:;]|<\\?/3|\^_\^|xD|XD)(?=[\s.,!?]|$)"
)
"""No face may take a digit or a name with it: "83", "x3", "8)" and "XP" are none."""
_HEART = re.compile(r"(?<=[A-Za-z]{2}[ !.,])\s?<3(?=\s*(?:[.!?]|$))")
_SPECIAL_NAMES = (
    (re.compile(r"\b(?:24\s?/\s?7)\b"), "twenty four seven"),
    (re.compile(r"(?<!\w)([CFGA])#(?!\w)"), r"\1 sharp"),
    (re.compile(r"(?<!\w)C\+\+(?!\w)"), "C plus plus"),
    (re.compile(r"(?<!\w)\.(NET|net)\b"), " dot net"),
    (re.compile(r"(?<!\w)w/o(?!\w)"), "without"),
    (re.compile(r"(?<!\w)w/\s?(?=\w)"), "with "),
    (re.compile(r"(?<!\w)b/c(?!\w)"), "because"),
    (re.compile(r"(?<!\w)n/a(?!\w)", re.IGNORECASE), "not applicable"),
    (re.compile(r"\band/or\b"), "and or"),
    (re.compile(r"\s?&\s?(?=\w)"), " and "),
)
_VERSION = re.compile(
    r"(?<![\w.])(v(?:er(?:sion)?)?\.?\s?)?(\d{1,5}(?:\.\d{1,5}){2,})(-?[a-z]+\d*)?(?![\w])(?!\.\d)", re.IGNORECASE
)
_SHORT_VERSION = re.compile(r"(?<![\w.])v\.?\s?(\d{1,4})(?:\.(\d{1,4}))?(?![\w])(?!\.\d)")
_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IP = re.compile(rf"(?<![\w.])({_OCTET}(?:\.{_OCTET}){{3}})(?:(/\d{{1,2}})|:(\d{{2,5}}))?(?![\w])(?!\.\d)")
_CARD = re.compile(r"(?<![\w.-])\d{4}(?:[ -]\d{4}){2,}(?:[ -]\d{1,4})?(?![\w-])")
_PHONE_PLUS = re.compile(r"(?<![\w+])\+(\d{1,3})((?:[\s().-]{0,2}\d{1,5}){2,7})(?![\w])")
_PHONE_US = re.compile(r"(?<![\w+])(?:1[ .-])?\((\d{3})\)\s?(\d{3})[ .-](\d{4})(?!\d)")
_PHONE_DOTS = re.compile(r"(?<![\w.])(\d{3})[. ](\d{3})[. ](\d{4})(?![\d])(?!\.\d)")
_PHONE_TOLL = re.compile(r"(?<![\w-])1-(\d{3})-(\d{3})-(\d{4})(?![\w-])")
_LABELLED = re.compile(
    r"\b((?:(?:order|case|card|account|ticket|booking|invoice|reference|ref|confirmation|tracking|serial|member|phone)\s"
    r"(?:number|no\.?|id|code)|order|ticket|invoice|reference|code|pin|otp|passcode|postcode|zip|extension|ext\.?|id)"
    r"(?:\s(?:is|was|ending in|ends in)|:)?\s)#?(\d{4,})(?![\w.,/:%-]*\d)"
    r"(?!\s(?:units|items|pieces|copies|dollars|people))",
    re.IGNORECASE,
)
_DASHED = re.compile(r"(?<![\w.$£€-])(?!\d{4}-\d{2}-\d{2}\b|\d{2}-\d{2}-\d{4}\b)\d+(?:-\d+){2,}(?![\w-])(?!\.\d)")
_TWINS = re.compile(r"(?<![\w.,/-])(\d{1,3})-\1(?![\w/-])(?![.,]\d)")
_LONG_DIGITS = re.compile(r"(?<![\w.,])#?(\d{7,})(?![\w])(?![,.]\d)")
_HUGE = re.compile(r"\d[\d,.]{17,}\d")
_LONG_DECIMAL = re.compile(r"(?<![\w.])(\d{7,})\.(\d+)(?![\w.])")
_ROUND = re.compile(r"[1-9]\d{0,2}0{6,12}")
_LEADING_ZERO = re.compile(r"(?<![\w.,:/$£€-])0\d+(?![\w:/-])(?![.,]\d)")
_NEGATIVE = re.compile(r"(?<![\w)\]%.-])[-−](?=[$£€]?\d)")
_TRUE_MINUS = re.compile(r"\s?−\s?(?=\d)")
_AMOUNT = r"[$£€]?\d+(?:,\d{3})*(?:\.\d+)?(?::\d{2})?"
_RANGE = re.compile(
    rf"(?<![\w.,/-])(?!\d{{3}}-\d{{4}}\b)({_AMOUNT}\s?(?:%|°[CF]?|[ap]\.?m\.?|[kKMB])?)\s?[-–]\s?({_AMOUNT})"
    r"(?=%|\s?[ap]\.?m|[\s.,;:!?)kKMB]|°|$)(?!-\d)(?![.,]\d)",
    re.IGNORECASE,
)
_SUM = re.compile(r"(?<=\d)(?:\s?[*×]\s?|x|\sx\s)(?=\d)")
_EQUATION_MINUS = re.compile(r"(?<=\d)\s[-–−]\s(?=\d+(?:\.\d+)?\s*=)")
_RATIO = re.compile(r"(?<![\w:.])(\d{1,3}):(\d)(?![\d:])(?!\s?[ap]\.?m)", re.IGNORECASE)
_CODE = re.compile(r"(?<![\w.$£€-])(?=[A-Za-z0-9-]*\d)(?=[A-Za-z0-9-]*[A-Za-z])[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?![\w])")
_NOT_CODE = re.compile(
    r"\d+(?:st|nd|rd|th|s|k|K|m|M|b|B|bn|x|am|pm|AM|PM|ish|fold)(?:-[A-Za-z]+)*|[A-Z]?[a-z]+-?[a-z]*-\d+"
    r"|\d+-[A-Za-z]{3,}(?:-[A-Za-z]+)*"
    r"|(?:mid|pre|post|early|late)-\d+s?",
)


def normalize(text: str, language: str = "en") -> str:
    """``text`` with written forms turned into words. Linear, never fails, never empty for text that has words."""
    text = _FULL_WIDTH_NUMBER.sub(lambda m: m.group().translate(_FULL_WIDTH), text)
    if base_language(language) != "en":
        return verbalize(text, language)
    text = text.replace("\u2019", "'").replace("\u00a0", " ").replace("\u202f", " ")
    has_digit = _DIGIT.search(text) is not None
    if _FACE.search(text):
        text = _SMILEY.sub("", text)
        text = _HEART.sub(" heart", text)
    if "@" in text:
        text = MAIL.sub(say_mail, text)
    text = LINK.sub(say_link, text)
    if _MARKS.search(text):
        for pattern, words in _SPECIAL_NAMES:
            text = pattern.sub(words, text)
    if has_digit:
        text = _dotted_numbers(text)
    if _INNER_DOT.search(text):
        text = HOST.sub(say_host, text)
    if "/" in text:
        text = PATH.sub(say_path, text)
    if "@" in text:
        text = HANDLE.sub(r"at \1", text)
    if has_digit:
        text = _numbers(text)
        text = units.currencies(text)
        text = units.measures(text)
        text = _CODE.sub(_say_code, text)
    return tidy(text)


def _dotted_numbers(text: str) -> str:
    text = _CARD.sub(lambda m: digits(re.sub(r"\D", "", m.group())), text)
    for pattern in (_PHONE_US, _PHONE_DOTS, _PHONE_TOLL):
        text = pattern.sub(_say_local_phone, text)
    text = _IP.sub(_say_ip, text)
    text = _VERSION.sub(_say_version, text)
    return _SHORT_VERSION.sub(_say_short_version, text)


def _numbers(text: str) -> str:
    text = _PHONE_PLUS.sub(_say_phone, text)
    text = _LABELLED.sub(lambda m: m.group(1) + digits(m.group(2)), text)
    text = _HUGE.sub(_say_huge, text)
    text = _DASHED.sub(_say_dashed, text)
    text = _TWINS.sub(r"\1 \1", text)
    text = _LONG_DECIMAL.sub(_say_long_decimal, text)
    text = _LONG_DIGITS.sub(lambda m: m.group() if _ROUND.fullmatch(m.group(1)) else digits(m.group(1)), text)
    text = _LEADING_ZERO.sub(lambda m: digits(m.group()), text)
    text = _EQUATION_MINUS.sub(" minus ", text)
    text = _RANGE.sub(r"\1 to \2", text)
    text = _NEGATIVE.sub("minus ", text)
    text = _TRUE_MINUS.sub(" minus ", text)
    text = _SUM.sub(lambda m: " by " if "x" in m.group() else " times ", text)
    return _RATIO.sub(r"\1 to \2", text)


def _say_ip(match: re.Match[str]) -> str:
    said = " dot ".join(cardinal(int(part)) for part in match.group(1).split("."))
    if match.group(2):
        said += " slash " + cardinal(int(match.group(2)[1:]))
    return said + (" colon " + digits(match.group(3)) if match.group(3) else "")


def _say_version(match: re.Match[str]) -> str:
    said = " point ".join(cardinal(int(part)) for part in match.group(2).split("."))
    tail = match.group(3) or ""
    words = " ".join(short_number(part) if part.isdigit() else part for part in re.findall(r"[A-Za-z]+|\d+", tail))
    return ("version " if match.group(1) else "") + said + (f" {words}" if words else "")


def _say_short_version(match: re.Match[str]) -> str:
    minor = match.group(2)
    return f"version {cardinal(int(match.group(1)))}" + (f" point {cardinal(int(minor))}" if minor else "")


def _say_phone(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+", match.group(2))
    said = [digits(group) if len(group) > 4 else " ".join(digits(d) for d in group) for group in groups]
    return "plus " + ", ".join([" ".join(digits(d) for d in match.group(1)), *said])


def _say_local_phone(match: re.Match[str]) -> str:
    return ", ".join(" ".join(digits(d) for d in group) for group in match.groups())


def _say_dashed(match: re.Match[str]) -> str:
    parts = match.group().split("-")
    said = [" ".join(digits(d) for d in part) for part in parts]
    return (" " if all(len(part) == 1 for part in parts) else ", ").join(said)


def _say_huge(match: re.Match[str]) -> str:
    """A number of more digits than have names, with separators or without."""
    number = match.group()
    whole, _, fraction = number.partition(".")
    if number.count(".") == 1 and len(whole) <= 15 and "," not in fraction:
        return number
    if sum(c.isdigit() for c in number) <= 15:
        return number
    if number.count(".") == 1:
        return f"{digits(re.sub(',', '', whole))} point {digits(re.sub(',', '', fraction))}"
    return digits(re.sub(r"\D", "", number))


def _say_long_decimal(match: re.Match[str]) -> str:
    whole, fraction = match.groups()
    if len(whole) <= 15 and len(fraction) <= 15:
        return match.group()
    return f"{digits(whole)} point {digits(fraction)}"


def _say_code(match: re.Match[str]) -> str:
    """"AB12CD", "GPT-4", "mp3": letters and digits apart; a long or mixed one digit by digit."""
    code = match.group()
    if _NOT_CODE.fullmatch(code):
        return code
    runs = re.findall(r"[A-Za-z]+|\d+|-", code)
    solid = [run for run in runs if run != "-"]
    mixed = len(solid) > 2
    said = []
    for run in solid:
        if run.isdigit():
            said.append(digits(run) if mixed else short_number(run))
        elif run.isupper() or (len(run) <= 3 and not re.search(r"[aeiouy]", run.lower())) or (mixed and len(run) <= 2):
            said.append(letters(run) if mixed or len(run) <= 3 else run)
        else:
            said.append(run)
    return " ".join(said)
