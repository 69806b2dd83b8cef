"""What the speech socket knows of the stream under way."""

from dataclasses import dataclass, field
from typing import Final

from antiphon.core.speech import Prosody
from antiphon.protocol.actions import Key, Push
from antiphon.protocol.native_frames import AudioFrames
from antiphon.protocol.native_messages import AudioShape
from antiphon.protocol.native_speech_messages import ChangeProsody

_UNCHANGED: Final = Prosody()


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
