"""Voices that speak clips: the server under test itself, over its own wire, or hibari in this process.

Both are synthetic, and easier to understand than people are: what comes of them is labelled so.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from antiphon.audio.pcm import decode
from antiphon.audio.resample import resample
from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.clip import EAR_RATE_HZ, ClipWord
from antiphon.bench.corpus import Spoken
from antiphon.bench.player import Player
from antiphon.bench.target.cartesia_ws import CartesiaWs
from antiphon.bench.target.contract import Line
from antiphon.core.errors import ModelUnavailable
from antiphon.core.frame import Samples
from antiphon.protocol.cartesia_messages import Timestamps, decode_server_message

SERVER_RATE_HZ = 24_000


def by_server(player: Player, url: str, voice: str, api_key: str = "") -> Callable[[Sequence[str]], list[Spoken]]:
    """Sentences as the server speaks them, with the word times it gives. Raises ``ModelUnavailable`` if it does not."""
    target = CartesiaWs(
        url, voice=voice, api_key=api_key, sample_rate_hz=SERVER_RATE_HZ, extra={"add_timestamps": True},
        name="server's voice", keep_all=True,
    )  # fmt: skip

    def speak(texts: Sequence[str]) -> list[Spoken]:
        recordings, _ = player.record(target, [Line(text) for text in texts], ClosedLoop(1, 0, len(texts)))
        player.part(target)
        spoken = []
        for recording in recordings:
            take = target.take(recording)
            if take.error or not take.audio_s:
                raise ModelUnavailable(f"the server does not speak: {take.error or 'it sent no audio'}")
            samples = resample(decode(take.pcm, "pcm_s16le"), SERVER_RATE_HZ, EAR_RATE_HZ)
            spoken.append(Spoken(samples, _times(recording.payloads)))
        return spoken

    return speak


@cache
def _hibari() -> Callable[..., Samples]:
    try:
        from hibari import Hibari
    except ImportError:
        raise ModelUnavailable("the package hibari-tts is not installed") from None
    voice: Callable[..., Samples] = Hibari(threads=1)
    return voice


def by_hibari(text: str, seed: int = 0, speed: float = 1.0) -> Samples:
    """One piece of text in hibari's voice, in this process, at 16 kHz. Raises ``ModelUnavailable``."""
    return resample(np.asarray(_hibari()(text, seed=seed, speed=speed), np.float32), SERVER_RATE_HZ, EAR_RATE_HZ)


def hibari_voice(texts: Sequence[str]) -> list[Spoken]:
    """Sentences in hibari's voice; it tells no word times."""
    return [Spoken(by_hibari(text, seed)) for seed, text in enumerate(texts)]


def _times(payloads: Sequence[bytes]) -> tuple[ClipWord, ...]:
    words: list[ClipWord] = []
    for payload in payloads:
        message = decode_server_message(payload)
        if isinstance(message, Timestamps):
            times = message.word_timestamps
            words += [
                ClipWord(word, start, end)
                for word, start, end in zip(times.words, times.start, times.end, strict=True)
            ]
    return tuple(words)
