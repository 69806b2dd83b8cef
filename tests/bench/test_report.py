import json
import socket
from os import getpid
from pathlib import Path

import pytest

from antiphon.bench.conditions import conditions, file_hash
from antiphon.bench.process import cpu_time, listening_pid, rss_bytes
from antiphon.bench.report import Report, Table, json_bytes, markdown, write


def report() -> Report:
    table = Table("Speed", ("load", "first audible p95"), (("1 stream", 12.345), ("16 | streams", None)), ("A note.",))
    return Report("Bench", conditions(workloads={"words25": "ab" * 32}, notes=("quiet",)), (table,))


def test_markdown_has_tables_notes_and_conditions() -> None:
    text = markdown(report())
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(row) for row in rows}) == 1
    assert "12.3" in rows[2]
    assert "16 \\| streams" in rows[3]
    assert "- A note." in text
    assert "## Conditions" in text
    assert "abababababababab" in text
    assert "- quiet" in text


def test_json_holds_all_of_it() -> None:
    read = json.loads(json_bytes(report()))
    assert read["tables"][0]["rows"][0] == ["1 stream", 12.345]
    assert read["conditions"]["workloads"] == {"words25": "ab" * 32}


def test_write_makes_the_folder_and_both_files(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "speed.json"
    write(report(), path)
    assert json.loads(path.read_bytes())["title"] == "Bench"
    assert path.with_suffix(".md").read_text("utf-8").startswith("# Bench")


def test_conditions_name_machine_versions_and_files(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"weights")
    at = conditions({"voice": model, "gone": tmp_path / "gone"})
    assert at.cores >= 1
    assert at.python.count(".") == 2
    assert {"numpy", "onnxruntime", "starlette"} <= at.packages.keys()
    assert at.models == {"voice": file_hash(model), "gone": "missing"}
    assert len(at.models["voice"]) == 64
    assert at.at.endswith("+00:00")


def test_cpu_time_and_memory_of_a_process() -> None:
    before = cpu_time(getpid())
    if before is None:
        pytest.fail("this test needs /proc")
    sum(at * at for at in range(3_000_000))
    after = cpu_time(getpid())
    assert after is not None
    used = after.since(before)
    # two files are read one after the other: a tick may lie between them
    assert used.all_s + 0.02 >= used.main_s > 0
    assert (rss_bytes(getpid()) or 0) > 1_000_000


def test_a_process_that_does_not_exist_has_no_figures() -> None:
    assert cpu_time(2**22 + 1) is None
    assert rss_bytes(2**22 + 1) is None


def test_who_listens_on_a_port_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert listening_pid(port) == getpid()
    assert listening_pid(port) is None
