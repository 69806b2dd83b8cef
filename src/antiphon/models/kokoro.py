"""Kokoro-82M: 54 voices in nine languages, at about half a second of a core for each second of speech.

A sentence is planned as one (durations, F0, energy: cheap) and decoded clause by clause. The silence that the graph
pads every call with is cut by its own durations. Nothing is loaded before it is asked for.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TypeAlias

import numpy as np

from antiphon.core.errors import EngineFailed, InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.core.speech import MissingVoice, Rendered, VoiceInfo
from antiphon.models import espeak_library
from antiphon.models.espeak_library import INSTALL as INSTALL_ESPEAK
from antiphon.models.hibari_frontend import HibariFrontend, Script
from antiphon.models.hibari_phrase import Layout, Phrase, lay_out, pause_frames
from antiphon.models.hibari_words import WordClock
from antiphon.models.kokoro_chinese import INSTALL as INSTALL_ZH
from antiphon.models.kokoro_chinese import chinese_reader, load_pinyin
from antiphon.models.kokoro_frontend import Frontend, ReadFrontend, espeak_reader
from antiphon.models.kokoro_graph import HOP, SAMPLE_RATE_HZ, KokoroGraph, KokoroPlan
from antiphon.models.kokoro_japanese import INSTALL as INSTALL_JA
from antiphon.models.kokoro_japanese import japanese_reader, load_analyser
from antiphon.models.kokoro_style import Blend, Styles, looks_like_blend, read_blend
from antiphon.models.kokoro_voices import TONGUES, VOICES, blend_info, voice_name
from antiphon.models.kokoro_windows import HALO, MAX_DECODED, OUTER_HALO, Window, windows
from antiphon.models.session import Sessions
from antiphon.models.unit_reading import NOTHING, read_unit
from antiphon.store.tools import find_package
from antiphon.text.unit import Spoken, Text, Unit

MODEL, VOICE_FILES = "kokoro-82m-int8", "kokoro-voices"
"""Names of the models in the store."""
GRAPH, VOCABULARY = "kokoro-v1.0.int8.onnx", "vocab.json"

SPEED_RANGE = (0.5, 2.0)
"""Beyond, the durations are too far from what the model has learnt; speeds are held to it."""

ModelFile: TypeAlias = Callable[[str, str], Path]

_HALF = HOP // 2
_EARLIER = 3
"""Half frames of more lead than hibari needs: some voices begin that much earlier before their durations."""
_FADE = 120
"""Samples (5 ms) on each side of a join over which one window goes over into the next."""
_RISE = np.sin(np.linspace(0, np.pi / 2, 2 * _FADE, endpoint=False), dtype=np.float32) ** 2
PULL = f"antiphon models pull {MODEL} {VOICE_FILES}"


class KokoroVoice:
    """See :class:`antiphon.engine.voice.JobVoice`. ``unit.volume`` is left to the engine."""

    name = "kokoro"
    sample_rate_hz = SAMPLE_RATE_HZ
    quantum_bound_s = 0.6 * MAX_DECODED * _HALF / SAMPLE_RATE_HZ
    """A call of the decoder: never more than 3 s of sound, at about half a second of a core each. Beside it only what
    is loaded for the first caller takes longer, a second or two once."""

    def __init__(
        self,
        model_file: ModelFile,
        sessions: Sessions | None = None,
        installed: Callable[[str], object] = find_package,
        eager: bool = False,
    ) -> None:
        """``model_file``: verified files of the store; raises ``ModelUnavailable``. ``installed``: whether a package
        is here. Loads nothing yet; ``eager``: but at :meth:`warm_up`. Raises ``ModelUnavailable`` if it cannot."""
        self._file = model_file
        self._sessions = sessions
        self._lock = Lock()
        self._graph: KokoroGraph | None = None
        self._ids: dict[str, int] = {}
        self._frontends: dict[str, Frontend] = {}
        self._styles = Styles(lambda voice: model_file(VOICE_FILES, f"{voice}.bin"))
        self._needs = _needs(model_file, installed)
        self.voices = tuple(info for name, info in VOICES.items() if name not in self._needs)
        if eager and not self.voices:
            needs = next(iter(self._needs.values()))
            raise ModelUnavailable(f"Kokoro is to be loaded at the start, and cannot be: {needs}")
        self._eager = eager
        self.missing = tuple(MissingVoice(VOICES[name], needs) for name, needs in self._needs.items())

    def find(self, name: str) -> VoiceInfo | None:
        """A blend by its name (``af_heart:0.7+am_adam:0.3``); None if it is none.

        Raises ``InvalidInput``, and ``ModelUnavailable`` if one of its voices is missing.
        """
        if not looks_like_blend(name):
            return None
        blend = read_blend(name, VOICES)
        for voice, _ in blend.parts:
            if voice in self._needs:
                raise ModelUnavailable(f"voice {voice!r} of the blend is missing: {self._needs[voice]}")
        return blend_info(blend)

    def speak(self, voice: str, unit: Unit, at_sample: int, seed: int, after: str | None) -> Iterator[Rendered]:
        """The pause that ``after`` calls for, the unit's own sound, then its explicit break. ``seed``: the model has no
        noise of its own."""
        blend = self._blend(voice)
        speed = min(max(unit.speed, SPEED_RANGE[0]), SPEED_RANGE[1])
        if unit.text and self._graph is None:
            self._loaded()
            yield NOTHING
        stand_in = TONGUES[blend.parts[0][0][0]].stand_in
        since = at_sample if unit.first else 0  # what was made before that has been played
        phrase = partial(self._phrase, blend, speed, since)

        def read(pieces: tuple[Spoken, ...], before: str, following: str) -> Script:
            return self._frontend(blend).script(pieces, before, following)

        yield from read_unit(unit, at_sample, after, SAMPLE_RATE_HZ, read, phrase, stand_in=stand_in)

    def estimate_s(self, unit: Unit) -> float:
        """About 15 characters a second are spoken; a second costs half of one, a call's surroundings 0.15."""
        return 0.2 + 0.55 * len(unit.text) / 15.0 / max(unit.speed, SPEED_RANGE[0])

    def warm_up(self) -> None:
        """Nothing, unless all is to be ready before anybody asks: then a real reading by the first voice."""
        if self._eager:
            for _ in self.speak(self.voices[0].id, Unit((Text("Hello."),), first=True), 0, 0, None):
                pass

    def _phrase(
        self,
        blend: Blend,
        speed: float,
        since: int,
        phrase: Phrase,
        at_sample: int,
        ending: str | None,
        words: WordClock,
    ) -> Iterator[Rendered]:
        graph, ids = self._loaded()
        line = [ids[symbol] for symbol in phrase.line]
        style = self._styles.row(blend, len(line) - 1)
        plan = graph.plan([0, *line, 0], style, speed)
        yield NOTHING
        joined = bool(phrase.before) and ending in ("none", "clause")
        layout = lay_out(phrase, 2 * plan.durations, joined, 1 / speed)
        if not joined:
            layout = replace(layout, start=max(0, layout.start - _EARLIER), lead=layout.lead + _EARLIER)
        pause = 0 if joined or ending is None else round(pause_frames(ending, layout, speed) * _HALF)
        begin = at_sample + pause

        def sample_of(half: int) -> int:
            return begin + (half - layout.start) * _HALF

        words.place(phrase, layout, sample_of)
        end, position = sample_of(layout.stop), begin
        edge: Samples | None = None
        ahead = (at_sample - since) // _HALF
        for window in windows(phrase, layout, plan.f0[0], plan.energy[0], ahead):
            sound = _decoded(graph, plan, style, window, layout)
            samples, edge = _joined(sound, edge, window.stop == layout.stop)
            position += len(samples)
            times = words.take(end + 1 if position >= end else position)
            if pause:
                samples, pause = np.concatenate((np.zeros(pause, np.float32), samples)), 0
            yield Rendered(samples, times.words, times.normalized, times.phonemes)

    def _blend(self, voice: str) -> Blend:
        name = voice_name(voice) or voice
        try:
            return read_blend(name, VOICES)
        except InvalidInput as error:
            raise EngineFailed(f"kokoro has no voice {voice!r}") from error

    def _loaded(self) -> tuple[KokoroGraph, dict[str, int]]:
        with self._lock:
            if self._graph is None:
                self._ids = self._vocabulary()
                self._graph = KokoroGraph(self._file(MODEL, GRAPH), self._sessions)
            return self._graph, self._ids

    def _vocabulary(self) -> dict[str, int]:
        path = self._file(MODEL, VOCABULARY)
        try:
            found: dict[str, int] = json.loads(path.read_text("utf-8"))["vocab"]
        except (OSError, ValueError, KeyError) as error:
            raise ModelUnavailable(f"Kokoro's vocabulary {path} cannot be read: {error}") from error
        return found

    def _frontend(self, blend: Blend) -> Frontend:
        """Of the heaviest voice's language; loaded once. Raises ``ModelUnavailable``."""
        key = blend.parts[0][0][0]
        with self._lock:
            if key not in self._frontends:
                self._frontends[key] = _open_frontend(key, self._vocabulary())
            return self._frontends[key]


def _needs(model_file: ModelFile, installed: Callable[[str], object]) -> dict[str, str]:
    """Voice -> what it takes to make it speak here, of the voices that cannot."""
    try:
        for file in (GRAPH, VOCABULARY):
            model_file(MODEL, file)
    except ModelUnavailable as error:
        return dict.fromkeys(VOICES, f"{PULL} ({error})")
    readers = {"ja": ("pyopenjtalk", INSTALL_JA), "zh": ("pypinyin", INSTALL_ZH)}
    needs: dict[str, str] = {}
    for name, info in VOICES.items():
        package, what = readers.get(info.language, ("espeakng_loader", INSTALL_ESPEAK))
        if info.language != "en" and not installed(package):
            needs[name] = what
            continue
        try:
            model_file(VOICE_FILES, f"{name}.bin")
        except ModelUnavailable as error:
            needs[name] = f"{PULL} ({error})"
    return needs


def _open_frontend(key: str, symbols: Iterable[str]) -> Frontend:
    tongue = TONGUES[key]
    if tongue.code == "en":
        return HibariFrontend(symbols, british=key == "b")
    if tongue.code == "ja":
        return ReadFrontend(japanese_reader(load_analyser()), symbols, "ja")
    if tongue.code == "zh":
        english = HibariFrontend(symbols)
        read = chinese_reader(load_pinyin(), lambda word: english.script((Text(word),)).symbols)
        return ReadFrontend(read, symbols, "zh")
    library = espeak_library.load()
    locale = tongue.locale.lower() if tongue.code == "pt" else tongue.code
    return ReadFrontend(espeak_reader(lambda text: library.phonemes(text, locale, "^"), locale), symbols, locale)


def _decoded(graph: KokoroGraph, plan: KokoroPlan, style: Samples, window: Window, layout: Layout) -> Samples:
    """Sound of a window and of :data:`_FADE` samples around it, but nothing outside the layout."""
    inner = window.start > layout.start, window.stop < layout.stop
    ahead, behind = (HALO if side else OUTER_HALO for side in inner)
    start, stop = max(0, window.start - ahead) // 2, min(plan.frames, (window.stop + behind + 1) // 2)
    sound = graph.decode(plan, style, start, stop)
    before, after = (_FADE if side else 0 for side in inner)
    first = window.start * _HALF - start * HOP - before
    return sound[first : window.stop * _HALF - start * HOP + after]


def _joined(sound: Samples, edge: Samples | None, last: bool) -> tuple[Samples, Samples | None]:
    """What can be heard now, and what goes over into the next window."""
    sound = np.array(sound, np.float32)
    head = sound[: 2 * _FADE] if edge is not None else sound[:_FADE]
    if edge is not None:
        head *= _RISE[: len(head)]
        head += edge[: len(head)] * (1 - _RISE[: len(head)])
    else:
        head *= _RISE[: len(head) * 2 : 2]
    if not last:
        return sound[: -2 * _FADE], sound[-2 * _FADE :]
    tail = sound[-_FADE:]
    tail *= _RISE[: len(tail) * 2 : 2][::-1]
    return sound, None
