"""The wire's side of one speech: held back while it is a guess, then text, words and audio in order. Pure."""

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from antiphon.audio.activity import first_audible_sample, speech_level_dbfs
from antiphon.audio.pcm import bytes_per_sample, decode
from antiphon.core.event import Audio, Event, Flushed, WordTimes
from antiphon.dialog.conversation_log import AudibleLeft, AudioLeft, PlayedTo, SpeechOpened, WireNews
from antiphon.protocol.actions import Close, Flush, Key, Push
from antiphon.protocol.native import NativeSocket
from antiphon.protocol.native_frames import WireAction
from antiphon.protocol.native_messages import AudioShape

SpeechAction: TypeAlias = WireAction | Push | Flush | Close

_TYPICAL_DBFS = -26.0
_THIN_S = 0.15
"""Audio that leaves so shortly before it is needed may well come too late."""


class SpeechLevel:
    """How loud the agent speaks, as far as it is known: what is audible is judged against it."""

    def __init__(self) -> None:
        self._dbfs: float | None = None

    def audible(self, data: bytes, shape: AudioShape) -> int | None:
        """The first audible sample of a piece; None: there is none."""
        samples = decode(data, shape.encoding)
        level_dbfs = speech_level_dbfs(samples, shape.sample_rate_hz)
        at = first_audible_sample(
            samples, shape.sample_rate_hz, max(_TYPICAL_DBFS, level_dbfs) if self._dbfs is None else self._dbfs
        )
        if at is not None:
            self._dbfs = level_dbfs if self._dbfs is None else max(level_dbfs, self._dbfs - 1.0)
        return at


class AgentSpeech:
    """One ``speech_id`` of the conversation is one ``reply_id`` of the wire.

    Samples of the conversation are the voice's, those of the wire count at the output's rate: :meth:`voice_sample`.
    """

    def __init__(
        self,
        speech_id: str,
        key: Key,
        turn: int,
        held: bool,
        shape: AudioShape,
        native: NativeSocket,
        level: SpeechLevel,
        tell: Callable[[WireNews], None],
        said: Callable[[str, int, bytes], None],
        now_s: Callable[[], float],
    ) -> None:
        self.speech_id = speech_id
        self.key = key
        self.turn = turn
        self.held = held
        self.begun = False
        """Whether the client knows of it."""
        self.stopped = False
        """Whether the conversation has given it up."""
        self.complete = False
        """Whether the voice has made all of it."""
        self._shape = shape
        self._sample_bytes = bytes_per_sample(shape.encoding)
        self._native = native
        self._level = level
        self._tell = tell
        self._said = said
        self._now_s = now_s
        self._back: deque[tuple[str, object]] = deque()  # what is held back
        self._flushes = 0  # that have not been answered
        self._last = False
        self._audible = False
        self._sent_samples = 0
        self._free_s = 0.0  # when a client that plays at once has played all that was sent
        self._holes = 0  # that nobody's player could have avoided
        self._blamed = 0
        self._made_samples = 0
        self._rate_hz = 0
        self._agreed: list[tuple[int, int]] = []  # at these samples of the wire and of the voice both end

    def speak(self, text: str) -> list[SpeechAction]:
        return [Push(self.key, text), *self._put("text", text)]

    def flush(self, marker: int) -> list[SpeechAction]:
        self._flushes += 1
        return [Flush(self.key, marker, last=False)]

    def finish(self) -> list[SpeechAction]:
        """No more text comes."""
        self._last = True
        return self._complete()

    def deliver(self, event: Event) -> list[SpeechAction]:
        """An event of the voice, which the conversation knows already."""
        match event:
            case Audio():
                self._rate_hz = event.sample_rate_hz
                self._made_samples = max(self._made_samples, event.start_sample + event.samples)
                return self._put("audio", event.data) if event.data else []
            case WordTimes():
                return self._put("words", event)
            case Flushed():
                self._flushes = max(0, self._flushes - 1)
                return [*self._put("mark", self._made_samples), *self._complete()]
            case _:
                return []

    def release(self) -> list[SpeechAction]:
        self.held = False
        out: list[SpeechAction] = []
        while self._back:
            out += self._put(*self._back.popleft())
        return out

    def cancel(self, fade_ms: int) -> list[WireAction]:
        """What is held back is dropped; a client that knows of it stops."""
        self.stopped = True
        self._back.clear()
        return self._native.clear(self.speech_id, fade_ms) if self.begun else []

    def played(self, sample: int, underruns: int) -> int:
        """The client's report. Returns how many new holes in its playback are its own: not those where nothing was
        sent in time."""
        self._tell(PlayedTo(self.speech_id, sample, underruns))
        own = underruns - self._holes - (self._now_s() > self._free_s - _THIN_S)
        fresh, self._blamed = max(0, own - self._blamed), max(own, self._blamed)
        return fresh

    def voice_sample(self, sample: int) -> int:
        """A sample of the wire in the voice's count. Bytes lag behind by what a resampler holds back, except where the
        voice was flushed."""
        scaled = min(sample * self._rate_hz // self._shape.sample_rate_hz, self._made_samples)
        return max([scaled, *(voice for ours, voice in self._agreed if ours <= sample)])

    def _complete(self) -> list[SpeechAction]:
        if not self._last or self._flushes or self.complete:
            return []
        self.complete = True
        return [Close(self.key), *self._put("end", None)]

    def _put(self, kind: str, item: object) -> list[SpeechAction]:
        if self.held:
            self._back.append((kind, item))
            return []
        return [*self._begin(), *self._send(kind, item)]

    def _begin(self) -> list[WireAction]:
        if self.begun:
            return []
        self.begun = True
        self._tell(SpeechOpened(self.speech_id, self.speech_id, self.turn, self._shape.sample_rate_hz))
        return self._native.begin_reply(self.speech_id, self.key)

    def _send(self, kind: str, item: object) -> list[WireAction]:
        match kind, item:
            case "text", str():
                return self._native.text(self.speech_id, item)
            case "words", WordTimes():
                return self._native.words(self.speech_id, item)
            case "audio", bytes():
                return self._audio(item)
            case "mark", int():
                self._agreed.append((self._sent_samples, item))
                return self._native.mark(self.speech_id)
            case _:
                return self._native.end_reply(self.speech_id)

    def _audio(self, data: bytes) -> list[WireAction]:
        if not self._audible:
            at = self._level.audible(data, self._shape)
            if at is not None:
                self._audible = True
                self._tell(AudibleLeft(self.speech_id, self._sent_samples + at))
        start, samples, now_s = self._sent_samples, len(data) // self._sample_bytes, self._now_s()
        self._holes += bool(start) and now_s > self._free_s - _THIN_S
        self._free_s = max(self._free_s, now_s) + samples / self._shape.sample_rate_hz
        self._said(self.speech_id, start, data)
        self._sent_samples += samples
        self._tell(AudioLeft(self.speech_id, start, samples))
        return self._native.audio(self.speech_id, data)
