"""A scripted world in virtual time around a conversation: a user, a brain, tools, a voice, and a client that plays.

The client keeps its own account of what really sounded, so that the conversation's account can be compared with it.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

from antiphon.core.brain import BrainEvent, BrainFailed, BrainRequest, ToolSpec
from antiphon.core.event import Audio, Failed, Flushed, Timed, WordTimes
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.dialog import conversation_events as happens
from antiphon.dialog.conversation import Conversation
from antiphon.dialog.conversation_actions import (
    Action,
    CancelBrain,
    CancelSpeech,
    ContinueSpeech,
    EndConversation,
    FinishSpeech,
    FlushSpeech,
    Handover,
    HoldSpeech,
    PauseSpeech,
    ReleaseSpeech,
    Speak,
    StartBrain,
)
from antiphon.dialog.conversation_settings import ConversationSettings
from antiphon.dialog.reply import Reply
from antiphon.dialog.tool_run import CallTool, CancelTool

from .talking import hesitates, says

RATE_HZ = 16_000
CHAR_S = 0.06
SPECS = (
    ToolSpec("look_up", "Looks up an order"),
    ToolSpec("book", "Books an appointment", effect="write"),
    ToolSpec("handover", "Calls a colleague", effect="write"),
)


@dataclass
class Sound:
    """A word on its way to the ear of the user."""

    speech_id: str
    text: str
    begin_s: float
    end_s: float
    start_sample: int
    end_sample: int
    cut_s: float = float("inf")

    @property
    def heard(self) -> bool:
        return self.end_s <= self.cut_s


@dataclass
class Speech:
    pending: str = ""
    samples: int = 0
    made_s: float = 0.0
    held: bool = True
    kept: list[tuple[str, int, int]] = field(default_factory=list)
    dead: bool = False
    mute: bool = False
    words: int = 0
    finished: bool = False


class World:
    def __init__(
        self,
        brain: Callable[[BrainRequest], list[BrainEvent]],
        settings: ConversationSettings | None = None,
        specs: tuple[ToolSpec, ...] = SPECS,
        reports: bool = False,
        word_times: bool = True,
    ) -> None:
        self.conversation = Conversation("c", specs, settings)
        self.brain = brain
        self.reports = reports
        self.word_times = word_times
        self.now_s = 0.0
        self.log: list[tuple[float, Action]] = []
        self.sounds: list[Sound] = []
        self.executed: list[tuple[str, str]] = []  # (key, name and arguments)
        self.results: dict[str, tuple[float, str, bool]] = {}  # by tool name
        self.returned: dict[str, str] = {}  # by call id
        self.tool_s = 0.3
        self.first_token_s = 0.1
        self.brain_fault: Callable[[str, int], str] = lambda request_id, index: ""
        self.voice_fault: Callable[[str, int], str] = lambda speech_id, index: ""
        self.client_here = True
        self.injected: set[str] = set()
        self._heap: list[tuple[float, int, object]] = []
        self._order = count()
        self._requests: set[str] = set()
        self._speeches: dict[str, Speech] = {}
        self._free_s = 0.0  # when the client's buffer is played out
        self._paused_s: float | None = None
        self._left: list[Sound] = []
        self._waiting: list[tuple[str, str, int, int]] = []
        self._cancelled_tools: set[str] = set()

    # --- the user -----------------------------------------------------------------------------------------------

    def says(self, at_s: float, text: str, eager: bool = True, pace_s: float = 0.3, end_s: float = 0.4) -> float:
        return says(self.at, at_s, text, eager, pace_s, end_s)

    def hesitates(self, at_s: float, first: str, rest: str, pause_s: float = 1.0) -> float:
        return hesitates(self.at, at_s, first, rest, pause_s)

    def at(self, at_s: float, event: object) -> None:
        heapq.heappush(self._heap, (max(at_s, self.now_s), next(self._order), event))

    # --- time ---------------------------------------------------------------------------------------------------

    def run(self, until_s: float = 120.0) -> "World":
        still = 0
        while True:
            due_s = self.conversation.deadline_s
            next_s = self._heap[0][0] if self._heap else float("inf")
            tick_s = float("inf") if due_s is None else max(due_s, self.now_s)
            if min(next_s, tick_s) > until_s:
                self.now_s = until_s
                return self
            still = still + 1 if min(next_s, tick_s) <= self.now_s else 0
            assert still < 2_000, "time stands still"
            if tick_s < next_s:
                self.now_s = tick_s
                self._give(happens.Tick())
                continue
            self.now_s, _, event = heapq.heappop(self._heap)
            if callable(event):
                event()
            else:
                self._give(event)

    def _give(self, event: object) -> None:
        moment = happens.Moment(self.now_s, round(self.now_s * EAR_RATE_HZ))
        for action in self.conversation.handle(moment, event):  # type: ignore[arg-type]
            self.log.append((round(self.now_s, 6), action))
            self._do(action)

    # --- the rest of the world ----------------------------------------------------------------------------------

    def _do(self, action: Action) -> None:
        match action:
            case StartBrain():
                self._requests.add(action.request_id)
                self._think(action)
            case CancelBrain():
                self._requests.discard(action.request_id)
            case Speak():
                speech = self._speeches.setdefault(action.speech_id, Speech(held=action.held, made_s=self.now_s))
                assert not speech.finished, "text after the last"
                speech.pending += action.text
                self._synthesise(action.speech_id, speech, everything=False)
            case FlushSpeech():
                speech = self._speeches[action.speech_id]
                self._synthesise(action.speech_id, speech, everything=True)
                if not speech.dead:
                    self.at(speech.made_s, self._if_alive(action.speech_id, Flushed(action.marker)))
            case FinishSpeech():
                assert not self._speeches[action.speech_id].finished, "finished twice"
                self._speeches[action.speech_id].finished = True
            case HoldSpeech():
                self._speeches[action.speech_id].held = True
            case ReleaseSpeech():
                speech = self._speeches[action.speech_id]
                speech.held = False
                for word in speech.kept:
                    self._play(action.speech_id, *word)
                speech.kept.clear()
            case PauseSpeech():
                self._paused_s = self.now_s
                self._left = [sound for sound in self.sounds if sound.end_s > self.now_s]
            case ContinueSpeech():
                self._go_on()
            case CancelSpeech():
                self._speeches[action.speech_id].dead = True
                self._silence()
            case CallTool():
                self._execute(action)
            case CancelTool():
                self._cancelled_tools.add(action.call_id)
            case Handover() | EndConversation():
                pass

    def _think(self, action: StartBrain) -> None:
        at_s = self.now_s + self.first_token_s
        for index, event in enumerate(self.brain(action.request)):
            fault = self.brain_fault(action.request_id, index)
            if fault == "mute":
                return
            said: BrainEvent = BrainFailed(fault) if fault else event
            self.at(at_s, self._if_asked(action.request_id, said))
            if fault:
                return
            at_s += 0.02

    def _if_asked(self, request_id: str, event: BrainEvent) -> Callable[[], None]:
        def give() -> None:
            if request_id in self._requests:
                self._give(happens.FromBrain(request_id, event))

        return give

    def _if_alive(self, speech_id: str, event: object, then: Callable[[], None] | None = None) -> Callable[[], None]:
        def give() -> None:
            if not self._speeches[speech_id].dead:
                if then is not None:
                    then()
                self._give(happens.FromVoice(speech_id, event))  # type: ignore[arg-type]

        return give

    def _synthesise(self, speech_id: str, speech: Speech, everything: bool) -> None:
        """Whole words become audio at four times real time, 80 ms after the text at the soonest."""
        while not speech.dead and not speech.mute:
            text = speech.pending.lstrip()
            cut = text.find(" ")
            if cut < 0 and not everything:
                return
            word, speech.pending = (text, "") if cut < 0 else (text[:cut], text[cut:])
            if not word:
                return
            fault = self.voice_fault(speech_id, speech.words)
            speech.words += 1
            if fault:
                speech.mute = True
                if fault != "mute":
                    self.at(speech.made_s + 0.01, self._if_alive(speech_id, Failed(fault)))
                speech.made_s = float("inf")
                return
            samples = round((len(word) + 1) * CHAR_S * RATE_HZ)
            speech.made_s = max(speech.made_s, self.now_s + 0.08) + samples / RATE_HZ / 4
            start = speech.samples
            speech.samples += samples
            timed = (Timed(word, start, start + samples),)
            if self.word_times:
                self.at(speech.made_s, self._if_alive(speech_id, WordTimes(timed, timed, RATE_HZ)))
            sound = self._sound(speech_id, word, start, start + samples)
            self.at(speech.made_s, self._if_alive(speech_id, Audio(b"", start, samples, RATE_HZ), sound))

    def _sound(self, speech_id: str, word: str, start: int, end: int) -> Callable[[], None]:
        def send() -> None:
            speech = self._speeches[speech_id]
            if speech.held:
                speech.kept.append((word, start, end))
            else:
                self._play(speech_id, word, start, end)

        return send

    def _play(self, speech_id: str, word: str, start: int, end: int) -> None:
        if self._paused_s is not None:
            self._waiting.append((speech_id, word, start, end))
            return
        begin_s = max(self.now_s, self._free_s)
        self._free_s = begin_s + (end - start) / RATE_HZ
        self.sounds.append(Sound(speech_id, word, begin_s, self._free_s, start, end))
        if self.reports:
            self.at(self._free_s, self._report(self.sounds[-1]))

    def _report(self, sound: Sound) -> Callable[[], None]:
        def give() -> None:
            still = self._paused_s is not None and sound in self._left
            if sound.heard and sound.end_s <= self.now_s and self.client_here and not still:
                self._give(happens.Played(sound.speech_id, sound.end_sample))

        return give

    def _go_on(self) -> None:
        if self._paused_s is not None:
            for sound in self._left:
                sound.begin_s += self.now_s - self._paused_s
                sound.end_s += self.now_s - self._paused_s
                if self.reports:
                    self.at(sound.end_s, self._report(sound))
            self._free_s = max(self._free_s, self._paused_s) + self.now_s - self._paused_s
        self._paused_s = None
        for word in self._waiting:
            self._play(*word)
        self._waiting.clear()

    def _silence(self) -> None:
        if self._paused_s is not None:
            for sound in self._left:
                sound.cut_s = min(sound.cut_s, self._paused_s)
            self._paused_s = None
            self._waiting.clear()
        self._free_s = self.now_s
        for sound in self.sounds:
            if sound.end_s > self.now_s:
                sound.cut_s = min(sound.cut_s, self.now_s)

    def _execute(self, action: CallTool) -> None:
        if action.effect == "write":
            self.executed.append((action.key, f"{action.call.name} {action.call.arguments}"))
        delay_s, content, ok = self.results.get(action.call.name, (self.tool_s, '{"ok":true}', True))

        def give() -> None:
            if action.call.call_id not in self._cancelled_tools:
                self.returned[action.call.call_id] = content
                self._give(happens.ToolFinished(action.call.call_id, content, ok))

        if delay_s != float("inf"):
            self.at(self.now_s + delay_s, give)

    def lose_client(self, at_s: float, back_s: float | None) -> None:
        def lose() -> None:
            self.client_here = False
            self._silence()
            self._give(happens.ClientLost())

        def back() -> None:
            self.client_here = True
            self._give(happens.ClientBack())

        self.at(at_s, lose)
        if back_s is not None:
            self.at(back_s, back)

    # --- what came of it ----------------------------------------------------------------------------------------

    @property
    def heard(self) -> str:
        """What really sounded to its end, in order."""
        return " ".join(sound.text for sound in self.sounds if sound.heard and sound.end_s <= self.now_s)

    @property
    def recorded(self) -> str:
        """What the conversation believes was heard, in order."""
        entries = self.conversation.history.entries
        return " ".join(" ".join(entry.heard.split()) for entry in entries if isinstance(entry, Reply) if entry.heard)

    @property
    def replies(self) -> list[str]:
        return [entry.heard.strip() for entry in self.conversation.history.entries if isinstance(entry, Reply)]

    @property
    def users(self) -> list[str]:
        return [entry.text for entry in self.conversation.history.entries if not isinstance(entry, Reply)]

    def actions(self, kind: type) -> list[tuple[float, Action]]:
        return [(at_s, action) for at_s, action in self.log if isinstance(action, kind)]

    def kinds(self) -> list[str]:
        return [entry.kind for entry in self.conversation.ledger.entries()]


def well_formed(messages: Iterable[object]) -> bool:
    """Every tool call has exactly one tool message right behind it, and there are no others."""
    owed: list[str] = []
    for message in messages:
        role = message.role  # type: ignore[attr-defined]
        if role == "tool":
            if message.call_id not in owed:  # type: ignore[attr-defined]
                return False
            owed.remove(message.call_id)  # type: ignore[attr-defined]
        elif owed:
            return False
        owed += [call.call_id for call in message.tool_calls]  # type: ignore[attr-defined]
    return not owed
