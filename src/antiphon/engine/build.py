"""Puts the engines together from models that are on this machine."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from antiphon.core.brain import Brain
from antiphon.core.clock import Clock, MonotonicClock
from antiphon.engine.ear import Recogniser
from antiphon.engine.ear_moonshine import load_moonshine
from antiphon.engine.ear_sherpa import SherpaEar
from antiphon.engine.ear_whisper import WhisperEar
from antiphon.engine.lane import Lane
from antiphon.engine.registry import Registry, VoiceEngine
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.ssm import SsmEngine
from antiphon.engine.stt import SttEngine
from antiphon.engine.tts import TtsEngine
from antiphon.engine.turn import WEIGHTS, HybridTurnScorer
from antiphon.models import espeak_library
from antiphon.models.blas import one_thread
from antiphon.models.espeak import EspeakVoice
from antiphon.models.hibari import HibariVoice
from antiphon.models.kokoro import KokoroVoice
from antiphon.models.kokoro_voices import names_voice
from antiphon.models.pause import PauseModel
from antiphon.models.session import Provider, Sessions
from antiphon.models.sherpa import Transducer
from antiphon.models.silero import SileroVad
from antiphon.models.smart_turn import SmartTurn
from antiphon.models.ssm_voice import SsmVoice, packaged
from antiphon.models.utterance import UtteranceModel
from antiphon.models.whisper import Whisper

ModelFile: TypeAlias = Callable[[str, str], Path]
"""``model_file(model, file)`` gives a verified path and raises ``ModelUnavailable``."""

Whispers: TypeAlias = Mapping[str, Path]
"""Whisper models by the name that selects them, each in a folder of faster-whisper's format; the earlier come first."""

Transducers: TypeAlias = Mapping[str, tuple[Path, tuple[str, ...]]]
"""Streaming transducers by name, each in a folder, with the languages that it knows."""

KOKORO_STREAMS = 4
"""Streams at once for each worker that Kokoro may have: more would wait for each other longer than they speak."""

NO_WHISPERS: Whispers = MappingProxyType({})
NO_TRANSDUCERS: Transducers = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class House:
    """What a server or a command needs to speak and to listen; ``close`` ends the workers."""

    scheduler: Scheduler
    registry: Registry
    brain: Brain | None = None
    """Who answers; None: the plain rules."""
    sessions: Sessions = field(default_factory=Sessions)
    """Which graphs were opened, and where they run."""

    @property
    def device(self) -> Provider:
        return self.sessions.device

    def close(self) -> None:
        self.registry.close()
        self.scheduler.close()


def build(
    model_file: ModelFile,
    workers: int,
    capacity: int,
    default_voice: str | None = None,
    clock: Clock | None = None,
    *,
    listeners: int = 0,
    whisper: Whispers = NO_WHISPERS,
    sherpa: Transducers = NO_TRANSDUCERS,
    brain: Brain | None = None,
    ssm: Path | None = None,
    sessions: Sessions | None = None,
    preload: Collection[str] = (),
    kokoro_streams: int | None = None,
    turn_level: float | None = None,
) -> House:
    """Load the voices (eSpeak NG's too, where it is installed), and the ear if ``listeners`` streams of listening may
    be open at once (0: none).

    ``capacity`` is the number of streams of speech at once, over all callers. ``whisper``: see :data:`Whispers`;
    ``sherpa``: :data:`Transducers`, which hear their languages in place of the default ear.
    ``brain`` is only kept. ``ssm``: folder of a state-space voice (None: the package's own, if it has one).
    ``sessions``: where graphs run (None: on the CPU). ``preload``: engines that are loaded at the start instead of when
    they are first asked for ("kokoro"). ``kokoro_streams``: its streams at once (None: see :data:`KOKORO_STREAMS`).
    ``turn_level``: of :class:`~antiphon.engine.turn.TurnWeights` (None: as fitted).
    """
    one_thread()
    sessions = sessions or Sessions()
    eager = "kokoro" in preload or names_voice(default_voice or "")
    kokoro = KokoroVoice(model_file, sessions, eager=eager)
    with ThreadPoolExecutor(2) as pool:  # graphs load outside the interpreter's lock
        voice = pool.submit(lambda: HibariVoice(model_file("hibari", "hibari.onnx"), sessions))
        formant = pool.submit(_espeak)
        listens = (model_file, workers, whisper, sherpa, sessions, turn_level)
        senses = pool.submit(_load_senses, *listens) if listeners else None
        scheduler = Scheduler(clock or MonotonicClock(), workers)
        try:
            engines: list[VoiceEngine] = [TtsEngine(voice.result(), scheduler, capacity)]
            if (folder := ssm or packaged()) is not None:  # before the others: the first voice is the default
                river = SsmVoice(folder, voice.result().frontend, sessions)
                engines.insert(0, SsmEngine(river, scheduler, capacity))
            if kokoro.voices:
                lane = Lane.beside_others(scheduler)
                places = min(capacity, kokoro_streams or KOKORO_STREAMS * lane.seats)
                engines.append(TtsEngine(kokoro, lane, places))
            if (espeak := formant.result()) is not None:  # behind the neural voices, which go before it
                engines.append(TtsEngine(espeak, scheduler, capacity))
            ear = None if senses is None else _ear(senses.result(), scheduler, listeners)
        except BaseException:
            scheduler.close()
            raise
    return House(scheduler, Registry(engines, default_voice, ear=ear, missing=kokoro.missing), brain, sessions)


def build_ear(
    model_file: ModelFile, workers: int, capacity: int, clock: Clock | None = None, *,
    whisper: Whispers = NO_WHISPERS, sherpa: Transducers = NO_TRANSDUCERS, sessions: Sessions | None = None,
) -> tuple[Scheduler, SttEngine]:
    """The ear alone, with its workers: whoever asks for it closes the scheduler."""
    one_thread()
    senses = _load_senses(model_file, workers, whisper, sherpa, sessions or Sessions())
    scheduler = Scheduler(clock or MonotonicClock(), workers)
    return scheduler, _ear(senses, scheduler, capacity)


def _espeak() -> EspeakVoice | None:
    """None where the extra is not installed. Raises ``ModelUnavailable`` where it is, and does not work."""
    return EspeakVoice(espeak_library.load()) if espeak_library.installed() else None


@dataclass(frozen=True, slots=True)
class _Senses:
    recognisers: tuple[Recogniser, ...]
    vad: SileroVad
    scorer: HybridTurnScorer


def _load_senses(
    model_file: ModelFile, workers: int, whisper: Whispers, sherpa: Transducers, sessions: Sessions,
    turn_level: float | None = None,
) -> _Senses:
    weights = WEIGHTS if turn_level is None else replace(WEIGHTS, level=turn_level)
    sound = SmartTurn(model_file("smart-turn-v3.2", "smart-turn-v3.2-cpu.onnx"), sessions)
    return _Senses(
        (
            *(SherpaEar(Transducer(folder), languages, name) for name, (folder, languages) in sherpa.items()),
            load_moonshine(model_file, sessions),
            *(WhisperEar(Whisper(folder, workers), name) for name, folder in whisper.items()),
        ),
        SileroVad(model_file("silero-vad", "silero_vad.onnx"), sessions),
        HybridTurnScorer(sound, weights, UtteranceModel.load(), PauseModel.load()),
    )


def _ear(senses: _Senses, scheduler: Scheduler, capacity: int) -> SttEngine:
    return SttEngine(senses.recognisers, senses.vad, scheduler, capacity, senses.scorer)
