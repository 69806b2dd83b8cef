"""One fold over each conversation's log, for all who want its turns: metrics, spans, the recorder, tests."""

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from antiphon.audio.loudness_edge import LoudnessEdge
from antiphon.audio.pcm import PcmReader
from antiphon.audio.resample import Resampler
from antiphon.core.hearing import EAR_RATE_HZ
from antiphon.dialog.conversation_events import Moment
from antiphon.dialog.conversation_log import Observed
from antiphon.dialog.turn_record import TurnRecord
from antiphon.dialog.turn_records import TurnRecords
from antiphon.server.agent import AgentLog, AgentSessionFacts

_log = logging.getLogger("antiphon")
_GAP_SAMPLES = EAR_RATE_HZ // 10


class TurnSink(Protocol):
    """Told of a session's turns, and of all else: who derives from it need not listen. Must return quickly."""

    def turn(self, moment: Moment, record: TurnRecord) -> None: ...

    def observe(self, moment: Moment, entry: Observed) -> None:
        return

    def user_audio(self, moment: Moment, data: bytes, encoding: str, rate_hz: int) -> None:
        return

    def agent_audio(self, moment: Moment, speech_id: str, start_sample: int, data: bytes) -> None:
        return

    def end(self, moment: Moment, reason: str) -> None:
        return


MakeSink = Callable[[AgentSessionFacts], TurnSink]


class TurnsOnly(TurnSink):
    """A sink that only wants turns."""

    def __init__(self, take: Callable[[TurnRecord], None]) -> None:
        self._take = take

    def turn(self, moment: Moment, record: TurnRecord) -> None:
        self._take(record)


class AgentRecords:
    """An :class:`AgentLog` that folds the log once. A sink that fails is dropped, and the call goes on."""

    def __init__(self, facts: AgentSessionFacts, sinks: Sequence[TurnSink], playout_delay_s: float = 0.0) -> None:
        self._sinks = list(sinks)
        self._edge = LoudnessEdge(EAR_RATE_HZ)
        self._records = TurnRecords(playout_delay_s=playout_delay_s, loud_end=self._loud_end)
        self._form: tuple[str, int] = ("", 0)
        self._reader = PcmReader(facts.input_encoding)
        self._resampler = Resampler(facts.input_rate_hz, EAR_RATE_HZ)
        self._ahead = 0  # media samples before the first that the edge was given
        self._next = 0  # where the next piece of the user's audio begins, if none is left out

    def observe(self, moment: Moment, entry: Observed) -> None:
        self._tell(lambda sink: sink.observe(moment, entry))
        self._turns(moment, self._records.observe(moment, entry))

    def user_audio(self, moment: Moment, data: bytes, encoding: str, rate_hz: int) -> None:
        if not self._form[1] or abs(moment.sample - self._next) > _GAP_SAMPLES:
            self._edge, self._ahead = LoudnessEdge(EAR_RATE_HZ), moment.sample
        if (encoding, rate_hz) != self._form:
            self._form = (encoding, rate_hz)
            self._reader, self._resampler = PcmReader(encoding), Resampler(rate_hz, EAR_RATE_HZ)
        samples = self._reader.feed(data)
        self._edge.push(self._resampler.push(samples))
        heard = len(samples) * EAR_RATE_HZ // rate_hz
        self._next = moment.sample + heard
        self._records.audio(moment, heard)
        self._tell(lambda sink: sink.user_audio(moment, data, encoding, rate_hz))

    def agent_audio(self, moment: Moment, speech_id: str, start_sample: int, data: bytes) -> None:
        self._tell(lambda sink: sink.agent_audio(moment, speech_id, start_sample, data))

    def end(self, moment: Moment, reason: str) -> None:
        self._turns(moment, self._records.end(moment))
        self._tell(lambda sink: sink.end(moment, reason))
        self._sinks.clear()

    def _turns(self, moment: Moment, records: Sequence[TurnRecord]) -> None:
        for record in records:
            self._tell(lambda sink, record=record: sink.turn(moment, record))  # type: ignore[misc]

    def _tell(self, tell: Callable[[TurnSink], None]) -> None:
        for sink in list(self._sinks):
            try:
                tell(sink)
            except Exception:  # whoever keeps records must not end a call
                _log.exception("a record of the conversation failed; it is given up for this session")
                self._sinks.remove(sink)

    def _loud_end(self, start: int, stop: int) -> int | None:
        at = self._edge.last_loud(start - self._ahead, stop - self._ahead)
        return None if at is None else at + self._ahead


def records_for(makers: Sequence[MakeSink], playout_delay_s: float = 0.0) -> Callable[[AgentSessionFacts], AgentLog]:
    """For ``Hub.agent_logs``: each session's turns to all of these."""

    def make(facts: AgentSessionFacts) -> AgentLog:
        return AgentRecords(facts, [maker(facts) for maker in makers], playout_delay_s)

    return make
