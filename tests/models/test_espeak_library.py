"""eSpeak NG as a library in processes of its own: real speech and phonemes, and what happens when it dies."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from antiphon.core.errors import EngineFailed, InvalidInput, ModelUnavailable
from antiphon.models import espeak_library, espeak_process
from antiphon.models.espeak_library import EspeakLibrary

pytest.importorskip("espeakng_loader")

BREAKS_IT = (
    "\u0a13\u0d13\u09f6\u09fe \u04ae\u01d6"
    " \u0d77 \u0a3a\uac54\u0a16\u0a12(\u054b\u0a0c\u090a \u0a05\u4e71\u0508\u0a72\u0a03\u0bd5\u0e44[[ \u0960\u0a08"
)


@pytest.fixture(scope="module")
def library() -> EspeakLibrary:
    return espeak_library.load()


@pytest.mark.parametrize(
    ("asked", "identifier"),
    [
        ("de", "gmw/de"),
        ("de-CH", "gmw/de"),
        ("de_AT", "gmw/de"),
        ("en", "gmw/en-US"),
        ("en-GB", "gmw/en"),
        ("en-AU", "gmw/en"),
        ("pt", "roa/pt-BR"),
        ("pt-PT", "roa/pt"),
        ("pt-BR", "roa/pt-BR"),
        ("es", "roa/es"),
        ("es-MX", "roa/es-419"),
        ("fr-CA", "roa/fr"),
        ("zh-Hans-CN", "sit/cmn"),
        ("zh-HK", "sit/yue"),
        ("nb-NO", "gmq/nb"),
        ("fil", "poz/id"),
    ],
)
def test_a_tag_falls_back_to_the_nearest_voice(library: EspeakLibrary, asked: str, identifier: str) -> None:
    voice = library.voice(asked)
    assert voice is not None
    assert voice.identifier == identifier


@pytest.mark.parametrize("asked", ["xx", "", "kaa", "-", "qqq-DE"])
def test_languages_that_nobody_can_read(library: EspeakLibrary, asked: str) -> None:
    assert library.voice(asked) is None
    with pytest.raises(InvalidInput, match="no language"):
        library.phonemes("a", asked)


def test_phonemes_keep_punctuation_where_it_stood(library: EspeakLibrary) -> None:
    assert library.phonemes("Hallo, Welt!", "de") == "hˈaloː, vˈɛlt!"
    assert library.phonemes("¡Hola! ¿Qué tal?", "es") == "¡ˈola! ¿kˈe tˈal?"
    assert library.phonemes("«Oui», dit-il.", "fr") == "«wˈi», dˈitˈil."
    assert library.phonemes("", "de") == ""
    assert library.phonemes("...", "de") == "..."


def test_phonemes_tie_the_letters_of_one_sound(library: EspeakLibrary) -> None:
    assert library.phonemes("Zeit", "de") == "tsˈaɪt"
    assert library.phonemes("Zeit", "de", tie="^") == "t^sˈa^ɪt"


def test_a_word_of_another_language_leaves_no_marks(library: EspeakLibrary) -> None:
    for tie in ("", "^"):
        said = library.phonemes("Dëmmen ja 漢字 weekend", "ja", tie)
        assert said
        assert "(" not in said


def test_speech_has_words_and_phonemes_in_order_within_it(library: EspeakLibrary) -> None:
    text = "Guten Morgen, Herr Müller."
    speech = library.speak(text, "de")
    seconds = len(speech.samples) / library.sample_rate_hz
    assert 1.0 < seconds < 4.0
    assert 0.05 < float(np.abs(speech.samples).max()) <= 1.0
    assert speech.whole
    words = [text[mark.start : mark.start + mark.chars] for mark in speech.words]
    assert words == ["Guten", "Morgen", "Herr", "Müller"]
    samples = [mark.sample for mark in speech.phonemes]
    assert samples == sorted(samples)
    assert samples[-1] <= len(speech.samples)
    assert "".join(mark.text for mark in speech.phonemes).startswith("ɡˈuːtən")


def test_speed_changes_length(library: EspeakLibrary) -> None:
    usual, fast, slow = (len(library.speak("Eins, zwei, drei, vier.", "de", speed=s).samples) for s in (1, 2, 0.6))
    assert fast < 0.7 * usual
    assert slow > 1.3 * usual


def test_the_same_text_gives_the_same_samples_whatever_was_spoken_before(library: EspeakLibrary) -> None:
    first = library.speak("Bonjour tout le monde.", "fr").samples
    library.speak("Something else altogether", "en", speed=1.7, pitch=90)
    np.testing.assert_array_equal(library.speak("Bonjour tout le monde.", "fr").samples, first)


def test_a_text_that_breaks_the_library_costs_itself_alone(library: EspeakLibrary) -> None:
    processes = len(library._idle)
    with pytest.raises(EngineFailed, match="SIG"):
        library.speak(BREAKS_IT, "vi-VN-x-south")
    assert library.phonemes("zwei", "de") == "tsvˈaɪ"
    assert len(library._idle) == processes


def test_a_process_that_died_unused_costs_nothing(library: EspeakLibrary) -> None:
    library.phonemes("eins", "de")
    for child in library._idle:
        os.kill(child._process.pid, signal.SIGKILL)
        child._process.wait()
    assert library.phonemes("zwei", "de") == "tsvˈaɪ"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_processes_stay_while_the_server_is_told_to_leave(library: EspeakLibrary, number: signal.Signals) -> None:
    library.phonemes("eins", "de")
    child = library._idle[-1]
    os.kill(child._process.pid, number)
    assert library.phonemes("zwei", "de") == "tsvˈaɪ"
    assert library._idle[-1] is child


def test_processes_end_when_they_are_no_longer_needed() -> None:
    own = espeak_library.load.__wrapped__()
    own.phonemes("eins", "de")
    process = own._idle[0]._process
    process.stdin.close()
    assert process.wait(timeout=10) == 0
    own.close()
    assert own.phonemes("zwei", "de") == "tsvˈaɪ"
    own.close()


def test_a_process_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mute = tmp_path / "mute.py"
    mute.write_text("import sys\nfor line in sys.stdin: pass\n")
    monkeypatch.setattr(espeak_library, "_CHILD", mute)
    monkeypatch.setattr(espeak_process, "_PATIENCE_S", 0.05)
    with pytest.raises(ModelUnavailable, match="no answer"):
        EspeakLibrary(Path("none"), Path("none"))


def test_a_library_that_cannot_be_loaded_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"antiphon\[espeak\]"):
        EspeakLibrary(tmp_path / "libespeak-ng.so", tmp_path)


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "espeakng_loader", None)
    with pytest.raises(ModelUnavailable, match=r"antiphon\[espeak\]"):
        espeak_library.load.__wrapped__()


@pytest.mark.parametrize("text", ["\x01\x02", "<speak>", "[[h]]", "a" * 5_000, "́" * 200, "…" * 50, "\n\n", "0" * 400])
def test_odd_text_is_spoken_or_refused_and_the_next_is_spoken(library: EspeakLibrary, text: str) -> None:
    for attempt in (library.phonemes, library.speak):
        with suppress(EngineFailed):
            attempt(text, "de")
    assert library.phonemes("drei", "de") == "dɾˈaɪ"
