"""Speech for the clients to send, made by the server under test, and what a listener may get wrong about it."""

import io
import re
import wave
from functools import lru_cache
from itertools import pairwise

import httpx

from .running import Server

QUESTION = "What time do you close on Sunday?"
WISH = "I would like to book a table for two people."
RATE_HZ = 16_000
CHUNK_BYTES = 3_200
"""100 ms."""


@lru_cache
def pcm(server: Server, *sentences: str, pause_s: float = 1.0) -> bytes:
    """The sentences with a pause after each, as 16-bit samples at 16 kHz."""
    voice = httpx.get(f"{server.http}/voices", trust_env=False).json()["data"][0]["id"]
    order = {
        "model_id": "sonic-3",
        "voice": {"mode": "id", "id": voice},
        "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": RATE_HZ},
    }
    spoken = b""
    for sentence in sentences:
        body = {**order, "transcript": sentence}
        answer = httpx.post(f"{server.http}/tts/bytes", json=body, timeout=30, trust_env=False)
        spoken += answer.raise_for_status().content + bytes(2 * round(pause_s * RATE_HZ))
    return spoken


def wav(samples: bytes) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(RATE_HZ)
        writer.writeframes(samples)
    return file.getvalue()


def chunks(samples: bytes, size: int = CHUNK_BYTES) -> list[bytes]:
    return [samples[at : at + size] for at in range(0, len(samples), size)]


def normal(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower().replace("2", "two"))


def assert_understood(heard: str, *sentences: str, slips: int = 2) -> None:
    """The words of the sentences, in order; the recogniser may get a few of them wrong."""
    said, got = normal(" ".join(sentences)), normal(heard)
    assert _distance(said, got) <= slips, f"{heard!r} instead of {' '.join(sentences)!r}"
    assert "  " not in heard


def _distance(said: list[str], got: list[str]) -> int:
    row = list(range(len(got) + 1))
    for i, word in enumerate(said, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(got, 1):
            diagonal, row[j] = row[j], min(diagonal + (word != other), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def assert_words_in_time(words: list[tuple[str, float, float]], text: str, seconds: float) -> None:
    """One entry a word of the text, in order, within the audio."""
    assert [word for word, _, _ in words] == text.split()
    assert all(start < end for _, start, end in words)
    assert all(earlier[1] <= later[1] for earlier, later in pairwise(words))
    assert 0 <= words[0][1] < 0.6
    assert words[-1][2] <= seconds
