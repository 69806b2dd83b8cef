"""Play turns to the real ear and the real endpoint in virtual time: what the wire would show, in less time.

Audio arrives in pieces of 20 ms at its own pace on a clock that only the harness moves; what a quantum of work costs in
CPU time passes on that clock as well (one worker), so words and scores are as late as on a core of one's own. The
messages are measured by the rules of ``antiphon bench stt``.

    python train/turn/play.py pauses.json --recordings SPEECH --recordings ASTERISK [--half tune] [--keep FILE]
"""

import argparse
import pickle
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from antiphon.audio import pcm
from antiphon.bench import stt_tables
from antiphon.bench.clip import Clip
from antiphon.bench.corpus import read_folder, spread
from antiphon.bench.hearing import Hearing
from antiphon.bench.measure_stt import TurnHeard, measure_turn
from antiphon.bench.report import Table
from antiphon.bench.spoil import noisy
from antiphon.bench.turn_set import make_turns, read_recipes
from antiphon.bench.voices import by_hibari
from antiphon.core.clock import ManualClock
from antiphon.core.event import Event
from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ, HearingConfig, TurnScored
from antiphon.core.turns import (
    EndpointSettings,
    TurnEagerEnded,
    TurnEnded,
    TurnEvent,
    TurnResumed,
    TurnStarted,
    TurnUpdated,
)
from antiphon.engine.ear import Closing
from antiphon.engine.ear_moonshine import MoonshineEar
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.scorer import TurnPause, TurnScorer
from antiphon.engine.stt import SttEngine
from antiphon.engine.turn import HybridTurnScorer
from antiphon.models.blas import one_thread
from antiphon.models.moonshine import Moonshine
from antiphon.models.pause import PauseModel
from antiphon.models.silero import SileroVad
from antiphon.models.smart_turn import SmartTurn
from antiphon.models.utterance import UtteranceModel
from antiphon.protocol.cartesia_stt_messages import (
    TurnEagerEnd,
    TurnEnd,
    TurnResume,
    TurnsMessage,
    TurnStart,
    TurnUpdate,
)
from antiphon.server.turns import TurnTaking
from antiphon.settings import load
from antiphon.store.store import ModelStore

PIECE = EAR_RATE_HZ // 50
WIRE_S = 0.001


class CostClock(ManualClock):
    """A manual clock on which the CPU time of the thread passes while :attr:`working`."""

    def __init__(self, slowness: float) -> None:
        super().__init__()
        self._slowness = slowness
        self._began_s: float | None = None

    def now_s(self) -> float:
        spent_s = 0.0 if self._began_s is None else (time.thread_time() - self._began_s) * self._slowness
        return super().now_s() + spent_s

    def work(self) -> None:
        self._began_s = time.thread_time()

    def rest(self) -> None:
        now_s = self.now_s()
        self._began_s = None
        self.advance_to(now_s)


@dataclass(frozen=True)
class Score:
    """One question to the scorer. ``at_s`` on the virtual clock; ``audio`` is that of the first question of a pause."""

    at_s: float
    silence_s: float
    text: str
    value: float
    audio: Samples | None
    closing: Closing | None


@dataclass
class Played:
    """``events``: what the ear said, and when. Clip times begin with the first sample."""

    clip: Clip
    hearing: Hearing
    events: list[tuple[float, Event]] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)

    @property
    def figures(self) -> TurnHeard:
        return measure_turn(self.hearing)


class Witness:
    """Notes what the scorer is asked and says."""

    def __init__(self, inner: TurnScorer, clock: CostClock, audio: bool) -> None:
        self.inner = inner
        self.scores: list[Score] = []
        self._clock = clock
        self._audio = audio

    def score(self, pause: TurnPause) -> float:
        value = self.inner.score(pause)
        fresh = not self.scores or pause.silence_s < self.scores[-1].silence_s
        kept = pause.audio.astype("f2") if self._audio and fresh else None
        self.scores.append(Score(self._clock.now_s(), pause.silence_s, pause.text, value, kept, pause.closing))
        return value

    def warm_up(self) -> None:
        self.inner.warm_up()


class Stage:
    """The models, loaded once."""

    def __init__(self, scorer: TurnScorer | None = None, slowness: float = 1.2, audio: bool = False) -> None:
        one_thread()
        models = load().models
        store = ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)
        files = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")
        self.ear = MoonshineEar(Moonshine(*(store.path("moonshine-tiny-en", file) for file in files)))
        self.vad = SileroVad(store.path("silero-vad", "silero_vad.onnx"))
        self.scorer = scorer or HybridTurnScorer(
            SmartTurn(store.path("smart-turn-v3.2", "smart-turn-v3.2-cpu.onnx")),
            words=UtteranceModel.load(),
            pause=PauseModel.load(),
        )
        self._slowness = slowness
        self._audio = audio

    def play(self, clip: Clip, settings: EndpointSettings | None = None) -> Played:
        clock = CostClock(self._slowness)
        scheduler = Scheduler(clock, workers=0)
        witness = Witness(self.scorer, clock, self._audio)
        engine = SttEngine([self.ear], self.vad, scheduler, scorer=witness)
        stream = engine.open_stream(HearingConfig(turns=True), lambda: None)
        turns = TurnTaking(lambda marker: stream.flush(marker), settings or EndpointSettings(), 0.0)
        stamps: list[float] = []
        messages: list[TurnsMessage] = []
        events: list[tuple[float, Event]] = []

        def tell(decided: Sequence[TurnEvent]) -> None:
            for event in decided:
                stamps.append(clock.now_s() + WIRE_S)
                messages.append(_message(event))

        data = pcm.encode(clip.samples, "pcm_s16le")
        sent = 0
        while True:
            while sent < len(data) and (sent // 2 + PIECE) / EAR_RATE_HZ <= clock.now_s() + 1e-9:
                stream.push(data[sent : sent + 2 * PIECE])
                sent += 2 * PIECE
            due_s = turns.due_s
            if due_s is not None and clock.now_s() >= due_s:
                tell(turns.tick(clock.now_s()))
            clock.work()
            ran = scheduler.run_next()
            clock.rest()
            for event in stream.pull():
                events.append((clock.now_s(), event))
                tell(turns.take(event, clock.now_s()))
            if not ran:
                if sent >= len(data):
                    break
                clock.advance_to((sent // 2 + PIECE) / EAR_RATE_HZ)
        close_s = clock.now_s()
        hearing = Hearing(clip, 0.0, None, close_s + 1e-6, tuple(stamps), tuple(messages), 0.0, close_s)
        stream.close()
        return Played(clip, hearing, events, witness.scores)


@dataclass(frozen=True)
class Kept:
    """A pause ``[start, stop)`` in samples, or the end of the turn, with its scores and what was asked for each."""

    clip: Clip
    scored: list[TurnScored]
    asked: list[Score]
    start: int
    stop: int
    end: bool

    @property
    def quiet(self) -> int:
        """Where the pause begins by the detector, in samples."""
        return _quiet_from(self.scored[-1])


def kept_pauses(file: Path) -> Iterator[Kept]:
    """What ``--keep`` wrote: each pause and end that was scored."""
    sys.modules["__main__"].__dict__.update(Played=Played, Score=Score)  # as they were pickled
    for played in pickle.loads(file.read_bytes()):
        clip = played.clip
        ends = [(clip.speech[1], len(clip.samples), True)] if clip.ends_turn else []
        answers = [event for _, event in played.events if isinstance(event, TurnScored)]
        scored = list(zip(answers, played.scores, strict=True))
        for start, stop, end in [*((a, b, False) for a, b in clip.pauses), *ends]:
            near = [one for one in scored if (_quiet_from(one[0]) - start) / EAR_RATE_HZ > -1.2]
            run = [one for one in near if one[0].at_sample > start and _quiet_from(one[0]) < stop - 500]
            if run:
                yield Kept(clip, [one for one, _ in run], [asked for _, asked in run], start, stop, end)


def _quiet_from(scored: TurnScored) -> int:
    return scored.at_sample - scored.silence_samples


def _message(event: TurnEvent) -> TurnsMessage:
    match event:
        case TurnStarted():
            return TurnStart(request_id="")
        case TurnUpdated():
            return TurnUpdate(request_id="", transcript=event.transcript)
        case TurnEagerEnded():
            return TurnEagerEnd(request_id="", transcript=event.transcript)
        case TurnResumed():
            return TurnResume(request_id="")
        case TurnEnded():
            return TurnEnd(request_id="", transcript=event.transcript)


def table(played: Sequence[Played]) -> Table:
    figures = [one.figures for one in played]
    found: dict[tuple[str, int], list[TurnHeard]] = {}
    for group in dict.fromkeys(figure.group for figure in figures):
        found[group, 1] = [figure for figure in figures if figure.group == group]
        for kind in dict.fromkeys(figure.kind for figure in found[group, 1] if figure.kind):
            found[f"- {group}: {kind}", 1] = [figure for figure in found[group, 1] if figure.kind == kind]
    found["all", 1] = figures
    return stt_tables.turns(found)


COLUMNS = (
    "set", "clips", "pauses", "cut off %", "eager in pause %", "cut off elsewhere", "ends", "missing or > 2 s %",
    "end p50", "p90", "eager p50", "eager earlier by p50", "words p50", "resumes",
)  # fmt: skip


def show(found: Table) -> None:
    at = [found.columns.index(name) for name in COLUMNS]
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(at) + "|")
    for row in found.rows:
        cells = [row[column] for column in at]
        shown = ("-" if c is None else f"{c:.4g}" if isinstance(c, float) else str(c) for c in cells)
        print("| " + " | ".join(shown) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("list", type=Path)
    parser.add_argument("--recordings", type=Path, action="append", required=True)
    parser.add_argument("--half", default="report")
    parser.add_argument("--clips", type=int, default=0)
    parser.add_argument("--noise", type=Path)
    parser.add_argument("--snr-db", type=float)
    parser.add_argument("--slowness", type=float, default=1.2, help="CPU time passes so much slower than measured")
    parser.add_argument("--share", default="0/1", help="which part of the clips, as 0/2")
    parser.add_argument("--keep", type=Path, help="write all that was heard, for fitting")
    args = parser.parse_args()
    clips = spread(make_turns(read_recipes(args.list), args.recordings, by_hibari, args.half).clips, args.clips)
    number, of = map(int, args.share.split("/"))
    clips = list(clips)[number::of]
    if args.noise is not None:
        noises = read_folder(args.noise)
        clips = [noisy(clip, noises, args.snr_db or 10.0, 1, clip.group) for clip in clips]
    stage = Stage(slowness=args.slowness, audio=args.keep is not None)
    began_s = time.perf_counter()
    played = [stage.play(clip) for clip in clips]
    print(f"{sum(clip.audio_s for clip in clips):.0f} s of audio in {time.perf_counter() - began_s:.0f} s")
    show(table(played))
    if args.keep is not None:
        args.keep.write_bytes(pickle.dumps(played))


if __name__ == "__main__":
    main()
