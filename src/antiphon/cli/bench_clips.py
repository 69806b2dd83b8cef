"""What ``antiphon bench stt`` plays: from folders, lists and a voice to clips."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from antiphon.bench.clip import Clip
from antiphon.bench.corpus import read_folder, read_texts, recordings, spread, synthesised
from antiphon.bench.player import Player
from antiphon.bench.stt_options import EarServer
from antiphon.bench.systems import DEFAULT_VOICE
from antiphon.bench.turn_set import Half, make_turns, read_recipes
from antiphon.bench.unspoken import unspoken
from antiphon.bench.voices import by_hibari, by_server, hibari_voice
from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.core.frame import Samples

DEFAULT_SENTENCES = 40


@dataclass(frozen=True, slots=True)
class ClipSources:
    """The command's options that say where sound comes from. Where none does, sentences are synthesised."""

    speech: tuple[Path, ...] = ()
    texts: Path | None = None
    synthesised: int = 0
    clips: int = 0
    noise: Path | None = None
    rir: Path | None = None
    nothing_s: float = 0.0
    turns: Path | None = None
    recordings: tuple[Path, ...] = ()
    half: str = "report"
    turn_clips: int = 0
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Gathered:
    clips: tuple[Clip, ...]
    turns: tuple[Clip, ...]
    turns_left_out: Mapping[str, int]
    unspoken: tuple[Clip, ...]
    noises: Mapping[str, Samples]
    rooms: Mapping[str, Samples]
    notes: tuple[str, ...] = field(default=())


def gather(sources: ClipSources, server: EarServer, progress: Callable[[str], None]) -> Gathered:
    """Read and make all that is to be played. Raises ``InvalidInput`` for what cannot be read."""
    clips: list[Clip] = []
    notes: list[str] = []
    for folder in sources.speech:
        table = sources.texts or folder.with_suffix(".tsv")
        texts = read_texts(table) if table.is_file() or sources.texts else None
        if texts is None:
            notes.append(f"{folder.name}: no texts, so errors are counted against the offline recogniser only")
        clips += recordings(folder, texts, sources.clips)
    count = sources.synthesised
    if not (count or clips or sources.turns or sources.nothing_s):
        count = DEFAULT_SENTENCES
    if count:
        progress(f"synthesising {count} sentences")
        made, whose = _synthesised(count, server)
        clips += made
        notes.append(f"synthesised clips are spoken by {whose}: easier to understand than people")
    noises = read_folder(sources.noise) if sources.noise else {}
    turns: tuple[Clip, ...] = ()
    left_out: Mapping[str, int] = {}
    if sources.turns is not None:
        if sources.half not in get_args(Half):
            raise InvalidInput(f"--half must be one of {', '.join(get_args(Half))}; not {sources.half!r}")
        progress("rebuilding the turns")
        folders = sources.recordings or (sources.turns.parent,)
        found = make_turns(read_recipes(sources.turns), folders, by_hibari, sources.half)  # type: ignore[arg-type]
        turns, left_out = tuple(spread(found.clips, sources.turn_clips)), found.left_out
        notes.append(f"turns: the {sources.half} part of {sources.turns.name}")
    nothing = unspoken(noises, sources.nothing_s, sources.seed) if sources.nothing_s else []
    rooms = read_folder(sources.rir) if sources.rir else {}
    return Gathered(tuple(clips), turns, left_out, tuple(nothing), noises, rooms, tuple(notes))


def _synthesised(count: int, server: EarServer) -> tuple[list[Clip], str]:
    """In the server's own voice if it has one, which tells word times; else in hibari's."""
    with Player() as player:
        try:
            return synthesised(by_server(player, server.url, DEFAULT_VOICE, server.api_key), count), "the server itself"
        except ModelUnavailable:
            return synthesised(hibari_voice, count), "hibari"
