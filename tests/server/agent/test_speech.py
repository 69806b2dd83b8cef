"""The wire's side of one speech: held back, released, counted."""

import json

import numpy as np

from antiphon.audio.pcm import encode
from antiphon.core.event import Audio, Event, Flushed, Timed, WordTimes
from antiphon.dialog.conversation_log import AudibleLeft, AudioLeft, SpeechOpened, WireNews
from antiphon.protocol.actions import Close, Flush, Push, Send, SendBytes
from antiphon.protocol.native import NativeLimits, NativeSocket
from antiphon.protocol.native_messages import AudioShape
from antiphon.server.agent.speech import AgentSpeech, SpeechLevel

VOICE_HZ = 24_000


class Bench:
    def __init__(self, held: bool = False, rate_hz: int = 8_000) -> None:
        self.now_s = 0.0
        self.news: list[WireNews] = []
        self.said = 0
        native = NativeSocket(NativeLimits())
        shape = {"encoding": "pcm_s16le", "sample_rate_hz": rate_hz}
        native.receive(json.dumps({"type": "start", "output": shape}), 0.0)
        self.speech = AgentSpeech(
            "r1", 7, 3, held, AudioShape("pcm_s16le", rate_hz), native, SpeechLevel(),
            self.news.append, self._say, lambda: self.now_s,
        )  # fmt: skip

    def _say(self, speech_id: str, start: int, data: bytes) -> None:
        assert start == self.said
        self.said += len(data) // 2


def kinds(actions: object) -> list[str]:
    out = []
    for action in actions:  # type: ignore[attr-defined]
        if isinstance(action, Send):
            out.append(json.loads(action.frame)["type"])
        elif isinstance(action, SendBytes):
            out.append("audio")
        elif isinstance(action, Push | Flush | Close):
            out.append(type(action).__name__)
    return out


def audio(samples: int, start: int = 0, loud: bool = True) -> Audio:
    """``samples`` at the wire's 8 kHz, three times as many at the voice's rate."""
    wave = np.sin(np.arange(samples) / 3).astype(np.float32) * (0.3 if loud else 0.0001)
    return Audio(encode(wave, "pcm_s16le"), 3 * start, 3 * samples, VOICE_HZ)


def test_it_begins_on_the_wire_with_its_first_word_and_ends_with_the_last_flush() -> None:
    speech = Bench().speech
    assert kinds(speech.speak("Hello.")) == ["Push", "reply.start", "reply.text"]
    assert kinds(speech.flush(1)) == ["Flush"]
    assert kinds(speech.finish()) == []
    assert kinds(speech.deliver(audio(400))) == ["audio"]
    assert kinds(speech.deliver(Flushed(1))) == ["reply.mark", "Close", "reply.end"]
    assert speech.complete


def test_what_is_held_back_leaves_in_order_when_it_is_released() -> None:
    bench = Bench(held=True)
    speech = bench.speech
    timed = (Timed("Hello.", 0, 900),)
    assert kinds(speech.speak("Hello.")) == ["Push"]
    for event in (WordTimes(timed, timed, VOICE_HZ), audio(400)):
        assert kinds(speech.deliver(event)) == []
    speech.flush(1)
    speech.finish()
    assert kinds(speech.deliver(Flushed(1))) == ["Close"], "its place is free although nothing has been sent"
    assert not bench.news
    assert kinds(speech.release()) == ["reply.start", "reply.text", "reply.words", "audio", "reply.mark", "reply.end"]


def test_a_cancelled_one_that_nobody_knows_of_leaves_nothing() -> None:
    held = Bench(held=True).speech
    held.speak("Hello.")
    assert held.cancel(40) == []
    assert kinds(held.release()) == []
    known = Bench().speech
    known.speak("Hello.")
    assert kinds(known.cancel(40)) == ["clear"]


def test_samples_of_the_wire_in_the_voices_count() -> None:
    bench = Bench()
    speech = bench.speech
    speech.speak("Hello.")
    speech.flush(1)
    speech.deliver(Audio(bytes(2 * 390), 0, 1_200, VOICE_HZ))  # ten samples are still in the resampler
    assert speech.voice_sample(200) == 600
    speech.deliver(Audio(bytes(2 * 9), 1_200, 0, VOICE_HZ))
    speech.deliver(Flushed(1))
    assert speech.voice_sample(399) == 1_200, "at a flush both ends are the same"
    assert speech.voice_sample(10_000) == 1_200


def test_the_first_audible_sample_and_what_was_sent_are_told() -> None:
    bench = Bench()
    bench.speech.speak("Hello.")
    events: list[Event] = [audio(800, loud=False), audio(800, 800)]
    for event in events:
        bench.speech.deliver(event)
    assert bench.news == [
        SpeechOpened("r1", "r1", 3, 8_000), AudioLeft("r1", 0, 800), AudibleLeft("r1", 800), AudioLeft("r1", 800, 800),
    ]  # fmt: skip
    assert bench.said == 1_600


def test_a_hole_is_the_clients_only_where_audio_was_there_in_time() -> None:
    bench = Bench()
    speech = bench.speech
    speech.speak("Hello.")
    speech.deliver(audio(8_000))
    bench.now_s = 0.5
    assert speech.played(3_000, 1) == 1, "half a second was still there"
    assert speech.played(3_100, 1) == 0, "told once"
    bench.now_s = 1.5
    assert speech.played(8_000, 2) == 0, "there was nothing to play"
    speech.deliver(audio(8_000, 8_000))
    bench.now_s = 1.7
    assert speech.played(8_100, 2) == 0
    assert speech.played(8_200, 3) == 1
