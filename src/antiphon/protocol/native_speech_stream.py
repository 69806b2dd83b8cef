"""What the speech socket knows of the stream under way, and of what the last one asked for."""

from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from antiphon.core.frame import AudioFormat
from antiphon.core.speech import Prosody, SpeechConfig
from antiphon.protocol.actions import Key, Push
from antiphon.protocol.native_frames import AudioFrames
from antiphon.protocol.native_messages import AudioShape
from antiphon.protocol.native_speech_messages import ChangeProsody, Start

_UNCHANGED: Final = Prosody()


class Configs:
    """What the streams of one socket ask for. A client asks for the same again and again: the last is kept."""

    def __init__(self, default_delay_s: float) -> None:
        self._default_delay_s = default_delay_s
        self._asked: Start | None = None
        self._config = SpeechConfig("")

    def of(self, start: Start) -> SpeechConfig:
        """The same value for the same settings, whatever the text."""
        asked = replace(start, text="", end=False)
        if asked != self._asked:
            delay_ms, lead_ms = start.max_buffer_delay_ms, start.lead_ms
            self._config = SpeechConfig(
                voice=start.voice,
                model=start.model,
                language=start.language,
                format=AudioFormat("raw", start.output.encoding, start.output.sample_rate_hz),
                speed=start.speed,
                volume=start.volume,
                emotion=start.emotion,
                normalize=start.normalize,
                max_buffer_delay_s=self._default_delay_s if delay_ms is None else delay_ms / 1000,
                words=start.words,
                phonemes=start.phonemes,
                lead_s=None if lead_ms is None else lead_ms / 1000,
                seed=start.seed,
            )
            self._asked = asked
        return self._config


@dataclass(slots=True)
class SpeechStream:
    """``active_s``: when it was last used (monotonic seconds). ``sent_samples``: from the beginning, wherever that was.
    ``fresh``: the shell may still refuse to open it."""

    key: Key
    output: AudioShape
    frames: AudioFrames
    active_s: float
    sent_samples: int = 0
    flushes: list[str] = field(default_factory=list)
    ended: bool = False
    saving: bool = False
    fresh: bool = True
    prosody: Prosody = _UNCHANGED
    """Changes that wait for the text that they are for: of many only the last counts."""

    def change(self, asked: ChangeProsody) -> None:
        now = self.prosody
        self.prosody = Prosody(
            now.speed if asked.speed is None else asked.speed,
            now.volume if asked.volume is None else asked.volume,
            now.emotion if asked.emotion is None else asked.emotion,
        )

    def take_prosody(self) -> list[Push]:
        change, self.prosody = self.prosody, _UNCHANGED
        return [] if change == _UNCHANGED else [Push(self.key, change)]
