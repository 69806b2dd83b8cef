"""What the models say at every pause of ``pauses.json``: computed once, kept in a file, so that fitting takes seconds.

For each pause: where speech truly ended (last 10 ms window above -40 dB of the speech level), where and when the voice
detector sees the pause, the recogniser's words of the turn up to there, smart-turn's probability, seconds of compute.

    python train/turn/listen.py --speech FOLDER --out FILE [--snr-db 10]
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from make_set import HERE, recogniser
from sound import RATE_HZ, Places, Samples, room_tone, speech_span, spoken

from antiphon.engine.turn import ACOUSTIC_S, HEARD_SAMPLES
from antiphon.models.silero import FRAME_SAMPLES, SileroVad
from antiphon.models.smart_turn import SmartTurn
from antiphon.settings import load
from antiphon.store.store import ModelStore

TAIL = 2 * RATE_HZ
INNER_PAUSE = 7 * RATE_HZ // 10
"""Between the earlier pieces of a dictation."""
DECODED_SILENCE = RATE_HZ // 5
ENTER, LEAVE, HANG_FRAMES = 0.5, 0.35, 5


def turn_before(entry: dict[str, Any], places: Places) -> tuple[Samples, Samples]:
    """The clean speech of the turn up to the pause, and two seconds of its room."""
    if entry["source"] == "synthesised":
        parts, _ = spoken(tuple(entry["pieces"]), entry["voice_seed"])
        rng = np.random.default_rng(entry["tone_seed"])
        gap = np.zeros(INNER_PAUSE, np.float32)
        joined = [parts[0]]
        for part in parts[1:]:
            joined += [gap, part]
        speech = np.concatenate(joined)
        tone = rng.normal(0, 10 ** (-62 / 20), len(speech) + TAIL).astype(np.float32)
        return speech + tone[: len(speech)], tone[len(speech) :]
    whole = places.read(entry["source"], entry["file"])
    return whole[: entry["cut_sample"]], room_tone(whole, TAIL, entry["tone_seed"])


def pause_of(probabilities: list[float]) -> tuple[int, int] | None:
    """Sample where the last pause begins, and sample at which that is known."""
    speech = False
    quiet = 0
    found = None
    for index, probability in enumerate(probabilities):
        if probability >= ENTER:
            speech, quiet, found = True, 0, None
        elif speech:
            quiet = quiet + 1 if probability < LEAVE else 0
            if quiet == HANG_FRAMES:
                speech = False
                found = ((index + 1 - HANG_FRAMES) * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--snr-db", type=float, default=None)
    args = parser.parse_args()
    places, ear = Places(args.speech), recogniser()
    models = load().models
    store = ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)
    vad = SileroVad(store.path("silero-vad", "silero_vad.onnx"))
    turn = SmartTurn(store.path("smart-turn-v3.2", "smart-turn-v3.2-cpu.onnx"))
    noises = sorted((args.speech / "noise").glob("*"))
    noise = np.concatenate([soundfile.read(path, dtype="float32")[0] for path in noises])
    results = []
    for entry in json.loads((HERE / "pauses.json").read_text()):
        speech, tone = turn_before(entry, places)
        true_end = speech_span(speech)[1]
        audio = np.concatenate([np.zeros(RATE_HZ // 5, np.float32), speech, tone])
        lead = RATE_HZ // 5
        if args.snr_db is not None:
            rng = np.random.default_rng(entry["tone_seed"])
            start = int(rng.integers(len(noise)))
            added = np.resize(np.roll(noise, -start), len(audio))
            level = np.sqrt(np.mean(np.square(speech)) / np.mean(np.square(added)))
            audio = audio + added * level * 10 ** (-args.snr_db / 20)
        state, mask, probabilities = vad.init_state(1), np.ones(1, bool), []
        for at in range(0, len(audio) - FRAME_SAMPLES + 1, FRAME_SAMPLES):
            probability, state = vad.step(audio[np.newaxis, at : at + FRAME_SAMPLES], state, mask)
            probabilities.append(float(probability[0]))
        pause = pause_of(probabilities)
        result = {**entry, "speech_s": len(speech) / RATE_HZ, "true_end": true_end + lead, "pause": pause}
        if pause is not None:
            cut = audio[: pause[0] + DECODED_SILENCE]
            clock = time.perf_counter()
            heard = ear.transcribe(cut[-24 * RATE_HZ :])
            result["decode_s"] = time.perf_counter() - clock
            clock = time.perf_counter()
            asked = audio[: pause[0] + round(ACOUSTIC_S * RATE_HZ)]
            result["smart"] = turn.complete(asked[-HEARD_SAMPLES:])
            result["smart_s"] = time.perf_counter() - clock
            result["text"] = heard.text
        results.append(result)
    args.out.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
