"""eSpeak NG as a voice: formant speech for the languages that no neural voice speaks, and for many that none will.

Intelligible, robotic, and about 200 times faster than speech. Figures, dates and the like are written out before
(:mod:`antiphon.text.verbalize`); plain numbers are left to the library, which reads them in all its languages. Word and
phoneme times are the library's own events, exact to the sample. Why its work is done elsewhere:
:mod:`antiphon.models.espeak_child`.
"""

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from antiphon.core.errors import EngineFailed
from antiphon.core.frame import Samples
from antiphon.core.speech import SPEED_RANGE, Rendered, VoiceInfo
from antiphon.models.espeak_library import EspeakLibrary
from antiphon.models.espeak_phonemes import Mnemonics
from antiphon.models.espeak_words import Script, ScriptWord, place
from antiphon.text.align import spoken_places, word_places
from antiphon.text.languages import LANGUAGES, base_language
from antiphon.text.normalize import normalize
from antiphon.text.parts import Part, parts
from antiphon.text.unit import Ipa, Respelled, Spell, Spoken, Text, Unit

QUALITY = "formant"
LICENCE = "GPL-3.0-or-later"

_PART_CHARS = 160
"""Spoken at once: about 10 s of sound, made in 50 ms."""
_PAUSE_S = {"none": 0.0, "clause": 0.2, "sentence": 0.35, "paragraph": 0.7}
"""Between units, as long as the library's own pauses within a text."""
_TAIL_S = 0.02
"""Kept of the sound behind the last phoneme."""
_RAMP = 110
"""Samples (5 ms) over which a unit's edges rise and fall."""
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_WEAK = frozenset(("de", "fi", "fr", "hi", "id", "it", "ko", "nl", "no", "pl", "ro", "ru", "sv", "tr", "uk", "zh"))
"""Languages in which a recogniser gets half of the words wrong or more (docs/figures/voices.md). Its own errors are
among them, and not every language was measured."""
_NO_VOICE_OF_ITS_OWN = {"tl": "Tagalog"}
_NOTES = {
    "ja": "reads kana only, no kanji",
    "tl": "read by the rules of Indonesian",
    "ar": "short vowels that are not written are guessed or missing",
    "he": "vowels that are not written are guessed or missing",
}


@dataclass(frozen=True, slots=True)
class _Speaker:
    """What a voice's id stands for: the tag that the library is asked for, and the one that text is read by."""

    info: VoiceInfo
    tag: str


class EspeakVoice:
    """See :class:`antiphon.engine.voice.JobVoice`. One voice for each of the library's languages and regions.

    ``unit.volume`` is left to the engine. Speed is held to 0.46 to 2.57, the library's own range. The voice has no
    noise of its own, so seeds mean nothing.
    """

    name = "espeak"
    quantum_bound_s = 0.15

    def __init__(self, library: EspeakLibrary) -> None:
        self._library = library
        self.sample_rate_hz = library.sample_rate_hz
        self._mnemonics = Mnemonics(library)
        self._speakers = {speaker.info.id: speaker for speaker in _speakers(library)}
        self.voices: tuple[VoiceInfo, ...] = tuple(speaker.info for speaker in self._speakers.values())

    def speak(self, voice: str, unit: Unit, at_sample: int, seed: int, after: str | None) -> Iterator[Rendered]:
        """The pause that ``after`` calls for, the unit's sound part by part, then its explicit break."""
        speaker = self._speakers.get(voice)
        if speaker is None:
            raise EngineFailed(f"eSpeak NG has no voice {voice!r}")
        speed = min(max(unit.speed, SPEED_RANGE[0]), SPEED_RANGE[1])
        position, ending = at_sample, after
        for part in parts(unit.pieces, _PART_CHARS):
            pause = 0 if ending is None else round(_PAUSE_S[ending] / speed * self.sample_rate_hz)
            rendered = self._part(speaker, part, speed, position, pause)
            position += len(rendered.samples)
            if rendered.words or len(rendered.samples):
                ending = "none"
                yield rendered
        if unit.pause_s > 0:
            yield Rendered(np.zeros(round(unit.pause_s * self.sample_rate_hz), np.float32))

    def estimate_s(self, unit: Unit) -> float:
        """About 15 characters a second are spoken; a second costs 5 ms, a call 8 ms."""
        return 0.008 + 0.005 * len(unit.text) / 15.0 / max(unit.speed, SPEED_RANGE[0])

    def warm_up(self) -> None:
        for _ in self.speak(self.voices[0].id, Unit((Text("1, 2, 3."),)), 0, 0, None):
            pass

    def close(self) -> None:
        self._library.close()

    def _part(self, speaker: _Speaker, part: Part, speed: float, at_sample: int, pause: int) -> Rendered:
        text = "".join(piece.text for piece in part.pieces)
        language = speaker.info.language
        if language == "ja" and (kanji := _HAN.search(text)):
            raise EngineFailed(
                f"eSpeak NG cannot read kanji ({kanji[0]!r}); a neural Japanese voice can, or write kana"
            )
        script = self._script(part.pieces, speaker)
        if not any(c.isalnum() for c in script.text):
            return Rendered(np.zeros(0, np.float32), *place(script, text, None, at_sample, language))
        speech = self._library.speak(script.text, speaker.tag, speed=speed, mnemonics=script.mnemonics)
        if not speech.whole:
            raise EngineFailed(f"eSpeak NG makes more than two minutes of {text[:40]!r}")
        start = next((mark.sample for mark in speech.phonemes if mark.text), 0)
        stop = len(speech.samples)
        for mark in reversed(speech.phonemes):
            if mark.text:
                break
            stop = min(stop, mark.sample + round(_TAIL_S * self.sample_rate_hz))
        samples = _edged(speech.samples[start : max(stop, start)])
        times = place(script, text, speech, at_sample + pause - start, language)
        return Rendered(np.concatenate((np.zeros(pause, np.float32), samples)), *times)

    def _script(self, pieces: tuple[Spoken, ...], speaker: _Speaker) -> Script:
        """What the library reads, word by word, with the characters of the pieces that each stands for."""
        words: list[ScriptWord] = []
        line, at, mnemonics = "", 0, any(isinstance(piece, Ipa) for piece in pieces)
        for piece in pieces:
            spoken, shown = self._reading(piece, speaker)
            # With phonemes in the text, double brackets of the user's own would open them as well.
            if mnemonics and not isinstance(piece, Ipa):
                spoken = spoken.replace("[[", "[ ")
            if piece.text[:1].isspace():
                line += " "
            found = spoken_places(piece.text, shown or spoken, speaker.info.language)
            read = word_places(spoken, speaker.info.language) if shown is None else [(0, len(spoken))] * len(found)
            for (word, start, end), (place_in, _) in zip(found, read, strict=True):
                words.append(ScriptWord(word, at + start, at + end, len(line) + place_in))
            line += spoken + (" " if piece.text[-1:].isspace() else "")
            at += len(piece.text)
        return Script(line, tuple(words), mnemonics)

    def _reading(self, piece: Spoken, speaker: _Speaker) -> tuple[str, str | None]:
        """What the library reads for a piece, and what is shown for it where that is no text."""
        language = speaker.info.language
        match piece:
            case Ipa():
                said = " ".join(self._mnemonics.of(word, speaker.tag) for word in piece.phonemes.split())
                return f"[[{said}]]", piece.text.strip()
            case Spell():
                return ", ".join(" ".join(run) for run in piece.text.split()), None
            case Respelled():
                return normalize(piece.spoken, language), None
            case Text():
                return normalize(piece.text, language), None


def _edged(samples: Samples) -> Samples:
    samples = samples.copy()
    ramp = min(_RAMP, len(samples) // 2)
    if ramp:
        rise = np.linspace(0, 1, ramp, endpoint=False, dtype=np.float32)
        samples[:ramp] *= rise
        samples[-ramp:] *= rise[::-1]
    return samples


def _speakers(library: EspeakLibrary) -> Iterator[_Speaker]:
    """Languages of the protocol first, in its order, the voice that a bare language means before those of regions."""
    order = {code: at for at, code in enumerate(LANGUAGES)}
    found: list[tuple[tuple[int, bool], _Speaker]] = []
    for voice in library.voices:
        if not (tags := library.tags_of(voice)):
            continue  # nobody could ask for it
        base = base_language(tags[0])
        main = library.voice(base) is voice
        language = base if main else _cased(tags[0])
        cased = [_cased(tag) for tag in tags]
        # A tag that names a country says where the speech is at home.
        locales = tuple(dict.fromkeys((*filter(_names_country, cased), language, *cased)))
        speaker = _Speaker(_info(language, voice.name, locales, library), tags[0])
        found.append(((order.get(base, len(order)), not main), speaker))
    for code, name in _NO_VOICE_OF_ITS_OWN.items():
        if (voice_of := library.voice(code)) is not None:
            speaker = _Speaker(_info(code, name, ("fil-PH", code, "fil"), library), voice_of.tags[0])
            found.append(((order[code], False), speaker))
    for _, speaker in sorted(found, key=lambda one: one[0]):
        yield speaker


def _names_country(tag: str) -> bool:
    return "-" in tag and len(tag.rpartition("-")[2]) == 2


def _info(language: str, name: str, locales: tuple[str, ...], library: EspeakLibrary) -> VoiceInfo:
    base = base_language(language)
    about = f"{name}, by formant synthesis: fast, robotic"
    about += "; weak: a recogniser mishears half of its words or more" if base in _WEAK else ""
    about += f"; {_NOTES[base]}" if base in _NOTES else ""
    return VoiceInfo(
        id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"antiphon/voices/espeak/{language.lower()}")),
        name=f"{name} (eSpeak)",
        engine="espeak",
        language=language,
        locales=locales,
        gender="masculine",
        description=f"{about}.",
        quality=f"{QUALITY}, weak" if base in _WEAK else QUALITY,
        licence=LICENCE,
        source=f"eSpeak NG {library.version} (extra espeak)",
        aliases=tuple(dict.fromkeys(f"espeak-{tag.lower()}" for tag in (language, *locales))),
    )


def _cased(tag: str) -> str:
    """``pt-br`` -> ``pt-BR``."""
    first, *rest = tag.split("-")
    return "-".join([first.lower(), *(part.upper() if len(part) == 2 else part for part in rest)])
