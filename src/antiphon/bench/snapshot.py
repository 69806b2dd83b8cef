"""What a server says of a fixed set of texts, for comparing two versions of a model: how words are pronounced, how long
they take, and what a client sees on the wire. Kept as JSON; two of them are compared without the server."""

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from antiphon.bench.arrivals import ClosedLoop
from antiphon.bench.conditions import Conditions
from antiphon.bench.player import Player
from antiphon.bench.recording import Recording, Take
from antiphon.bench.report import Cell, Table
from antiphon.bench.target.cartesia_ws import CartesiaWs
from antiphon.bench.target.contract import Line
from antiphon.core.errors import InvalidInput, ModelUnavailable

FORMAT = "antiphon-snapshot-1"
LONGER = 0.02
"""A change of a text's length below this share of it is not listed."""


class Spoken(msgspec.Struct, frozen=True):
    """One text. ``phonemes``: as the server names them, with the word boundaries it gives. ``words``: as spoken.
    ``messages``: kinds in the order of their first coming. ``error``: it was not spoken."""

    text: str
    language: str
    audio_s: float
    phonemes: tuple[str, ...]
    words: tuple[str, ...]
    chunks: int
    messages: str
    error: str = ""


class Snapshot(msgspec.Struct, frozen=True):
    """``fields``: kind of message -> names of its fields. ``conditions`` as in a report."""

    format: str
    server: str
    model: str
    voice: str
    workload: str
    conditions: Conditions
    fields: dict[str, tuple[str, ...]]
    texts: tuple[Spoken, ...]


def take_snapshot(
    player: Player, target: CartesiaWs, lines: Sequence[Line]
) -> tuple[tuple[Spoken, ...], dict[str, tuple[str, ...]]]:
    """(texts as they were spoken, fields of each kind of message). ``target`` keeps all messages and asks for times.

    Raises ``ModelUnavailable`` if not one text is spoken.
    """
    recordings, _ = player.record(target, lines, ClosedLoop(1, 0, len(lines)))
    player.part(target)
    fields: dict[str, set[str]] = {}
    spoken = []
    for line, recording in zip(lines, recordings, strict=True):
        messages = [msgspec.json.decode(payload) for payload in recording.payloads]
        for message in messages:
            fields.setdefault(message.get("type", ""), set()).update(message)
        spoken.append(_spoken(line, recording, target.take(recording), messages))
    if all(each.error for each in spoken):
        raise ModelUnavailable(f"the server does not speak: {spoken[0].error}")
    return tuple(spoken), {kind: tuple(sorted(names)) for kind, names in sorted(fields.items())}


def write_snapshot(snapshot: Snapshot, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(snapshot), indent=1))


def read_snapshot(path: Path) -> Snapshot:
    """Raises ``InvalidInput`` naming the file."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Snapshot)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}", "snapshot") from None
    except msgspec.DecodeError as error:
        raise InvalidInput(f"{path} is no snapshot: {error}", "snapshot") from None
    if found.format != FORMAT:
        raise InvalidInput(f"{path} is a snapshot of another format, {found.format!r}", "snapshot")
    return found


def compare(before: Snapshot, after: Snapshot) -> list[Table]:
    """Changed pronunciations, lengths, and what a client sees. Texts that only one has are named."""
    old = {(each.language, each.text): each for each in before.texts}
    pairs = [(old[key], each) for each in after.texts if (key := (each.language, each.text)) in old]
    return [_pronunciations(pairs), _lengths(pairs), _wire(before, after, pairs)]


def changed_phonemes(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """(before, after) of each place where the two differ, with nothing around."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [
        (" ".join(before[at:to]), " ".join(after[begin:end]))
        for tag, at, to, begin, end in matcher.get_opcodes()
        if tag != "equal"
    ]


def _pronunciations(pairs: Sequence[tuple[Spoken, Spoken]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    places: Counter[tuple[str, str]] = Counter()
    known = 0
    for old, new in pairs:
        known += bool(old.phonemes and new.phonemes)
        changes = changed_phonemes(old.phonemes, new.phonemes) if old.phonemes and new.phonemes else []
        places.update(changes)
        if changes:
            said = "; ".join(f"{one or '-'} > {other or '-'}" for one, other in changes[:6])
            rows.append((new.text, len(changes), said))
    words = [
        (new.text, " ".join(old.words), " ".join(new.words)) for old, new in pairs if old.words != new.words
    ]
    notes = [f"{len(rows)} of {known} texts with phonemes are pronounced differently."]
    common = places.most_common(10)
    notes += [f"{one or 'nothing'} became {other or 'nothing'}, {count} times" for (one, other), count in common]
    notes += [f"read differently: {text}: {one} / {other}" for text, one, other in words[:20]]
    if not known:
        notes.append("The server gives no phonemes for these texts.")
    return Table("Changed pronunciations", ("text", "places", "phonemes before > after"), tuple(rows), tuple(notes))


def _lengths(pairs: Sequence[tuple[Spoken, Spoken]]) -> Table:
    good = [(old, new) for old, new in pairs if old.audio_s and new.audio_s]
    ratios = [new.audio_s / old.audio_s for old, new in good]
    listed = [
        (old, new, ratio) for (old, new), ratio in zip(good, ratios, strict=True) if abs(ratio - 1) > LONGER
    ]
    listed.sort(key=lambda each: -abs(each[2] - 1))
    rows: list[tuple[Cell, ...]] = [
        (new.text, round(old.audio_s, 3), round(new.audio_s, 3), round(100 * (ratio - 1), 1))
        for old, new, ratio in listed
    ]
    note = "Nothing was spoken by both."
    if ratios:
        share = f"{len(listed)} of {len(good)} texts changed by more than {100 * LONGER:.0f} %"
        note = f"{share}; median {median(ratios):.3f} times."
    return Table("Lengths", ("text", "before, s", "after, s", "change %"), tuple(rows), (note,))


def _wire(before: Snapshot, after: Snapshot, pairs: Sequence[tuple[Spoken, Spoken]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for kind in sorted({*before.fields, *after.fields}):
        one, other = before.fields.get(kind, ()), after.fields.get(kind, ())
        if one != other:
            rows.append((f"fields of {kind}", ", ".join(one) or "not sent", ", ".join(other) or "not sent"))
    for name in ("server", "model", "voice", "workload"):
        if getattr(before, name) != getattr(after, name):
            rows.append((name, getattr(before, name)[:60], getattr(after, name)[:60]))
    orders = Counter((old.messages, new.messages) for old, new in pairs if old.messages != new.messages)
    rows += [(f"order of messages, {count} texts", one, other) for (one, other), count in orders.most_common(5)]
    rows += [("error: " + new.text, old.error or "spoken", new.error or "spoken")
             for old, new in pairs if old.error != new.error]  # fmt: skip
    rows.append(_chunk_row(pairs))
    texts = {(each.language, each.text) for each in before.texts} ^ {(e.language, e.text) for e in after.texts}
    return Table("On the wire", ("what", "before", "after"), tuple(rows), (f"{len(texts)} texts are only in one.",))


def _chunk_row(pairs: Sequence[tuple[Spoken, Spoken]]) -> tuple[Cell, ...]:
    def seconds(each: Sequence[Spoken]) -> str:
        found = [one.audio_s / one.chunks for one in each if one.chunks]
        return f"{1e3 * median(found):.0f} ms" if found else "-"

    return "audio per message, median", seconds([old for old, _ in pairs]), seconds([new for _, new in pairs])


def _spoken(line: Line, recording: Recording, take: Take, messages: Sequence[Mapping[str, Any]]) -> Spoken:
    phonemes = [name for message in messages for name in _listed(message, "phoneme_timestamps", "phonemes")]
    words = [name for message in messages for name in _listed(message, "word_timestamps", "words")]
    kinds = [str(message.get("type", "")) for message in messages]
    order = [kind for at, kind in enumerate(kinds) if at == 0 or kinds[at - 1] != kind]
    return Spoken(
        text=line.text,
        language=line.language,
        audio_s=take.audio_s,
        phonemes=tuple(phonemes),
        words=tuple(words),
        chunks=kinds.count("chunk"),
        messages=", ".join(dict.fromkeys(order)),
        error=recording.error,
    )


def _listed(message: Mapping[str, Any], outer: str, inner: str) -> list[str]:
    held = message.get(outer)
    return [str(name) for name in held.get(inner, ())] if isinstance(held, dict) else []
