"""What a listening socket's query asks for.

Tolerant like the rest of the dialect: unknown names are ignored (credentials and version are read elsewhere), a list
may be ``keyterm=a&keyterm=b`` or ``keyterm[]=a``, spaces ``+`` or ``%20``. What decides how bytes are understood
(encoding, sample rate) is never guessed: a wrong guess is heard as noise, without an error.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import parse_qsl

from antiphon.audio.pcm import ENCODINGS
from antiphon.core.errors import InvalidInput
from antiphon.core.hearing import HearingConfig
from antiphon.core.turns import EndpointSettings
from antiphon.protocol.cartesia_stt_messages import TurnConfig

MAX_KEYTERMS = 100
MAX_KEYTERM_CHARS = 1200
SAMPLE_RATE_RANGE_HZ = (8_000, 192_000)
_MAX_FIELDS = 400
_MAX_NAME_CHARS = 200

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_NOTHING = ("", "none", "null", "undefined")
"""What clients make of an absent value when they forget to leave it out."""

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class SttQuery:
    """``/stt/websocket``. ``max_silence_s``: finalize by itself after a pause this long (None: never)."""

    config: HearingConfig
    max_silence_s: float | None = None
    min_volume: float | None = None


@dataclass(frozen=True, slots=True)
class TurnsQuery:
    """``/stt/turns/websocket``."""

    config: HearingConfig
    settings: EndpointSettings


@dataclass(frozen=True, slots=True)
class _Threshold:
    """One setting of turn detection, as query and config message name it, in their units."""

    query: str
    config: str
    setting: str
    low: float
    high: float
    per_unit: float = 1.0

    def checked(self, value: float, name: str) -> float:
        if not self.low <= value <= self.high:
            raise InvalidInput(f"{name}: must be from {self.low:g} to {self.high:g}, not {value:g}", name)
        return value / self.per_unit


_THRESHOLDS = (
    _Threshold("turn_start_threshold", "start_threshold", "start", 0.5, 0.9),
    _Threshold("turn_eager_end_threshold", "eager_end_threshold", "eager_end", 0.3, 0.6),
    _Threshold("turn_end_threshold", "end_threshold", "end", 0.05, 0.5),
    _Threshold("turn_end_timeout_ms", "end_timeout_ms", "end_timeout_s", 640, 11_200, 1000.0),
)


class _Fields:
    """The query by name; the last of repeated scalars counts."""

    def __init__(self, query: str) -> None:
        try:
            pairs = parse_qsl(query.removeprefix("?"), keep_blank_values=True, max_num_fields=_MAX_FIELDS)
        except ValueError:
            raise InvalidInput(f"the query may have at most {_MAX_FIELDS} fields") from None
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(re.sub(r"\[\d*\]$", "", name), []).append(value.strip())

    def text(self, name: str) -> str | None:
        value = self._values.get(name, [""])[-1]
        return None if value.lower() in _NOTHING else value

    def texts(self, *names: str) -> tuple[str, ...]:
        return tuple(value for name in names for value in self._values.get(name, []) if value)

    def number(self, name: str, kind: Callable[[str], Number], what: str) -> Number | None:
        value = self.text(name)
        if value is None:
            return None
        try:
            return kind(value)
        except ValueError:
            raise InvalidInput(f"{name}: must be {what}, not {shown(value)}", name) from None


def read_stt_query(query: str) -> SttQuery:
    """Raises ``InvalidInput`` naming the parameter."""
    fields = _Fields(query)
    volume = fields.number("min_volume", float, "a number from 0 to 1")
    if volume is not None and not 0 <= volume <= 1:
        raise InvalidInput(f"min_volume: must be from 0 to 1, not {volume:g}", "min_volume")
    silence_s = fields.number("max_silence_duration_secs", float, "a number of seconds")
    if silence_s is not None and not 0 < silence_s < float("inf"):
        raise InvalidInput(
            f"max_silence_duration_secs: must be more than 0, not {silence_s:g}", "max_silence_duration_secs"
        )
    return SttQuery(_hearing(fields, turns=False), silence_s, volume)


def read_turns_query(query: str) -> TurnsQuery:
    """Raises ``InvalidInput`` naming the parameter."""
    fields = _Fields(query)
    given = {threshold.query: fields.number(threshold.query, float, "a number") for threshold in _THRESHOLDS}
    settings = _settings(EndpointSettings(), given, lambda threshold: threshold.query)
    return TurnsQuery(_hearing(fields, turns=True), settings)


def changed_settings(current: EndpointSettings, change: TurnConfig) -> EndpointSettings:
    """``current`` with what a config message names. Raises ``InvalidInput`` naming the field."""
    given = {threshold.config: getattr(change, threshold.config) for threshold in _THRESHOLDS}
    return _settings(current, given, lambda threshold: threshold.config)


def _settings(
    current: EndpointSettings, given: Mapping[str, float | None], named: Callable[[_Threshold], str]
) -> EndpointSettings:
    values = {}
    for threshold in _THRESHOLDS:
        name = named(threshold)
        value = given[name]
        if value is not None:
            values[threshold.setting] = threshold.checked(value, name)
    try:
        return replace(current, **values)
    except InvalidInput:
        start, eager, end = (
            values.get(threshold.setting, getattr(current, threshold.setting)) for threshold in _THRESHOLDS[:3]
        )
        names = [named(threshold) for threshold in _THRESHOLDS[:3]]
        raise InvalidInput(
            f"thresholds must fall strictly: {names[0]} {start:g} > {names[1]} {eager:g} > {names[2]} {end:g}", names[1]
        ) from None


def _hearing(fields: _Fields, *, turns: bool) -> HearingConfig:
    encoding, rate_hz = read_encoding(fields.text("encoding"), fields.number("sample_rate", int, "a whole number"))
    if encoding is None or rate_hz is None:
        missing = "encoding" if encoding is None else "sample_rate"
        raise InvalidInput(f"{missing}: this parameter is required", missing)
    return HearingConfig(
        model=read_model(fields.text("model")),
        language=read_language(fields.text("language"), "en"),
        encoding=encoding,
        sample_rate_hz=rate_hz,
        keyterms=read_keyterms(fields.texts("keyterm", "keyterms")),
        turns=turns,
    )


def read_encoding(encoding: str | None, rate_hz: int | None) -> tuple[str | None, int | None]:
    """Checks what was given of the two. Raises ``InvalidInput``."""
    if encoding is not None and encoding not in ENCODINGS:
        raise InvalidInput(f"encoding: must be one of {', '.join(ENCODINGS)}, not {shown(encoding)}", "encoding")
    low, high = SAMPLE_RATE_RANGE_HZ
    if rate_hz is not None and not low <= rate_hz <= high:
        raise InvalidInput(f"sample_rate: must be from {low} to {high}, not {shown(str(rate_hz))}", "sample_rate")
    return encoding, rate_hz


def read_model(model: str | None) -> str:
    """The name as given; "" (the default ear) if there is none. Raises ``InvalidInput``."""
    if model is not None and len(model) > _MAX_NAME_CHARS:
        raise InvalidInput(f"model: at most {_MAX_NAME_CHARS} characters", "model")
    return model or ""


def read_language(language: str | None, default: str) -> str:
    """A language tag; "" (find out) for ``auto``. Whether an ear knows it is for the ear to say.

    Raises ``InvalidInput`` for what is no tag.
    """
    if language is None:
        return default
    if language.lower() in ("auto", "multi"):
        return ""
    if _LANGUAGE.fullmatch(language) is None:
        raise InvalidInput(f"language: must be a code such as en or pt-BR, not {shown(language)}", "language")
    return language


def read_keyterms(terms: tuple[str, ...]) -> tuple[str, ...]:
    """Raises ``InvalidInput`` beyond the documented limits."""
    kept = tuple(dict.fromkeys(stripped for term in terms if (stripped := " ".join(term.split()))))
    chars = sum(map(len, kept))
    if len(kept) > MAX_KEYTERMS or chars > MAX_KEYTERM_CHARS:
        raise InvalidInput(
            f"keyterm: at most {MAX_KEYTERMS} terms of {MAX_KEYTERM_CHARS} characters in all, "
            f"not {len(kept)} of {chars}",
            "keyterm",
        )
    return kept


def shown(value: str) -> str:
    """A client's value inside a message, at a bearable length."""
    return repr(value if len(value) <= 40 else value[:37] + "...")
