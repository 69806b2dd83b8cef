"""Which engine answers for which model and voice names, and which one listens."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeAlias

from antiphon.core.errors import InvalidInput, ModelUnavailable, NotFound
from antiphon.core.hearing import HearingConfig
from antiphon.core.speech import MissingVoice, SpeechConfig, VoiceInfo
from antiphon.engine.ssm import SsmEngine
from antiphon.engine.stt import SttEngine
from antiphon.engine.tts import TtsEngine
from antiphon.engine.voices import nobody_speaks, speaker, speaks, wrong_voice
from antiphon.text.languages import LONGEST_TAG

VoiceEngine: TypeAlias = TtsEngine | SsmEngine

SDK_VOICES = (
    "6ccbfb76-1fc6-48f7-b71d-91ac6298247b",  # cartesia-python/-js: closing message of a context that had no voice
    "f786b574-daa5-4673-aa0c-cbe3e8534c02",  # livekit-plugins-cartesia: default voice
)
"""Voice ids that client libraries hard-code; they mean the default voice."""

OPENAI_VOICES = (
    "alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer", "verse",
)  # fmt: skip
"""Voice names of OpenAI's speech API; they mean the default voice until one is mapped to another."""


_NAMED = 12
"""Voices named in a message; there may be hundreds."""


class Registry:
    """Voice engines by name and the ear, with the names that clients use for them.

    ``model`` selects an engine if it names one; every other name (``sonic-3``, ``tts-1``) means the default engine, and
    a voice's own engine always wins over both. Where a language is asked for that the default voice does not speak,
    another answers (:mod:`antiphon.engine.voices`). An unknown voice is ``NotFound``. Likewise for the ear: a
    recogniser's name selects it, every other (``ink-2``, ``whisper-1``) means the default one for the language.
    """

    def __init__(
        self,
        engines: Sequence[VoiceEngine],
        default_voice: str | None = None,
        aliases: Mapping[str, str] | None = None,
        ear: SttEngine | None = None,
        missing: Sequence[MissingVoice] = (),
    ) -> None:
        """``missing``: voices that could speak here if something were pulled or installed; asking for one says what."""
        if not engines:
            raise ValueError("a registry needs at least one engine")
        self.engines = {engine.name: engine for engine in engines}
        self.missing = tuple(missing)
        self.ear = ear
        self._voices = {info.id: info for engine in engines for info in engine.voices}
        self.default_voice = self._find(default_voice) if default_voice else engines[0].voices[0]
        self._aliases = {name: self.default_voice for name in (*SDK_VOICES, *OPENAI_VOICES)}
        for info in self._voices.values():
            self._aliases.update({alias.lower(): info for alias in info.aliases})
        self._aliases.update({name.lower(): self._find(voice) for name, voice in (aliases or {}).items()})

    def voices(self) -> tuple[VoiceInfo, ...]:
        return tuple(self._voices.values())

    def voice(self, name: str) -> VoiceInfo:
        """By id, name or alias, or a blend. Raises ``NotFound``, ``ModelUnavailable``, ``InvalidInput``."""
        return self._aliases.get(name.lower()) or self._find(name)

    def resolve(self, config: SpeechConfig) -> tuple[VoiceEngine, SpeechConfig]:
        """The engine that serves ``config``, and ``config`` with its voice's real id.

        A voice that is only the default gives way to one that speaks the language. Raises ``NotFound`` for a voice that
        is not known, ``InvalidInput`` for a language that it does not speak, or nobody, and ``ModelUnavailable`` for a
        voice or an engine that is missing, all saying what to install.
        """
        if len(config.language) > LONGEST_TAG:
            raise InvalidInput(f"language: a tag has at most {LONGEST_TAG} characters", "language")
        info = self.voice(config.voice) if config.voice else self.default_voice
        wanted = self.engines.get(config.model)
        if wanted is None:
            self._require_engine(config.model)
        if info is self.default_voice:
            info = self._default_for(wanted, config.language)
        elif wanted is not None and info.engine != wanted.name:
            named = repr(config.voice[:80])
            raise NotFound(f"voice {named} belongs to {info.engine!r}, not to {config.model!r}", "voice")
        elif config.language and not speaks(info, config.language):
            raise wrong_voice(info, config.language, self.voices())
        # No language asked for means the voice's own.
        return self.engines[info.engine], replace(config, voice=info.id, language=config.language or info.language)

    def ears(self) -> tuple[str, ...]:
        """Names of the recognisers, the default one first."""
        return () if self.ear is None else tuple(recogniser.name for recogniser in self.ear.recognisers)

    def listener(self, config: HearingConfig) -> tuple[SttEngine, HearingConfig]:
        """The ear for ``config``, and ``config`` with the recogniser's real name, "" for the default one.

        Raises ``NotFound`` where nothing here listens.
        """
        if self.ear is None:
            raise NotFound("this server only speaks; no ear was loaded", "model")
        return self.ear, config if config.model in self.ears() else replace(config, model="")

    def warm_up(self) -> None:
        """One real inference per engine, beside each other."""
        engines: list[VoiceEngine | SttEngine] = [*self.engines.values()]
        if self.ear is not None:
            engines.append(self.ear)
        with ThreadPoolExecutor(len(engines)) as pool:
            for done in [pool.submit(engine.warm_up) for engine in engines]:
                done.result()

    def close(self) -> None:
        for engine in self.engines.values():
            engine.close()
        if self.ear is not None:
            self.ear.close()

    def _default_for(self, engine: VoiceEngine | None, language: str) -> VoiceInfo:
        default = self.default_voice
        if (engine is None or engine.name == default.engine) and (not language or speaks(default, language)):
            return default
        candidates = self.voices() if engine is None else engine.voices
        if not language:
            return candidates[0]
        found = speaker(candidates, language)
        if found is None:
            raise nobody_speaks(language, candidates)
        return found

    def _find(self, name: str) -> VoiceInfo:
        info, small = self._voices.get(name), name.lower()
        if info is None:
            info = next((i for i in self._voices.values() if i.name.lower() == small), None)
        if info is None:
            info = self._find_blend(name)
        if info is None:
            self._require_voice(name)
            names = [i.name for i in self._voices.values()]
            more = f" and {len(names) - _NAMED} others" if len(names) > _NAMED else ""
            known = ", ".join(names[:_NAMED]) + more
            about = f"voice {name[:80]!r} is not known; known voices: {known} (GET /voices lists their ids)"
            raise NotFound(about, "voice")
        return info

    def _find_blend(self, name: str) -> VoiceInfo | None:
        found = (engine.find(name) for engine in self.engines.values() if isinstance(engine, TtsEngine))
        return next((info for info in found if info is not None), None)

    def _require_voice(self, name: str) -> None:
        """Raises ``ModelUnavailable`` if ``name`` means a voice that is missing, or a blend with one."""
        parts = {part.strip().lower() for part in re.split(r"[+:()]", name)} | {name.lower()}
        for voice in self.missing:
            if voice.info.id in parts or voice.info.name.lower() in parts:
                raise ModelUnavailable(f"voice {voice.info.name!r} cannot speak here yet: {voice.needs}")

    def _require_engine(self, model: str) -> None:
        for voice in self.missing:
            if voice.info.engine == model:
                raise ModelUnavailable(f"the voice engine {model!r} cannot speak here yet: {voice.needs}")
