"""Dates, times, sums of money, measures and numbers in languages other than English, made readable.

Readers of these languages (eSpeak NG) say plain figures by themselves, in every language; what they lack is what this
module writes out: dates with their month and an ordinal day, times, currencies and units with their names in the right
plural, grouped and negative numbers, long runs of digits. Without Babel (extra ``espeak``) only digits are put in
order.
"""

import re

from antiphon.text.verbal_dates import say_dates, say_times
from antiphon.text.verbal_forms import forms_of, plain_digits
from antiphon.text.verbal_quantities import say_measures, say_money, say_numbers, say_phones


def verbalize(text: str, language: str) -> str:
    """``text`` with written forms turned into what a reader of ``language`` says. Linear; never fails."""
    text = plain_digits(text)
    if not any(c.isdigit() for c in text):
        return _tidy(text)
    forms = forms_of(language)
    text = say_phones(say_times(say_dates(text, forms), forms))
    if forms.locale:
        text = say_measures(say_money(text, forms), forms)
    return _tidy(say_numbers(text, forms))


def _tidy(text: str) -> str:
    return re.sub(r" +([,.;:!?](?=\s|$))", r"\1", re.sub(r"\s+", " ", text)).strip()
