"""Real speakers: LibriSpeech utterances, marked by a recogniser, and studio prompts, marked by their texts.

LibriSpeech: words, marks and times by the embedded ear. Behind a full stop, an exclamation or a question mark the
sentence is complete; where there is a comma or nothing it is not (a comma counts less: read commas often sound final).
Utterances are cut from chapters, a third of them inside a sentence, and the ear closes whatever it hears: their ends
count less, as complete as that third, smart-turn and the words together make likely.

Prompts: one that begins with a capital and ends with a mark is whole. Its long pauses are its sentences' if there are
as many; other quiet places are inside.
"""

import gzip
import math
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import av
import numpy as np

from antiphon.engine.ear import Ask
from antiphon.engine.ear_moonshine import load_moonshine
from antiphon.text.turn_evidence import turn_evidence
from train.turn.pause.pool import (
    Item,
    Place,
    Samples,
    dip_near,
    save,
    silences,
    smooth_levels,
    whole,
)
from train.turn.pause.pool_voices import smart_turn, store
from train.turn.sound import RATE_HZ, quiet_points, speech_span

LONGEST = 16 * RATE_HZ
PROMPTS = {"fr_CA_f_June": "fr", "it_IT_m_Carlo": "it", "ru_RU_f_IvrvoiceRU": "ru"}
PROMPT_TEXTS = "/usr/share/doc/asterisk-core-sounds-{0}/core-sounds-{0}.txt.gz"


def librispeech(folder: Path, out: Path) -> None:
    if out.exists():
        return
    ear, sound = load_moonshine(store().path), smart_turn()
    items = []
    for path in sorted(folder.rglob("*.flac")):
        samples = read(path)
        levels = smooth_levels(samples)
        if np.percentile(levels, 90) - np.percentile(levels, 3) < 15:
            continue  # one file is noise from end to end
        start, end = speech_span(samples)
        item = Item("libri", f"libri-{path.name.split('-')[0]}", whole(samples), start)
        quiet = silences(samples, 0.14)
        # the ear hears twelve seconds at once, cut in a silence
        cuts, since = [0], 0
        while len(samples) - since > 11.5 * RATE_HZ:
            near = [(b - a, (a + b) // 2) for a, b in quiet if since + 5 * RATE_HZ < a < since + 11 * RATE_HZ]
            since = max(near)[1] if near else since + 9 * RATE_HZ
            cuts.append(since)
        places: list[Place] = []
        for left, right in zip(cuts, [*cuts[1:], len(samples)], strict=True):
            hypothesis = [h for h in ear.decode(samples[left:right], Ask()) if h is not None][-1]
            words = hypothesis.words
            for word, after in pairwise(words):
                mark = word.text.rstrip("\"')")[-1:]
                edge = left + after.start_sample
                near = [gap for gap in quiet if gap[0] - 2400 < edge < gap[1] + 1600]
                if near:
                    gap = min(near, key=lambda g: abs(g[1] - edge))
                    if mark in ".?!" and after.text[:1].isupper():
                        places.append(Place(*gap, 1.0, 1.0, True))
                    elif mark not in ".?!;:":
                        places.append(Place(*gap, 0.0, 0.6 if mark in ",-" else 1.0, True))
                    continue
                at, depth = dip_near(levels, edge)
                if depth >= 8 and mark not in ".?!;:":
                    places.append(Place(at, at, 0.0, 0.7 if mark in ",-" else 1.0))
        natural = Counter(place.at for place in places if place.natural)
        places = [place for place in places if not place.natural or natural[place.at] == 1]
        p = min(max(sound.complete(samples[max(0, end - 5 * RATE_HZ) : end + RATE_HZ // 6]), 0.01), 0.99)
        told = turn_evidence(" ".join(word.text for word in words)).logit
        odds = math.log(2) + 0.6 * math.log(p / (1 - p)) + 0.6 * told
        complete = 1 / (1 + math.exp(-odds))
        inside = (place for place in places if start + RATE_HZ // 3 < place.at < end - RATE_HZ // 4)
        item.places = sorted(inside, key=lambda place: place.at)
        item.places.append(Place(end, -1, complete, 0.6))
        items.append(item)
    save(out, items)


def prompts(folder: Path, out: Path) -> None:
    if out.exists():
        return
    items = []
    for name, language in PROMPTS.items():
        texts = read_texts(Path(PROMPT_TEXTS.format(language)))
        for path in sorted((folder / name).rglob("*.g722")):
            text = texts.get(str(path.relative_to(folder / name).with_suffix("")), "")
            if not re.search(r"[.!?]\W*$", text) or not text.strip("“\"' ")[:1].isupper() or text.endswith("..."):
                continue
            samples = read(path)
            if not 0.5 * RATE_HZ < len(samples) < LONGEST:
                continue
            start, end = speech_span(samples)
            marks = len(re.findall(r"[.!?](?=\s+\S)", text.strip()))
            long = silences(samples, 0.25)
            places = []
            if marks and marks == len(long):
                places = [Place(a, b, 1.0, 1.0, True) for a, b in long]
            taken = silences(samples, 0.13)
            for at in quiet_points(samples, start + RATE_HZ // 2, end - RATE_HZ // 2, RATE_HZ // 2, 14.0):
                if all(not a - 2400 < at < b + 2400 for a, b in taken):
                    places.append(Place(at, at, 0.0))
            item = Item("prompts", f"{name}-{path.stem}", whole(samples), start)
            item.places = [*sorted(places, key=lambda p: p.at), Place(end, -1, 1.0)]
            items.append(item)
    save(out, items)


def read_texts(path: Path) -> dict[str, str]:
    lines = (line.partition(":") for line in gzip.decompress(path.read_bytes()).decode("utf-8").splitlines())
    return {name.strip(): text.strip() for name, colon, text in lines if colon and not name.startswith(";")}


def read(path: Path) -> Samples:
    """Mono 16 kHz."""
    with av.open(str(path), format="g722" if path.suffix == ".g722" else None) as container:
        frames = [frame.to_ndarray() for frame in container.decode(audio=0)]
    joined = np.concatenate([frame.reshape(-1) for frame in frames])
    scale = 1.0 if joined.dtype.kind == "f" else float(-np.iinfo(joined.dtype).min)
    return joined.astype(np.float32) / scale
