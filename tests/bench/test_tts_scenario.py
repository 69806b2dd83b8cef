"""Frozen means frozen: whoever changes a text makes a new version."""

from pathlib import Path

import pytest

from antiphon.bench.tts_scenario import known, scenario
from antiphon.core.errors import InvalidInput, NotFound

FROZEN = {
    "tts-short": (1, 120, "ad22c993bfd113834c6190404d96aa35453c6511f162c019cb6d3c460b85ec13"),
    "tts-long": (1, 12, "ad9d80a79ef5bc2eb71e1c765bfdc72145b3c6538fd4d137fb32ebdcd98494e5"),
    "tts-multilingual": (1, 32, "16f52b53260131bf8caf0c8b5e65ae6d868a9f9e0c2173b4dca5ccdf095b26b4"),
    "tts-numbers": (1, 70, "6252a42c7a122f650a88430c858d720b100c39ac5d544b445c36a03206615ab7"),
}


@pytest.mark.parametrize("name", FROZEN)
def test_texts_are_those_of_their_version(name: str) -> None:
    found = scenario(name)
    assert (found.version, len(found.texts), found.sha256) == FROZEN[name]
    assert len({(each.language, each.text) for each in found.texts}) == len(found.texts)
    assert found.load.starts <= len(found.texts), "no text is spoken twice under one load"


def test_all_are_known_by_name() -> None:
    assert {each.name for each in known()} == set(FROZEN)
    assert scenario("short") == scenario("tts-short")
    with pytest.raises(NotFound, match="tts-numbers"):
        scenario("tts-tall")


def test_a_file_of_ones_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\nkind = "tts"\nversion = 3\ndescription = "x"\n[load]\nclosed = [2]\n'
        '[[texts]]\nlanguage = "en"\ntext = "Hello."\n'
    )
    assert scenario(str(path)).title == "tts-mine v3"
    path.write_text('name = "mine"')
    with pytest.raises(InvalidInput, match=r"mine\.toml is no scenario"):
        scenario(str(path))
    with pytest.raises(InvalidInput, match="cannot read"):
        scenario(str(tmp_path / "absent.toml"))
