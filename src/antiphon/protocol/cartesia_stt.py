"""Cartesia's ``/stt/websocket`` as a pure machine: the client says when an utterance is over.

Binary frames are audio, text frames bare words (``finalize``, ``close``, the older ``done``); the same words as JSON
are understood too, and anything else is answered with an error. What the public documents leave open is settled so:

* A final without text is sent only after an interim with text, to take it back. Clients take any final for the end of
  an utterance, so one out of nothing would be an utterance of nothing.
* ``max_silence_duration_secs`` finalizes by itself after such a pause; no ``flush_done`` answers that.
* ``min_volume`` is accepted and not used: whether someone speaks is for a model to say, not for a level.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from antiphon.core.errors import InvalidInput
from antiphon.core.event import Event, Flushed
from antiphon.core.hearing import EAR_RATE_HZ, Heard, Listened, SpeechStarted, SpeechStopped
from antiphon.core.turns import TurnEvent
from antiphon.protocol.actions import Action, Flush, Note
from antiphon.protocol.cartesia_stt_messages import (
    SttDone,
    SttFlushDone,
    SttTranscript,
    seconds,
    stt_words,
)
from antiphon.protocol.cartesia_stt_query import read_stt_query, shown
from antiphon.protocol.cartesia_stt_socket import KEY, HearingLimits, HearingSocket, command_in

PAUSE: Final = "pause"
"""Marker of a flush that a long pause asked for; those that the client asked for have their number."""


class SttSocket(HearingSocket):
    """The machine of one WebSocket. ``query`` as it stands in the URL."""

    def __init__(self, query: str, limits: HearingLimits, request_id: str) -> None:
        self._max_silence_s: float | None = None
        self._unused_volume = False
        try:
            asked = read_stt_query(query)
        except InvalidInput as error:
            super().__init__(error, limits, request_id)
        else:
            super().__init__(asked.config, limits, request_id)
            self._max_silence_s = asked.max_silence_s
            self._unused_volume = asked.min_volume is not None
        self._asked = 0
        self._answered = 0
        self._interim = ""
        self._told_samples = 0
        self._quiet_sample: int | None = None

    def _greet(self) -> Sequence[Action]:
        return [Note("min_volume is accepted and not used", KEY)] if self._unused_volume else []

    def _command(self, frame: str, now_s: float) -> list[Action]:
        command = command_in(frame)
        if command == "finalize":
            if self._asked - self._answered >= self._limits.max_waiting:
                raise InvalidInput(f"finalize: {self._limits.max_waiting} wait for their answer already", "finalize")
            self._asked += 1
            return [Flush(KEY, self._asked, last=False)]
        if command in ("close", "done"):
            return self._finish(now_s)
        raise InvalidInput(f"unknown command {shown(command)}; send finalize, close, or audio as binary frames")

    def _heard(self, event: Event | TurnEvent) -> list[Action]:
        if isinstance(event, Heard):
            return self._final(event) if event.final else self._partial(event)
        if isinstance(event, Flushed):
            return self._flushed(event)
        if self._max_silence_s is not None:
            return self._pause(event, self._max_silence_s)
        return []

    def _last_words(self) -> Sequence[Action]:
        return [*self._take_back(), self._send(SttDone(request_id=self._request_id))]

    def _partial(self, event: Heard) -> list[Action]:
        if not event.text or event.text == self._interim:
            return []
        self._interim = event.text
        return [self._transcript(event)]

    def _final(self, event: Heard) -> list[Action]:
        if not event.text:
            return self._take_back()
        self._interim = ""
        return [self._transcript(event)]

    def _transcript(self, event: Heard) -> Action:
        duration: float | None = None
        if event.final and event.end_sample > self._told_samples:
            duration = seconds(event.end_sample - self._told_samples)
            self._told_samples = event.end_sample
        return self._send(
            SttTranscript(
                request_id=self._request_id,
                text=event.text,
                is_final=event.final,
                duration=UNSET if duration is None else duration,
                language=event.language or UNSET,
                words=stt_words(event.words) or UNSET,
            )
        )

    def _take_back(self) -> list[Action]:
        """Interim text that came to nothing: without a final for it, clients would wait for one."""
        if not self._interim:
            return []
        self._interim = ""
        return [self._send(SttTranscript(request_id=self._request_id, text="", is_final=True))]

    def _flushed(self, event: Flushed) -> list[Action]:
        if event.marker == PAUSE:
            return self._take_back()
        if not isinstance(event.marker, int) or not self._answered < event.marker <= self._asked:
            return []
        self._answered = event.marker
        return [*self._take_back(), self._send(SttFlushDone(request_id=self._request_id))]

    def _pause(self, event: Event | TurnEvent, limit_s: float) -> list[Action]:
        if isinstance(event, SpeechStarted):
            self._quiet_sample = None
        elif isinstance(event, SpeechStopped):
            self._quiet_sample = event.at_sample
        elif (
            isinstance(event, Listened)
            and self._quiet_sample is not None
            and event.at_sample - self._quiet_sample >= limit_s * EAR_RATE_HZ
        ):
            self._quiet_sample = None
            return [] if self._closing_s is not None else [Flush(KEY, PAUSE, last=False)]
        return []
