"""The part of ``antiphon check`` that really speaks and listens: how fast, and what the graphs ran on."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import numpy as np

from antiphon.audio.resample import resample
from antiphon.cli.finding import Finding, Verdict
from antiphon.cli.house import open_store
from antiphon.core.clock import MonotonicClock
from antiphon.core.errors import AntiphonError
from antiphon.core.event import Failed, Flushed
from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ, Heard, HearingConfig
from antiphon.core.speech import SpeechConfig
from antiphon.engine.build import House, build
from antiphon.models.session import Graph, Sessions
from antiphon.settings import Settings
from antiphon.text.unit import Text, Unit

PROBE_TEXT = "I would like to book a table for two people at seven thirty tomorrow evening."
REAL_TIME_SLOW = 0.1
EAR_SLOW = 0.3
EAR_LIMIT_S = 20.0


def speech(settings: Settings) -> Iterator[Finding]:
    """Speaks once, really, and hears what was spoken."""
    with tempfile.TemporaryDirectory() as profiles:
        sessions = Sessions(settings.engine.provider, Path(profiles))
        yield from _house(settings, sessions)


def _house(settings: Settings, sessions: Sessions) -> Iterator[Finding]:
    try:
        path = open_store(settings).path
        voice, ssm = settings.tts.default_voice, settings.tts.ssm
        preload = settings.tts.preload
        house = build(path, 1, 1, voice, listeners=1, ssm=ssm, sessions=sessions, preload=preload)
    except AntiphonError as error:
        yield Finding("fail", "engines", str(error))
        return
    try:
        house.registry.warm_up()
        finding, samples = _voice(house)
        yield finding
        yield from _other_voices(house)
        if samples is not None:
            yield _ear(house, samples)
        for graph in sorted(sessions.graphs, key=lambda graph: graph.name):  # now: some open when they are asked for
            yield graph_finding(graph)
    except AntiphonError as error:
        yield Finding("fail", "engines", str(error))
    finally:
        house.close()


def graph_finding(graph: Graph) -> Finding:
    """What its operations really ran on so far: ONNX Runtime leaves to the CPU what a provider cannot do."""
    ran = graph.operations()
    asked, others = ran.pop(graph.provider, 0), sum(ran.values())
    where = f"{graph.name}: {graph.provider} ({asked} operations"
    where += f", {sum(ran.values())} on the CPU)" if others else ")"
    if not graph.reason:
        return Finding("ok", "graph", where)
    verdict: Verdict = "note" if graph.by_choice else "slow"
    return Finding(verdict, "graph", f"{where}, not {graph.asked}: {graph.reason}")


def _other_voices(house: House) -> Iterator[Finding]:
    """One voice of every engine that is not the default."""
    for engine in house.registry.engines.values():
        if engine.name != house.registry.default_voice.engine:
            yield _voice(house, engine.voices[0].id)[0]


def _voice(house: House, voice: str = "") -> tuple[Finding, Samples | None]:
    """And the speech, at the ear's rate."""
    clock = MonotonicClock()
    try:
        engine, config = house.registry.resolve(SpeechConfig(voice=voice))
        unit = Unit((Text(PROBE_TEXT),))
        began_s = clock.now_s()
        samples = np.concatenate([part.samples for part in engine.voice.speak(config.voice, unit, 0, 0, None)])
        rtf = (clock.now_s() - began_s) / (len(samples) / engine.voice.sample_rate_hz)
    except AntiphonError as error:
        return Finding("fail", "voice", str(error)), None
    name = house.registry.voice(config.voice).name
    verdict: Verdict = "ok" if rtf < REAL_TIME_SLOW else "slow"
    finding = Finding(verdict, "voice", f"{name} ({engine.name}): {rtf:.4f} of real time on one core, now")
    return finding, resample(samples, engine.voice.sample_rate_hz, EAR_RATE_HZ)


def _ear(house: House, samples: Samples) -> Finding:
    ear, config = house.registry.listener(HearingConfig(encoding="pcm_f32le", sample_rate_hz=EAR_RATE_HZ, turns=True))
    name = house.registry.ears()[0]
    woken = Event()
    stream = ear.open_stream(config, woken.set)
    try:
        stream.push(samples.tobytes())
        stream.flush("end", last=True)
        heard = ""
        while woken.wait(EAR_LIMIT_S):
            woken.clear()
            for event in stream.pull():
                match event:
                    case Heard(final=True):
                        heard += event.text
                    case Failed():
                        return Finding("fail", "ear", f"{name}: {event.message}")
                    case Flushed():
                        return _heard(name, heard, stream.compute_s * EAR_RATE_HZ / len(samples))
    finally:
        stream.close()
    return Finding("fail", "ear", f"{name} said nothing for {EAR_LIMIT_S:.0f} s")


def _heard(name: str, heard: str, rtf: float) -> Finding:
    spoken, words = set(_words(PROBE_TEXT)), _words(heard)
    if len(spoken.intersection(words)) < len(spoken) // 2:
        return Finding("fail", "ear", f"{name} did not understand the voice: {heard!r}")
    verdict: Verdict = "ok" if rtf < EAR_SLOW else "slow"
    return Finding(verdict, "ear", f"{name}, with turns: {rtf:.4f} of real time on one core, now")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
