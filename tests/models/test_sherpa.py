"""The real loading code of streaming transducers, on one made by hand that hears tones.

What cannot be loaded is refused before the library is asked, which would end the process.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from antiphon.core.errors import ModelUnavailable
from antiphon.models.sherpa import Transducer, TransducerStream, graph_of, metadata_of, read_symbols

from .tone_transducer import CHUNK, SYMBOLS, spoken, tone, write_transducer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_transducer(tmp_path_factory.mktemp("tones"))


@pytest.fixture(scope="module")
def transducer(folder: Path) -> Transducer:
    return Transducer(folder)


def run(stream: TransducerStream) -> None:
    while stream.step():
        pass


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * 16_000), np.float32)


def test_tones_become_words_with_times_and_probabilities(transducer: Transducer) -> None:
    stream = transducer.open()
    stream.feed(np.concatenate((spoken("LOW HIGHER"), silence(0.5))))
    run(stream)
    heard = stream.heard()
    assert heard.text == "LOW HIGHER"
    assert [piece.text for piece in heard.pieces] == [" LOW", " HIGH", "ER"]
    # each begins after a gap of 0.1 s; tokens are told in steps of 40 ms
    assert [piece.at_sample for piece in heard.pieces] == pytest.approx([1_600, 6_400, 9_600], abs=960)
    assert all(-0.01 < piece.logprob <= 0 for piece in heard.pieces)


def test_in_pieces_of_any_size_it_hears_the_same(transducer: Transducer) -> None:
    audio = np.concatenate((spoken("MID LOWER HIGH"), silence(0.3)))
    whole = transducer.open()
    whole.feed(audio)
    run(whole)
    for size in (160, 777, 5_000):
        pieces = transducer.open()
        for at in range(0, len(audio), size):
            pieces.feed(audio[at : at + size])
            run(pieces)
        assert pieces.heard() == whole.heard()


def test_streams_do_not_touch_each_other(transducer: Transducer) -> None:
    one, other = transducer.open(), transducer.open()
    for at in range(0, 16_000, 1_600):
        one.feed(tone("▁LOW", 1.0)[at : at + 1_600])
        other.feed(tone("▁MID", 1.0)[at : at + 1_600])
        run(one)
        run(other)
    assert (one.heard().text, other.heard().text) == ("LOW", "MID")


def test_a_step_takes_its_chunk_and_waits_for_what_it_looks_ahead_to(transducer: Transducer) -> None:
    stream = transducer.open()
    assert transducer.chunk_samples == CHUNK * 160
    stream.feed(silence(0.08))
    assert not stream.step()
    stream.feed(silence(0.08))
    assert stream.step()
    assert stream.taken == transducer.chunk_samples


def test_keyterms_lift_what_was_barely_heard(tmp_path: Path) -> None:
    """Tokens of one character need no vocabulary to cut keyterms by."""
    symbols = ("<blk>", "<sos/eos>", "<unk>", "低", "中", "高", "尔")
    model = Transducer(write_transducer(tmp_path, symbols))
    assert model.takes_keyterms
    stream = model.open(("高", "a/b :2 #x"))  # what has a meaning to the library is taken out
    stream.feed(np.concatenate((silence(0.1), tone("▁HIGH"), tone("▁LOW"), silence(0.4))))
    run(stream)
    assert stream.heard().text == "高低"


def test_with_words_of_pieces_keyterms_need_the_vocabulary(transducer: Transducer) -> None:
    assert not transducer.takes_keyterms
    stream = transducer.open(("HIGHER",))
    stream.feed(np.concatenate((spoken("LOW"), silence(0.4))))
    run(stream)
    assert stream.heard().text == "LOW"


def test_int8_is_taken_where_it_costs_nothing(tmp_path: Path) -> None:
    for name in ("encoder.onnx", "encoder.int8.onnx", "decoder.onnx", "decoder.int8.onnx", "joiner.int8.onnx"):
        (tmp_path / name).touch()
    names = [graph_of(tmp_path, part).name for part in ("encoder", "decoder", "joiner")]
    assert names == ["encoder.int8.onnx", "decoder.onnx", "joiner.int8.onnx"]
    (tmp_path / "encoder-chunk-32.int8.onnx").touch()
    with pytest.raises(ModelUnavailable, match="several models"):
        graph_of(tmp_path, "encoder")


def test_symbols_are_read_as_the_library_reads_them(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("<blk> 0\n▁a 1\n2\n\n", "utf-8")
    assert read_symbols(tokens) == ["<blk>", "▁a", " "]
    for spoilt in ("a b c\n", "▁a\n", ""):
        tokens.write_text(spoilt, "utf-8")
        with pytest.raises(ModelUnavailable, match=r"tokens\.txt"):
            read_symbols(tokens)


def test_what_a_graph_says_of_itself(folder: Path) -> None:
    assert metadata_of(graph_of(folder, "decoder")) == {"vocab_size": str(len(SYMBOLS)), "context_size": "2"}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"model_type": "paraformer"}, "'paraformer', which is no streaming transducer"),
        ({"d_model": ""}, "does not say its d_model"),
        ({"T": "many"}, "does not say its T"),
        ({"model_type": "zipformer2"}, "does not say its encoder_dims, query_head_dims"),
    ],
)
def test_a_graph_that_would_end_the_process_is_refused(said: dict[str, str], why: str, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=why):
        Transducer(write_transducer(tmp_path, **said))


@pytest.mark.parametrize("missing", ["encoder-epoch-1-avg-1.onnx", "joiner-epoch-1-avg-1.onnx", "tokens.txt"])
def test_a_folder_that_lacks_something_is_refused(missing: str, tmp_path: Path) -> None:
    (write_transducer(tmp_path) / missing).unlink()
    with pytest.raises(ModelUnavailable, match="no folder of a streaming transducer"):
        Transducer(tmp_path)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    write_transducer(tmp_path)
    (tmp_path / "joiner-epoch-1-avg-1.onnx").write_bytes(b"\x08\x08" + b"nonsense" * 10)
    with pytest.raises(ModelUnavailable, match=str(tmp_path)):
        Transducer(tmp_path)
    (tmp_path / "encoder-epoch-1-avg-1.onnx").write_bytes(b"")
    with pytest.raises(ModelUnavailable, match=r"encoder-epoch-1-avg-1\.onnx is no ONNX file"):
        Transducer(tmp_path)


def test_without_the_package_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sherpa_onnx", None)
    with pytest.raises(ModelUnavailable, match=r"antiphon\[sherpa\]"):
        Transducer(folder)
