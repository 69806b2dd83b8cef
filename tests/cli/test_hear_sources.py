"""What comes through a pipe is taken for what it is, and errors name what they are about."""

import io
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import soundfile

from antiphon.audio import pcm, wav
from antiphon.cli.hear_sources import Source, piped, recorded
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples

RATE = 16_000
TONE = (0.5 * np.sin(2 * np.pi * 220 * np.arange(RATE) / RATE)).astype(np.float32)


@contextmanager
def pipe(data: bytes) -> Iterator[int]:
    """The reading end of a pipe into which ``data`` is written, in odd pieces."""
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as file:
            for at in range(0, len(data), 1_111):
                file.write(data[at : at + 1_111])

    thread = threading.Thread(target=write)
    thread.start()
    yield reading
    thread.join()
    os.close(reading)


def heard(source: Source) -> Samples:
    return pcm.decode(b"".join(source.pieces), source.encoding)


def file_of(samples: Samples, kind: str, rate_hz: int = RATE, subtype: str | None = None) -> bytes:
    out = io.BytesIO()
    soundfile.write(out, samples, rate_hz, format=kind, subtype=subtype)
    return out.getvalue()


def test_raw_samples_are_what_they_are_said_to_be() -> None:
    data = pcm.encode(TONE, "pcm_mulaw")
    with pipe(data) as descriptor:
        source = piped(descriptor, "pcm_mulaw", 8_000)
        assert (source.encoding, source.sample_rate_hz, b"".join(source.pieces)) == ("pcm_mulaw", 8_000, data)
    data = pcm.encode(TONE, "pcm_s16le")
    with pipe(data) as descriptor:
        source = piped(descriptor, None, RATE)
        assert (source.encoding, source.sample_rate_hz, b"".join(source.pieces)) == ("pcm_s16le", RATE, data)


def test_samples_that_begin_like_an_mp3_by_chance_are_samples() -> None:
    data = struct.pack("<BBB", 0xFF, 0xFB, 0x90) + b"\xfb" + pcm.encode(TONE - 0.03, "pcm_s16le")
    with pipe(data) as descriptor:
        assert piped(descriptor, None, RATE).encoding == "pcm_s16le"


@pytest.mark.parametrize("samples", [len(TONE), None])
def test_a_wav_is_read_as_it_comes(samples: int | None) -> None:
    body = pcm.encode(TONE, "pcm_s16le")
    trailer = b"LIST" + struct.pack("<I", 4) + b"INFO" if samples else b""
    with pipe(wav.header("pcm_s16le", 22_050, samples) + body + trailer) as descriptor:
        source = piped(descriptor, None, RATE)
        assert (source.encoding, source.sample_rate_hz) == ("pcm_s16le", 22_050)
        assert b"".join(source.pieces) == body


def test_two_channels_become_one() -> None:
    both = np.stack((TONE, np.zeros_like(TONE)), axis=1)
    with pipe(file_of(both, "WAV", 48_000, "PCM_16")) as descriptor:
        source = piped(descriptor, None, RATE)
        assert source.sample_rate_hz == 48_000
        assert heard(source) == pytest.approx(TONE / 2, abs=1e-4)


@pytest.mark.parametrize(("kind", "subtype"), [("FLAC", None), ("MP3", None), ("OGG", "VORBIS"), ("WAV", "PCM_24")])
def test_other_containers_are_heard_when_all_has_come(kind: str, subtype: str | None) -> None:
    with pipe(file_of(TONE, kind, RATE, subtype)) as descriptor:
        found = heard(piped(descriptor, None, RATE))
    assert np.sqrt(np.mean(np.square(found))) == pytest.approx(0.354, abs=0.02)
    assert len(found) == pytest.approx(len(TONE), abs=2_500)  # an mp3 pads


def test_nothing_is_an_error_and_so_is_a_terminal() -> None:
    with pipe(b"") as descriptor, pytest.raises(InvalidInput, match="nothing came"):
        piped(descriptor, None, RATE)
    controller, terminal = os.openpty()
    with pytest.raises(InvalidInput, match="terminal"):
        piped(terminal, None, RATE)
    os.close(controller)
    os.close(terminal)


def test_what_is_wrong_with_a_file_names_the_file(tmp_path: Path) -> None:
    empty, text = tmp_path / "empty.wav", tmp_path / "text.wav"
    empty.touch()
    text.write_text("no sound in here, only words and words and words")
    for path, why in ((empty, "nothing in it"), (text, "no recording"), (tmp_path / "none.wav", "No such file")):
        with pytest.raises(InvalidInput, match=rf"{path.name}.*{why}"):
            list(recorded(path, None, RATE).pieces)
    why = r"standard input: .*no recording"
    with pipe(b"OggS" + bytes(5_000)) as descriptor, pytest.raises(InvalidInput, match=why):
        list(piped(descriptor, None, RATE).pieces)
