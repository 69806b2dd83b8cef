"""Japanese: kana as the model learnt them, endings joined to their words, and a share of the sound for each character.

Words are as Open JTalk analyses them (pyopenjtalk-plus 0.4.1.post10), written down: the package is an extra.
"""

from collections.abc import Mapping, Sequence

import pytest

from antiphon.models.hibari_alphabet import vocabulary
from antiphon.models.kokoro_frontend import ReadFrontend
from antiphon.models.kokoro_japanese import KANA, japanese_reader, syllables
from antiphon.text.unit import Text


def word(string: str, pron: str, pos: str = "名詞", group: str = "*") -> dict[str, str]:
    return {"string": string, "pron": pron, "pos": pos, "pos_group1": group}


ANALYSES: dict[str, list[dict[str, str]]] = {
    "こんにちは、世界。": [
        word("こんにちは", "コンニチワ", "感動詞"), word("、", "、", "記号"), word("世界", "セカイ"),
        word("。", "、", "記号"),
    ],
    "「ちょっと待って」と言います。": [
        word("「", "、", "記号"), word("ちょっと", "チョット", "副詞"), word("待っ", "マッ", "動詞"),
        word("て", "テ", "助詞", "接続助詞"), word("」", "、", "記号"), word("と", "ト", "助詞", "格助詞"),
        word("言い", "イイ", "動詞"), word("ます", "マス’", "助動詞"), word("。", "、", "記号"),
    ],
    "午後3時": [word("午後", "ゴゴ"), word("三", "サン"), word("時", "ジ", "名詞", "接尾")],
    "から": [word("から", "カラ", "助詞")],
}  # fmt: skip


def analyse(text: str) -> Sequence[Mapping[str, str]]:
    return ANALYSES[text]


@pytest.fixture
def frontend() -> ReadFrontend:
    return ReadFrontend(japanese_reader(analyse), vocabulary(), "ja")


def test_the_table_has_every_syllable_and_only_symbols_that_the_model_knows() -> None:
    known = set(vocabulary())
    assert {symbol for said in KANA.values() for symbol in said} <= known
    plain = set("アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲ")
    voiced = set("ガギグゲゴザジズゼゾダヂヅデドバビブベボパピプペポ")
    assert plain | voiced <= set(KANA)


@pytest.mark.parametrize(
    ("kana", "said"),
    [
        ("キョー", "kʲoː"), ("ガッコー", "ɡaʔkoː"), ("シンブン", "ɕimbɯɴ"), ("テンキ", "teŋkʲi"),
        ("コンニチワ", "koɲɲiʨiβa"),
        ("センセー", "seɴseː"), ("ファイル", "ɸaiɾɯ"), ("ティー", "tʲiː"), ("ジュース", "ʥɨːsɨ"), ("ホンダ", "honda"),
    ],
)  # fmt: skip
def test_words_as_they_are_said(kana: str, said: str) -> None:
    assert "".join(syllable.symbols for syllable in syllables(kana)) == said


def test_a_sentence_with_its_punctuation(frontend: ReadFrontend) -> None:
    assert frontend.script((Text("こんにちは、世界。"),)).symbols == "koɲɲiʨiβa, sekai."


def test_endings_are_joined_and_brackets_take_no_space_inside(frontend: ReadFrontend) -> None:
    assert frontend.script((Text("「ちょっと待って」と言います。"),)).symbols == "“ʨoʔto maʔte” to iimasɨ."


def test_a_number_has_the_reading_of_its_counter(frontend: ReadFrontend) -> None:
    assert frontend.script((Text("午後3時"),)).symbols == "ɡoɡo saɲʥi"


def test_each_character_has_its_share_in_order(frontend: ReadFrontend) -> None:
    text = "こんにちは、世界。"
    script = frontend.script((Text(text),))
    assert [text[word.start : word.end] for word in script.words] == list("こんにちは、世界。")
    shares: dict[str, str] = {}
    for symbol, owner in zip(script.symbols, script.owners, strict=True):
        word = script.words[owner]
        shares[text[word.start]] = shares.get(text[word.start], "") + symbol
    assert shares["世"].strip() == "seka"
    assert shares["界"] == "i"
    starts = [word.start for word in script.words]
    assert starts == sorted(starts)


def test_context_is_read_without_being_owned(frontend: ReadFrontend) -> None:
    script = frontend.script((Text("午後3時"),), after="から")
    assert script.after == "kaɾa"
