"""The engine of the state-space voice: text, word by word, in; encoded audio and exact times out.

The contract is that of every voice (:class:`antiphon.core.engine.Engine`); what is special is that sound begins after
a few words, whatever the sentence becomes, that many streams share each step, and that a stream can be saved between
two steps and go on elsewhere.
"""

from dataclasses import replace

from antiphon.core.engine import Wake
from antiphon.core.errors import InvalidInput
from antiphon.core.event import Event, Marker
from antiphon.core.speech import Prosody, SpeechConfig, VoiceInfo
from antiphon.engine.outbox import Outbox
from antiphon.engine.places import Place, Places
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.ssm_lanes import SUB_BATCH, SsmLanes
from antiphon.engine.ssm_reading import LOOK_AGAIN_S, SsmReading
from antiphon.engine.ssm_run import SsmRun
from antiphon.engine.ssm_snapshot import MAX_BYTES, StreamData, config_of, pack, restore, unpack
from antiphon.engine.voice import require_voice
from antiphon.models.ssm_voice import SsmVoice

MAX_PENDING_CHARS = 100_000


class SsmEngine:
    """A :class:`SsmVoice` behind the engine contract, with ``capacity`` places, ``sub_batch`` streams to a step."""

    def __init__(
        self, voice: SsmVoice, scheduler: Scheduler, capacity: int = 256, sub_batch: int = SUB_BATCH
    ) -> None:
        self.name = voice.name
        self.voices: tuple[VoiceInfo, ...] = voice.voices
        self.voice = voice
        self.lanes = SsmLanes(voice.model, scheduler, sub_batch)
        self.places = Places(capacity, f"places of the voice engine {voice.name!r}")

    def open_stream(self, config: SpeechConfig, wake: Wake) -> "SsmStream":
        """``config.voice`` must be one of :attr:`voices`. Raises ``AtCapacity``, ``InvalidInput``."""
        info = next((info for info in self.voices if info.id == config.voice), None)
        require_voice(self.name, info, config)
        # The encoder is opened before a place is taken: a format that cannot be made must not cost one.
        stream = SsmStream(self, config, wake)
        stream.place = self.places.take()
        return stream

    def resume(
        self, snapshot: bytes, wake: Wake, *, owner: str | None = None, lead_s: float | None = None
    ) -> "SsmStream":
        """Open a stream that goes on where :meth:`SsmStream.save` left another one, on this machine or elsewhere.

        ``owner`` (None: the saved one's) is who counts for it here; it gets no further ahead of the listener than both
        ``lead_s`` and what it was asked for allow. Raises ``AtCapacity``, and ``InvalidInput`` for a snapshot that is
        damaged or of other weights.
        """
        data = unpack(snapshot)
        config = config_of(data)
        lead_s = min((one for one in (lead_s, config.lead_s) if one is not None), default=None)
        config = replace(config, owner=config.owner if owner is None else owner, lead_s=lead_s)
        stream = self.open_stream(config, wake)
        try:
            stream.continue_from(data)
        except BaseException:
            stream.close()
            raise
        return stream

    def warm_up(self) -> None:
        self.voice.warm_up()

    def close(self) -> None:
        """Nothing to give back: the scheduler owns the threads and streams own their places."""


class SsmStream:
    """Text deltas (``str``) and :class:`Prosody` in; audio, times and markers out.

    The place is given back when the audio of the last flush is made, or on close.
    """

    place: Place | None = None

    def __init__(self, engine: SsmEngine, config: SpeechConfig, wake: Wake) -> None:
        self._engine = engine
        self._lanes = engine.lanes
        self._config = config
        self._wake = wake
        self._outbox = Outbox()
        self._closed = False
        self._run = self._fresh(0)

    def push(self, item: str | Prosody) -> None:
        reading = self._run.reading
        if self._run.saving:
            raise InvalidInput("the stream is being saved; what comes later goes to the one that is resumed", "text")
        if isinstance(item, Prosody):
            reading.set_prosody(item)
        else:
            if reading.pending_chars + len(item) > MAX_PENDING_CHARS:
                raise InvalidInput(
                    f"more than {MAX_PENDING_CHARS} characters wait to be spoken; "
                    "send text no faster than it is spoken",
                    "transcript",
                )
            reading.push(item, self._lanes.scheduler.clock.now_s())
        self._activate()

    def flush(self, marker: Marker, *, last: bool = False) -> None:
        if self._run.saving:
            raise InvalidInput("the stream is being saved; what comes later goes to the one that is resumed", "flush")
        self._run.reading.flush(marker, last, self._lanes.scheduler.clock.now_s())
        self._activate()

    def tick(self, now_s: float) -> float | None:
        if self._run.saving:
            return now_s + LOOK_AGAIN_S
        due_s = self._run.reading.tick(now_s)
        self._activate()
        return due_s

    def pull(self, limit: int | None = None) -> list[Event]:
        with self._lanes.lock:
            was_full = self._outbox.full
            events = self._outbox.take(limit)
            if was_full:
                self._lanes.activate(self._run)
            return events

    def cancel(self) -> None:
        """Drop all that was asked for and not pulled; the model forgets, the stream's position stays."""
        with self._lanes.lock:
            self._lanes.drop(self._run)
            self._outbox.next_epoch()
            self._run = self._fresh(self._run.track.at_sample)

    def close(self) -> None:
        with self._lanes.lock:
            self._closed = True
            self._lanes.drop(self._run)
            self._outbox.next_epoch()
        if self.place is not None:
            self.place.release()

    def save(self) -> bytes:
        """Stop between two steps, for good: what was made can still be pulled, the rest is in the bytes (see
        :meth:`SsmEngine.resume`). Waits for a step that is under way.

        Raises ``InvalidInput`` where this stream cannot be saved (it then goes on).
        """
        with self._lanes.lock:
            run = self._run
            self._lanes.settle(run)
            snapshot = pack(run, self._lanes.scheduler.clock.now_s())
            self._lanes.drop(run)
        self._release()
        return snapshot

    def save_soon(self, limit_bytes: int = MAX_BYTES) -> None:
        """See :class:`antiphon.core.engine.Savable`: :meth:`save` for whoever may not wait."""
        with self._lanes.lock:
            run = self._run
            saved = self._lanes.save(run, limit_bytes)
        if saved:
            run.wake()

    def load(self, snapshot: bytes) -> None:
        """Go on where another stream of the same settings was; whatever this one was to say is dropped.

        Raises ``InvalidInput`` for a snapshot that is damaged, of other weights or of other settings.
        """
        data = unpack(snapshot)
        if config_of(data) != self._config:
            raise InvalidInput("the snapshot is of a stream with other settings", "snapshot")
        self.continue_from(data)

    def continue_from(self, data: StreamData) -> None:
        """As :meth:`load`, with what :func:`antiphon.engine.ssm_snapshot.unpack` gave."""
        with self._lanes.lock:
            self._lanes.drop(self._run)
            self._outbox.next_epoch()
            run = self._fresh(0)
            restore(data, run, self._lanes.scheduler.clock.now_s())
            self._run = run
            self._lanes.activate(run)

    def _activate(self) -> None:
        with self._lanes.lock:
            if not self._closed:
                self._lanes.activate(self._run)

    def _fresh(self, at_sample: int) -> SsmRun:
        track = self._engine.voice.track(self._config.seed, at_sample)
        reading = SsmReading(self._config)
        return SsmRun(self._config, track, self._outbox, self._wake, reading, self._outbox.epoch, self._release)

    def _release(self) -> None:
        if self.place is not None:
            self.place.release()
