"""What the native sockets put into frames: JSON messages, and audio behind a first byte that says so."""

from collections.abc import Iterable
from typing import Final, TypeAlias

import msgspec

from antiphon.audio.pcm import bytes_per_sample
from antiphon.core.event import Timed
from antiphon.protocol.actions import Cancel, CloseSocket, Key, Note, Send, SendBytes
from antiphon.protocol.native_messages import AudioShape, Word

AUDIO: Final = 0x01
JSON: Final = 0x7B
_MARK: Final = bytes((AUDIO,))

WireAction: TypeAlias = Send | SendBytes | Cancel | CloseSocket | Note


def message_frame(message: msgspec.Struct, key: Key | None = None) -> Send:
    return Send(msgspec.json.encode(message), key)


class AudioFrames:
    """Makes frames of whole samples of ``output``, at most ``chunk_s`` in each."""

    def __init__(self, output: AudioShape, chunk_s: float) -> None:
        self.sample_bytes = bytes_per_sample(output.encoding)
        self._most_bytes = self.sample_bytes * max(1, round(output.sample_rate_hz * chunk_s))

    def of(self, data: bytes, key: Key) -> list[SendBytes]:
        most = self._most_bytes
        return [SendBytes(_MARK + data[start : start + most], key) for start in range(0, len(data), most)]


def placed(timed: Iterable[Timed], from_hz: int, to_hz: int) -> list[Word]:
    """Times in samples at ``from_hz``, as they are told at the wire's rate."""
    return [Word(one.text, one.start_sample * to_hz // from_hz, one.end_sample * to_hz // from_hz) for one in timed]
