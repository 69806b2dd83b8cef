"""The conversation bench against a real server: the caller is heard, the answers are, and the stages add up."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from antiphon.bench.scenario import PREFIX
from antiphon.cli.app import app

SCENARIO = """
version = 1
name = "short"
about = "One question with a tool, one long answer that is spoken over."
[[tools]]
name = "find_bike"
effect = "read"
arguments = ["bike"]
result = '{"bike": "{bike}"}'
[[answers]]
after = "find_bike"
say = "The {bike} bike is ready. You can fetch it today, or tomorrow, or on any other day of the week that you like."
[[answers]]
heard = "red|blue"
call = "find_bike"
arguments = { bike = "red|blue" }
[[answers]]
say = "All right."
[[steps]]
say = ["Hello, is the red bike ready?"]
expects = "red bike is ready"
[[steps]]
say = ["Stop, please."]
kind = "interruption"
into_s = 1.0
"""


@pytest.mark.parametrize("wire", ["native", pytest.param("realtime", marks=pytest.mark.soak)])
def test_a_call_is_measured_from_its_two_channels(wire: str, tmp_path: Path) -> None:
    file, out = tmp_path / f"{PREFIX}short.toml", tmp_path / "report.json"
    file.write_text(SCENARIO)
    command = [
        "bench", "conversation", "--scenario-file", str(file), "--wire", wire, "--streams", "1", "--rounds", "1",
        "--clips", "0", "--audio", str(tmp_path / "audio"), "--out", str(out), "--no-store",
    ]  # fmt: skip
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    report = json.loads(out.read_text())
    (call,) = report["details"]["calls"]["1"]
    assert call["error"] == ""
    question = call["turns"][0]
    assert question["met"], question
    assert question["v2v_s"] is not None or question["cut_off"]
    errors = [turn["stage_error_s"] for turn in call["turns"] if turn["stage_error_s"] is not None]
    assert errors
    assert all(abs(error) <= 0.02 for error in errors)
    assert list((tmp_path / "audio").glob("1-short-*.wav"))
    assert "## Where the silence went, ms" in result.output
