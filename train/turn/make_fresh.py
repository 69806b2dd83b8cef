"""Choose turns that nothing was ever tuned on: ``fresh.json``, in the format of ``bench/turn_set.py``.

Studio prompts that are not in ``pauses.json``, whose text the package states: an end where the text is one whole
sentence or more, a pause where the recogniser finds the first words of it before a quiet place. Dictations: sentences
of their own, new seeds. One half only ("report").

    python train/turn/make_fresh.py --texts core-sounds-en.txt.gz
"""

import argparse
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from make_set import HERE, mid_cuts, recogniser
from sound import ASTERISK, Places, speech_span

SEED = 77_031
PROMPTS = 60
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

DICTATIONS = (
    ("phone", "Could you call me back on {3},|{3},|{4}?"),
    ("phone", "My work number is {2} {2},|{3} {3}."),
    ("phone", "The extension is {2},|{2}."),
    ("email", "My address is olivia,|at greenfield dot com."),
    ("email", "Please use support dot team,|at harbour dot org."),
    ("number", "The booking code is {3},|{2},|{2}."),
    ("number", "My membership number is {4},|{4}."),
    ("spelling", "It's spelled B R,|A N,|D T."),
    ("correction", "Put me down for Tuesday,|no sorry,|Wednesday morning."),
    ("correction", "I'd like a double room,|actually,|make that a single room."),
    ("correction", "Ship it to my office,|wait no,|to my home address."),
    ("list", "I need flour,|sugar,|and a bottle of milk."),
    ("list", "We visited Rome,|Florence,|and then Venice."),
    ("hesitation", "I'm trying to find out whether,|my passport is still,|valid for travel."),
    ("hesitation", "If it rains tomorrow,|we should meet inside."),
    ("hesitation", "Can you check if,|there is a table for,|six on Sunday?"),
    ("hesitation", "My daughter wants to,|learn how to,|play the guitar."),
    ("hesitation", "The doctor told me that I,|um,|should come back in two weeks."),
    ("question", "How long does the delivery take?"),
    ("question", "Is breakfast included in the price?"),
    ("question", "Who do I talk to about a refund?"),
    ("request", "Book me a taxi for eight o'clock."),
    ("request", "I want to cancel my subscription."),
    ("request", "My phone does not charge any more."),
    ("short", "Sounds good."),
    ("short", "Not really."),
    ("short", "Goodbye."),
)


def prompts(texts: Path) -> Iterator[tuple[str, str]]:
    used = {entry.get("file", "") for entry in json.loads((HERE / "pauses.json").read_text())}
    for line in gzip.decompress(texts.read_bytes()).decode("utf-8", "replace").splitlines():
        name, _, text = line.partition(": ")
        whole = re.fullmatch(r"[A-Z][A-Za-z ,'.!?-]+[.!?]", text.strip())
        file = f"{name}.g722"
        if whole and 4 <= len(text.split()) <= 25 and file not in used and (ASTERISK / file).is_file():
            yield file, text.strip()


def real(texts: Path, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    ear, places = recogniser(), Places(HERE)
    chosen = list(prompts(texts))
    for at in rng.permutation(len(chosen))[:PROMPTS]:
        file, _ = chosen[int(at)]
        samples = places.read("asterisk", file)
        base = {"set": "real voices", "kind": "prompts, fresh", "split": "report"}
        end = speech_span(samples)[1]
        yield base | {"name": f"{Path(file).stem} end", "parts": [{"file": file, "end": end}]}
        whole = ear.transcribe(samples).text
        for cut in mid_cuts(ear, samples, whole, rng, 2):
            pause = {"pause_ms": int(rng.integers(500, 1501)), "seed": int(rng.integers(1 << 30))}
            parts = [{"file": file, "end": cut}, pause, {"file": file, "start": cut}]
            yield base | {"name": f"{Path(file).stem} mid {cut}", "ends_turn": False, "parts": parts}


def said(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    for number, (kind, template) in enumerate(DICTATIONS):
        seed, speed = SEED + number, float(rng.uniform(0.85, 1.15))
        text = re.sub(r"\{(\d)\}", lambda slot: " ".join(rng.choice(_DIGITS, int(slot[1]))), template)
        parts: list[dict[str, Any]] = []
        for piece in text.split("|"):
            if parts:
                parts.append({"pause_ms": int(rng.integers(500, 1501)), "seed": int(rng.integers(1 << 30))})
            parts.append({"say": piece, "seed": seed, "speed": round(speed, 3)})
        yield {
            "set": "dictations", "kind": kind, "split": "report", "name": f"{kind} {seed}",
            "text": text.replace("|", " "), "parts": parts,
        }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--texts", type=Path, required=True)
    rng = np.random.default_rng(SEED)
    recipes = [*real(parser.parse_args().texts, rng), *said(rng)]
    (HERE / "fresh.json").write_text("[\n" + ",\n".join(map(json.dumps, recipes)) + "\n]\n")
    for kind in ("real voices", "dictations"):
        of = [recipe for recipe in recipes if recipe["set"] == kind]
        pauses = sum("pause_ms" in part for recipe in of for part in recipe["parts"])
        print(kind, len(of), "turns", pauses, "pauses", sum(recipe.get("ends_turn", True) for recipe in of), "ends")


if __name__ == "__main__":
    main()
