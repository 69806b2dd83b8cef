from pathlib import Path

import pytest

from antiphon.bench.gates import judge, read_gates
from antiphon.bench.report import Report, Table
from antiphon.core.errors import InvalidInput

from .reports import group, plan, report


def gates(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "gates.toml"
    path.write_text(text)
    return path


def outcomes(tmp_path: Path, text: str, made: Report, baseline: Report | None = None) -> list[bool]:
    return [outcome.kept for outcome in judge(made, read_gates(gates(tmp_path, text)), baseline)]


HEALTHY = report(group(plan("healthy")))
SLOW = report(group(plan("delay")))


def test_bounds_hold_or_not(tmp_path: Path) -> None:
    text = '[[gate]]\nmetric = "ttfa_s.p95"\nop = "<="\nbound = 0.1\n'
    assert outcomes(tmp_path, text, HEALTHY) == [True]
    assert outcomes(tmp_path, text, SLOW) == [False]
    (broken,) = judge(SLOW, read_gates(tmp_path / "gates.toml"))
    assert broken.text == "delay, 1 stream: ttfa_s.p95 is 0.65; wanted <= 0.1"


@pytest.mark.parametrize(
    ("metric", "op", "bound", "kept"),
    [
        ("underruns", "==", 0, False),
        ("underrun_share", "<", 1, False),
        ("failed", "==", 0, True),
        ("takes", ">=", 4, True),
        ("gap_s", ">", 5.0, True),
        ("faults", "<=", 1, False),
        ("connects.max", "<=", 0.001, True),
        ("stall_s.max", "<=", 1.0, False),
    ],
)
def test_every_kind_of_figure(tmp_path: Path, metric: str, op: str, bound: float, kept: bool) -> None:
    text = f'[[gate]]\nmetric = "{metric}"\nop = "{op}"\nbound = {bound}\n'
    assert outcomes(tmp_path, text, report(group(plan("stall")))) == [kept]


def test_a_regression_against_a_baseline_is_found(tmp_path: Path) -> None:
    text = '[[gate]]\nmetric = "ttfa_s.p95"\nop = "<="\nbaseline = 1.1\n'
    worse = report(group(plan("delay")))
    same = Report(worse.title, worse.conditions, (), tuple(group(plan("delay")) for _ in range(1)))
    assert outcomes(tmp_path, text, worse, same) == [True]
    quicker = report(group(type(plan("delay"))("delay", delay_s=0.5)))
    assert outcomes(tmp_path, text, worse, quicker) == [False]
    with pytest.raises(InvalidInput, match="--baseline"):
        outcomes(tmp_path, text, worse)


def test_only_the_named_system_and_load_count(tmp_path: Path) -> None:
    made = report(group(plan("healthy")), group(plan("delay")), group(plan("delay"), "16 streams"))
    text = '[[gate]]\nmetric = "ttfa_s.p50"\nop = "<"\nbound = 0.1\nsystem = "{}"\nload = "{}"\n'
    assert outcomes(tmp_path, text.format("healthy", ""), made) == [True]
    assert outcomes(tmp_path, text.format("delay", ""), made) == [False, False]
    assert outcomes(tmp_path, text.format("delay", "1 stream"), made) == [False]
    assert outcomes(tmp_path, text.format("", ""), made) == [True, False, False]


def test_a_figure_that_is_gone_breaks_its_gate(tmp_path: Path) -> None:
    text = '[[gate]]\nmetric = "quality.wer"\nop = "<="\nbound = 1\n'
    assert outcomes(tmp_path, text, HEALTHY) == [False]
    assert outcomes(tmp_path, text + 'system = "nobody"\n', HEALTHY) == [False]


def test_tables_have_figures_too(tmp_path: Path) -> None:
    made = report(tables=(Table("Read-back", ("system", "WER %"), (("ours", 0.5), ("theirs", 2.0))),))
    text = '[[gate]]\nmetric = "table/Read-back/ours/WER %"\nop = "<="\nbound = 1\n'
    assert outcomes(tmp_path, text, made) == [True]
    assert outcomes(tmp_path, text.replace("ours", "theirs"), made) == [False]
    assert outcomes(tmp_path, text.replace("ours", "nobody"), made) == [False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gate = 3", "no gate file"),
        ('[[gate]]\nmetric = "x"\nop = "~"\nbound = 1', "op must be one of"),
        ('[[gate]]\nmetric = "x"\nop = "<"', "either bound or baseline"),
        ('[[gate]]\nmetric = "x"\nop = "<"\nbound = 1\nbaseline = 1', "either bound or baseline"),
        ('[[gate]]\nmetric = "x"\nop = "<"\nlimit = 1', "limit"),
    ],
)
def test_a_gate_file_that_is_wrong_is_said(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_gates(gates(tmp_path, text))


def test_a_path_that_cannot_be_is_an_error_not_a_pass(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"figure\.quantile"):
        outcomes(tmp_path, '[[gate]]\nmetric = "ttfa_s.p42"\nop = "<"\nbound = 1\n', HEALTHY)
