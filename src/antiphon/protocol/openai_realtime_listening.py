"""The listening half of a Realtime socket: audio in, turns, commits and their transcripts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from antiphon.core.brain import BrainEvent
from antiphon.core.event import Event, Failed, Warned
from antiphon.core.expected_digits import expected_digits
from antiphon.core.hearing import HearingConfig
from antiphon.core.turns import TurnEnded, TurnEvent, TurnStarted, TurnUpdated
from antiphon.protocol import openai_realtime_events as wire
from antiphon.protocol.actions import AgentAction, Key, Note
from antiphon.protocol.openai_realtime_buffer import InputBuffer
from antiphon.protocol.openai_realtime_client import BadEvent
from antiphon.protocol.openai_realtime_items import Content, Conversation, Entry, Item
from antiphon.protocol.openai_realtime_reply import SendEvent
from antiphon.protocol.openai_realtime_session import (
    ServerVad,
    Settings,
    audio_format,
    bytes_per_ms,
    endpoint_settings,
)

MIN_COMMIT_MS: Final = 100


@dataclass(slots=True)
class _Turn:
    item_id: str
    start_ms: int
    sent: str = ""


class Listening:
    """``interrupt`` cancels the response that is running, if there is one. ``words_wait_s``: how long the words of a
    commit may take. ``owed``: what was said waits for an answer.

    Only :meth:`append` and :meth:`commit` raise (``BadEvent``).
    """

    def __init__(
        self,
        settings: Settings,
        conversation: Conversation,
        keys: Iterator[Key],
        send: SendEvent,
        new_id: Callable[[], str],
        interrupt: Callable[[], list[AgentAction]],
        *,
        words_wait_s: float,
        max_audio_bytes: int,
        owner: str,
    ) -> None:
        self.owed = False
        self._settings = settings
        self._digits = expected_digits(tool.parameters for tool in settings.tools)
        self._conversation = conversation
        self._send = send
        self._new_id = new_id
        self._interrupt = interrupt
        self._words_wait_s = words_wait_s
        self._max_audio_bytes = max_audio_bytes
        self._owner = owner
        self._buffer = InputBuffer(keys)
        self._turn: _Turn | None = None
        self._awaited: dict[str, tuple[float, int]] = {}  # item -> when to give up on its words, its length in ms
        self._silence: tuple[float, int] | None = None  # when it is too long, and where in the audio it began

    @property
    def turn_item_id(self) -> str | None:
        """The item that what is being said now will be; None between turns."""
        return None if self._turn is None else self._turn.item_id

    @property
    def due_s(self) -> float | None:
        waits = [deadline_s for deadline_s, _ in self._awaited.values()]
        if self._silence is not None:
            waits.append(self._silence[0])
        return min(waits, default=None)

    def owns(self, key: Key) -> bool:
        return self._buffer.owns(key)

    def configure(self, after: Settings) -> list[AgentAction]:
        before, self._settings = self._settings.input.turn_detection, after
        self._digits = expected_digits(tool.parameters for tool in after.tools)
        if after.input.turn_detection is None:
            # From here on the client says where turns end: what is being said goes to its next commit.
            self._turn = self._silence = None
        elif before is None:
            # Turns begin with a fresh stream: one that listened meanwhile would count committed words again.
            return self._buffer.retire(None)
        return []

    def append(self, data: bytes) -> list[AgentAction]:
        if len(data) > self._max_audio_bytes:
            raise BadEvent(f"audio: at most {self._max_audio_bytes} bytes, not {len(data)}", "audio")
        if not data:
            return []
        heard = self._settings.input
        form = audio_format(heard.format)
        transcription = heard.transcription
        config = HearingConfig(
            language=transcription.language if transcription and transcription.language else "en",
            encoding=form.encoding,
            sample_rate_hz=form.sample_rate_hz,
            turns=True,
            expected_digits=self._digits,
            owner=self._owner,
        )
        turns = None if heard.turn_detection is None else endpoint_settings(heard.turn_detection)
        return self._buffer.append(data, config, turns, bytes_per_ms(heard.format))

    def commit(self, now_s: float) -> list[AgentAction]:
        """The client says that this was all, whether a turn is being detected or not."""
        fresh_ms = self._buffer.fresh_ms
        by_client = self._settings.input.turn_detection is None
        if fresh_ms < MIN_COMMIT_MS or not (by_client or self._turn):
            message = (
                f"Error committing input audio buffer: buffer too small. Expected at least {MIN_COMMIT_MS}ms of "
                f"audio, but buffer only has {fresh_ms if by_client else 0}.00ms of audio."
            )
            raise BadEvent(message, None, "input_audio_buffer_commit_empty")
        if self._turn is not None:
            item_id, self._turn = self._turn.item_id, None
            stopped = wire.SpeechEnded(audio_end_ms=self._buffer.total_ms, item_id=item_id)
            actions: list[AgentAction] = [self._send(stopped, None), *self._buffer.retire(item_id)]
        else:
            item_id = self._mint()
            actions = self._buffer.mark(item_id)
        self._awaited[item_id] = (now_s + self._words_wait_s, fresh_ms)
        return actions + self._commit(item_id, awaits_words=True)

    def clear(self) -> list[AgentAction]:
        by_client = self._settings.input.turn_detection is None
        actions = self._buffer.mark(None) if by_client else self._buffer.retire(None)
        self._turn = None
        self._buffer.committed()
        return [*actions, self._send(wire.Cleared(), None)]

    def hear(self, key: Key, event: Event | TurnEvent | BrainEvent) -> list[AgentAction]:
        """An event of a stream of ours, or what was decided about its turns."""
        if isinstance(event, Warned):
            return [Note(event.message, key)]
        if isinstance(event, Failed):
            return self._lose(key, event.message) if event.fatal else [Note(event.message, key)]
        if self._buffer.is_live(key) and self._settings.input.turn_detection is not None:
            match event:
                case TurnStarted():
                    return self._start_turn(event.at_sample)
                case TurnUpdated():
                    return self._grow_turn(event.transcript)
                case TurnEnded():
                    return self._end_turn(event.at_sample, event.transcript)
        found, actions = self._buffer.hear(key, event)
        for words in found:
            _, length_ms = self._awaited.pop(words.item_id, (0.0, 0))
            actions += self._transcribe(words.item_id, words.text, length_ms, "")
        return actions

    def replying(self) -> None:
        """A response has begun: nothing is owed, and nobody is silent."""
        self.owed = False
        self._silence = None

    def await_speech(self, played_s: float) -> None:
        """A response is over, and played by then; the silence after it is measured where the session says so."""
        detection = self._settings.input.turn_detection
        timeout_ms = detection.idle_timeout_ms if isinstance(detection, ServerVad) else None
        if timeout_ms is not None:
            self._silence = (played_s + timeout_ms / 1000, self._buffer.total_ms)

    def forget(self, item_id: str) -> None:
        """The item was deleted."""
        self._awaited.pop(item_id, None)

    def tick(self, now_s: float) -> list[AgentAction]:
        """Give up on words that do not come, and on a silence that does not end."""
        actions: list[AgentAction] = []
        for item_id in [item_id for item_id, (due_s, _) in self._awaited.items() if now_s >= due_s]:
            actions += self._no_words(item_id, "the audio was not understood in time")
        if self._silence is not None and now_s >= self._silence[0]:
            actions += self._break_silence(self._silence[1])
        return actions

    def close(self) -> list[AgentAction]:
        return self._buffer.close()

    def _start_turn(self, at_sample: int) -> list[AgentAction]:
        detection = self._settings.input.turn_detection
        if self._turn is not None or detection is None:
            return []
        padding_ms = detection.prefix_padding_ms if isinstance(detection, ServerVad) else 0
        start_ms = max(0, self._buffer.at_ms(at_sample) - padding_ms)
        self._turn = _Turn(self._mint(), start_ms)
        self.replying()  # what is being said now is answered instead of what was said before
        began = self._send(wire.SpeechBegan(audio_start_ms=start_ms, item_id=self._turn.item_id), None)
        return [began, *(self._interrupt() if detection.interrupt_response else ())]

    def _grow_turn(self, transcript: str) -> list[AgentAction]:
        turn = self._turn
        if turn is None or self._settings.kind != "transcription":
            return []
        delta = _more(turn.sent, transcript)
        turn.sent += delta
        return [self._send(wire.TranscriptionDelta(item_id=turn.item_id, delta=delta), None)] if delta else []

    def _end_turn(self, at_sample: int, transcript: str) -> list[AgentAction]:
        actions = [] if self._turn is not None else self._start_turn(at_sample) if transcript.strip() else []
        turn, self._turn = self._turn, None
        detection = self._settings.input.turn_detection
        if turn is None or detection is None:
            return actions
        self._buffer.forget()
        end_ms = max(turn.start_ms, self._buffer.at_ms(at_sample))
        actions.append(self._send(wire.SpeechEnded(audio_end_ms=end_ms, item_id=turn.item_id), None))
        actions += self._commit(turn.item_id, awaits_words=False)
        actions += self._transcribe(turn.item_id, transcript.strip(), end_ms - turn.start_ms, turn.sent)
        if self._settings.kind == "realtime" and detection.create_response and transcript.strip():
            self.owed = True  # at once, or when the response that may not be interrupted is over
        return actions

    def _commit(self, item_id: str, *, awaits_words: bool) -> list[AgentAction]:
        self._buffer.committed()
        content = [Content(type="input_audio", transcript=None)]
        item = Item(id=item_id, type="message", role="user", content=content)
        previous = self._conversation.add(Entry(item, awaits_words=awaits_words))
        events = (
            wire.Committed(previous_item_id=previous, item_id=item_id),
            wire.ItemAdded(previous_item_id=previous, item=item),
            wire.ItemDone(previous_item_id=previous, item=item),
        )
        return [self._send(event, None) for event in events]

    @property
    def _tells_words(self) -> bool:
        return self._settings.kind == "transcription" or self._settings.input.transcription is not None

    def _transcribe(self, item_id: str, text: str, length_ms: int, sent: str) -> list[AgentAction]:
        entry = self._conversation.get(item_id)
        if entry is None:
            return []
        entry.awaits_words = False
        entry.item.content = [Content(type="input_audio", transcript=text)]
        if not self._tells_words:
            return []
        delta = _more(sent, text)
        actions: list[AgentAction] = []
        if delta:
            actions.append(self._send(wire.TranscriptionDelta(item_id=item_id, delta=delta), None))
        usage = wire.Duration(max(0, length_ms) / 1000)
        completed = wire.TranscriptionCompleted(item_id=item_id, transcript=text, usage=usage)
        return [*actions, self._send(completed, None)]

    def _no_words(self, item_id: str, why: str) -> list[AgentAction]:
        self._awaited.pop(item_id, None)
        entry = self._conversation.get(item_id)
        if entry is None:
            return []
        entry.awaits_words = False
        if not self._tells_words:
            return []
        failed = wire.TranscriptionFailed(item_id=item_id, error=wire.TranscriptionError(message=why))
        return [self._send(failed, None)]

    def _lose(self, key: Key, why: str) -> list[AgentAction]:
        live = self._buffer.is_live(key)
        lost, actions = self._buffer.lose(key)
        if live and self._turn is not None:
            turn, self._turn = self._turn, None
            end_ms = max(turn.start_ms, self._buffer.total_ms)
            stopped = self._send(wire.SpeechEnded(audio_end_ms=end_ms, item_id=turn.item_id), None)
            actions += [stopped, *self._commit(turn.item_id, awaits_words=False)]
            lost.append(turn.item_id)
        for item_id in lost:
            actions += self._no_words(item_id, why)
        return [*actions, Note(f"listening broke off and begins anew: {why}", key)]

    def _break_silence(self, begun_ms: int) -> list[AgentAction]:
        """Nobody has spoken for too long after a response: the brain is asked to go on."""
        self._silence = None
        item_id = self._mint()
        end_ms = self._buffer.total_ms
        timeout = wire.IdleTimeout(audio_start_ms=min(begun_ms, end_ms), audio_end_ms=end_ms, item_id=item_id)
        actions: list[AgentAction] = [self._send(timeout, None), *self._commit(item_id, awaits_words=False)]
        self.owed = True
        return actions + self._transcribe(item_id, "", end_ms - begun_ms, "")

    def _mint(self) -> str:
        return f"item_{self._new_id()}"


def _more(sent: str, transcript: str) -> str:
    """What the transcript has beyond what was sent; nothing where it was revised."""
    text = transcript.strip()
    return text[len(sent) :] if text.startswith(sent) else ""
