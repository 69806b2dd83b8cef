"""Stamps make the second check fast and never hide a change."""

import json
import os
from pathlib import Path

import pytest

from antiphon.store import verify
from antiphon.store.manifest import ModelFile
from antiphon.store.verify import Verifier

from .store_world import sha256

DATA = b"weights" * 1000
FILE = ModelFile("model.onnx", sha256(DATA), len(DATA), ())


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(DATA)
    return path


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file that is hashed."""
    paths: list[Path] = []
    real = verify.sha256_of

    def spy(path: Path) -> str:
        paths.append(path)
        return real(path)

    monkeypatch.setattr(verify, "sha256_of", spy)
    return paths


def test_sound_file_is_hashed_once_even_across_processes(tmp_path: Path, model: Path, hashed: list[Path]) -> None:
    assert Verifier(tmp_path / "stamps").check(model, FILE) == "ready"
    assert Verifier(tmp_path / "stamps").check(model, FILE) == "ready"
    assert hashed == [model]


def test_full_check_hashes_whatever_the_stamp_says(tmp_path: Path, model: Path, hashed: list[Path]) -> None:
    verifier = Verifier(tmp_path / "stamps")
    verifier.check(model, FILE)
    stat = model.stat()
    model.write_bytes(b"W" + DATA[1:])
    os.utime(model, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # rot that leaves size and time as they were
    assert verifier.check(model, FILE) == "ready"
    assert verifier.check(model, FILE, full=True) == "damaged"
    assert verifier.check(model, FILE) == "damaged"


def test_touched_file_is_hashed_again(tmp_path: Path, model: Path, hashed: list[Path]) -> None:
    verifier = Verifier(tmp_path / "stamps")
    verifier.check(model, FILE)
    os.utime(model, ns=(1, 1))
    assert verifier.check(model, FILE) == "ready"
    assert len(hashed) == 2


def test_change_of_the_same_size_is_seen(tmp_path: Path, model: Path) -> None:
    verifier = Verifier(tmp_path / "stamps")
    verifier.check(model, FILE)
    model.write_bytes(b"W" + DATA[1:])
    os.utime(model, ns=(2, 2))
    assert verifier.check(model, FILE) == "damaged"


def test_wrong_size_needs_no_hash(tmp_path: Path, model: Path, hashed: list[Path]) -> None:
    model.write_bytes(DATA[:-1])
    assert Verifier(tmp_path / "stamps").check(model, FILE) == "damaged"
    assert hashed == []


def test_missing_file_and_folder_in_its_place(tmp_path: Path, model: Path) -> None:
    verifier = Verifier(tmp_path / "stamps")
    assert verifier.check(tmp_path / "none", FILE) == "missing"
    assert verifier.check(model / "below-a-file", FILE) == "missing"
    assert verifier.check(tmp_path, FILE) == "missing"


def test_new_manifest_with_another_hash_does_not_trust_the_old_stamp(tmp_path: Path, model: Path) -> None:
    verifier = Verifier(tmp_path / "stamps")
    verifier.check(model, FILE)
    assert verifier.check(model, ModelFile("model.onnx", "0" * 64, len(DATA), ())) == "damaged"


@pytest.mark.parametrize("spoilt", ["", "{", "[]", '{"a": 1}', '{"a": [1, 2]}'])
def test_spoilt_stamps_only_cost_a_hash(tmp_path: Path, model: Path, spoilt: str) -> None:
    (tmp_path / "stamps").write_text(spoilt)
    assert Verifier(tmp_path / "stamps").check(model, FILE) == "ready"
    assert str(model) in json.loads((tmp_path / "stamps").read_text())


def test_P7_check_works_where_stamps_cannot_be_written(tmp_path: Path, model: Path) -> None:
    nowhere = tmp_path / "no-such-folder" / "stamps"
    assert Verifier(nowhere).check(model, FILE) == "ready"
    assert not nowhere.parent.exists()


def test_two_processes_keep_each_others_stamps(tmp_path: Path, model: Path, hashed: list[Path]) -> None:
    other = tmp_path / "other.onnx"
    other.write_bytes(DATA)
    one, two = Verifier(tmp_path / "stamps"), Verifier(tmp_path / "stamps")
    one.check(model, FILE)
    two.check(other, FILE)
    third = Verifier(tmp_path / "stamps")
    assert third.check(model, FILE) == third.check(other, FILE) == "ready"
    assert hashed == [model, other]
