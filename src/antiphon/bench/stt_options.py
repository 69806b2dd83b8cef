"""What ``antiphon bench stt`` is to measure, where, and whether that can be done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from antiphon.bench.clip import Clip
from antiphon.bench.spoil import in_room, noisy, telephone
from antiphon.bench.target.cartesia_stt import CartesiaStt, CartesiaTurns, LongStt
from antiphon.bench.target.cartesia_stt_wire import CHUNK_S
from antiphon.core.errors import InvalidInput
from antiphon.core.frame import Samples


@dataclass(frozen=True, slots=True)
class EarServer:
    """Where the server is and how to ask it."""

    url: str
    name: str = "antiphon"
    model: str = "ink-2"
    language: str = "en"
    api_key: str = ""
    chunk_s: float = CHUNK_S

    def finalized(self) -> CartesiaStt:
        return CartesiaStt(
            self.url, model=self.model, language=self.language, api_key=self.api_key, chunk_s=self.chunk_s,
            name=self.name,
        )  # fmt: skip

    def turns(self) -> CartesiaTurns:
        return CartesiaTurns(
            self.url, model=self.model, language=self.language, api_key=self.api_key, chunk_s=self.chunk_s,
            name=self.name,
        )  # fmt: skip

    def long(self, speed: float) -> LongStt:
        return LongStt(
            self.url, model=self.model, language=self.language, api_key=self.api_key, speed=speed, name=self.name
        )


@dataclass(frozen=True, slots=True)
class SttOptions:
    """What to measure. Nothing but what has clips is.

    ``clips``: finalized at their true end, by ``streams`` callers one clip after the other, ``repeat`` times.
    ``noises``/``rooms``: name -> sound at 16 kHz; every clip is also played with noise at each of ``snrs_db``, in a
    room, and over the ``telephone``, by ``spoiled_streams`` callers. ``turns``: clips for turn detection, by
    ``turn_streams`` callers, also with noise at ``turn_snrs_db``; ``turns_left_out``: reasons for the report.
    ``unspoken``: clips in which nothing is said. ``minutes``: of audio in one stream (0: none), in real time unless
    ``faster``. ``server_pid``: 0 looks up who serves the URL.
    """

    server: EarServer
    clips: tuple[Clip, ...] = ()
    streams: tuple[int, ...] = (1, 4, 8)
    repeat: int = 1
    noises: Mapping[str, Samples] = field(default_factory=dict)
    snrs_db: tuple[float, ...] = (20.0, 10.0, 5.0)
    rooms: Mapping[str, Samples] = field(default_factory=dict)
    telephone: bool = False
    spoiled_streams: int = 4
    turns: tuple[Clip, ...] = ()
    turn_streams: tuple[int, ...] = (4,)
    turn_snrs_db: tuple[float, ...] = ()
    turns_left_out: Mapping[str, int] = field(default_factory=dict)
    unspoken: tuple[Clip, ...] = ()
    minutes: int = 0
    faster: bool = False
    server_pid: int = 0
    seed: int = 1
    models: tuple[tuple[str, Path], ...] = ()
    notes: tuple[str, ...] = ()
    out: Path | None = None

    def check(self) -> None:
        """Raises ``InvalidInput`` for options that do not go together."""
        if not (self.clips or self.turns or self.unspoken or self.minutes):
            raise InvalidInput("there is nothing to play", "speech")
        if any(streams < 1 for streams in (*self.streams, *self.turn_streams, self.spoiled_streams)):
            raise InvalidInput("streams must be positive", "streams")
        if self.repeat < 1:
            raise InvalidInput("clips must be played at least once", "repeat")
        if self.minutes and not (self.clips or self.turns):
            raise InvalidInput("minutes are made of clips: give some", "minutes")
        if self.turn_snrs_db and not self.noises:
            raise InvalidInput("turns in noise need noises", "noise")


def spoiled(options: SttOptions, clips: Sequence[Clip]) -> list[Clip]:
    """``clips`` under every condition that was asked for, each in a group of its own."""
    made: list[Clip] = []
    for snr_db in options.snrs_db if options.noises else ():
        made += [noisy(clip, options.noises, snr_db, options.seed, f"{clip.group}, {snr_db:g} dB") for clip in clips]
    if options.rooms:
        made += [in_room(clip, options.rooms, options.seed, f"{clip.group}, room") for clip in clips]
    if options.telephone:
        made += [telephone(clip, f"{clip.group}, telephone") for clip in clips]
    return made
