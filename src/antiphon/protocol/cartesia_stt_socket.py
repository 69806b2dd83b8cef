"""What Cartesia's two listening sockets share: one stream from the handshake to the close, its bounds and its end.

What the public documents leave open is settled so:

* The stream is opened at once, before anything is sent: a model or language that cannot be had is told instead of a
  greeting. The first ``tick`` is due immediately and does it, unless a frame comes first.
* After an error that ends the session the socket closes: 1008 for a request that can never be served, 1013 where there
  was no place, 1011 for our own failure. Clients reconnect after the last two only.
* A socket on which nothing comes in for ``idle_s``, while its stream has nothing to say, ends as if by ``close``.
* What a client sends after its ``close`` is ignored.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from antiphon.core.errors import AntiphonError, AtCapacity, EngineFailed, InvalidInput
from antiphon.core.event import Event, Failed, Flushed, Warned
from antiphon.core.hearing import HearingConfig
from antiphon.core.turns import TurnEvent
from antiphon.protocol.actions import Action, Close, CloseSocket, Flush, Key, Note, Open, Push, Send
from antiphon.protocol.cartesia_stt_messages import SttMessage, SttWarning, TurnsMessage, encode_message, stt_error
from antiphon.protocol.http import TooLarge, decode_json

KEY: Final = 1
"""The one stream of a listening socket."""

END: Final = "end"
"""Marker of the last flush."""

NORMAL, UNACCEPTABLE, BROKEN, RESTART, TRY_LATER = 1000, 1008, 1011, 1012, 1013
"""WebSocket close codes (RFC 6455 7.4.1 and its registry)."""

_MAX_WARNINGS = 16


@dataclass(frozen=True, slots=True)
class HearingLimits:
    """Bounds of one listening socket.

    ``max_waiting``: finalizes that wait for their answer. ``idle_s``: see the module; clients that keep a quiet socket
    alive do so after 120 s. ``close_limit_s``: how long the stream may be silent after ``close`` and before its end.
    """

    max_frame_bytes: int = 1 << 20
    max_text_chars: int = 4096
    max_waiting: int = 256
    idle_s: float = 240.0
    close_limit_s: float = 30.0


class _Named(msgspec.Struct):
    type: str = ""


_commands: msgspec.json.Decoder[str | _Named] = msgspec.json.Decoder(str | _Named)


def command_in(frame: str) -> str:
    """The command of a text frame: a bare word, the same word as a JSON string, or the ``type`` of a JSON object.

    Raises ``InvalidInput`` for broken JSON.
    """
    text = frame.strip()
    if not text.startswith(("{", '"')):
        return text.lower()
    command = decode_json(text, _commands)
    return (command if isinstance(command, str) else command.type).strip().lower()


class HearingSocket(ABC):
    """The common part of a listening socket's machine; a dialect adds its greeting, commands and messages.

    No method raises for anything that a client sent or a stream said.
    """

    def __init__(self, config: HearingConfig | InvalidInput, limits: HearingLimits, request_id: str) -> None:
        """``config`` is the error where the query was wrong: it is told on the socket, not at the handshake."""
        self._config = config
        self._limits = limits
        self._request_id = request_id
        self._begun = False
        self._over = False
        self._closing_s: float | None = None
        self._end_code = NORMAL
        self._active_s = 0.0
        self._warnings: set[str] = set()

    @property
    def due_s(self) -> float | None:
        """When to call :meth:`tick` at the latest (monotonic seconds); None: no need. May be early, never late."""
        if self._over:
            return None
        if not self._begun:
            return 0.0
        if self._closing_s is not None:
            return max(self._closing_s, self._active_s) + self._limits.close_limit_s
        return self._active_s + self._limits.idle_s

    def receive(self, frame: str | bytes, now_s: float) -> list[Action]:
        """A frame from the client."""
        actions = self._begin(now_s)
        if self._over or self._closing_s is not None:
            return actions
        self._active_s = now_s
        try:
            if isinstance(frame, bytes):
                return actions + self._audio(frame)
            if len(frame) > self._limits.max_text_chars:
                raise TooLarge(f"a text frame may have {self._limits.max_text_chars} characters, not {len(frame)}")
            return actions + self._command(frame, now_s)
        except InvalidInput as error:
            return [*actions, self._send(stt_error(error, self._request_id))]

    def deliver(self, key: Key, event: Event | TurnEvent, now_s: float) -> list[Action]:
        """An event of the stream, or what was decided about its turns."""
        if self._over or key != KEY:
            return []
        self._active_s = now_s  # it still listens: a client that is not read from, meanwhile, is not idle
        if isinstance(event, Failed):
            error = EngineFailed(event.message)
            return self._break_off(error) if event.fatal else [self._send(stt_error(error, self._request_id))]
        if isinstance(event, Warned):
            return self._warn(event.message)
        if isinstance(event, Flushed) and event.marker == END:
            if self._closing_s is None:
                return []
            self._over = True
            return [*self._last_words(), Close(KEY), CloseSocket(self._end_code)]
        return self._heard(event)

    def refused(self, key: Key, error: AntiphonError, now_s: float) -> list[Action]:
        """The shell could not open the stream, or the stream would not take what was pushed.

        Either ends the session: a transcript with a hole in it would be believed.
        """
        return [] if self._over or key != KEY else self._break_off(error)

    def tick(self, now_s: float) -> list[Action]:
        """Greet at first; later give up on a client that is silent, or on a stream that does not come to its end."""
        actions = self._begin(now_s)
        if self._over:
            return actions
        if self._closing_s is not None:
            if now_s >= max(self._closing_s, self._active_s) + self._limits.close_limit_s:
                actions += self._break_off(EngineFailed("the rest of the audio was not understood in time"))
        elif now_s >= self._active_s + self._limits.idle_s:
            actions += self._finish(now_s)
        return actions

    def drain(self, now_s: float) -> list[Action]:
        """The server wants to leave: what has come is heard out, and the close tells the client to come back."""
        if self._over or self._closing_s is not None:
            return []
        self._end_code = RESTART
        if self._begun:
            return self._finish(now_s)
        self._over = True
        return [CloseSocket(RESTART)]

    def close(self, reason: AntiphonError) -> list[Action]:
        """The socket is about to be closed by the server."""
        if self._over:
            return []
        self._over = True
        return [Close(KEY), self._send(stt_error(reason, self._request_id))]

    # For the dialects

    def _greet(self) -> Sequence[Action]:
        """What follows the opening of the stream."""
        return ()

    @abstractmethod
    def _command(self, frame: str, now_s: float) -> list[Action]:
        """A text frame. May raise ``InvalidInput``, which is told and ends nothing."""

    @abstractmethod
    def _heard(self, event: Event | TurnEvent) -> list[Action]:
        """What the stream or the turn taking has to say."""

    @abstractmethod
    def _last_words(self) -> Sequence[Action]:
        """All audio has been heard; the socket closes next."""

    def _finish(self, now_s: float) -> list[Action]:
        """Hear out what is buffered, then close."""
        self._closing_s = now_s
        return [Flush(KEY, END, last=True)]

    def _send(self, message: SttMessage | TurnsMessage) -> Send:
        return Send(encode_message(message), KEY)

    # Inside

    def _begin(self, now_s: float) -> list[Action]:
        if self._begun or self._over:
            return []
        self._begun = True
        self._active_s = now_s
        if isinstance(self._config, InvalidInput):
            return self._break_off(self._config)
        return [Open(KEY, self._config), *self._greet()]

    def _audio(self, data: bytes) -> list[Action]:
        if len(data) > self._limits.max_frame_bytes:
            raise TooLarge(f"a frame of audio may have {self._limits.max_frame_bytes} bytes, not {len(data)}")
        return [Push(KEY, data)] if data else []

    def _warn(self, message: str) -> list[Action]:
        actions: list[Action] = [Note(message, KEY)]
        if message not in self._warnings and len(self._warnings) < _MAX_WARNINGS:
            self._warnings.add(message)
            actions.append(self._send(SttWarning(request_id=self._request_id, message=message)))
        return actions

    def _break_off(self, error: AntiphonError) -> list[Action]:
        self._over = True
        code = (
            TRY_LATER if isinstance(error, AtCapacity)
            else UNACCEPTABLE if isinstance(error, InvalidInput)
            else BROKEN
        )  # fmt: skip
        return [Close(KEY), self._send(stt_error(error, self._request_id)), CloseSocket(code)]
