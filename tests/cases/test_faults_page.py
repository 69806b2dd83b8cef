"""The page of faults names tests that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "faults.md"
ROW = re.compile(r"^\| ([A-Z]\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("path", "name"), TEST.findall(PAGE.read_text("utf-8")))
def test_a_named_test_exists(path: str, name: str) -> None:
    assert name in functions(ROOT / path)


def test_each_case_is_told_once_with_a_report_and_a_test_or_a_reason() -> None:
    rows = ROW.findall(PAGE.read_text("utf-8"))
    ids = [case for case, *_ in rows]
    assert len(ids) == len(set(ids)) > 60
    for case, reported, right, shown in rows:
        assert re.search(r"#\d+", reported), case
        assert right.strip()
        assert TEST.search(shown) or shown.startswith(("Does not apply", "Open:")), case
