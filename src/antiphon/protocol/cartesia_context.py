"""One context of a Cartesia TTS socket: what is locked, what has been asked for, what is still owed."""

from collections import deque
from dataclasses import dataclass, field

from msgspec.structs import replace

from antiphon.core.errors import InvalidInput
from antiphon.core.speech import Prosody, SpeechConfig
from antiphon.protocol.actions import Key
from antiphon.protocol.cartesia_messages import MessageWriter
from antiphon.protocol.cartesia_request import (
    UNSAID,
    GenerationRequest,
    audio_format,
    buffer_delay_s,
    language_of,
    prosody_of,
    speech_config,
    voice_id,
)


class Configs:
    """What the contexts of one socket ask for. A client asks for the same again and again: the last is kept."""

    def __init__(self, default_delay_s: float) -> None:
        self._default_delay_s = default_delay_s
        self._asked: GenerationRequest | None = None
        self._config = SpeechConfig("")

    def of(self, request: GenerationRequest) -> SpeechConfig:
        """From the first message of a context. Raises ``InvalidInput`` if it does not say enough."""
        missing = next(
            (name for name in ("model_id", "voice", "output_format") if getattr(request, name) is None), None
        )
        if missing is None and request.transcript is None and not request.flush:
            missing = "transcript"
        if missing is not None:
            raise InvalidInput(f"{missing}: the first message of a context must have this field", missing)
        assert request.voice is not None
        assert request.output_format is not None
        asked = replace(request, context_id=None, transcript=None, continue_=None, flush=None)
        if asked != self._asked:
            self._config = speech_config(
                request,
                model=request.model_id or "",
                voice=request.voice,
                output=request.output_format,
                raw_only=True,
                max_buffer_delay_s=buffer_delay_s(request.max_buffer_delay_ms, self._default_delay_s),
            )
            self._asked = asked
        return self._config


@dataclass(slots=True)
class Context:
    """``active_s``: when input last came or audio last went out; expiry counts from there.

    ``held``: messages that came after the one that closed the input. They belong to the context that reuses the id,
    which cannot begin before this one's ``done`` is out.
    """

    id: str
    key: Key
    config: SpeechConfig
    writer: MessageWriter
    active_s: float
    opened: bool = False
    closing: bool = False
    flushes: int = 0
    prosody: Prosody = field(default_factory=Prosody)
    pushed_chars: int = 0
    spoken_chars: int = 0
    """Of ``pushed_chars``, as far as the last flush that came back tells."""
    flush_marks: deque[int] = field(default_factory=deque)
    """``pushed_chars`` at each flush that has not come back."""
    held: deque[GenerationRequest] = field(default_factory=deque)
    held_chars: int = 0

    @property
    def unspoken_chars(self) -> int:
        return self.pushed_chars - self.spoken_chars

    @staticmethod
    def begin(
        context_id: str,
        key: Key,
        request: GenerationRequest,
        config: SpeechConfig,
        *,
        chunk_s: float,
        now_s: float,
    ) -> "Context":
        """From the first message of a context, and what it asks for."""
        writer = MessageWriter(
            context_id,
            config.format,
            words=config.words,
            phonemes=config.phonemes,
            normalized=bool(request.use_normalized_timestamps),
            flush_ids=True,
            chunk_s=chunk_s,
        )
        prosody = Prosody(config.speed, config.volume, config.emotion)
        return Context(context_id, key, config, writer, active_s=now_s, prosody=prosody)

    def check_locks(self, request: GenerationRequest) -> None:
        """Voice, model, language, format and dictionary hold for the life of a context.

        Raises ``InvalidInput`` naming the change.
        Fields left out are inherited. Only messages with text are held to it: SDKs close contexts with placeholders.
        """
        config = self.config
        changed = None
        if request.model_id is not None and request.model_id != config.model:
            changed = "model_id"
        elif request.voice is not None and voice_id(request.voice) != config.voice:
            changed = "voice"
        elif (language := language_of(request)) and language != config.language:
            changed = "language" if request.locale is None else "locale"
        elif request.output_format is not None and audio_format(request.output_format, raw_only=True) != config.format:
            changed = "output_format"
        elif request.pronunciation_dict_id and request.pronunciation_dict_id != config.dictionary:
            changed = "pronunciation_dict_id"
        if changed is not None:
            raise InvalidInput(
                f"{changed}: must stay the same for the life of a context; use a new context_id to change it", changed
            )

    def same_settings(self, request: GenerationRequest) -> bool:
        """Whether a message could be a later one of this context."""
        try:
            self.check_locks(request)
        except InvalidInput:
            return False
        return True

    def change_of_prosody(self, request: GenerationRequest) -> Prosody | None:
        """What a message changes about speed, volume and emotion for text from here on; None if nothing."""
        asked = prosody_of(request, request.voice)
        if asked is UNSAID:
            return None
        now = self.prosody
        change = Prosody(
            speed=asked.speed if asked.speed != now.speed else None,
            volume=asked.volume if asked.volume != now.volume else None,
            emotion=asked.emotion if asked.emotion != now.emotion else None,
        )
        if change == Prosody():
            return None
        self.prosody = Prosody(
            speed=now.speed if change.speed is None else change.speed,
            volume=now.volume if change.volume is None else change.volume,
            emotion=now.emotion if change.emotion is None else change.emotion,
        )
        return change
