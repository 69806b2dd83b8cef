"""The job engine for voices that speak whole units: text deltas in, encoded audio and word times out."""

from functools import partial

import msgspec

from antiphon.audio.container import open_encoder
from antiphon.audio.shape import GainRamp, Limiter
from antiphon.core.clock import Clock
from antiphon.core.engine import Wake
from antiphon.core.errors import InvalidInput
from antiphon.core.event import Audio, Event, Flushed, Marker, PhonemeTimes, Warned, WordTimes
from antiphon.core.speech import Prosody, Rendered, SpeechConfig, VoiceInfo
from antiphon.engine.jobs import JobLine, Steps
from antiphon.engine.places import Place, Places
from antiphon.engine.scheduler import Workers
from antiphon.engine.tts_reading import Reading
from antiphon.engine.voice import BlendingVoice, JobVoice, require_voice
from antiphon.text.phonemes import check_pieces
from antiphon.text.unit import Unit

MAX_PENDING_CHARS = 100_000
_encode = msgspec.json.Encoder().encode


class TtsEngine:
    """One :class:`JobVoice` behind the engine contract, with ``capacity`` places."""

    def __init__(self, voice: JobVoice, scheduler: Workers, capacity: int = 256) -> None:
        self.name = voice.name
        self.voices: tuple[VoiceInfo, ...] = voice.voices
        self._by_id = {info.id: info for info in reversed(self.voices)}
        self.voice = voice
        self._scheduler = scheduler
        self.places = Places(capacity, f"places of the voice engine {voice.name!r}")

    def find(self, voice: str) -> VoiceInfo | None:
        """One of :attr:`voices` by its id, or a blend by its name. Raises ``InvalidInput``, ``ModelUnavailable``."""
        info = self._by_id.get(voice)
        return self.voice.find(voice) if info is None and isinstance(self.voice, BlendingVoice) else info

    def open_stream(self, config: SpeechConfig, wake: Wake) -> "TtsStream":
        """``config.voice`` must be one that :meth:`find` knows. Raises ``AtCapacity``, ``InvalidInput``."""
        require_voice(self.name, self.find(config.voice), config)
        # The encoder is opened before a place is taken: a format that cannot be made must not cost one.
        render = _Renderer(self.voice, config, self._scheduler.clock)
        return TtsStream(render, config, self._scheduler, wake, self.places.take())

    def warm_up(self) -> None:
        self.voice.warm_up()

    def close(self) -> None:
        """Nothing to give back: the scheduler owns the threads and streams own their places."""


class TtsStream:
    """Text deltas (``str``) and :class:`Prosody` in; audio, word times and markers out.

    The place is given back when the audio of the last flush is made, or on close.
    """

    def __init__(self, render: "_Renderer", config: SpeechConfig, scheduler: Workers, wake: Wake, place: Place) -> None:
        self._clock = scheduler.clock
        self._config = config
        self._line = JobLine(scheduler, wake, config.lead_s)
        self._place = place
        self._begin(render)

    def push(self, item: str | Prosody) -> None:
        if isinstance(item, Prosody):
            self._reading.set_prosody(item)
            return
        if self._reading.pending_chars + len(item) > MAX_PENDING_CHARS:
            raise InvalidInput(
                f"more than {MAX_PENDING_CHARS} characters wait to be spoken; send text no faster than it is spoken",
                "transcript",
            )
        self._reading.push(item)

    def flush(self, marker: Marker, *, last: bool = False) -> None:
        place = self._place if last else None
        self._reading.flush(partial(self._render.finish, marker, last, place))

    def tick(self, now_s: float) -> float | None:
        return self._reading.tick(now_s)

    def pull(self, limit: int | None = None) -> list[Event]:
        return self._line.pull(limit)

    def cancel(self) -> None:
        self._line.cancel()
        self._begin(self._render.restarted())

    def close(self) -> None:
        self._line.close()
        self._place.release()

    def _begin(self, render: "_Renderer") -> None:
        """A new epoch."""
        self._render = render
        self._reading = Reading(self._config, self._line, self._clock, speak=render.unit, unspoken=render.unspoken)


class _Renderer:
    """What a stream's jobs share: position, encoder, gain. Touched by one worker at a time."""

    def __init__(self, voice: JobVoice, config: SpeechConfig, clock: Clock, position: int = 0) -> None:
        self._voice = voice
        self._config = config
        self._clock = clock
        self._encoder = open_encoder(config.format, voice.sample_rate_hz)
        self._volume = config.volume
        self._gain = GainRamp(voice.sample_rate_hz, config.volume)
        self._limit = Limiter(voice.sample_rate_hz)
        self._position = position
        self._ending: str | None = None
        self._warned: set[str] = set()

    def restarted(self) -> "_Renderer":
        """A fresh one for the next epoch: nothing that a codec or resampler held back may be heard after a cancel."""
        return _Renderer(self._voice, self._config, self._clock, self._position)

    def unit(self, unit: Unit) -> Steps:
        check_pieces(unit.pieces)
        warnings = self._warnings(unit)
        if warnings:
            yield warnings
        steps = self._voice.speak(self._config.voice, unit, self._position, self._config.seed, self._ending)
        while True:
            began_s = self._clock.now_s()
            rendered = next(steps, None)
            if rendered is None:
                break
            yield self._events(rendered, unit.volume, began_s)
        if unit.pieces:
            self._ending = unit.ending

    def unspoken(self, sounds: tuple[str, ...]) -> Steps:
        names = ", ".join(f"[{name}]" for name in sounds)
        yield [Warned(f"voice engine {self._voice.name!r} cannot make {names}; it is left out")]

    def finish(self, marker: Marker, last: bool, place: Place | None) -> Steps:
        tail = self._encoder.finish() if last else self._encoder.flush()
        if place is not None:
            place.release()
        events: list[Event] = []
        if tail:
            events.append(Audio(tail, self._position, 0, self._voice.sample_rate_hz, as_json=self._as_json(tail)))
        yield [*events, Flushed(marker)]

    def _events(self, rendered: Rendered, volume: float, began_s: float) -> list[Event]:
        rate_hz = self._voice.sample_rate_hz
        events: list[Event] = []
        # Times go first: a player schedules words against audio that it already has.
        if rendered.words and self._config.words:
            events.append(WordTimes(rendered.words, rendered.normalized, rate_hz))
        if rendered.phonemes and self._config.phonemes:
            events.append(PhonemeTimes(rendered.phonemes, rate_hz))
        samples = rendered.samples
        if volume != self._volume:
            self._volume = volume
            self._gain.set(volume)
        data = self._encoder.push(self._limit.push(self._gain.push(samples)))
        spent_s = self._clock.now_s() - began_s
        if len(samples):
            events.append(Audio(data, self._position, len(samples), rate_hz, spent_s, self._as_json(data)))
            self._position += len(samples)
        return events

    def _as_json(self, data: bytes) -> bytes:
        return _encode(data) if self._config.as_json and data else b""

    def _warnings(self, unit: Unit) -> list[Event]:
        """Accepted, but not done as asked; said once per stream."""
        found = {"format": self._encoder.notice}
        if unit.emotion is not None and unit.emotion.lower() != "neutral":
            found["emotion"] = (
                f"voice engine {self._voice.name!r} cannot do emotion {unit.emotion[:40]!r}; it is spoken neutrally"
            )
        fresh = {kind: message for kind, message in found.items() if message and kind not in self._warned}
        self._warned.update(fresh)
        return [Warned(message) for message in fresh.values()]
