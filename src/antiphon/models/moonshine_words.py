"""Moonshine's tokens and words: which tokens make up a word, and which tokens a word would be written with."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

_SPACE = "\u2581"
_SPACE_BYTES = _SPACE.encode()


def read_vocabulary(data: bytes) -> tuple[bytes, ...]:
    """Tokens of a ``tokenizer.bin``: each after its length, which is one byte (< 128) or two (low seven bits first)."""
    tokens, at = [], 0
    while at < len(data):
        length = data[at]
        at += 1
        if length >= 128:
            length += data[at] * 128 - 128
            at += 1
        tokens.append(data[at : at + length])
        at += length
    return tuple(tokens)


def detokenize(pieces: Sequence[bytes]) -> str:
    """Join token strings: ``<0xNN>`` is a byte, other ``<...>`` are markers, U+2581 is a space."""
    joined = b""
    for piece in pieces:
        if len(piece) == 6 and piece.startswith(b"<0x"):
            joined += bytes([int(piece[3:5], 16)])
        elif not (piece.startswith(b"<") and piece.endswith(b">")):
            joined += piece
    # a decode that was stopped inside a character leaves bytes that mean nothing
    return joined.decode("utf-8", "ignore").replace("\u2581", " ").strip()


def word_spans(tokens: Sequence[int], vocabulary: Sequence[bytes]) -> list[tuple[int, int]]:
    """``[start, end)`` of each word in ``tokens``; punctuation belongs to the word that it follows."""
    starts = [n for n, token in enumerate(tokens) if n == 0 or vocabulary[token].startswith(_SPACE_BYTES)]
    return list(pairwise((*starts, len(tokens))))


class Tokenizer:
    """Text to tokens, by pair merging as in SentencePiece BPE: the merge with the lowest id comes first."""

    def __init__(self, vocabulary: Sequence[bytes]) -> None:
        # Single bytes stand in front of all others; characters of one byte are there again as pieces, which count.
        self._ids: Mapping[bytes, int] = {piece: token for token, piece in enumerate(vocabulary)}
        self._bytes: Mapping[bytes, int] = {
            piece: token for token, piece in reversed(list(enumerate(vocabulary))) if len(piece) == 1
        }

    def tokens(self, text: str) -> tuple[int, ...]:
        """Tokens of ``text`` as they stand in the middle of a sentence; characters that are unknown become bytes."""
        pieces = [char.encode() for char in _SPACE + text.strip().replace(" ", _SPACE)]
        while True:
            merges = [
                (self._ids[left + right], place)
                for place, (left, right) in enumerate(pairwise(pieces))
                if left + right in self._ids
            ]
            if not merges:
                break
            _, place = min(merges)
            pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
        return tuple(token for piece in pieces for token in self._of(piece))

    def _of(self, piece: bytes) -> list[int]:
        whole = self._ids.get(piece)
        if whole is not None:
            return [whole]
        return [self._bytes[bytes([byte])] for byte in piece if bytes([byte]) in self._bytes]
