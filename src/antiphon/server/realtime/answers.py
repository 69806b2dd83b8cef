"""What is answered over a Realtime socket: responses, functions of the client, faults. Pure.

An answer may take several responses: one that asks for a function, and another when the client has its result.
"""

from dataclasses import dataclass, field
from typing import Final

from antiphon.core.brain import BrainFailed, ToolCall, ToolSpec
from antiphon.core.event import Failed
from antiphon.dialog.conversation_events import ToolFinished
from antiphon.dialog.tool_run import CallTool
from antiphon.protocol import openai_realtime_events as wire
from antiphon.protocol.actions import Key
from antiphon.protocol.native_messages import AudioShape
from antiphon.protocol.openai_realtime_items import Item
from antiphon.protocol.openai_realtime_session import audio_format
from antiphon.server.realtime.notes import Notes
from antiphon.server.realtime.voice import LATE_S, RealtimeVoice

_TOOL: Final = ToolSpec("", "")
"""What is assumed of a function of the client: its effect is not known, and it may take as long as a tool of ours."""

_MAX_CALLS = 256


@dataclass(slots=True)
class _Answer:
    """What is said about a turn; turn 0: of the agent's own accord."""

    turn: int
    response_id: str
    begun: bool = False
    """The brain has begun to answer what it was asked last."""
    shown: bool = False
    """There is text that nobody speaks."""
    failed: bool = False
    calls: dict[str, float] = field(default_factory=dict)
    """Functions that the client runs, and when they have taken too long."""
    ends_s: float | None = None
    """When all of it has been played."""


class RealtimeAnswers:
    """The one answer that is being given, and what became of the one before where it was interrupted."""

    def __init__(self, notes: Notes, voice: RealtimeVoice) -> None:
        self._notes = notes
        self._voice = voice
        self._answer: _Answer | None = None
        self._played: list[_Answer] = []  # answers before it that are still being played
        self._response = ""  # that of the conversation itself, under way
        self._shape: AudioShape | None = None
        self._calls: dict[str, int] = {}  # functions without a result, and whose turns they are
        self._overdue: dict[str, int] = {}  # those that took too long

    @property
    def speaking(self) -> bool:
        """A response is under way that nobody has interrupted."""
        return self._answer is not None and self._answer.response_id == self._response

    @property
    def awaited(self) -> bool:
        """A response is under way about which the brain was not asked yet."""
        return bool(self._response) and not self.speaking

    @property
    def turn(self) -> int:
        """The turn that is being answered; 0: none."""
        return 0 if self._answer is None else self._answer.turn

    @property
    def due_s(self) -> float | None:
        answers = [*self._played, *([] if self._answer is None else [self._answer])]
        times = [due_s for answer in answers for due_s in answer.calls.values()]
        return min([*times, *(each.ends_s for each in answers if each.ends_s is not None)], default=None)

    def begins(self, response_id: str) -> bool:
        """Whether the question of this response is one of the conversation itself."""
        return response_id == self._response

    def ask(self, turn: int, after_tool: bool) -> None:
        """The brain is asked for the response under way. ``turn``: what it answers, if that is new; ``after_tool``: it
        is told a function's result."""
        before = self._answer
        if not turn and before is not None and (before.failed or after_tool):
            turn, calls = before.turn, before.calls
        else:
            calls = {}
            if before is not None and before.ends_s is not None:
                self._played.append(before)
        self._answer = _Answer(turn, self._response, calls=calls)
        self._notes.note(turn, "brain.asked")

    def spoke(self) -> None:
        """The first audio of a message."""
        self._notes.note(self.turn, "voice.first")

    def spoken_over(self, interrupts: bool) -> None:
        """The user speaks. An answer that has come to nothing, or waits for the client, has come too late."""
        busy = self.speaking or self._voice.free_s > self._notes.at.now_s
        if interrupts or not busy:
            self._interrupt("the user speaks")

    def tick(self) -> None:
        """Functions that take too long, and answers that have been played."""
        answer, now_s = self._answer, self._notes.at.now_s
        for played in [each for each in self._played if each.ends_s is not None and each.ends_s <= now_s]:
            self._played.remove(played)
            self._notes.note(played.turn, "answer.finished")
        if answer is None:
            return
        for call_id in [call_id for call_id, due_s in answer.calls.items() if due_s <= now_s]:
            del answer.calls[call_id]
            self._overdue[call_id] = self._calls.pop(call_id, answer.turn)
            self._notes.note(answer.turn, "tool.ended", f"{call_id} timed_out", "tool")
        if answer.ends_s is not None and answer.ends_s <= now_s:
            self._finish()

    def told(self, event: wire.ServerEvent, key: Key | None) -> None:
        """What the client is told."""
        match event:
            case wire.AudioDelta():
                self._voice.send(event.item_id, event.delta, self._notes.at.now_s)
            case wire.TranscriptDelta() | wire.OutputTextDelta() if event.response_id == self._response:
                self._say(event.item_id, event.delta, key)
            case wire.ArgumentsDone() if event.response_id == self._response:
                self._call(event)
            case wire.ItemAdded() if event.item.type == "function_call_output":
                self._result(event.item)
            case wire.ItemTruncated():
                self._truncate(event.item_id, event.audio_end_ms)
            case wire.ResponseCreated() if event.response.conversation_id is not None:
                self._response, self._shape = event.response.id, _shape_of(event.response)
            case wire.ResponseDone() if event.response.id == self._response:
                self._done(event.response)
            case _:
                pass

    def _say(self, item_id: str, text: str, key: Key | None) -> None:
        answer = self._begin()
        if answer is None:
            return
        if not self._voice.knows(item_id):
            self._voice.begin(item_id, answer.response_id, answer.turn, self._shape)
            answer.shown = self._shape is None
            self._notes.note(answer.turn, "voice.text")
        self._voice.write(item_id, text, key)

    def _call(self, event: wire.ArgumentsDone) -> None:
        answer, call_id = self._begin(), event.call_id
        if answer is None:
            return
        for known in (self._calls, self._overdue):
            while len(known) >= _MAX_CALLS:
                del known[next(iter(known))]
        self._calls[call_id] = answer.turn
        answer.calls[call_id] = self._notes.at.now_s + _TOOL.timeout_s
        self._notes.note(answer.turn, "tool.called", f"{call_id} {event.name}")
        self._notes.tell(CallTool(ToolCall(call_id, event.name, event.arguments), call_id, _TOOL.effect))

    def _result(self, item: Item) -> None:
        call_id = str(item.call_id)
        if self._answer is not None:
            self._answer.calls.pop(call_id, None)
        if call_id in self._calls:
            self._notes.tell(ToolFinished(call_id, str(item.output)))
            self._notes.note(self._calls.pop(call_id), "tool.ended", f"{call_id} done")
        elif call_id in self._overdue:
            self._notes.tell(ToolFinished(call_id, str(item.output)))
            self._notes.note(self._overdue.pop(call_id), "tool.late", call_id)

    def _truncate(self, item_id: str, end_ms: int) -> None:
        """The client's own word for where it stopped playing."""
        answer = self._answer
        if answer is not None and self._voice.cuts(item_id, end_ms) and self._voice.turn_of(item_id) == answer.turn:
            self._interrupt("the client stopped it")
        self._voice.truncate(item_id, end_ms)

    def _begin(self) -> _Answer | None:
        """The answer whose response says something; None: it is not listened to any more."""
        answer = self._answer if self.speaking else None
        if answer is not None and not answer.begun:
            answer.begun = True
            self._notes.note(answer.turn, "brain.first")
        return answer

    def _done(self, response: wire.Response) -> None:
        answer, self._response = self._answer if self.speaking else None, ""
        self._voice.close(response.id)
        if answer is None:
            return  # the brain was not asked, or it was interrupted
        calls = any(item.type == "function_call" for item in response.output)
        if response.status == "failed":
            self._fail(answer, response.status_details)
        elif response.status == "cancelled":
            self._interrupt("the client cancelled it")
        elif calls:
            pass  # it goes on when the client has their results
        elif self._voice.has_audio(response.id):
            answer.ends_s = self._voice.free_s + LATE_S
        elif answer.shown:
            self._notes.note(answer.turn, "answer.shown")
            self._finish()
        else:
            answer.failed = True
            self._notes.note(answer.turn, "brain.failed", "said nothing", "llm")

    def _fail(self, answer: _Answer, details: wire.StatusDetails | None) -> None:
        answer.failed = True
        error = None if details is None else details.error
        message = error.message if isinstance(error, wire.StatusError) else ""
        match self._notes.given:
            case BrainFailed():
                self._notes.note(answer.turn, "brain.failed", message, "llm")
            case Failed():
                self._notes.note(answer.turn, "voice.failed", message, "tts")
            case _:  # the server itself ends
                self._notes.note(answer.turn, "answer.failed", message)

    def _interrupt(self, reason: str) -> None:
        answer, self._answer = self._answer, None
        self._played.clear()
        if answer is not None:
            self._notes.note(answer.turn, "interrupted", reason)
            self._voice.stop(self._notes.at.now_s)

    def _finish(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            self._notes.note(answer.turn, "answer.finished")


def _shape_of(response: wire.Response) -> AudioShape | None:
    """None: the response is text."""
    if not isinstance(response.audio, wire.ResponseAudio):
        return None
    form = audio_format(response.audio.output.format)
    return AudioShape(form.encoding, form.sample_rate_hz)
