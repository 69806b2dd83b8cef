"""What a sound of the user's means while the agent speaks: go on, or be quiet. Local, free, judged again at every word.

Rules over the words so far, their number and time, and what the agent itself was saying. Words come from the
recogniser, so a judgement without words has only the duration to go by.
"""

import re
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from antiphon.dialog.interruption_words import BACKCHANNELS, HESITATIONS, HUMMED, LISTENERS, LONGEST, STOPS

Meaning: TypeAlias = Literal["backchannel", "noise", "echo", "interruption", "undecided"]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ANNOTATION = re.compile(r"\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|<[^>]*>")
_LAUGH = re.compile(r"^[aeio]*(?:h+[aeio]+){2,}h*$|^a*ch+o+$|^(?:ugh|pff+|psh+|sh+|tsk|phew|brr+|a?hem)$")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")

_MUMBLED_WORDS = 2
_ECHO_WORDS = 3
"""Fewer words than this may be what the user picks of the agent's offer as well as the agent's echo."""


@dataclass(frozen=True, slots=True)
class InterruptionSettings:
    """``min_words``: fewer words (stop words aside) do not interrupt. ``echo_cancelled``: the client removes the
    agent's voice from what it sends; without that, also a single word that the agent just said is taken for its echo.
    """

    min_words: int = 1
    wordless_s: float = 1.6
    """Speech that lasts longer without a word of it understood interrupts; coughs and clatter are shorter."""
    max_listener_words: int = 5
    """Listeners say no more than this without wanting the floor."""
    mumbled_below: float = 0.5
    """One or two words that the recogniser trusts less are a hum ("mhm" is heard as "her?"): they do not interrupt."""
    echo_likeness: float = 0.75
    """The share of the user's words that must be the agent's, in order, to be its echo."""
    echo_cancelled: bool = True


@dataclass(frozen=True, slots=True)
class Overlap:
    """What is known of a sound so far. ``agent_text``: the words played around it, from about 3 s before.

    ``final``: it is over, and this is all of it. ``speech`` False: the voice detector denies that it is speech.
    ``confidence``: the recogniser's.
    """

    text: str
    duration_s: float
    agent_text: str = ""
    final: bool = False
    speech: bool = True
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Judgement:
    meaning: Meaning
    reason: str


def judge(overlap: Overlap, settings: InterruptionSettings | None = None) -> Judgement:
    """What the sound means. Never undecided where ``final``."""
    settings = settings or InterruptionSettings()
    spoken = _ANNOTATION.sub(" ", overlap.text)
    words = plain_words(spoken)
    if not words:
        return _wordless(overlap, settings)
    if all(_LAUGH.match(word) for word in words):
        return Judgement("noise", "laughter or a sneeze")
    agent = plain_words(overlap.agent_text)
    if _is_echo(words, agent, settings):
        return Judgement("echo", "the agent's own words")
    pieces = _phrases(words)
    unknown = [piece for piece in pieces if piece not in LISTENERS]
    hummed = len(words) <= _MUMBLED_WORDS and overlap.confidence < settings.mumbled_below and not _was_asked(overlap)
    stops = STOPS - HUMMED if hummed else STOPS
    stop = next((piece for piece in pieces if piece in stops), None)
    if stop is not None:
        return Judgement("interruption", f"'{stop}' takes the floor")
    if not unknown:
        return _listener(words, pieces, overlap, settings)
    if hummed:
        return Judgement("backchannel" if overlap.final else "undecided", "hardly a word")
    if not overlap.final and len(words) <= 2 and _may_become_listener(words, spoken):
        return Judgement("undecided", "the beginning of a listener's word")
    if len(words) < settings.min_words:
        return Judgement("backchannel" if overlap.final else "undecided", f"fewer than {settings.min_words} words")
    if not overlap.final and _may_become_echo(words, agent, settings):
        return Judgement("undecided", "may be the agent's own words")
    return Judgement("interruption", f"says '{unknown[0]}'")


def plain_words(text: str) -> list[str]:
    """Words in lower case without marks; runs of Chinese or Japanese count as one."""
    return _WORD.findall(unicodedata.normalize("NFC", text).casefold().replace("’", "'"))


def _wordless(overlap: Overlap, settings: InterruptionSettings) -> Judgement:
    if overlap.final or not overlap.speech:
        return Judgement("noise", "no words in it")
    if overlap.duration_s >= settings.wordless_s:
        return Judgement("interruption", f"speech for {overlap.duration_s:.1f} s")
    return Judgement("undecided", "no words yet")


def _listener(words: list[str], pieces: list[str], overlap: Overlap, settings: InterruptionSettings) -> Judgement:
    if all(piece in HESITATIONS for piece in pieces):
        if overlap.final:
            return Judgement("backchannel", "a hesitation, and nothing after it")
        return Judgement("undecided", "may be about to begin")
    if _was_asked(overlap):
        return Judgement("interruption", "answers the agent's question")
    if len(words) > settings.max_listener_words and len(set(pieces)) > 2:
        return Judgement("interruption", "too much for a listener")
    return Judgement("backchannel", "only listener's words")


def _was_asked(overlap: Overlap) -> bool:
    """Whether the agent has just put a question: then every sound is an answer."""
    return overlap.agent_text.rstrip().endswith(("?", "？", "؟"))


def _phrases(words: list[str]) -> list[str]:
    """The words, known phrases joined, longest first."""
    out, at = [], 0
    while at < len(words):
        for length in range(min(LONGEST, len(words) - at), 0, -1):
            phrase = " ".join(words[at : at + length])
            if length == 1 or phrase in LISTENERS or phrase in STOPS:
                break
        out.append(phrase)
        at += length
    return out


def _may_become_listener(words: list[str], text: str) -> bool:
    """Whether more letters could make a listener's phrase of it; what ends in a mark is complete."""
    if text.rstrip().endswith((".", "?", "!", ",", "。", "？")):
        return False
    begun = " ".join(words)
    return any(phrase.startswith(begun) and phrase != begun for phrase in BACKCHANNELS)


def _is_echo(words: list[str], agent: list[str], settings: InterruptionSettings) -> bool:
    if not agent:
        return False
    if len(words) < _ECHO_WORDS and not _WIDE.search(words[0]):
        # One or two words may as well be the user's choice among what the agent names.
        return not settings.echo_cancelled and _contains(agent, words)
    return _likeness(words, agent) >= settings.echo_likeness


def _may_become_echo(words: list[str], agent: list[str], settings: InterruptionSettings) -> bool:
    """Whether to wait for another word: so far it is the agent's words, one of them misheard at the most."""
    if len(words) < _ECHO_WORDS:
        return _contains(_near(words, agent), words)
    return len(words) == _ECHO_WORDS and _likeness(words, agent) * len(words) >= len(words) - 1


def _likeness(words: list[str], agent: list[str]) -> float:
    """The share of ``words`` that are the agent's, in order."""
    blocks = SequenceMatcher(None, words, _near(words, agent), False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(words)


def _near(words: list[str], agent: list[str]) -> list[str]:
    """The agent's words with those replaced that a recogniser may have misheard as one of ``words``."""
    out = []
    for word in agent:
        if word not in words and len(word) > 3:
            word = next((other for other in words if SequenceMatcher(None, word, other, False).ratio() >= 0.75), word)
        out.append(word)
    return out


def _contains(agent: list[str], words: list[str]) -> bool:
    return any(agent[at : at + len(words)] == words for at in range(len(agent) - len(words) + 1))
