"""Says the text of one reply, through as many speeches as it takes, and knows what of it was heard."""

from collections.abc import Callable
from typing import Protocol

from antiphon.core.event import Audio, Event, Failed, Flushed, WordTimes
from antiphon.dialog.conversation_actions import (
    Action,
    CancelSpeech,
    ContinueSpeech,
    FinishSpeech,
    FlushSpeech,
    HoldSpeech,
    PauseSpeech,
    ReleaseSpeech,
    Speak,
)
from antiphon.dialog.conversation_settings import ReplySettings
from antiphon.dialog.ledger import Cause
from antiphon.dialog.playout import Playout
from antiphon.dialog.reply import Reply
from antiphon.dialog.reply_feed import Feed

_LATE_S = 0.001  # a deadline by the clock is past the last sample, not at it


class Note(Protocol):
    """Writes a decision into the ledger."""

    def __call__(self, turn: int, kind: str, reason: str = "", fault: Cause | None = None) -> None: ...


class ReplyVoice:
    """The voice's side of a reply. Positions are characters of the reply's text.

    A speech that fails, or is mute, is given up, and another one begins behind the last heard word.
    """

    def __init__(self, reply: Reply, settings: ReplySettings, new_id: Callable[[str], str], note: Note) -> None:
        self.reply = reply
        self.settings = settings
        self.released = False
        self.dead = False
        """Given up for good: the voice cannot be recovered."""
        self.final = False
        """No more text comes."""
        self.stopped = False
        self.paused = False
        self.playout = Playout(settings.playout_delay_s)
        self._feed = Feed(settings.feed, settings.language)
        self._new_id = new_id
        self._note = note
        self._speech_id = ""
        self._stopped_id = ""
        self._offset = 0  # where the speech begins
        self._said = 0  # what was given to the voice
        self._heard = 0  # by earlier speeches
        self._flushed = 0  # what a flush was sent behind
        self._markers = 0
        self._flushes: dict[object, int] = {}
        self._waiting_s: float | None = None  # since when the voice owes something
        self._playing = False
        self._lost_reports = False
        self._ended_s: float | None = None  # the end, by the clock, that is known to have passed
        self._failures = 0
        self._finished = False  # the voice knows that no more text comes for this speech

    @property
    def mute(self) -> bool:
        """Whether nothing of it has been sent."""
        return not self._heard and self.playout.sent_samples == 0

    @property
    def owes(self) -> bool:
        """Whether the voice has yet to make some of what was written."""
        return not self.dead and not self.stopped and bool(self._flushes or self.reply.text[self._flushed :].strip())

    @property
    def partly(self) -> bool:
        """Whether it is over although not all of it is known to have been heard."""
        return self.dead or self._lost_reports

    def heard_chars(self, now_s: float) -> int:
        if self._speech_id:
            return max(self._heard, self._offset + self.playout.heard_chars(now_s))
        return self._heard

    def quiet(self, now_s: float) -> bool:
        """Whether all that was given to the voice has been played."""
        if self.dead or not self._speech_id:
            return True
        if self._flushes or self._flushed < self._said or not self.released:
            return False
        return self._lost_reports or self.playout.played_out(now_s)

    def settled(self, now_s: float) -> bool:
        """Whether all of the reply has been said and heard, or never will be."""
        if self.dead:
            return True
        unsaid = bool(self.reply.text[self._said :].strip())
        return self.final and not self.stopped and not unsaid and self.quiet(now_s)

    def write(self, text: str, now_s: float) -> list[Action]:
        self.reply.text += text
        return self._speak(now_s, everything=False)

    def flush(self, now_s: float) -> list[Action]:
        """Say what was written: nothing more comes for a while."""
        actions = self._speak(now_s, everything=True)
        if self._speech_id and self._flushed < self._said and not self.stopped:
            self._markers += 1
            self._flushes[self._markers] = self._flushed = self._said
            self._waiting_s = now_s
            actions.append(FlushSpeech(self._speech_id, self._markers))
        if self._speech_id and self.final and not self.stopped and not self._finished:
            self._finished = True
            actions.append(FinishSpeech(self._speech_id))
        return actions

    def finish(self, now_s: float) -> list[Action]:
        self.final = True
        return self.flush(now_s)

    def release(self, now_s: float) -> list[Action]:
        if self.released:
            return []
        self.released = True
        self.playout.release(now_s)
        if not self._speech_id:
            return []
        self._note(self.reply.turn, "speech.released")
        self._note_playing()
        return [ReleaseSpeech(self._speech_id)]

    def hold(self) -> list[Action]:
        """Keep it back, if nothing of it has been sent."""
        if not self.released or not self.mute:
            return []
        self.released = self.playout.released = False
        return [HoldSpeech(self._speech_id)] if self._speech_id else []

    def pause(self, now_s: float) -> list[Action]:
        """Stop sounding for now, if it sounds."""
        if self.paused or not self._speech_id or self.mute or self.playout.played_out(now_s):
            return []
        self.paused = True
        self.playout.pause(now_s)
        return [PauseSpeech(self._speech_id)]

    def go_on(self, now_s: float) -> list[Action]:
        """Sound again after a pause."""
        if not self.paused:
            return []
        self.paused = False
        self.playout.go_on(now_s)
        return [ContinueSpeech(self._speech_id)]

    def stop(self, now_s: float, fade_ms: int) -> list[Action]:
        """Fall silent; what is written is kept for :meth:`resume`."""
        self.stopped = True
        actions = self._close(now_s, fade_ms)
        self.reply.heard_chars = self._heard
        return actions

    def resume(self, now_s: float) -> list[Action]:
        """Go on behind the last heard word."""
        self.stopped = False
        self.reply.heard_chars = None
        return self._again(now_s, flush=True)

    def restore(self, heard: int, final: bool) -> None:
        """It was stopped in another process, behind its first ``heard`` characters."""
        self.stopped, self.final, self._heard = True, final, heard
        self.reply.heard_chars = heard

    def truncate(self, speech_id: str, sample: int) -> None:
        """The client's word for where a stopped speech ended."""
        if self.stopped and speech_id == self._stopped_id:
            self.playout.truncate(sample)
            self._heard = self._offset + self.playout.heard_chars(0.0)
            self.reply.heard_chars = self._heard

    def plays(self, speech_id: str) -> bool:
        return bool(speech_id) and speech_id == self._speech_id

    def owns(self, speech_id: str) -> bool:
        return bool(speech_id) and speech_id in (self._speech_id, self._stopped_id)

    def handle(self, speech_id: str, event: Event, now_s: float) -> list[Action]:
        if not self.plays(speech_id):
            return []
        match event:
            case Audio():
                if not self.playout.made_samples:
                    self._note(self.reply.turn, "voice.first")
                self.playout.make(event.start_sample + event.samples, event.sample_rate_hz, now_s)
                self._waiting_s = now_s
                self._note_playing()
            case WordTimes():
                self.playout.time(event.words)
            case Flushed():
                chars = self._flushes.pop(event.marker, None)
                if chars is not None:
                    self.playout.agree(chars - self._offset)
            case Failed():
                return self._recover(event.message, now_s)
        return []

    @property
    def deadline_s(self) -> float | None:
        if self.dead or not self._speech_id or self.stopped:
            return None
        if self._flushes:
            return self._mute_s
        ends_s = self.playout.ends_s
        if ends_s is None or self._flushed < self._said or self._lost_reports:
            return None
        if self.playout.reports:
            done = self.playout.position(0.0) >= self.playout.made_samples
            return None if done else ends_s + self.settings.report_grace_s
        return None if ends_s == self._ended_s else ends_s + _LATE_S

    @property
    def _mute_s(self) -> float | None:
        """When a voice that owes sound has been silent for too long. One that is ahead of its listener may rest."""
        if self._waiting_s is None:
            return None
        ends_s, lead_s = self.playout.ends_s, self.settings.lead_s
        since_s = self._waiting_s if ends_s is None or lead_s is None else max(self._waiting_s, ends_s - lead_s)
        return since_s + self.settings.voice_mute_s

    def tick(self, now_s: float) -> list[Action]:
        deadline_s = self.deadline_s
        if deadline_s is None or now_s < deadline_s:
            return []
        if self._flushes:
            return self._recover("no sound from it", now_s)
        self._ended_s = self.playout.ends_s
        if self.playout.reports and not self.playout.played_out(now_s):
            self._lost_reports = True  # what it did not report was not heard
            self._note(self.reply.turn, "playing.unreported", "the client stopped reporting", "client_playback")
        return []

    def _speak(self, now_s: float, everything: bool) -> list[Action]:
        if self.stopped or self.dead:
            return []
        text = self.reply.text[self._said : self._feed.upto(self.reply.text, self._said, everything)]
        if not text.strip():
            return []
        if not self._speech_id:
            blank = len(text) - len(text.lstrip())
            self._said += blank
            text = text[blank:]
            self._open(now_s)
        self._said += len(text)
        self.playout.write(text)
        return [Speak(self._speech_id, text, not self.released)]

    def _open(self, now_s: float) -> None:
        self._speech_id = self._new_id("speech")
        self._offset = self._flushed = self._said
        self._flushes.clear()
        self._waiting_s = None
        self._finished = False
        self.playout = Playout(self.settings.playout_delay_s)
        if self.released:
            self.playout.release(now_s)
        self._note(self.reply.turn, "voice.text")

    def _close(self, now_s: float, fade_ms: int) -> list[Action]:
        if not self._speech_id:
            return []
        self.playout.clear(now_s)
        self._heard = self.heard_chars(now_s)
        speech_id, self._speech_id = self._speech_id, ""
        self.paused = False
        self._stopped_id = speech_id
        self._flushes.clear()
        return [CancelSpeech(speech_id, fade_ms)]

    def _again(self, now_s: float, flush: bool) -> list[Action]:
        self._said = self._flushed = self._heard
        return self.flush(now_s) if flush else self._speak(now_s, everything=False)

    def _recover(self, message: str, now_s: float) -> list[Action]:
        self._note(self.reply.turn, "voice.failed", message, "tts")
        flush = bool(self._flushes) or self.final
        actions = self._close(now_s, self.settings.fade_ms)
        self._failures += 1
        if self._failures > self.settings.voice_retries:
            self.dead = True
            self.reply.heard_chars = self._heard
            self._note(self.reply.turn, "voice.given_up")
            return actions
        return actions + self._again(now_s, flush)

    def _note_playing(self) -> None:
        if not self._playing and self.playout.sent_samples:
            self._playing = True
            self._note(self.reply.turn, "playing.first")
