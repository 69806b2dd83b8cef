"""The pause model from nothing: pool, streams with smart-turn's opinions, training, calibration, export. Resumable.

    python -m train.turn.pause.run --libri FOLDER --prompts FOLDER --speech FOLDER

``--libri``: a folder with flac files of LibriSpeech train-clean-100, one utterance of each speaker is enough;
``--prompts``: where the Debian packages asterisk-core-sounds-{fr,it,ru}-g722 lie (/usr/share/asterisk/sounds);
``--speech``: a folder with ``noise`` and ``rir``. Kokoro must have been pulled. Half an hour of a
core for the pool and the streams, a quarter for training.
"""

import argparse
import os
from pathlib import Path

POOL = (("hibari", 1400, 11), ("river", 300, 12), ("kokoro", 112, 13))
SHARDS, ITERATIONS, STREAM_SEED, SEED = 31, 1600, 1_000, 1
BLOCKS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--libri", type=Path, required=True)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--build", type=Path, default=Path("build/pause"))
    parser.add_argument("--shards", type=int, default=SHARDS, help="of 64 streams of 16 s")
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", choices=("pool", "streams", "train", "calibrate"))
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    wanted = {args.only} if args.only else {"pool", "streams", "train", "calibrate"}
    pool, streams, raw = args.build / "pool", args.build / "streams", args.build / f"raw-{args.seed}.npz"
    if "pool" in wanted:
        from train.turn.pause import pool_speech, pool_voices

        pool_speech.prompts(args.prompts, pool / "prompts.pool")
        pool_speech.librispeech(args.libri, pool / "libri.pool")
        for kind, count, seed in POOL:
            pool_voices.make(pool, kind, count, seed)
    if "streams" in wanted:
        from train.turn.pause import rooms
        from train.turn.pause import streams as making
        from train.turn.pause.pool import load
        from train.turn.pause.pool_voices import smart_turn

        making.make(load(pool), rooms.Surroundings(args.speech), smart_turn(), streams, args.shards, STREAM_SEED)
    if "train" in wanted:
        from train.turn.pause.train import train

        train(streams, raw, args.shards, args.iterations, args.seed, blocks=BLOCKS)
    if "calibrate" in wanted:
        from train.turn.pause.calibrate import calibrate

        calibrate(raw, streams / "held.npz", args.build / "weights.npz")


if __name__ == "__main__":
    main()
