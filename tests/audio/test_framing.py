import numpy as np
import pytest

from antiphon.audio.container import open_encoder
from antiphon.audio.framing import Framer, Mp3Frames, OggPages, mp3_frame_bytes, ogg_page_bytes
from antiphon.core.frame import AudioFormat, Samples


@pytest.mark.parametrize(
    ("container", "framer", "size_of"), [("mp3", Mp3Frames, mp3_frame_bytes), ("opus", OggPages, ogg_page_bytes)]
)
def test_any_cut_of_the_bytes_gives_whole_frames(
    container: str, framer: type[Framer], size_of: type, speech_24k: Samples
) -> None:
    encoder = open_encoder(AudioFormat(container), 24_000)
    data = encoder.push(speech_24k) + encoder.finish()
    random, cutter = np.random.default_rng(0), framer()
    out, at = [], 0
    while at < len(data):
        size = int(random.integers(1, 300))
        out.append(cutter.feed(data[at : at + size]))
        at += size
    assert b"".join(out) == data
    assert cutter.rest() == b""
    for part in out:
        place = 0
        while place < len(part):
            place += size_of(part, place)
        assert place == len(part)


def test_the_beginning_of_a_frame_is_kept_for_the_end() -> None:
    cutter = OggPages()
    assert cutter.feed(b"OggS\0\0") == b""
    assert cutter.rest() == b"OggS\0\0"
    assert cutter.rest() == b""


@pytest.mark.parametrize("header", ["00000000", "fffb0000", "fffbf000", "fffb9c00", "ffeb9000", "fffd9000"])
def test_bytes_out_of_step_are_an_error_not_a_guess(header: str) -> None:
    with pytest.raises(ValueError, match="no MPEG"):
        mp3_frame_bytes(bytes.fromhex(header))


def test_known_mp3_frame_sizes() -> None:
    assert mp3_frame_bytes(bytes.fromhex("fffb9000")) == 417  # MPEG-1, 128 kbit/s, 44.1 kHz
    assert mp3_frame_bytes(bytes.fromhex("fffb9200")) == 418  # the same, padded
    assert mp3_frame_bytes(bytes.fromhex("fff3c400")) == 384  # MPEG-2, 128 kbit/s, 24 kHz
    assert mp3_frame_bytes(bytes.fromhex("ffe38800")) == 576  # MPEG-2.5, 64 kbit/s, 8 kHz
    assert mp3_frame_bytes(b"\xff\xfb\x90") is None
