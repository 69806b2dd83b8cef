"""Cartesia's ``/stt/turns/websocket`` as a pure machine: the server says when a turn begins and ends.

Turns are decided elsewhere, from the stream's events and the settings of the last ``Configure``; this machine is given
the decisions and keeps what the wire promises whatever it is given: ``turn.start`` first, text that only grows, no
``turn.resume`` without ``turn.eager_end``, no turn left open at the close.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from antiphon.core.errors import InvalidInput
from antiphon.core.event import Event
from antiphon.core.hearing import HearingConfig
from antiphon.core.turns import (
    EndpointSettings,
    TurnEagerEnded,
    TurnEnded,
    TurnEvent,
    TurnResumed,
    TurnStarted,
    TurnUpdated,
)
from antiphon.protocol.actions import Action, Configure, Note
from antiphon.protocol.cartesia_stt_messages import (
    ConfigCommand,
    TurnEagerEnd,
    TurnEnd,
    TurnResume,
    TurnsConnected,
    TurnStart,
    TurnUpdate,
)
from antiphon.protocol.cartesia_stt_query import changed_settings, read_turns_query, shown
from antiphon.protocol.cartesia_stt_socket import KEY, HearingLimits, HearingSocket, command_in
from antiphon.protocol.http import decode_json

_configs = msgspec.json.Decoder(ConfigCommand)


class TurnsSocket(HearingSocket):
    """The machine of one WebSocket. ``query`` as it stands in the URL."""

    def __init__(self, query: str, limits: HearingLimits, request_id: str) -> None:
        self._settings = EndpointSettings()
        config: HearingConfig | InvalidInput
        try:
            asked = read_turns_query(query)
        except InvalidInput as error:
            config = error
        else:
            config, self._settings = asked.config, asked.settings
        super().__init__(config, limits, request_id)
        self._turn: Literal["idle", "speaking", "eager"] = "idle"
        self._transcript = ""

    def _greet(self) -> Sequence[Action]:
        # After Open: a refusal of the stream comes before this, closes the socket, and so takes its place.
        return [Configure(KEY, self._settings), self._send(TurnsConnected(request_id=self._request_id))]

    def _command(self, frame: str, now_s: float) -> list[Action]:
        command = command_in(frame)
        if command in ("close", "done"):
            return self._finish(now_s)
        if command != "config":
            raise InvalidInput(
                f'unknown command {shown(command)}; send {{"type": "close"}}, {{"type": "config"}}, '
                "or audio as binary frames"
            )
        change = decode_json(frame, _configs).turn
        if change is None:
            return []
        self._settings = changed_settings(self._settings, change)
        return [Configure(KEY, self._settings)]

    def _heard(self, event: Event | TurnEvent) -> list[Action]:
        if isinstance(event, TurnStarted):
            return self._start()
        if isinstance(event, TurnUpdated):
            return self._update(event.transcript)
        if isinstance(event, TurnEagerEnded):
            return self._eager_end(event.transcript)
        if isinstance(event, TurnResumed):
            return self._resume()
        if isinstance(event, TurnEnded):
            return self._end(event.transcript)
        return []

    def _last_words(self) -> Sequence[Action]:
        return self._end(self._transcript)

    def _start(self) -> list[Action]:
        if self._turn != "idle":
            return []
        self._turn = "speaking"
        self._transcript = ""
        return [self._send(TurnStart(request_id=self._request_id))]

    def _update(self, transcript: str) -> list[Action]:
        actions, grew = self._grow(transcript)
        if not grew:
            return actions
        update = TurnUpdate(request_id=self._request_id, transcript=self._transcript)
        return [*actions, *self._resume(), self._send(update)]

    def _eager_end(self, transcript: str) -> list[Action]:
        actions, grew = self._grow(transcript)
        if self._turn == "eager":
            if not grew:
                return actions
            actions += self._resume()
        if self._turn == "idle":
            actions += self._start()
        self._turn = "eager"
        eager_end = TurnEagerEnd(request_id=self._request_id, transcript=self._transcript)
        return [*actions, self._send(eager_end)]

    def _resume(self) -> list[Action]:
        if self._turn != "eager":
            return []
        self._turn = "speaking"
        return [self._send(TurnResume(request_id=self._request_id))]

    def _end(self, transcript: str) -> list[Action]:
        actions, _ = self._grow(transcript) if transcript or self._turn != "idle" else ([], False)
        if self._turn == "idle":
            return actions
        end = TurnEnd(request_id=self._request_id, transcript=self._transcript)
        self._turn = "idle"
        self._transcript = ""
        return [*actions, self._send(end)]

    def _grow(self, transcript: str) -> tuple[list[Action], bool]:
        """Take the turn's text so far, starting the turn if text comes first; whether there is more of it now."""
        actions: list[Action] = []
        if transcript and self._turn == "idle":
            actions += self._start()
        if not transcript.startswith(self._transcript):
            # What clients have shown or acted on is not taken back.
            return [*actions, Note("the text of a turn was revised; the revision is not sent", KEY)], False
        grew = len(transcript) > len(self._transcript)
        self._transcript = transcript
        return actions, grew
