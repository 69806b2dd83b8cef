"""Cartesia's list of voices: fields of all API versions at once, with cursors that end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from antiphon.core.errors import InvalidInput
from antiphon.core.speech import VoiceInfo
from antiphon.protocol.cartesia_pages import PageQuery

_TAGLINE_CHARS = 32
_GENDERS = {"female": "feminine", "male": "masculine", "neutral": "gender_neutral"}
_PRESENTATIONS = ("feminine", "masculine", "gender_neutral")


class VoiceLocale(msgspec.Struct, frozen=True):
    locale: str
    is_native: bool


class VoiceBody(msgspec.Struct, frozen=True, kw_only=True):
    """One voice. ``is_public`` is the older name of ``access``; ``engine``, ``quality``, ``licence`` and ``source`` are
    this server's own."""

    id: str
    name: str
    description: str
    tagline: str
    language: str
    access: str = "public"
    visibility: str = "all"
    is_owner: bool = False
    is_public: bool = True
    created_at: str
    locales: list[VoiceLocale]
    gender: str | None = None
    country: str | None = None
    preview_file_url: str | None = None
    engine: str
    quality: str
    licence: str
    source: str


class VoicePage(msgspec.Struct, frozen=True):
    """``next_page`` is the cursor for ``starting_after``, None on the last page."""

    data: list[VoiceBody]
    has_more: bool
    next_page: str | None


@dataclass(frozen=True, slots=True)
class VoiceQuery:
    """The query of ``GET /voices``."""

    page: PageQuery = field(default_factory=PageQuery)
    text: str | None = None
    gender: str | None = None
    language: str | None = None
    is_owner: bool | None = None

    @staticmethod
    def read(query: Mapping[str, str]) -> "VoiceQuery":
        """Raises ``InvalidInput``. Unknown names are ignored."""
        page = PageQuery.read(query)
        given = {name: value.strip() for name, value in query.items() if value.strip()}
        gender = given.get("gender")
        if gender is not None:
            gender = _GENDERS.get(gender, gender)
            if gender not in _PRESENTATIONS:
                raise InvalidInput(f"gender: must be one of {', '.join(_PRESENTATIONS)}", "gender")
        owned = given.get("is_owner", "").lower()
        if owned not in ("", "true", "false"):
            raise InvalidInput("is_owner: must be true or false", "is_owner")
        return VoiceQuery(
            page,
            text=given.get("q"),
            gender=gender,
            language=given.get("language"),
            is_owner=owned == "true" if owned else None,
        )


def voice_body(info: VoiceInfo) -> VoiceBody:
    """A voice as ``GET /voices/{id}`` shows it."""
    native = next((tag for tag in info.locales if "-" in tag), "")
    return VoiceBody(
        id=info.id,
        name=info.name,
        description=info.description,
        tagline=_tagline(info.description),
        language=_base(info.language),
        created_at=info.created_at,
        locales=[VoiceLocale(tag, at == 0) for at, tag in enumerate(info.locales)],
        gender=_gender(info),
        country=native.rpartition("-")[2].upper() or None,
        engine=info.engine,
        quality=info.quality,
        licence=info.licence,
        source=info.source,
    )


def list_voices(voices: Sequence[VoiceInfo], query: VoiceQuery) -> VoicePage:
    """One page, in the order of ``voices``. Raises ``InvalidInput`` for a cursor that is not a voice.

    Clients ignore ``has_more`` and ask on until a page is empty, so a cursor at the last voice gives an empty page.
    """
    # The cursor is looked up before filtering: a client may narrow its search on the way.
    start, end, asked = 0, len(voices), query.page
    if asked.starting_after is not None:
        start = _index(voices, asked.starting_after, "starting_after") + 1
    if asked.ending_before is not None:
        end = _index(voices, asked.ending_before, "ending_before")
    found = [info for info in voices[start:end] if _matches(info, query)]
    backwards = asked.ending_before is not None
    page = found[-asked.limit :] if backwards else found[: asked.limit]
    has_more = len(found) > len(page)
    next_page = page[-1].id if has_more and not backwards else None
    return VoicePage([voice_body(info) for info in page], has_more, next_page)


def _index(voices: Sequence[VoiceInfo], voice_id: str, param: str) -> int:
    for at, info in enumerate(voices):
        if info.id == voice_id:
            return at
    raise InvalidInput(f"{param}: there is no voice {voice_id[:80]!r}", param)


def _matches(info: VoiceInfo, query: VoiceQuery) -> bool:
    if query.is_owner:
        return False
    if query.gender is not None and _gender(info) != query.gender:
        return False
    if query.language is not None and _base(info.language) != _base(query.language):
        return False
    wanted = (query.text or "").casefold()
    return any(wanted in field.casefold() for field in (info.id, info.name, info.description))


def _tagline(description: str) -> str:
    """Its first words, as many as fit."""
    if len(description) <= _TAGLINE_CHARS:
        return description
    words = description[: _TAGLINE_CHARS + 1].rpartition(" ")[0] or description[:_TAGLINE_CHARS]
    return words.rstrip(" ,;:.-–—")


def _gender(info: VoiceInfo) -> str | None:
    gender = _GENDERS.get(info.gender, info.gender)
    return gender if gender in _PRESENTATIONS else None


def _base(tag: str) -> str:
    return tag.replace("_", "-").partition("-")[0].lower()
