"""eSpeak NG (extra ``espeak``): phonemes and formant speech for about 130 languages, from processes of its own.

One wrapper for whoever needs it: the voice in :mod:`antiphon.models.espeak`, and neural voices whose languages have no
grapheme-to-phoneme rules of their own. Why processes: see :mod:`antiphon.models.espeak_child`.
Source: speak_lib.h of espeak-ng 1.52 (GPL-3.0-or-later; from the package espeakng-loader).
"""

import os
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from antiphon.core.errors import EngineFailed, InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.models.espeak_process import EspeakProcess, Gone
from antiphon.text.languages import base_language

INSTALL = "pip install 'antiphon[espeak]'"
RATE_WORDS_PER_MINUTE = 175
"""The library's own pace."""
RATE_RANGE = (80, 450)
MAX_CHARS = 1_000
"""Of one call. Callers cut their text; the bound keeps a call short."""
MAX_SPOKEN_S = 120.0

TAGALOG = "tl"

_CHILD = Path(__file__).with_name("espeak_child.py")
_WORD, _PHONEME = 1, 7
_UNREADABLE = frozenset({"kaa", "xex"})
"""Listed without a dictionary: the library crashes when it reads them."""
_PREFERRED = {
    "en": "en-us", "pt": "pt-br", "zh": "cmn", "no": "nb", "nn": "nb", "iw": "he", "in": "id",
    "zh-hk": "yue", "zh-mo": "yue", "es-mx": "es-419", "es-us": "es-419", "es-ar": "es-419", "es-co": "es-419",
    "es-cl": "es-419", "es-pe": "es-419", "es-ve": "es-419", "fil": "id", "tl": "id",
    "pt-ao": "pt-pt", "pt-mz": "pt-pt", "en-au": "en-gb", "en-ie": "en-gb", "en-in": "en-gb", "en-nz": "en-gb",
    "en-za": "en-gb",
}  # fmt: skip
"""Tags that mean something else here than the library's own list says, or that it lacks. Tagalog has no voice of its
own: its spelling is read by the rules of Indonesian, the nearest (written and stressed alike, the same five vowels)."""

_SWITCH = re.compile(r"\([a-z]{2,3}(?:-[a-z0-9]+)*\)")
_PUNCTUATION = re.compile(r"""([;:,.!?…。、，！？；：؟،।]+(?=\s|$|["”’»)\]])|[¡¿«»“”"()—–…。、，！？；：]+)""")


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that begins at ``sample``. A word: ``start`` and ``chars`` place it in the text. A phoneme: ``text``
    is its IPA, with a stress mark in front; "" is silence."""

    sample: int
    text: str
    start: int
    chars: int


@dataclass(frozen=True, slots=True)
class Speech:
    """``samples`` [n] at the library's rate; marks in order of time. ``whole``: not cut at :data:`MAX_SPOKEN_S`."""

    samples: Samples
    words: tuple[Mark, ...]
    phonemes: tuple[Mark, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class LibraryVoice:
    """One of the library's languages: ``name`` in English, ``identifier`` as the library calls it, ``tags`` as it
    lists them."""

    name: str
    identifier: str
    tags: tuple[str, ...]


class EspeakLibrary:
    """Thread-safe. Each call has a process to itself while it lasts, so there are as many as calls at once, no more."""

    def __init__(self, library: Path, data: Path) -> None:
        """Starts the first process. Raises ``ModelUnavailable``."""
        self.data = data
        self._command = (sys.executable, "-I", "-S", str(_CHILD), str(library), str(data))
        self._lock = threading.Lock()
        self._idle: list[EspeakProcess] = []
        try:
            first = EspeakProcess(self._command)
            hello, _ = first.answer()
        except (OSError, ValueError) as error:
            raise ModelUnavailable(f"eSpeak NG does not start ({error}); is {library} whole? {INSTALL}") from error
        self._idle.append(first)
        self.sample_rate_hz = int(hello["rate"])
        self.version = str(hello["version"])
        found = [
            (LibraryVoice(name.strip(), identifier, tuple(tag for _, tag in tags)), tags)
            for name, identifier, tags in hello["voices"]
            if not _UNREADABLE & {tag for _, tag in tags}
        ]
        self.voices: tuple[LibraryVoice, ...] = tuple(voice for voice, _ in found)
        self._by_tag = _by_tag(found)

    def voice(self, language: str) -> LibraryVoice | None:
        """Who reads ``language``: the exact tag, else ever shorter ones (``de-CH`` -> ``de``); None: nobody."""
        tag = language.strip().replace("_", "-").lower()
        while tag:
            known = self._by_tag.get(_PREFERRED.get(tag, tag)) or self._by_tag.get(tag)
            if known is not None:
                return known
            tag = tag.rpartition("-")[0]
        return None

    def tags_of(self, voice: LibraryVoice) -> list[str]:
        """All tags that mean ``voice``, its own first."""
        own = [tag for tag in voice.tags if self.voice(tag) is voice]
        return [*own, *(tag for tag in _PREFERRED if self.voice(tag) is voice and base_language(tag) != TAGALOG)]

    def phonemes(self, text: str, language: str, tie: str = "") -> str:
        """IPA of ``text`` with stress marks; punctuation stays where it stood, words are set apart by a space.

        ``tie`` joins the letters of one sound (``t^ʃ``, ``a^ɪ``). Marks of a change of language are taken out.
        Raises ``InvalidInput`` for a language that nobody reads, ``EngineFailed``.
        """
        voice = self._voice(language)
        out: list[str] = []
        for at, part in enumerate(_PUNCTUATION.split(text)):
            if at % 2:  # the punctuation itself, with the white space around it
                out.append(part)
                continue
            said = part.strip()
            if said:
                said = " ".join(self._clauses(voice, said, tie))
            before = " " if part[:1].isspace() and out else ""
            after = " " if part[-1:].isspace() and part.strip() else ""
            out.append(f"{before}{said}{after}")
        return re.sub(r"\s+", " ", "".join(out)).strip()

    def speak(
        self,
        text: str,
        language: str,
        *,
        speed: float = 1.0,
        pitch: int = 50,
        spread: int = 50,
        mnemonics: bool = False,
    ) -> Speech:
        """Synthesise at most :data:`MAX_CHARS` characters. ``speed`` 1.0 is 175 words a minute, held to 80 to 450.

        ``pitch`` and ``spread`` (of pitch) are the library's, 0 to 99. ``mnemonics``: ``[[...]]`` in the text holds the
        library's own phoneme names. Raises ``InvalidInput``, ``EngineFailed``.
        """
        reply, audio = self._call(
            {
                "do": "speak",
                "voice": self._voice(language).identifier,
                "text": _clean(text),
                "mnemonics": mnemonics,
                "rate": round(min(max(speed * RATE_WORDS_PER_MINUTE, RATE_RANGE[0]), RATE_RANGE[1])),
                "pitch": pitch,
                "spread": spread,
                "max_samples": round(MAX_SPOKEN_S * self.sample_rate_hz),
            }
        )
        samples = np.frombuffer(audio, "<i2").astype(np.float32) / 32768.0
        marks = [(kind, Mark(sample, name, place - 1, chars)) for kind, place, chars, sample, name in reply["events"]]
        return Speech(
            samples,
            tuple(mark for kind, mark in marks if kind == _WORD),
            tuple(mark for kind, mark in marks if kind == _PHONEME),
            len(samples) < round(MAX_SPOKEN_S * self.sample_rate_hz),
        )

    def sounds(self, language: str, names: Sequence[str]) -> list[list[str]]:
        """The IPA that each of the library's own phoneme names (or several, one after the other) sounds as."""
        reply, _ = self._call({"do": "sounds", "voice": self._voice(language).identifier, "names": names})
        return [list(sounds) for sounds in reply["sounds"]]

    def close(self) -> None:
        """End the processes that rest; later calls would start new ones."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.stop()

    def _voice(self, language: str) -> LibraryVoice:
        voice = self.voice(language)
        if voice is None:
            raise InvalidInput(f"eSpeak NG has no language {language[:40]!r}", "language")
        return voice

    def _clauses(self, voice: LibraryVoice, text: str, tie: str) -> list[str]:
        reply, _ = self._call({"do": "phonemes", "voice": voice.identifier, "text": _clean(text), "tie": tie})
        # Ties stand inside the marks of a change of language, too.
        return [_SWITCH.sub("", re.sub(r"\([^)]*\)", lambda m: m[0].replace(tie, ""), c)) for c in reply["clauses"]]

    def _call(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        with self._lock:
            child = self._idle.pop() if self._idle else None
        if child is not None:
            try:
                return self._answered(child, request)
            except Gone:
                child.stop()  # it died of something else, while nobody used it
        child = self._started()
        try:
            return self._answered(child, request)
        except (OSError, ValueError) as error:
            child.stop()
            raise EngineFailed(f"eSpeak NG failed on this text: {error}") from error

    def _started(self) -> EspeakProcess:
        try:
            child = EspeakProcess(self._command)
            child.answer()
        except (OSError, ValueError) as error:
            raise EngineFailed(f"eSpeak NG does not start: {error}") from error
        return child

    def _answered(self, child: EspeakProcess, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        try:
            reply, audio = child.call(request)
        except TimeoutError as error:
            child.stop()
            raise EngineFailed(f"eSpeak NG failed on this text: {error}") from error
        with self._lock:
            self._idle.append(child)
        if "error" in reply:
            raise EngineFailed(f"eSpeak NG failed on this text: {reply['error']}")
        return reply, audio


def _by_tag(found: list[tuple[LibraryVoice, Any]]) -> dict[str, LibraryVoice]:
    best: dict[str, tuple[int, LibraryVoice]] = {}
    for voice, tags in found:
        for priority, tag in tags:
            if tag.lower() not in best or priority < best[tag.lower()][0]:
                best[tag.lower()] = (priority, voice)
    return {tag: voice for tag, (_, voice) in best.items()}


def _clean(text: str) -> str:
    """At most :data:`MAX_CHARS` characters without control characters (among them those that give orders)."""
    return "".join(c if c >= " " and c != "\x7f" else " " for c in text[:MAX_CHARS])


def installed() -> bool:
    """Whether the extra is there, on a system that can fork; nothing is loaded."""
    return find_spec("espeakng_loader") is not None and hasattr(os, "fork")


@cache
def load() -> EspeakLibrary:
    """The one library of this process. Raises ``ModelUnavailable`` with what to install."""
    try:
        import espeakng_loader
    except ImportError as error:
        raise ModelUnavailable(f"eSpeak NG is not installed: {INSTALL}") from error
    return EspeakLibrary(Path(espeakng_loader.get_library_path()), Path(espeakng_loader.get_data_path()))


def phonemes(text: str, language: str, tie: str = "") -> str:
    """:meth:`EspeakLibrary.phonemes` of the one library. Raises ``ModelUnavailable`` as well."""
    return load().phonemes(text, language, tie)
