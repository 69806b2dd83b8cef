"""The scripted world, which also writes down all that happens in the order and the shapes that records fold over."""

from antiphon.core.hearing import EAR_RATE_HZ, Heard, SpeechStarted, SpeechStopped
from antiphon.dialog import conversation_events as happens
from antiphon.dialog.conversation_log import AudibleLeft, AudioLeft, EarSaid, Observed, PlayedTo, SpeechOpened
from antiphon.dialog.turn_record import TurnRecord
from antiphon.dialog.turn_records import TurnRecords

from .world import RATE_HZ, World

LEAD_SAMPLES = 800
"""Every speech begins with so much silence."""


class LoggedWorld(World):
    """``says`` also tells when the ear heard speech begin and stop."""

    def listen(self, records: TurnRecords) -> "LoggedWorld":
        self.records = records
        self.turns: list[TurnRecord] = []
        self.observed: list[tuple[happens.Moment, Observed]] = []
        return self

    def says(self, at_s: float, text: str, eager: bool = True, pace_s: float = 0.3, end_s: float = 0.4) -> float:
        self.at(at_s, lambda: self.tell(EarSaid(SpeechStarted(round(at_s * EAR_RATE_HZ)))))
        stopped_s = at_s + pace_s * len(text.split())
        stopped = SpeechStopped(round(stopped_s * EAR_RATE_HZ))
        self.at(stopped_s + end_s / 4, lambda: self.tell(EarSaid(stopped)))
        self.at(stopped_s + end_s / 2, lambda: self.tell(EarSaid(Heard(text, len(text), True))))
        return super().says(at_s, text, eager, pace_s, end_s)

    def tell(self, entry: Observed) -> None:
        moment = happens.Moment(self.now_s, round(self.now_s * EAR_RATE_HZ))
        self.observed.append((moment, entry))
        self.turns += self.records.observe(moment, entry)

    def finish(self) -> list[TurnRecord]:
        self.turns += self.records.end(happens.Moment(self.now_s, round(self.now_s * EAR_RATE_HZ)))
        return self.turns

    def _give(self, event: object) -> None:
        moment = happens.Moment(self.now_s, round(self.now_s * EAR_RATE_HZ))
        if isinstance(event, happens.Played):
            self.tell(PlayedTo(event.speech_id, event.sample))
        self.tell(event)  # type: ignore[arg-type]
        actions = self.conversation.handle(moment, event)  # type: ignore[arg-type]
        for entry in self.conversation.ledger.take_fresh():
            self.tell(entry)
        for action in actions:
            self.log.append((round(self.now_s, 6), action))
            self.tell(action)
            self._do(action)

    def _play(self, speech_id: str, word: str, start: int, end: int) -> None:
        if start == 0:
            self.tell(SpeechOpened(speech_id, "", 0, RATE_HZ))
            self.tell(AudibleLeft(speech_id, LEAD_SAMPLES))
        self.tell(AudioLeft(speech_id, start, end - start))
        super()._play(speech_id, word, start, end)
