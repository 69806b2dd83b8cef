"""The audio of a call on disk: the caller on the left, the agent on the right as the caller heard it.

Both lie on one line of time, seconds since the session began. The agent's audio is sent faster than it sounds, so it is
put where it is expected to sound, moved to where the client says that it did, and muted where it was cleared.
"""

from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from antiphon.audio.pcm import PcmReader
from antiphon.audio.resample import Resampler
from antiphon.audio.two_channel import TwoChannelWav
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.store.lock import try_lock

RATE_HZ = EAR_RATE_HZ
CALLER, AGENT = 0, 1

_GAP_SAMPLES = RATE_HZ // 4  # a caller's audio this late was not sent for a while
_EXACT_SAMPLES = RATE_HZ // 200
_LATE_SAMPLES = RATE_HZ // 10  # a client this far behind had nothing to play for a while
_SETTLED_SAMPLES = 30 * RATE_HZ  # by then some piece has come in good time
_MAX_SPEECHES = 256
_MAX_GAPS = 4_096


@dataclass(slots=True, eq=False)
class _Speech:
    wire_hz: int
    reader: PcmReader | None
    resampler: Resampler
    start: int | None = None
    """Where its sample 0 sounds."""
    sent: int = 0
    """Where it was when its first audio was sent: it cannot have sounded before."""
    done: int = 0
    base: int = 0
    """Samples before this have sounded, and stay where they are."""
    reported: bool = False
    paused: int | None = None

    @property
    def end(self) -> int:
        return (self.start or 0) + self.done


class CallAudio:
    """One call's file. Belongs to the disk's thread; raises ``OSError`` where the disk does. Times are monotonic."""

    def __init__(self, path: Path, began_s: float, max_s: float, encoding: str, rate_hz: int) -> None:
        """``encoding`` and ``rate_hz`` are the agent's; the caller's come with the audio."""
        self._wav = TwoChannelWav(path, RATE_HZ, int(max_s * RATE_HZ))
        with suppress(OSError):  # a disk without locks
            try_lock(self._wav.file)  # until it is closed: who can lock it knows that its writer is gone
        self._began_s = began_s
        self._encoding = encoding
        self._rate_hz = rate_hz
        self._form: tuple[str, int] = ("", 0)
        self._reader: PcmReader | None = None
        self._resampler: Resampler | None = None
        self._user_end: int | None = None
        self._stretch = (0, 0)  # where the latest audio without a gap may begin, and where it does
        self._gaps: list[tuple[int, int]] = []  # from this media sample on, audio lies from this place on
        self._forgot_gaps = False
        self._speeches: dict[str, _Speech] = {}
        self._free = 0  # up to here the agent's side is taken

    def user(self, now_s: float, sample: int, data: bytes, encoding: str, rate_hz: int) -> None:
        """What came of the caller; it begins at media ``sample``."""
        if (encoding, rate_hz) != self._form:
            self._form = (encoding, rate_hz)
            self._reader = PcmReader(encoding)
            self._resampler = Resampler(rate_hz, RATE_HZ)
        assert self._reader is not None
        assert self._resampler is not None
        samples = self._resampler.push(self._reader.feed(data))
        begin = max(0, self._place(now_s) - len(samples))
        if self._user_end is None or begin - self._user_end > _GAP_SAMPLES:
            self._stretch = (self._user_end or 0, begin)
            self._user_end = begin
            self._gaps.append((sample, begin))
            if len(self._gaps) > _MAX_GAPS:
                del self._gaps[0]
                self._forgot_gaps = True
        elif self._user_end - begin > _EXACT_SAMPLES:
            self._came_late(self._user_end - begin)
        self._wav.write(CALLER, self._user_end, samples)
        self._user_end += len(samples)

    def agent(self, now_s: float, speech_id: str, data: bytes) -> None:
        """What was sent of a speech."""
        speech = self._speech(speech_id)
        if speech.reader is None:
            return
        samples = speech.resampler.push(speech.reader.feed(data))
        now = self._place(now_s)
        if speech.start is None:
            speech.start = speech.sent = max(now, self._free)
        if speech.paused is None and now > speech.end:  # the listener ran dry meanwhile
            speech.start += now - speech.end
            speech.base = speech.done
        self._wav.write(AGENT, speech.end, samples)
        speech.done += len(samples)
        self._free = max(self._free, speech.end)

    def opened(self, speech_id: str, wire_hz: int, encoding: str = "") -> None:
        """``encoding``: if not the agent's own."""
        speech = self._speech(speech_id)
        speech.wire_hz = wire_hz
        other = encoding and (encoding, wire_hz) != (self._encoding, self._rate_hz)
        if other and speech.reader is not None and speech.start is None:
            speech.reader, speech.resampler = PcmReader(encoding), Resampler(wire_hz, RATE_HZ)

    def played(self, now_s: float, speech_id: str, sample: int) -> None:
        """The client has played so far: the earliest start that a report implies is the truest."""
        speech = self._speeches.get(speech_id)
        if speech is None or speech.start is None or speech.reader is None or sample <= 0:
            return
        at = min(sample * RATE_HZ // speech.wire_hz, speech.done)
        implied = max(self._place(now_s) - at, speech.sent)
        by = implied - speech.start
        if not speech.reported or by < 0:
            speech.reported = True
            if abs(by) > _EXACT_SAMPLES:
                self._move(speech, speech.base, by)
        elif by > _LATE_SAMPLES and at > speech.base:
            self._move(speech, at, by)
            speech.base = at

    def paused(self, now_s: float, speech_id: str) -> None:
        speech = self._speeches.get(speech_id)
        if speech is not None and speech.start is not None:
            speech.paused = max(0, self._place(now_s) - speech.start)

    def went_on(self, now_s: float, speech_id: str) -> None:
        speech = self._speeches.get(speech_id)
        if speech is None or speech.start is None or speech.paused is None:
            return
        at, speech.paused = min(speech.paused, speech.done), None
        self._move(speech, at, self._place(now_s) - speech.start - at)
        speech.base = at

    def cancelled(self, now_s: float, speech_id: str, fade_ms: int) -> None:
        """What had not sounded never will."""
        speech = self._speeches.get(speech_id)
        if speech is None or speech.reader is None:
            return
        speech.reader = None
        if speech.start is None:
            return
        now = self._place(now_s) if speech.paused is None else speech.start + speech.paused
        cut = min(max(now + fade_ms * RATE_HZ // 1000, speech.start), speech.end)
        self._wav.mute(AGENT, cut, speech.end)
        speech.done = cut - speech.start
        self._free = cut

    def mute_user(self, start: int, stop: int) -> None:
        """Silence the caller in ``[start, stop)`` of media time."""
        self._wav.mute(CALLER, self._lies(start), self._lies(stop))

    def mute_agent(self, *speech_ids: str) -> None:
        for speech_id in speech_ids:
            speech = self._speeches.get(speech_id)
            if speech is not None and speech.start is not None:
                self._wav.mute(AGENT, min(speech.sent, speech.start), speech.end)

    @property
    def path(self) -> Path:
        return self._wav.path

    def close(self) -> None:
        self._wav.close()

    def discard(self) -> None:
        """Nothing of it stays on disk."""
        self._wav.discard()

    def _came_late(self, by: int) -> None:
        """A piece that came sooner than those before it says when all of them were said: the least late is right."""
        floor, begin = self._stretch
        assert self._user_end is not None
        by = min(by, begin - floor)
        if by <= 0 or self._user_end - begin > _SETTLED_SAMPLES:
            return
        self._wav.move(CALLER, begin, self._user_end, -by)
        self._stretch = (floor, begin - by)
        self._user_end -= by
        if self._gaps and self._gaps[-1][1] == begin:
            self._gaps[-1] = (self._gaps[-1][0], begin - by)

    def _speech(self, speech_id: str) -> _Speech:
        speech = self._speeches.get(speech_id)
        if speech is None:
            while len(self._speeches) >= _MAX_SPEECHES:
                del self._speeches[next(iter(self._speeches))]
            speech = _Speech(self._rate_hz, PcmReader(self._encoding), Resampler(self._rate_hz, RATE_HZ))
            self._speeches[speech_id] = speech
        return speech

    def _move(self, speech: _Speech, from_sample: int, by: int) -> None:
        """What lies from this sample of the speech on sounds so much later (or earlier)."""
        assert speech.start is not None
        self._wav.move(AGENT, speech.start + from_sample, speech.end, by)
        speech.start += by
        self._free = max(0, self._free + by)

    def _place(self, now_s: float) -> int:
        return max(0, round((now_s - self._began_s) * RATE_HZ))

    def _lies(self, sample: int) -> int:
        index = bisect_right(self._gaps, (sample, 1 << 62)) - 1
        if index < 0:
            return 0 if self._forgot_gaps else sample
        media, place = self._gaps[index]
        return place + sample - media
