"""The job engine for voices that speak whole units: text deltas in, encoded audio and word times out."""

from functools import partial

from antiphon.audio.container import open_encoder
from antiphon.audio.shape import GainRamp, Limiter
from antiphon.core.clock import Clock
from antiphon.core.engine import Wake
from antiphon.core.errors import InvalidInput
from antiphon.core.event import Audio, Event, Flushed, Marker, PhonemeTimes, Warned, WordTimes
from antiphon.core.speech import Prosody, Rendered, SpeechConfig, VoiceInfo
from antiphon.engine.jobs import JobLine, Steps
from antiphon.engine.places import Place, Places
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.voice import JobVoice
from antiphon.text.languages import base_language
from antiphon.text.reader import SpeechReader
from antiphon.text.unit import Unit

MAX_PENDING_CHARS = 100_000


class TtsEngine:
    """One :class:`JobVoice` behind the engine contract, with ``capacity`` places."""

    def __init__(self, voice: JobVoice, scheduler: Scheduler, capacity: int = 256) -> None:
        self.name = voice.name
        self.voices: tuple[VoiceInfo, ...] = voice.voices
        self.voice = voice
        self._scheduler = scheduler
        self.places = Places(capacity, f"places of the voice engine {voice.name!r}")

    def open_stream(self, config: SpeechConfig, wake: Wake) -> "TtsStream":
        """``config.voice`` must be one of :attr:`voices`. Raises ``AtCapacity``, ``InvalidInput``."""
        info = next((info for info in self.voices if info.id == config.voice), None)
        if info is None:
            raise InvalidInput(f"voice {config.voice!r} is not a voice of {self.name}", "voice")
        if base_language(config.language) != base_language(info.language):
            raise InvalidInput(
                f"voice {info.name!r} speaks {info.language!r}, not {config.language!r}; GET /voices lists the others",
                "language",
            )
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

    def __init__(
        self, render: "_Renderer", config: SpeechConfig, scheduler: Scheduler, wake: Wake, place: Place
    ) -> None:
        self._clock = scheduler.clock
        self._config = config
        self._reader = SpeechReader(config.language, config.max_buffer_delay_s)
        self._reader.set_prosody(speed=config.speed, volume=config.volume, emotion=config.emotion)
        self._line = JobLine(scheduler, wake, config.lead_s)
        self._render = render
        self._place = place

    def push(self, item: str | Prosody) -> None:
        if isinstance(item, Prosody):
            self._reader.set_prosody(speed=item.speed, volume=item.volume, emotion=item.emotion)
            return
        if self._reader.pending_chars + self._render.waiting_chars + len(item) > MAX_PENDING_CHARS:
            raise InvalidInput(
                f"more than {MAX_PENDING_CHARS} characters wait to be spoken; send text no faster than it is spoken",
                "transcript",
            )
        self._submit(self._reader.push(item, self._clock.now_s()))

    def flush(self, marker: Marker, *, last: bool = False) -> None:
        self._submit(self._reader.flush(self._clock.now_s()))
        place = self._place if last else None
        self._line.submit(partial(self._render.finish, marker, last, place))

    def tick(self, now_s: float) -> float | None:
        self._submit(self._reader.tick(now_s))
        return self._reader.due_s

    def pull(self, limit: int | None = None) -> list[Event]:
        return self._line.pull(limit)

    def cancel(self) -> None:
        self._line.cancel()
        self._reader = SpeechReader(self._config.language, self._config.max_buffer_delay_s)
        self._render = self._render.restarted()

    def close(self) -> None:
        self._line.close()
        self._place.release()

    def _submit(self, units: list[Unit]) -> None:
        if self._reader.sounds:
            self._line.submit(partial(self._render.unspoken, tuple(self._reader.sounds)))
            self._reader.sounds.clear()
        for unit in units:
            self._render.taken_chars += len(unit.text)
            self._line.submit(partial(self._render.unit, unit))


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
        # Two counters with one writer each (the caller, a worker): one that both change would lose counts.
        self.taken_chars = 0
        self._begun_chars = 0

    @property
    def waiting_chars(self) -> int:
        """Characters of units that no worker has begun."""
        return self.taken_chars - self._begun_chars

    def restarted(self) -> "_Renderer":
        """A fresh one for the next epoch: nothing that a codec or resampler held back may be heard after a cancel."""
        return _Renderer(self._voice, self._config, self._clock, self._position)

    def unit(self, unit: Unit) -> Steps:
        self._begun_chars += len(unit.text)
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
            events.append(Audio(tail, self._position, 0, self._voice.sample_rate_hz))
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
            events.append(Audio(data, self._position, len(samples), rate_hz, spent_s))
            self._position += len(samples)
        return events

    def _warnings(self, unit: Unit) -> list[Event]:
        """Accepted, but not done as asked; said once per stream."""
        found = {"format": self._encoder.notice}
        if unit.emotion is not None and unit.emotion.lower() != "neutral":
            found["emotion"] = (
                f"voice engine {self._voice.name!r} cannot do emotion {unit.emotion!r}; it is spoken neutrally"
            )
        fresh = {kind: message for kind, message in found.items() if message and kind not in self._warned}
        self._warned.update(fresh)
        return [Warned(message) for message in fresh.values()]
