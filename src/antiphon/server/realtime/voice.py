"""What the agent says over a Realtime socket, as speeches of a conversation's log. Pure.

Nobody reports what was played, so a clock does: a client plays at once, one message after the other, until the user
takes the floor or it says itself where it stopped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from antiphon.audio.pcm import bytes_per_sample
from antiphon.core.event import Audio, Event, Flushed
from antiphon.dialog.conversation_actions import CancelSpeech, FlushSpeech, HoldSpeech, ReleaseSpeech, Speak
from antiphon.dialog.conversation_events import FromVoice, Truncated
from antiphon.dialog.conversation_log import AudibleLeft, AudioLeft, Observed, SpeechOpened
from antiphon.protocol.actions import Key
from antiphon.protocol.native_messages import AudioShape
from antiphon.server.agent.speech import SpeechLevel

LATE_S: Final = 0.001
"""What was to end at a moment has ended so much after it: the clock counts whole samples."""

_END_MARKER = 1
_MAX_SPEECHES = 64


@dataclass(slots=True)
class _Speech:
    """One message of a response, by its item's id."""

    item_id: str
    response_id: str
    turn: int
    shape: AudioShape | None
    """None: the client is given text."""
    sent: int = 0
    """Samples at the wire's rate."""
    made: int = 0
    """Samples at the voice's rate, ``made_hz``."""
    made_hz: int = 0
    audible: bool = False
    waits_s: float | None = None
    """When the message before it has been played, and this one begins."""
    ends_s: float = 0.0
    stopped: bool = False


class RealtimeVoice:
    """``tell`` takes the log's entries, ``said`` audio as it is given to the socket (speech, first sample, bytes)."""

    def __init__(self, tell: Callable[[Observed], None], said: Callable[[str, int, bytes], None]) -> None:
        self._tell = tell
        self._said = said
        self._level = SpeechLevel()
        self._speeches: dict[str, _Speech] = {}
        self._keys: dict[Key, _Speech] = {}
        self._free_s = 0.0

    @property
    def free_s(self) -> float:
        """When all that was sent has been played."""
        return self._free_s

    @property
    def due_s(self) -> float | None:
        """When a message begins to play that waits for the one before."""
        return min((each.waits_s for each in self._speeches.values() if each.waits_s is not None), default=None)

    def knows(self, item_id: str) -> bool:
        return item_id in self._speeches

    def owns(self, key: Key) -> bool:
        return key in self._keys

    def turn_of(self, item_id: str) -> int | None:
        """The turn that the message answers; None: it is not known."""
        speech = self._speeches.get(item_id)
        return None if speech is None else speech.turn

    def has_audio(self, response_id: str) -> bool:
        return any(each.sent for each in self._speeches.values() if each.response_id == response_id)

    def begin(self, item_id: str, response_id: str, turn: int, shape: AudioShape | None) -> None:
        while len(self._speeches) >= _MAX_SPEECHES:
            del self._speeches[next(iter(self._speeches))]
        self._speeches[item_id] = _Speech(item_id, response_id, turn, shape)

    def write(self, item_id: str, text: str, key: Key | None) -> None:
        """Text of the message; ``key``: the stream that speaks it."""
        speech = self._speeches[item_id]
        if key is not None:
            self._keys[key] = speech
        self._tell(Speak(item_id, text, held=speech.shape is None))

    def hear(self, key: Key, event: Event) -> bool:
        """An event of a stream of speech. Says whether it is the first audio of its message."""
        speech = self._keys.get(key)
        if speech is None:
            return False
        first = isinstance(event, Audio) and not speech.made
        if isinstance(event, Audio):
            speech.made, speech.made_hz = max(speech.made, event.start_sample + event.samples), event.sample_rate_hz
        if isinstance(event, Flushed):  # the stream's only one: all of the text has been spoken
            self._tell(FlushSpeech(speech.item_id, _END_MARKER))
            event = Flushed(_END_MARKER)
        self._tell(FromVoice(speech.item_id, event))
        return first

    def send(self, item_id: str, data: bytes, now_s: float) -> None:
        """A piece of the message's audio is given to the socket."""
        speech = self._speeches.get(item_id)
        if speech is None or speech.shape is None:
            return
        shape = speech.shape
        samples = len(data) // bytes_per_sample(shape.encoding)
        if not speech.sent:
            rate_hz, encoding = shape.sample_rate_hz, shape.encoding
            self._tell(SpeechOpened(item_id, speech.response_id, speech.turn, rate_hz, encoding))
            if self._free_s > now_s:
                speech.waits_s = self._free_s
                self._tell(HoldSpeech(item_id))
        if not speech.audible:
            at = self._level.audible(data, shape)
            if at is not None:
                speech.audible = True
                self._tell(AudibleLeft(item_id, speech.sent + at))
        self._said(item_id, speech.sent, data)
        self._tell(AudioLeft(item_id, speech.sent, samples))
        speech.sent += samples
        self._free_s = speech.ends_s = max(self._free_s, now_s) + samples / shape.sample_rate_hz

    def tick(self, now_s: float) -> None:
        for speech in self._speeches.values():
            if speech.waits_s is not None and speech.waits_s <= now_s:
                speech.waits_s = None
                self._tell(ReleaseSpeech(speech.item_id))

    def close(self, response_id: str) -> None:
        """The response is over: its streams say no more."""
        self._keys = {key: each for key, each in self._keys.items() if each.response_id != response_id}

    def stop(self, now_s: float) -> None:
        """No more of what has not been played yet."""
        for speech in self._speeches.values():
            if speech.shape is not None and not speech.stopped and (not speech.sent or speech.ends_s > now_s):
                speech.stopped, speech.waits_s = True, None
                self._tell(CancelSpeech(speech.item_id, 0))
        self._free_s = min(self._free_s, now_s)

    def cuts(self, item_id: str, end_ms: int) -> bool:
        """Whether some of what was sent of the message was not played if the client stopped there."""
        speech = self._speeches.get(item_id)
        if speech is None or speech.shape is None:
            return False
        rate_hz = speech.shape.sample_rate_hz
        return (end_ms + 1) * rate_hz // 1000 < speech.sent  # what is left of a millisecond does not count

    def truncate(self, item_id: str, end_ms: int) -> None:
        """The client's own word for where it stopped."""
        speech = self._speeches.get(item_id)
        if speech is not None and speech.shape is not None:
            cut = self.cuts(item_id, end_ms)
            sample = min(speech.made, end_ms * speech.made_hz // 1000) if cut else speech.made
            self._tell(Truncated(item_id, sample))
