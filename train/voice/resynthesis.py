"""What the vocoder alone costs: the teacher's own spectra and F0 made into sound again, judged by DNSMOS.

    python -m train.voice.resynthesis                                    # the voice that ships
    python -m train.voice.resynthesis --vocoder build/voice/together/vocoder.pt

Differences are paired, of utterances that the training held back; what remains of the whole voice's difference is the
acoustic model's.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from antiphon.audio.resample import resample
from antiphon.bench.dnsmos import Dnsmos
from antiphon.settings import load
from antiphon.store.store import ModelStore
from train.voice.batches import ln_f0
from train.voice.data import Utterance
from train.voice.train_vocoder import VALIDATION, Speech, render
from train.voice.vocoder import HOP, LAG, Filter, VocoderNet
from train.voice.weights import load_exported

ASSETS = Path(__file__).parents[2] / "src" / "antiphon" / "assets" / "ssm"
RATE_HZ, EAR_HZ = 24_000, 16_000
FRAMES = (160, 600)
"""Two to seven and a half seconds: DNSMOS wants some."""


def again(net: VocoderNet, shape: Filter, said: Utterance) -> np.ndarray:
    """Its sound by the vocoder, [samples] in -1..1, and lagging as the vocoder does."""
    count = said.frames - 2
    mel = torch.from_numpy(said.mel[1 : 1 + count].astype(np.float32))[None]
    pitch = torch.from_numpy(ln_f0(said.f0)[: count + 2])[None]
    voiced = torch.from_numpy((said.f0[2 : 2 + count] > 0).astype(np.float32))[None]
    with torch.no_grad():
        made: np.ndarray = render(net, shape, mel, pitch, voiced)[0].clamp(-1, 1).numpy()
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("build/voice/data"))
    parser.add_argument("--vocoder", type=Path, help="a checkpoint; without it, the voice that ships")
    parser.add_argument("--count", type=int, default=32)
    parser.add_argument("--shards", type=int, default=20)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if options.vocoder is None:
        net = load_exported(ASSETS, gain=False)[1]
    else:
        net = VocoderNet()
        net.load_state_dict(torch.load(options.vocoder, map_location="cpu")["ema"])
    speech = Speech(options.data, options.shards)
    speech.refresh()
    plain = [u for u in speech.utterances[::VALIDATION] if (u.speed, u.pitch, u.energy) == (1, 0, 0)]
    chosen = [u for u in plain if FRAMES[0] < u.frames < FRAMES[1]][: options.count]
    models = load().models
    store = ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)
    mos, shape, scores = Dnsmos(store.path("dnsmos", "sig_bak_ovr.onnx")), Filter(), []
    for said in chosen:
        real = said.wav[HOP - LAG : (said.frames - 1) * HOP - LAG].astype(np.float32) / 32768
        heard = [mos(resample(sound, RATE_HZ, EAR_HZ)) for sound in (real, again(net, shape, said))]
        scores.append([(one.speech, one.background, one.overall) for one in heard])
    found = np.array(scores)
    lost = found[:, 1] - found[:, 0]
    error = lost.std(0) / len(lost) ** 0.5
    print(f"{len(chosen)} utterances        speech  background  overall")
    for name, row in (("teacher", found[:, 0].mean(0)), ("again", found[:, 1].mean(0)), ("lost", lost.mean(0))):
        print(f"{name:<20}" + "".join(f"{value:10.3f}" for value in row))
    print(f"{'standard error':<20}" + "".join(f"{value:10.3f}" for value in error))


if __name__ == "__main__":
    main()
