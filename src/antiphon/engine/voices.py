"""Which voice speaks a language, and what to say where none does.

Quality goes before region: a neural voice of Brazil reads ``pt-PT`` before a formant voice of Portugal does. Within one
quality the exact tag is best, then ever shorter ones (``de-AT`` -> ``de``), then any voice of the language.
"""

from collections.abc import Iterator, Sequence

from antiphon.core.errors import InvalidInput
from antiphon.core.speech import VoiceInfo
from antiphon.text.languages import LANGUAGES, base_language

INSTALL_ESPEAK = "pip install 'antiphon[espeak]'"
PULL_KOKORO = "antiphon models pull kokoro-82m-int8 kokoro-voices"

_KOKORO_SPEAKS = frozenset({"en", "es", "fr", "hi", "it", "ja", "pt", "zh"})
_KOKORO_EXTRAS = frozenset({"ja", "zh"})
"""Languages that it reads by an extra of their own."""
_MOST_NAMES = 6


def speaks(info: VoiceInfo, language: str) -> bool:
    return base_language(info.language) == base_language(language)


def speaker(voices: Sequence[VoiceInfo], language: str) -> VoiceInfo | None:
    """The voice for ``language``; of equals the first. None: nobody speaks it."""
    able = [info for info in voices if speaks(info, language)]
    best = [info for info in able if not _is_formant(info)] or able
    for tag in _shorter(language):
        for info in best:
            if tag == info.language.lower() or tag in (locale.lower() for locale in info.locales):
                return info
    return best[0] if best else None


def nobody_speaks(language: str, voices: Sequence[VoiceInfo]) -> InvalidInput:
    """What is wrong, and what to install."""
    known = LANGUAGES.get(base_language(language))
    spoken = sorted({base_language(info.language) for info in voices})
    named = repr(language[:40]) if known is None else f"{known.name} ({language[:40]})"
    about = f"language: no voice here speaks {named}"
    if known is None or any(info.engine == "espeak" for info in voices):
        return InvalidInput(f"{about}; voices here speak {', '.join(spoken)}", "language")
    cure = f"eSpeak NG does, in formant quality: {INSTALL_ESPEAK}"
    if known.code in _KOKORO_SPEAKS:
        cure += f"; Kokoro is a neural voice for it: {PULL_KOKORO}"
        cure += f" and pip install 'antiphon[{known.code}]'" if known.code in _KOKORO_EXTRAS else ""
    return InvalidInput(f"{about}. {cure}. Then restart the server.", "language")


def wrong_voice(info: VoiceInfo, language: str, voices: Sequence[VoiceInfo]) -> InvalidInput:
    """A voice was asked for by name that does not speak the language."""
    able = [other.name for other in voices if speaks(other, language)]
    if not able:
        return nobody_speaks(language, voices)
    names = ", ".join(able[:_MOST_NAMES]) + (" and others" if len(able) > _MOST_NAMES else "")
    return InvalidInput(
        f"language: voice {info.name!r} speaks {info.language}, not {language[:40]}; these do: {names} "
        "(or leave out the voice)",
        "language",
    )


def _is_formant(info: VoiceInfo) -> bool:
    return info.quality.startswith("formant")


def _shorter(language: str) -> Iterator[str]:
    tag = language.strip().replace("_", "-").lower()
    while tag:
        yield tag
        tag = tag.rpartition("-")[0]
    yield base_language(language)
