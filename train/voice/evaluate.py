"""How well a voice reads the held-out sentences, beside its teacher.

    python -m train.voice.evaluate --teacher --audio build/voice/teacher --out train/voice/figures/teacher.json
    python -m train.voice.evaluate --audio build/voice/student --name student --against train/voice/figures/teacher.json

``--audio`` is a folder of ``000.wav``, ``001.wav`` ... (24 kHz, by line of ``heldout.txt``), or one ``.npz`` with an
array of that name each (int16, or float32 in -1..1). Recognisers: Moonshine tiny, whisper-base (``antiphon models
pull``); 0.3 s of silence is put around every sentence for them. Word errors are counted as everywhere in Antiphon
(``antiphon.bench.wer``), differences are paired, bounds are one-sided 95 % from a bootstrap over sentences.
"""

import argparse
import json
import re
import wave
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
from numpy.typing import NDArray

from antiphon.audio.resample import resample
from antiphon.bench.dnsmos import Dnsmos
from antiphon.bench.wer import WordErrors, error_rate, normalise, rate_difference, word_errors
from antiphon.cli.bench_run import RECOGNISERS, recogniser_named
from antiphon.settings import load
from antiphon.store.store import ModelStore
from train.voice.data_teacher import Prosody, Teacher
from train.voice.evaluate_sound import clicks, f0_mean_st, f0_spread_st, speech_db

HELDOUT = Path(__file__).parent / "heldout.txt"
RATE_HZ, EAR_HZ = 24_000, 16_000
_AROUND = round(0.3 * EAR_HZ)

Real = NDArray[np.float32]
Speak = Callable[[int, str], Real]
Row = dict[str, Any]


def heldout() -> list[tuple[str, str]]:
    """(class, sentence) of each line."""
    rows = [line.split("\t") for line in HELDOUT.read_text("utf-8").splitlines()]
    return [(kind, text) for kind, text in rows]


def measure(
    speak: Speak,
    ears: Mapping[str, Callable[[Real], str]],
    mos: Callable[[Real], Any] | None,
    only: Iterable[int],
    known: Sequence[Row] = (),
    keep: Callable[[list[Row]], None] = lambda rows: None,
) -> list[Row]:
    """One row for each of these held-out lines. ``speak(line, text)`` gives 24 kHz float32. What ``known`` rows say of
    audio of the same length is not asked again. ``keep`` is given the rows so far now and then."""
    lines, rows = heldout(), list[Row]()
    before = {(row["line"], row["seconds"]): row for row in known}
    for index in only:
        kind, text = lines[index]
        samples = np.asarray(speak(index, text), np.float32)
        heard = resample(samples, RATE_HZ, EAR_HZ)
        found, largest = clicks(samples)
        earlier = before.get((index, round(len(samples) / RATE_HZ, 3)), {"heard": {}})
        answers: dict[str, str] = dict(earlier["heard"])
        for name, hear in ears.items():
            if name not in answers:
                answers[name] = hear(np.pad(heard, _AROUND)).strip()
        row: Row = {
            "line": index,
            "kind": kind,
            "seconds": round(len(samples) / RATE_HZ, 3),
            "f0_spread_st": _rounded(f0_spread_st(samples)),
            "f0_st": _rounded(f0_mean_st(samples)),
            "level_db": _rounded(speech_db(samples)),
            "clicks": found,
            "largest_step": round(largest, 2),
            "heard": answers,
        }
        if "mos" in earlier:
            row["mos"] = earlier["mos"]
        elif mos is not None:
            said = mos(heard)
            row["mos"] = [round(value, 3) for value in (said.speech, said.background, said.overall)]
        rows.append(row)
        if len(rows) % 25 == 0:
            print(f"{len(rows)} sentences", flush=True)
            keep(rows)
    return rows


def figures(name: str, rows: list[Row], against: list[Row] | None = None) -> Row:
    """Everything that the rows say, and with ``against`` (the teacher's rows) the differences."""
    lines = heldout()
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    out: Row = {
        "name": name,
        "sentences": len(rows),
        "seconds": round(sum(row["seconds"] for row in rows), 1),
        "f0_spread_st": _mean(row["f0_spread_st"] for row in rows),
        "f0_st": _mean(row["f0_st"] for row in rows),
        "level_db": _mean(row["level_db"] for row in rows),
        "clicks": sum(row["clicks"] for row in rows),
        "largest_step": max(row["largest_step"] for row in rows),
        "wer": {},
    }
    if all("mos" in row for row in rows):
        mean = np.mean([row["mos"] for row in rows], axis=0).round(3).tolist()
        out["dnsmos"] = dict(zip(("speech", "background", "overall"), mean, strict=True))
    ears = list(rows[0]["heard"])
    for ear in ears:
        out["wer"][ear] = {
            kind: _rate([row for row in rows if kind in ("all", row["kind"])], ear, lines) for kind in ("all", *kinds)
        }
    out["slips"] = slips(rows, ears)
    if against is not None:
        wanted = {row["line"]: row for row in against}
        pairs = [(row, wanted[row["line"]]) for row in rows if row["line"] in wanted]
        out["against_teacher"] = _differences(pairs, ears, kinds, lines)
    return out


def slips(rows: Sequence[Row], ears: Sequence[str]) -> Row:
    """Words that no recogniser heard, and words that all of them heard once too often beside themselves."""
    lines, skipped, repeated = heldout(), list[str](), list[str]()
    for row in rows:
        wanted = normalise(lines[row["line"]][1])
        by_ear = [_missing_and_doubled(wanted, normalise(row["heard"][ear])) for ear in ears]
        words = wanted.split()
        lost = set.intersection(*(missing for missing, _ in by_ear)) if by_ear else set()
        twice = set.intersection(*(doubled for _, doubled in by_ear)) if by_ear else set()
        skipped += [f"{row['line']}: {words[i]}" for i in sorted(lost)]
        repeated += [f"{row['line']}: {word}" for word in sorted(twice)]
    return {"skipped": skipped, "repeated": repeated}


def table(parts: Sequence[Row]) -> str:
    """The figures as markdown."""
    ears = list(parts[0]["wer"])
    kinds = list(parts[0]["wer"][ears[0]])
    text = "| voice | recogniser | " + " | ".join(kinds) + " |\n" + "|---" * (len(kinds) + 2) + "|\n"
    for part in parts:
        for ear, rates in part["wer"].items():
            cells = (f"{100 * rates[kind]['rate']:.2f}" if kind in rates else "" for kind in kinds)
            text += f"| {part['name']} | {ear} | " + " | ".join(cells) + " |\n"
    text += "\n| voice | DNSMOS speech / background / overall | F0 spread, st | F0, st above 100 Hz | level, dBFS "
    text += "| clicks | skipped | repeated | seconds |\n" + "|---" * 9 + "|\n"
    for part in parts:
        mos = " / ".join(f"{value:.2f}" for value in part.get("dnsmos", {}).values()) or "not measured"
        text += (
            f"| {part['name']} | {mos} | {part['f0_spread_st']:.2f} | {part['f0_st']:.2f} | {part['level_db']:.1f} | "
            f"{part['clicks']} | {len(part['slips']['skipped'])} | {len(part['slips']['repeated'])} | "
            f"{part['seconds']} |\n"
        )
    for part in parts:
        for ear, by_kind in part.get("against_teacher", {}).get("wer", {}).items():
            text += f"\n{part['name']} minus teacher, {ear}: " + ", ".join(
                f"{kind} {100 * value['difference']:+.2f} (at most {100 * value['upper']:+.2f})"
                for kind, value in by_kind.items()
            )
    return "Word errors in %.\n\n" + text.rstrip() + "\n"


def read_audio(path: Path) -> Speak:
    """The sentences of a folder or an ``.npz``."""
    if path.suffix == ".npz":
        arrays = np.load(path)
        return lambda line, _: _unit(arrays[f"{line:03d}"])
    return lambda line, _: _read_wav(path / f"{line:03d}.wav")


def by_teacher(keep: Path | None) -> Speak:
    """The teacher reads, and its sentences are kept as wavs."""
    teacher = Teacher(Path(str(files("hibari") / "assets" / "hibari.onnx")))

    def speak(line: int, text: str) -> Real:
        wav = teacher.say(text, Prosody(), line).wav
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            with wave.open(str(keep / f"{line:03d}.wav"), "wb") as file:
                file.setparams((1, 2, RATE_HZ, len(wav), "NONE", ""))
                file.writeframes(wav.astype("<i2").tobytes())
        return _unit(wav)

    return speak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audio", type=Path, help="a folder of wavs or an .npz (with --teacher: where to keep them)")
    parser.add_argument("--teacher", action="store_true", help="let the teacher read")
    parser.add_argument("--name", default="")
    parser.add_argument("--ears", default=",".join(reversed(RECOGNISERS)), help="recognisers, comma between them")
    parser.add_argument("--against", type=Path, help="figures of the teacher, for paired differences")
    parser.add_argument("--every", type=int, default=1, help="only every so many lines: a quick look")
    parser.add_argument("--no-mos", action="store_true")
    parser.add_argument("--more", type=Path, help="earlier figures of this same audio: only what they lack is asked")
    parser.add_argument("--out", type=Path, help="the figures as JSON; a table goes beside it")
    options = parser.parse_args()
    if options.audio is None and not options.teacher:
        parser.error("--audio or --teacher is needed")
    models = load().models
    store = ModelStore(models.root.expanduser(), models.model_dirs, models.wheelhouse)
    ears = {name: recogniser_named(store, name) for name in options.ears.split(",")}
    mos = None if options.no_mos else Dnsmos(store.path("dnsmos", "sig_bak_ovr.onnx"))
    speak = by_teacher(options.audio) if options.teacher else read_audio(options.audio)
    known = json.loads(options.more.read_text("utf-8"))["rows"] if options.more else ()

    def keep(rows: list[Row]) -> None:
        if options.out:
            _write(options.out, {"rows": rows})

    rows = measure(speak, ears, mos, range(0, len(heldout()), options.every), known, keep)
    teacher = json.loads(options.against.read_text("utf-8")) if options.against else None
    name = options.name or ("teacher" if options.teacher else options.audio.stem)
    part = figures(name, rows, teacher["rows"] if teacher else None)
    shown = table([teacher["figures"], part] if teacher else [part])
    print(shown)
    if options.out:
        _write(options.out, {"figures": part, "rows": rows})
        options.out.with_suffix(".md").write_text(shown, "utf-8")


def _write(path: Path, found: Row) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = json.dumps(found, indent=1, ensure_ascii=False, default=float)
    # One row a line: the file is read by people too.
    path.write_text(re.sub(r"\n {3,}|\n  (?=[}\]])", " ", packed) + "\n", "utf-8")


def _rate(rows: Sequence[Row], ear: str, lines: Sequence[tuple[str, str]]) -> Row:
    rate = error_rate([_errors(row, ear, lines) for row in rows])
    return {"rate": round(rate.rate, 5), "upper": round(rate.upper, 5), "errors": rate.errors, "words": rate.words}


def _errors(row: Row, ear: str, lines: Sequence[tuple[str, str]]) -> WordErrors:
    return word_errors(lines[row["line"]][1], row["heard"][ear])


def _differences(
    pairs: Sequence[tuple[Row, Row]], ears: Sequence[str], kinds: Sequence[str], lines: Sequence[tuple[str, str]]
) -> Row:
    out: Row = {"sentences": len(pairs), "wer": {}}
    for ear in ears:
        if any(ear not in teacher["heard"] for _, teacher in pairs):
            continue
        out["wer"][ear] = {}
        for kind in ("all", *kinds):
            chosen = [pair for pair in pairs if kind in ("all", pair[0]["kind"])]
            ours, theirs = ([_errors(row, ear, lines) for row in side] for side in zip(*chosen, strict=True))
            found = rate_difference(ours, theirs)
            out["wer"][ear][kind] = {"difference": round(found.difference, 5), "upper": round(found.upper, 5)}
    both = [pair for pair in pairs if None not in (pair[0]["f0_spread_st"], pair[1]["f0_spread_st"])]
    out["f0_spread_ratio"] = round(
        sum(ours["f0_spread_st"] for ours, _ in both) / sum(theirs["f0_spread_st"] for _, theirs in both), 4
    )
    out["seconds_ratio"] = round(sum(o["seconds"] for o, _ in pairs) / sum(t["seconds"] for _, t in pairs), 4)
    if all("mos" in row for pair in pairs for row in pair):
        gaps = [ours["mos"][2] - theirs["mos"][2] for ours, theirs in pairs]
        out["dnsmos_overall"] = {
            "difference": round(float(np.mean(gaps)), 4),
            "standard_error": round(float(np.std(gaps) / np.sqrt(len(gaps))), 4),
        }
    return out


def _missing_and_doubled(wanted: str, heard: str) -> tuple[set[int], set[str]]:
    """Places of words that were not heard, and words that were heard twice running where they stand once."""
    words = wanted.split()
    if not heard:
        return set(range(len(words))), set()
    missing: set[int] = set()
    doubled: set[str] = set()
    aligned = jiwer.process_words(wanted, heard)
    said = heard.split()
    for chunk in aligned.alignments[0]:
        if chunk.type == "delete":
            missing |= set(range(chunk.ref_start_idx, chunk.ref_end_idx))
        elif chunk.type == "insert":
            for at in range(chunk.hyp_start_idx, chunk.hyp_end_idx):
                if said[at] in said[max(0, at - 1) : at] + said[at + 1 : at + 2]:
                    doubled.add(said[at])
    return missing, doubled


def _read_wav(path: Path) -> Real:
    with wave.open(str(path), "rb") as file:
        if (file.getnchannels(), file.getsampwidth(), file.getframerate()) != (1, 2, RATE_HZ):
            raise SystemExit(f"{path} must be 16-bit mono at {RATE_HZ} Hz")
        return _unit(np.frombuffer(file.readframes(file.getnframes()), "<i2"))


def _unit(samples: NDArray[Any]) -> Real:
    if samples.dtype == np.int16:
        samples = samples / np.float32(32767)
    return np.asarray(samples, np.float32)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 3) if known else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


if __name__ == "__main__":
    main()
