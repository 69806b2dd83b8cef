"""Scripts of other languages: symbols as misaki writes them, each with the word that it belongs to."""

import pytest

from antiphon.core.errors import EngineFailed
from antiphon.models.hibari_alphabet import vocabulary
from antiphon.models.kokoro_frontend import ReadFrontend, espeak_reader, misaki
from antiphon.text.unit import Ipa, Respelled, Spell, Text

SAID = {
    "hola,": "ˈola,", "buenos": "bwˈenos", "días.": "dˈias.", "con": "kˌon", "el": "ˌel", "chico": "t^ʃˈiko",
    "ge": "xˈe", "25": "bˌe^ɪntiθˈinko",
}  # fmt: skip


def phonemes(line: str) -> str:
    """Like eSpeak NG: words of the table, "con el" as one word, numbers as several."""
    said = " ".join(SAID.get(word.lower(), "ˈa") for word in line.split())
    return said.replace("kˌon ˌel", "kˌonel").replace("bˌe^ɪntiθˈinko", "bˈe^ɪnti θˈinko")


@pytest.fixture
def frontend() -> ReadFrontend:
    return ReadFrontend(espeak_reader(phonemes, "es"), vocabulary(), "es")


def owned(frontend: ReadFrontend, *pieces: Text | Spell | Ipa | Respelled) -> dict[str, str]:
    script = frontend.script(pieces)
    text = "".join(piece.text for piece in pieces)
    found: dict[str, str] = {}
    for symbol, owner in zip(script.symbols, script.owners, strict=True):
        word = script.words[owner]
        key = text[word.start : word.end]
        found[key] = found.get(key, "") + symbol
    return {word: symbols.strip() for word, symbols in found.items()}


def test_sounds_with_a_tie_are_one_letter_and_nasal_vowels_keep_their_tilde() -> None:
    assert misaki("t^ʃˈa^ɪ d^ʒe^ɪ") == "ʧˈI ʤA"
    assert misaki("bɔ̃ʒˈuʁ") == "bɔ̃ʒˈuʁ"
    assert misaki("/kˈasa-/") == "kˈasa"
    assert misaki("fɾanç") == "fɾanç"


def test_each_symbol_belongs_to_its_word(frontend: ReadFrontend) -> None:
    assert owned(frontend, Text("Hola, buenos días.")) == {"Hola,": "ˈola,", "buenos": "bwˈenos", "días.": "dˈias."}


def test_words_that_the_reader_joins_or_splits_keep_their_neighbours_apart(frontend: ReadFrontend) -> None:
    found = owned(frontend, Text("buenos con el chico"))
    assert found["buenos"] == "bwˈenos"
    assert found["chico"] == "ʧˈiko"
    assert found.get("con", "") + found.get("el", "") == "kˌonel"
    assert owned(frontend, Text("chico 25 días."))["25"] == "bˈAnti θˈinko"


def test_places_count_from_the_start_of_the_unit(frontend: ReadFrontend) -> None:
    script = frontend.script((Text("Hola, "), Text("buenos días.")))
    assert [(word.start, word.end) for word in script.words] == [(0, 5), (6, 12), (13, 18)]


def test_given_phonemes_respelled_words_and_letters(frontend: ReadFrontend) -> None:
    assert owned(frontend, Text("Hola, "), Ipa("Ngixo", "ˈɛn|dʒɪks"))["Ngixo"] == "ˈɛnʤɪks"
    assert owned(frontend, Respelled("XC", "chico"))["XC"] == "ʧˈiko"
    assert owned(frontend, Spell("xy")) == {"x": "ˈa", "y": "ˈa"}


def test_text_around_a_unit_is_read_and_not_owned(frontend: ReadFrontend) -> None:
    script = frontend.script((Text("buenos"),), before="hola,", after="chico")
    assert (script.before, script.symbols, script.after) == ("ˈola,", "bwˈenos", "ʧˈiko")
    assert len(script.words) == 1


def test_nothing_to_say_is_no_error_and_words_that_cannot_be_read_are_one() -> None:
    silent = ReadFrontend(espeak_reader(lambda line: "", "es"), vocabulary(), "es")
    assert silent.script((Text("..."),)).symbols == ""
    with pytest.raises(EngineFailed, match="can read nothing of 'hola'"):
        silent.script((Text("hola"),))
