import json
from pathlib import Path

from typer.testing import CliRunner

from antiphon.cli.app import app

RUNNER = CliRunner()


def told(tmp_path: Path, toml: str, *options: str) -> tuple[int, str]:
    path = tmp_path / "antiphon.toml"
    path.write_text(toml)
    result = RUNNER.invoke(app, ["check", "--config", str(path), *options])
    return result.exit_code, result.output


FAR = '[brain]\nllm_url = "https://api.example/v1"\nllm_model = "m"\n'


def test_boundaries_are_told_as_a_table_and_as_json(tmp_path: Path) -> None:
    code, text = told(tmp_path, FAR, "--boundaries")
    assert code == 0
    assert "api.example:443" in text
    assert text.count("may go: not stated") == 5
    code, text = told(tmp_path, FAR, "--boundaries", "--json")
    assert code == 0
    found = json.loads(text)
    assert found["violations"] == []
    ways = {way["by"]: way["place"] for way in found["kinds"]["generated"]["goes"]}
    assert ways == {"brain.llm_url": "api.example:443", "agent.keep_sessions": "machine"}


def test_a_broken_boundary_fails_the_check(tmp_path: Path) -> None:
    code, text = told(tmp_path, FAR + '[boundaries.transcript]\nto = "machine"\n', "--boundaries")
    assert code == 1
    assert "NO  api.example:443" in text
    assert "fail  boundaries.transcript.to is machine" in text


def test_json_alone_is_refused(tmp_path: Path) -> None:
    code, text = told(tmp_path, "", "--json")
    assert code == 2
    assert "--boundaries" in text
