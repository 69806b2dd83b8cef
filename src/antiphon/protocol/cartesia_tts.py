"""Cartesia's ``/tts/websocket`` as a pure machine: frames, stream events and time in; actions out.

What the public documents leave open is settled so:

* A stream is opened at a context's first text that is not blank, so an empty context costs no place and is ``done`` at
  once. Blank text is never spoken; inside a context with buffering it is passed on, because tokens join verbatim.
* A message after the one with ``continue: false`` but before ``done`` waits and then opens a fresh context.
* An error ends its context. Messages of it that were already under way (same settings, within a second) are dropped
  silently instead of opening a context in the middle of a sentence.
* After a cancel, blank messages for the id (a late ``continue: false``) are dropped too: total silence.
* A context without input or audio for ``idle_s`` is closed as if by ``continue: false``: what waits is spoken first.
* Word times go out in the order of the stream's events; engines give them no later than the audio they describe.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import UNSET

from antiphon.core.errors import AntiphonError, AtCapacity, InvalidInput
from antiphon.core.event import Audio, Event, Failed, Flushed, PhonemeTimes, Warned, WordTimes
from antiphon.core.turns import TurnEvent
from antiphon.protocol.actions import Action, Cancel, Close, Flush, Key, Note, Open, Push, Send
from antiphon.protocol.cartesia_context import Configs, Context
from antiphon.protocol.cartesia_ended import EndedContexts
from antiphon.protocol.cartesia_messages import Done, encode_server_message, error_message
from antiphon.protocol.cartesia_request import (
    DEFAULT_BUFFER_DELAY_S,
    CancelRequest,
    GenerationRequest,
    check_text,
)
from antiphon.protocol.http import TooLarge, decode_json

END: Final = "end"
"""Marker of a context's last flush; flushes that a client asked for have their number."""

MAX_CONTEXT_ID_CHARS = 512
"""It is repeated in every message, so a huge one would be paid for in each."""


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """Bounds and defaults of one TTS socket.

    ``max_text_chars``: in one message. ``max_unspoken_chars``: in one context since its last completed flush.
    ``max_waiting``: messages waiting for a context of the same id to end, and flushes waiting for their
    audio. ``idle_s``: see the module. ``chunk_s``: longest piece of audio in one message.
    """

    max_contexts: int = 64
    max_frame_chars: int = 1 << 20
    max_text_chars: int = 50_000
    max_unspoken_chars: int = 200_000
    max_waiting: int = 256
    idle_s: float = 8.0
    chunk_s: float = 0.2
    max_buffer_delay_s: float = DEFAULT_BUFFER_DELAY_S


class _Addressed(msgspec.Struct):
    context_id: Any = None


_requests = msgspec.json.Decoder(GenerationRequest)
_addressed = msgspec.json.Decoder(_Addressed)


class _MaybeCancel(msgspec.Struct):
    context_id: str | None = None
    cancel: bool | None = None


_cancels = msgspec.json.Decoder(_MaybeCancel)


def decode_client_message(frame: str) -> GenerationRequest | CancelRequest:
    """Raises ``InvalidInput``."""
    if '"cancel"' in frame:
        asked = decode_json(frame, _cancels)
        if asked.cancel:
            if asked.context_id is None:
                raise InvalidInput("context_id: a cancel must name its context", "context_id")
            return CancelRequest(asked.context_id)
    return decode_json(frame, _requests)


class TtsSocket:
    """The machine of one WebSocket. ``version`` as :func:`~antiphon.protocol.versions.pick_version` gives it;
    ``new_id`` mints context ids for one-shot messages without one, and the ``request_id`` of errors if none is given.

    No method raises for anything that a client sent or a stream said.
    """

    def __init__(
        self,
        version: str,
        limits: SocketLimits,
        new_id: Callable[[], str],
        request_id: str | None = None,
    ) -> None:
        self._version = version
        self._limits = limits
        self._new_id = new_id
        self._request_id = request_id or new_id()
        self._keys = itertools.count(1)
        self._configs = Configs(limits.max_buffer_delay_s)
        self._contexts: dict[str, Context] = {}
        self._by_key: dict[Key, Context] = {}
        self._ended = EndedContexts()
        self._due_s: float | None = None
        self._closed = False

    @property
    def due_s(self) -> float | None:
        """When to call :meth:`tick` at the latest (monotonic seconds); None: no need. May be early, never late."""
        return self._due_s

    @property
    def open_contexts(self) -> int:
        return len(self._contexts)

    def receive(self, frame: str | bytes, now_s: float) -> list[Action]:
        """A frame from the client."""
        if self._closed:
            return []
        if isinstance(frame, bytes):
            return [self._error(None, InvalidInput("binary frames are not understood here; send JSON as text frames"))]
        try:
            if len(frame) > self._limits.max_frame_chars:
                raise TooLarge(f"a frame may have {self._limits.max_frame_chars} characters, not {len(frame)}")
            request = decode_client_message(frame)
        except InvalidInput as error:
            return self._fail(_context_id_in(frame), error, now_s)
        if isinstance(request, CancelRequest):
            return self._cancel(request.context_id, now_s)
        return self._generate(request.context_id or self._new_id(), request, now_s)

    def deliver(self, key: Key, event: Event | TurnEvent, now_s: float) -> list[Action]:
        """An event of a stream; of one that is gone: nothing."""
        context = self._by_key.get(key)
        if context is None:
            return []
        match event:
            case Audio() | WordTimes() | PhonemeTimes():
                context.active_s = now_s
                frames = context.writer.write(event)
                return [Send(frames[0], key)] if len(frames) == 1 else [Send(frame, key) for frame in frames]
            case Flushed():
                return self._flushed(context, event, now_s)
            case Failed():
                return self._fail(context.id, event.error, now_s)
            case Warned():
                return [Note(event.message, key)]
            case _:
                return []

    def refused(self, key: Key, error: AntiphonError, now_s: float) -> list[Action]:
        """The shell could not open the stream, or the stream would not take what was pushed."""
        context = self._by_key.get(key)
        return [] if context is None else self._fail(context.id, error, now_s)

    def tick(self, now_s: float) -> list[Action]:
        """Close the input of contexts that nobody uses any more."""
        actions: list[Action] = []
        for context in list(self._contexts.values()):
            if not context.closing and now_s >= context.active_s + self._limits.idle_s:
                actions += self._close_input(context, now_s)
        waiting = [context.active_s for context in self._contexts.values() if not context.closing]
        self._due_s = min(waiting) + self._limits.idle_s if waiting else None
        return actions

    def drain(self, now_s: float) -> list[Action]:
        """The server wants to leave: contexts under way are spoken to their end, and nothing is said about it."""
        return []

    def close(self, reason: str | AntiphonError) -> list[Action]:
        """The socket is about to close, or has been closed by the client: every context is told and its stream dropped.

        SDKs wait for ever on a context whose socket closes without a last word.
        """
        error = AtCapacity(reason) if isinstance(reason, str) else reason
        contexts = list(self._contexts.values())
        self._closed = True
        self._contexts.clear()
        self._by_key.clear()
        self._ended = EndedContexts()
        self._due_s = None
        actions: list[Action] = []
        for context in contexts:
            actions += [Cancel(context.key)] if context.opened else []
            actions.append(self._error(context.id, error))
        return actions

    def _generate(self, context_id: str, request: GenerationRequest, now_s: float) -> list[Action]:
        text = request.transcript or ""
        blank = not text.strip()
        context = self._contexts.get(context_id)
        if context is None:
            if self._ended.is_straggler(context_id, request, now_s):
                return []
            if blank and request.transcript is not None and not request.continue_ and not request.flush:
                return [Send(encode_server_message(Done(context_id=context_id)))]
        try:
            if context is not None and context.closing:
                return self._hold(context, request, text)
            check_text(text, self._limits.max_text_chars)
            if context is None:
                context = self._begin(context_id, request, now_s)
            elif not blank:
                context.check_locks(request)
            actions = self._say(context, request, text, blank)
            if request.flush:
                actions += self._flush(context)
        except AntiphonError as error:
            return self._fail(context_id, error, now_s, more=bool(request.continue_))
        context.active_s = now_s
        if not request.continue_:
            actions += self._close_input(context, now_s)
        return actions

    def _begin(self, context_id: str, request: GenerationRequest, now_s: float) -> Context:
        if len(context_id) > MAX_CONTEXT_ID_CHARS:
            raise InvalidInput(f"context_id: at most {MAX_CONTEXT_ID_CHARS} characters", "context_id")
        context = Context.begin(
            context_id,
            next(self._keys),
            request,
            self._configs.of(request),
            chunk_s=self._limits.chunk_s,
            now_s=now_s,
        )
        if len(self._contexts) >= self._limits.max_contexts:
            if request.continue_:
                self._ended.failed(context, now_s)
            raise AtCapacity(f"{self._limits.max_contexts} contexts are open on this socket already; let one end first")
        self._contexts[context_id] = context
        self._by_key[context.key] = context
        due_s = now_s + self._limits.idle_s
        self._due_s = due_s if self._due_s is None else min(self._due_s, due_s)
        return context

    def _say(self, context: Context, request: GenerationRequest, text: str, blank: bool) -> list[Action]:
        if blank and not (text and context.opened and request.continue_ and context.config.max_buffer_delay_s > 0):
            return []
        if context.unspoken_chars + len(text) > self._limits.max_unspoken_chars:
            raise TooLarge(
                f"more than {self._limits.max_unspoken_chars} characters in one context; flush, or begin a new context",
                "transcript",
            )
        actions: list[Action] = []
        if not context.opened:
            context.opened = True
            actions.append(Open(context.key, context.config))
        if not blank and (change := context.change_of_prosody(request)) is not None:
            actions.append(Push(context.key, change))
        context.pushed_chars += len(text)
        actions.append(Push(context.key, text))
        return actions

    def _flush(self, context: Context) -> list[Action]:
        context.flushes += 1
        if not context.opened:
            return [Send(context.writer.flush_done(context.flushes), context.key)]
        if len(context.flush_marks) >= self._limits.max_waiting:
            raise InvalidInput(f"flush: {self._limits.max_waiting} flushes wait already", "flush")
        context.flush_marks.append(context.pushed_chars)
        return [Flush(context.key, context.flushes, last=False)]

    def _close_input(self, context: Context, now_s: float) -> list[Action]:
        context.closing = True
        if context.opened:
            return [Flush(context.key, END, last=True)]
        return self._finish(context, now_s)

    def _flushed(self, context: Context, event: Flushed, now_s: float) -> list[Action]:
        context.active_s = now_s
        if event.marker == END:
            return self._finish(context, now_s) if context.closing else []
        if not isinstance(event.marker, int) or not context.flush_marks:
            return []
        context.spoken_chars = context.flush_marks.popleft()
        return [Send(context.writer.flush_done(event.marker), context.key)]

    def _finish(self, context: Context, now_s: float) -> list[Action]:
        self._drop(context)
        actions: list[Action] = [Send(context.writer.done(), context.key)]
        if context.opened:
            actions.append(Close(context.key))
        return actions + self._release(context, now_s)

    def _hold(self, context: Context, request: GenerationRequest, text: str) -> list[Action]:
        check_text(text, self._limits.max_text_chars)
        held_chars = context.held_chars + len(text)
        if len(context.held) >= self._limits.max_waiting or held_chars > self._limits.max_unspoken_chars:
            raise AtCapacity("context_id: too much waits for the earlier context of this id to end")
        context.held.append(request)
        context.held_chars = held_chars
        return []

    def _release(self, context: Context, now_s: float) -> list[Action]:
        """What came for the id while ``context`` was ending goes to its successor."""
        actions: list[Action] = []
        for request in context.held:
            actions += self._generate(context.id, request, now_s)
        return actions

    def _cancel(self, context_id: str, now_s: float) -> list[Action]:
        context = self._contexts.get(context_id)
        if context is None:
            return []
        self._drop(context)
        self._ended.cancelled(context, now_s)
        return [Cancel(context.key)] if context.opened else []

    def _fail(self, context_id: str | None, error: AntiphonError, now_s: float, *, more: bool = True) -> list[Action]:
        """``more``: the client has not said that its input is complete."""
        context = self._contexts.get(context_id) if context_id is not None else None
        if context is None:
            return [self._error(context_id, error)]
        self._drop(context)
        if more and not context.closing:
            self._ended.failed(context, now_s)
        actions: list[Action] = [Cancel(context.key)] if context.opened else []
        actions.append(self._error(context_id, error))
        return actions + self._release(context, now_s)

    def _error(self, context_id: str | None, error: AntiphonError) -> Send:
        message = error_message(error, self._version, self._request_id, UNSET if context_id is None else context_id)
        return Send(encode_server_message(message))

    def _drop(self, context: Context) -> None:
        del self._contexts[context.id]
        del self._by_key[context.key]


def _context_id_in(frame: str) -> str | None:
    """The context that a faulty message speaks of, if that much can be read."""
    try:
        found = decode_json(frame, _addressed).context_id
    except InvalidInput:
        return None
    return found if isinstance(found, str) and found else None
