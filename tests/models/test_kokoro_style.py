"""Blends: shares of their sum, and wrong ones are told what is wrong."""

from pathlib import Path

import numpy as np
import pytest

from antiphon.core.errors import InvalidInput, ModelUnavailable
from antiphon.models.kokoro_style import MAX_PARTS, Styles, looks_like_blend, read_blend

KNOWN = {"af_heart": 0, "am_adam": 0, "bf_emma": 0}


def test_weights_are_shares_of_their_sum_and_the_heaviest_comes_first() -> None:
    blend = read_blend("am_adam:1+af_heart:3", KNOWN)
    assert blend.parts == (("af_heart", 0.75), ("am_adam", 0.25))
    assert blend.name == "af_heart:0.75+am_adam:0.25"
    assert read_blend(blend.name, KNOWN) == blend


def test_no_weight_is_one_and_a_voice_named_twice_counts_twice() -> None:
    assert read_blend("af_heart+am_adam+am_adam", KNOWN).parts == (("am_adam", 2 / 3), ("af_heart", 1 / 3))
    assert read_blend("af_heart(2)+am_adam(2)", KNOWN).parts == (("af_heart", 0.5), ("am_adam", 0.5))
    assert read_blend(" af_heart : .5 + am_adam:0.5 ", KNOWN).parts == (("af_heart", 0.5), ("am_adam", 0.5))


def test_one_voice_is_a_blend_of_itself() -> None:
    assert read_blend("af_heart", KNOWN).name == "af_heart"
    assert read_blend("af_heart:0.2+am_adam:0", KNOWN).name == "af_heart"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("af_heart:0.5+nobody", "no part of a blend"),
        ("af_heart:x+am_adam", "no part of a blend"),
        ("af_heart:-1+am_adam", "no part of a blend"),
        ("af_heart+", "no part of a blend"),
        ("af_heart+zz_top:1", "does not have"),
        ("af_heart:0+am_adam:0", "add up to 0"),
        ("+".join(["af_heart"] * (MAX_PARTS + 1)), f"at most {MAX_PARTS}"),
    ],
)
def test_a_bad_blend_says_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        read_blend(text, KNOWN)


def test_only_what_is_written_as_a_blend_looks_like_one() -> None:
    assert looks_like_blend("af_heart:0.7+am_adam:0.3")
    assert looks_like_blend("af_heart:1")
    assert not looks_like_blend("af_heart")
    assert not looks_like_blend("f786b574-daa5-4673-aa0c-cbe3e8534c02")


@pytest.fixture
def styles(tmp_path: Path) -> Styles:
    rows = np.arange(510, dtype=np.float32)[:, None, None] * np.ones((1, 1, 256), np.float32)
    rows.tofile(tmp_path / "af_heart.bin")
    (100 * rows).tofile(tmp_path / "am_adam.bin")
    (tmp_path / "bf_emma.bin").write_bytes(b"short")
    return Styles(lambda voice: tmp_path / f"{voice}.bin")


def test_the_row_is_that_of_the_number_of_tokens_and_a_blend_is_the_weighted_sum(styles: Styles) -> None:
    assert styles.row(read_blend("af_heart", KNOWN), 7).shape == (1, 256)
    assert styles.row(read_blend("af_heart", KNOWN), 7)[0, 0] == 7
    assert styles.row(read_blend("af_heart", KNOWN), 9_999)[0, 0] == 509
    assert styles.row(read_blend("af_heart:0.5+am_adam:0.5", KNOWN), 10)[0, 3] == pytest.approx(505)


def test_a_file_that_is_no_voice_is_a_clear_error(styles: Styles) -> None:
    with pytest.raises(ModelUnavailable, match=r"bf_emma\.bin cannot be read"):
        styles.row(read_blend("bf_emma", KNOWN), 1)
