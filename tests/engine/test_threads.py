"""The same engine on real worker threads: what virtual time cannot show."""

import random
import threading

import numpy as np

from antiphon.core.clock import MonotonicClock
from antiphon.core.event import Audio, Event, Flushed, WordTimes
from antiphon.core.frame import AudioFormat
from antiphon.core.speech import SpeechConfig
from antiphon.engine.fake import FAKE_VOICE, FakeScript, FakeVoice
from antiphon.engine.scheduler import Scheduler
from antiphon.engine.tts import TtsEngine

CONFIG = SpeechConfig(voice=FAKE_VOICE.id, format=AudioFormat("raw", "pcm_f32le", 24_000), words=True)
TEXT = "This is what was said. And then this was said as well, in one long breath. Nothing else was said."


def listen(engine: TtsEngine, text: str, cancel_after: int | None = None) -> list[Event]:
    """Speak and pull, one event at a time, until flushed (or cancel after some events and speak anew)."""
    woken = threading.Event()
    stream = engine.open_stream(CONFIG, woken.set)
    heard: list[Event] = []
    try:
        stream.push(text)
        stream.flush("end", last=cancel_after is None)
        while Flushed("end") not in heard:
            assert woken.wait(20.0), "no wake"
            woken.clear()
            while events := stream.pull(1):
                heard += events
                if cancel_after is not None and len(heard) >= cancel_after:
                    stream.cancel()
                    heard, cancel_after = [], None
                    stream.push(text)
                    stream.flush("end", last=True)
        return heard
    finally:
        stream.close()


def sound(events: list[Event]) -> np.ndarray:
    return np.concatenate([np.frombuffer(e.data, np.float32) for e in events if isinstance(e, Audio)])


def said(events: list[Event]) -> list[str]:
    return [word.text for e in events if isinstance(e, WordTimes) for word in e.words]


def test_many_callers_on_few_workers_each_hear_their_own_text_whole() -> None:
    scheduler = Scheduler(MonotonicClock(), workers=3)
    engine = TtsEngine(FakeVoice(FakeScript(char_s=0.002, quantum_s=0.01)), scheduler, capacity=16)
    faults: list[str] = []
    expected = sound(listen(engine, TEXT))

    def call(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(10):
            cancel_after = rng.choice([None, 1, 3, 7])
            heard = listen(engine, TEXT, cancel_after)
            if said(heard) != TEXT.split() or not np.array_equal(sound(heard), expected):
                faults.append(f"caller {seed}, cancelled after {cancel_after}: {said(heard)}")

    callers = [threading.Thread(target=call, args=(seed,)) for seed in range(12)]
    try:
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(60.0)
            assert not caller.is_alive()
    finally:
        scheduler.close()
    assert not faults
    assert engine.places.taken == 0
    assert scheduler.backlog() == 0
