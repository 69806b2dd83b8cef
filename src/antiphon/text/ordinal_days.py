"""The day of a date as an ordinal in words, where writing uses figures and speech does not: "3. Oktober".

Case endings are those of a date: genitive in Slavic languages ("третьего октября"), nominative in Finnish and
Danish; in German by the word before ("am dritten", "der dritte").
"""

import re

_SLAVIC_UNITS = {
    "cs": (
        "prvního druhého třetího čtvrtého pátého šestého sedmého osmého devátého desátého jedenáctého dvanáctého "
        "třináctého čtrnáctého patnáctého šestnáctého sedmnáctého osmnáctého devatenáctého",
        "dvacátého", "třicátého",
    ),
    "sk": (
        "prvého druhého tretieho štvrtého piateho šiesteho siedmeho ôsmeho deviateho desiateho jedenásteho dvanásteho "
        "trinásteho štrnásteho pätnásteho šestnásteho sedemnásteho osemnásteho devätnásteho",
        "dvadsiateho", "tridsiateho",
    ),
    "pl": (
        "pierwszego drugiego trzeciego czwartego piątego szóstego siódmego ósmego dziewiątego dziesiątego jedenastego "
        "dwunastego trzynastego czternastego piętnastego szesnastego siedemnastego osiemnastego dziewiętnastego",
        "dwudziestego", "trzydziestego",
    ),
    "ru": (
        "первого второго третьего четвёртого пятого шестого седьмого восьмого девятого десятого одиннадцатого "
        "двенадцатого тринадцатого четырнадцатого пятнадцатого шестнадцатого семнадцатого восемнадцатого "
        "девятнадцатого",
        "двадцать/двадцатого", "тридцать/тридцатого",
    ),
    "uk": (
        "першого другого третього четвертого п'ятого шостого сьомого восьмого дев'ятого десятого одинадцятого "
        "дванадцятого тринадцятого чотирнадцятого п'ятнадцятого шістнадцятого сімнадцятого вісімнадцятого "
        "дев'ятнадцятого",
        "двадцять/двадцятого", "тридцять/тридцятого",
    ),
    "bg": (
        "първи втори трети четвърти пети шести седми осми девети десети единайсети дванайсети тринайсети "
        "четиринайсети петнайсети шестнайсети седемнайсети осемнайсети деветнайсети",
        "двайсет и/двайсети", "трийсет и/трийсети",
    ),
    "hr": (
        "prvog drugog trećeg četvrtog petog šestog sedmog osmog devetog desetog jedanaestog dvanaestog trinaestog "
        "četrnaestog petnaestog šesnaestog sedamnaestog osamnaestog devetnaestog",
        "dvadeset/dvadesetog", "trideset/tridesetog",
    ),
}  # fmt: skip
"""1 to 19, 20 and 30; with a stroke: in front of a unit, and alone."""

_FINNISH = (
    "ensimmäinen toinen kolmas neljäs viides kuudes seitsemäs kahdeksas yhdeksäs kymmenes yhdestoista kahdestoista "
    "kolmastoista neljästoista viidestoista kuudestoista seitsemästoista kahdeksastoista yhdeksästoista"
)
_GERMAN = (
    "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt fünfzehnt sechzehnt "
    "siebzehnt achtzehnt neunzehnt"
)
_GERMAN_ONES = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")
_GERMAN_ARTICLES = re.compile(r"\b(?:der|die|das)\s*$", re.IGNORECASE)

LANGUAGES = frozenset({*_SLAVIC_UNITS, "fi", "de"})


def ordinal_day(day: int, language: str, before: str = "") -> str | None:
    """``ordinal_day(3, "de", "am ") == "dritten"``; None outside 1 to 31, and for languages read well as figures."""
    if not 1 <= day <= 31:
        return None
    if language == "de":
        return _german(day) + ("e" if _GERMAN_ARTICLES.search(before) else "er" if not before.strip() else "en")
    if language == "fi":
        return _finnish(day)
    if language not in _SLAVIC_UNITS:
        return None
    small, twenty, thirty = _SLAVIC_UNITS[language]
    words = small.split()
    if day < 20:
        return words[day - 1]
    tens = twenty if day < 30 else thirty
    joined, _, alone = tens.partition("/")
    unit = day % 10
    return f"{joined} {words[unit - 1]}" if unit else alone or joined


def _german(day: int) -> str:
    if day < 20:
        return _GERMAN.split()[day - 1]
    tens = "zwanzigst" if day < 30 else "dreißigst"
    return f"{_GERMAN_ONES[day % 10 - 1]}und{tens}" if day % 10 else tens


def _finnish(day: int) -> str:
    if day < 20:
        return _FINNISH.split()[day - 1]
    tens = "kahdeskymmenes" if day < 30 else "kolmaskymmenes"
    return tens + (_FINNISH.split()[day % 10 - 1] if day % 10 else "")
