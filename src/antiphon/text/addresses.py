"""How mail addresses, links, host names and file names are said in English: "ana at firma dot example dot dev"."""

import re

from antiphon.text.spelling import SYMBOLS, letters, short_number

_LABEL = r"[^\W_](?:[\w-]{0,62}[^\W_])?"
MAIL = re.compile(rf"(?<![\w.+-])(?:mailto:)?([\w][\w.+-]*)@({_LABEL}(?:\.{_LABEL})+)")
LINK = re.compile(r"(?<![\w@])(?:(?:https?|ftp|wss?)://|www\.)[^\s<>\"“”]+", re.IGNORECASE)
HOST = re.compile(
    rf"(?<![\w@.])(?:{_LABEL}\.)+([a-z][a-z0-9]{{1,12}})(?::\d{{2,5}})?(?:/[^\s<>\"“”]*)?(?![\w@])(?!\.\w)"
)
PATH = re.compile(r"(?<![\w/.])(?:~|\.{1,2})?/[A-Za-z][\w.+-]*(?:/[\w.+-]+)+/?")
HANDLE = re.compile(r"(?<![\w@/.])@(?=[A-Za-z_])(\w+)")

_SPOKEN_LABELS = {
    "com", "org", "net", "gov", "info", "dev", "app", "me", "co", "shop", "doc", "zip", "gif", "bin", "bat", "log",
    "tar", "mil", "biz", "to", "so", "in", "is", "it", "be", "my", "go", "do", "we", "up", "at", "on", "no", "or",
    "an", "as", "mr",
}  # fmt: skip
_SAID = {
    "jpeg": "jay peg", "json": "jason", "docx": "doc X", "pptx": "P P T X", "xlsx": "X L S X", "mpeg": "em peg",
    "yaml": "yammel", "gmail": "G mail", "github": "git hub", "gitlab": "git lab", "youtube": "you tube",
    "linkedin": "linked in", "wikipedia": "wikipedia", "py": "pie", "html": "H T M L", "sql": "S Q L",
}  # fmt: skip
_SPELLED_LAST = {
    "io", "ai", "uk", "de", "us", "eu", "tv", "fm", "ly", "fr", "es", "ch", "at", "be", "it", "nl", "is", "in", "no",
    "my", "pdf", "csv", "txt", "exe", "edu", "xls", "ppt", "iso", "svg", "ico", "avi", "ini", "apk", "asp", "ui", "api",
}  # fmt: skip
_VOWEL = re.compile(r"[aeiouyà-öø-ü]", re.IGNORECASE)
_COMMON_LAST = {"com", "co", "org", "net", "io", "me", "de", "ly"}


def say_mail(match: re.Match[str]) -> str:
    return f" {_say(match.group(1))} at {_say(match.group(2), host=True)} "


def say_link(match: re.Match[str]) -> str:
    link, tail = _without_tail(match.group())
    link = re.sub(r"^\w+://", "", link)
    host, slash, path = link.partition("/")
    return f" {_say(host, host=True)} {_say(slash + path) if path else ''}{tail} "


def say_host(match: re.Match[str]) -> str:
    whole, tail = _without_tail(match.group())
    host, slash, path = whole.partition("/")
    labels = host.partition(":")[0].split(".")
    single = any(len(label) == 1 for label in labels)
    if (single and labels[-1] not in _COMMON_LAST) or all(label.isdigit() for label in labels[:-1]):
        return match.group()  # "e.g", "p.m", "3.5mm"
    return f" {_say(host, host=True)} {_say(slash + path) if path else ''}{tail} "


def say_path(match: re.Match[str]) -> str:
    path, tail = _without_tail(match.group())
    return f" {_say(path)}{tail} "


def _without_tail(text: str) -> tuple[str, str]:
    """Split off the punctuation of the sentence around an address."""
    bare = text.rstrip(".,;:!?'”’")
    while bare.endswith((")", "]")) and bare.count("(") < bare.count(")") + bare.count("]"):
        bare = bare[:-1].rstrip(".,;:!?")
    return bare, text[len(bare) :]


def _say(text: str, host: bool = False) -> str:
    tokens = re.findall(r"[^\W\d_]+|\d+|\S", text)
    said = []
    for i, token in enumerate(tokens):
        if token.isdigit():
            said.append(short_number(token) if token.isascii() else token)
        elif token.isalpha():
            said.append(_say_label(token, last=host and i > 0 and i == len(tokens) - 1))
        else:
            said.append(SYMBOLS.get(token, token))
    return " ".join(said)


def _say_label(label: str, last: bool) -> str:
    lower = label.lower()
    if lower in _SAID:
        return _SAID[lower]
    if last and lower in _SPELLED_LAST:
        return letters(label)
    if lower in _SPOKEN_LABELS:
        return lower
    if not label.isascii():
        return label
    if _VOWEL.search(label) is None or len(label) <= 2 or (label.isupper() and len(label) <= 4):
        return letters(label)
    return label
