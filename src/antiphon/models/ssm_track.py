"""One stream of the state-space voice between its text and its steps: symbols, durations, pauses, times. Pure.

Text comes in as units of a few words (``before`` and ``after`` hold what is known around them); a sentence stays open
over its units, and what the encoder holds back for its look-ahead comes out with the words that follow, or when the
sentence is closed.
"""

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from antiphon.models.hibari_frontend import SILENT, HibariFrontend, Script
from antiphon.models.hibari_words import Times
from antiphon.models.ssm import FRAMES_PER_STEP, Frames, SsmModel, noise_of
from antiphon.models.ssm_knobs import Knobs
from antiphon.models.ssm_sound import LAG_SAMPLES
from antiphon.models.ssm_state import HOP, SsmState
from antiphon.models.ssm_words import WordTimer
from antiphon.text.parts import parts
from antiphon.text.unit import Unit

CONTEXT_WORDS = (4, 2)
"""Words before and after a unit that are read with it: on 120 held-out sentences (1,027 words) read word by word, none
got other phonemes than in the whole sentence (one word after it: 5, none: 113)."""

_PAUSE_FRAMES = {"none": 6, "clause": 16, "sentence": 26, "paragraph": 55}
"""From the last sound of a sentence to the first of the next: what hibari does."""
_LEAD_FRAMES = 2
"""Silence before a sentence's first sound."""
_UNREAD = frozenset("\"()“”")
"""Symbols that the voice has not learnt, since they change nothing that is heard."""


@dataclass(slots=True, eq=False)
class Held:
    """A symbol whose frames are still to be made. ``done`` of its ``frames`` are."""

    encoding: NDArray[np.float32]
    frames: int
    knobs: Knobs
    volume: float
    done: int = 0


@dataclass(slots=True)
class Silence:
    samples: int


@dataclass(slots=True)
class Mark:
    """A caller's marker; ``last``: no input comes after it."""

    marker: Hashable
    last: bool


Item: TypeAlias = Held | Silence | Mark


@dataclass(slots=True)
class SsmTrack:
    """``state`` is the stream's own row, and holds whatever the model remembers of it."""

    model: SsmModel
    frontend: HibariFrontend
    state: SsmState
    seed: int = 0
    at_sample: int = 0
    """Where the next step's sound begins in the stream."""
    queue: deque[Item] = field(default_factory=deque)
    words: WordTimer = field(default_factory=WordTimer)
    end_sample: int = -1
    """Where the sound of the queue ends."""
    knobs: Knobs = field(default_factory=Knobs)
    volume: float = 1.0
    sentence_open: bool = False
    begun: bool = False
    """Whether the open sentence has symbols besides its pad."""
    ending: str | None = None
    """How the sentence before ended; None at the start."""
    tail_frames: int = 0
    """Frames since the last sound that has been placed."""
    exact: float = 0.0
    rounded: int = 0
    opening: bool = False

    def __post_init__(self) -> None:
        if self.end_sample < 0:
            self.end_sample = self.at_sample

    # -- text ------------------------------------------------------------------------------------

    def speak(self, unit: Unit, knobs: Knobs) -> None:
        """Read one unit. Raises ``EngineFailed`` for text that cannot be read at all."""
        if not unit.pieces:
            self.close("none" if unit.ending == "none" else unit.ending)
            self.pause(unit.pause_s)
            return
        self.knobs, self.volume = knobs, unit.volume
        before = " ".join(unit.before.split()[-CONTEXT_WORDS[0] :])
        after = " ".join(unit.after.split()[: CONTEXT_WORDS[1]])
        text = unit.text
        for part in parts(unit.pieces):
            first, last = part.start == 0, part.end == len(text)
            script = self.frontend.script(
                part.pieces,
                before if first else " ".join(text[: part.start].split()[-CONTEXT_WORDS[0] :]),
                after if last else " ".join(text[part.end :].split()[: CONTEXT_WORDS[1]]),
            )
            self._push(script, text, (part.start, part.end))
        if unit.ending in ("sentence", "paragraph"):
            self.close(unit.ending)
        elif self.sentence_open:
            self.ending = unit.ending
        if unit.pause_s > 0:
            self.close(unit.ending)
            self.pause(unit.pause_s)

    def _push(self, script: Script, text: str, part: tuple[int, int]) -> None:
        kept = [place for place, symbol in enumerate(script.symbols) if symbol not in _UNREAD]
        pairs: list[tuple[str, int]] = []
        for place in kept:
            symbol = script.symbols[place]
            if symbol == " " and (not pairs or pairs[-1][0] == " "):
                continue
            pairs.append((symbol, script.owners[place]))
        while pairs and pairs[-1][0] == " ":
            pairs.pop()
        symbols = "".join(symbol for symbol, _ in pairs)
        owned = Script(symbols, tuple(owner for _, owner in pairs), script.words)
        if not any(symbol not in SILENT for symbol in symbols) and not self.sentence_open:
            symbols, owned = "", Script("", (), script.words)  # a lone mark is no sentence
        if symbols and not self.sentence_open:
            self._open()
        glue = bool(symbols) and self.begun and symbols[0] not in ";:,.!?…"
        if glue:
            self.words.announce(" ", [-1])
        owners = self.words.read(owned, text, part)
        self.words.announce(symbols, owners)
        if symbols:
            self.begun = True
            line = f" {symbols}" if glue else symbols
            self._encode([self.model.symbols[symbol] for symbol in line], 0)
        else:
            self.words.settle(self.end_sample)

    def _open(self) -> None:
        if self.ending is not None:
            wanted = _PAUSE_FRAMES[self.ending] / self.knobs.speed - self.tail_frames - _LEAD_FRAMES
            self._silence(max(0, round(wanted)) * HOP)
        self.sentence_open, self.begun, self.opening = True, False, True
        self.words.announce("\0", [-1])
        self._encode([self.model.pad], 0)

    def close(self, ending: str) -> None:
        """The sentence is over: what the encoder held back comes out."""
        if not self.sentence_open:
            return
        self.words.announce("\0", [-1])
        self._encode([self.model.pad], self.model.lookahead)
        made = sum(item.frames for item in self._sentence())
        if made % FRAMES_PER_STEP:
            last = self.queue[-1]
            assert isinstance(last, Held)
            last.frames += 1
            self.end_sample += HOP
            self.tail_frames += 1
        self.sentence_open, self.ending = False, ending

    def pause(self, seconds: float) -> None:
        """An explicit silence."""
        if seconds > 0:
            self._silence(round(seconds * 24_000))
            self.ending = None

    def mark(self, marker: Hashable, last: bool) -> None:
        """Comes after all that was spoken before; the open sentence ends here."""
        self.close(self.ending or "sentence")
        self.queue.append(Mark(marker, last))

    def _silence(self, samples: int) -> None:
        if samples > 0:
            self.queue.append(Silence(samples))
            self.end_sample += samples

    def _sentence(self) -> list[Held]:
        """What is left of the frames at the queue's end; steps begin at its even frames."""
        found = []
        for item in reversed(self.queue):
            if not isinstance(item, Held):
                break
            found.append(item)
        return [Held(item.encoding, item.frames - item.done, item.knobs, item.volume) for item in found]

    def _encode(self, ids: list[int], gap: int) -> None:
        encodings, durations, self.state = self.model.encode(ids, gap, self.knobs, self.state)
        for encoding, duration in zip(encodings, durations, strict=True):
            symbol = self.words.owners[0][0]
            if self.opening:
                frames, self.opening = _LEAD_FRAMES, False
            else:
                self.exact += float(duration)
                frames = max(1, round(self.exact) - self.rounded)
                self.rounded += frames
            start = self.end_sample
            self.queue.append(Held(encoding, frames, self.knobs, self.volume))
            self.end_sample = start + frames * HOP
            self.tail_frames = self.tail_frames + frames if symbol in SILENT or symbol == "\0" else 0
            self.words.place(start + LAG_SAMPLES, self.end_sample + LAG_SAMPLES)

    # -- steps -----------------------------------------------------------------------------------

    @property
    def head(self) -> Item | None:
        return self.queue[0] if self.queue else None

    def steps_ready(self, most: int) -> int:
        """Steps that can be made in one go, at most ``most``."""
        return self.ahead(most)[0]

    def ahead(self, most: int) -> tuple[int, bool]:
        """Steps that can be made in one go, at most ``most``; and whether more text could not make them more."""
        frames, bounded = 0, False
        volume: float | None = None
        for item in self.queue:
            if not isinstance(item, Held) or frames >= most * FRAMES_PER_STEP:
                bounded = True
                break
            if volume is not None and item.volume != volume and frames >= FRAMES_PER_STEP:
                bounded = True  # a change of volume waits for the next step's beginning
                break
            volume = item.volume
            frames += item.frames - item.done
        return min(most, frames // FRAMES_PER_STEP), bounded or frames >= most * FRAMES_PER_STEP

    def frames(self, steps: int) -> Frames:
        """Input of the next ``steps`` (<= :meth:`steps_ready`), one row; they count as made."""
        count = steps * FRAMES_PER_STEP
        encodings = np.empty((1, count, self.model.width), np.float32)
        timing = np.empty((1, count, 2), np.float32)
        conditions = np.empty((1, steps, 6), np.float32)
        pitch = np.empty((1, count, 2), np.float32)
        at = 0
        while at < count:
            held = self.queue[0]
            assert isinstance(held, Held)
            end = min(count, at + held.frames - held.done)
            encodings[0, at:end] = held.encoding
            timing[0, at:end, 0] = np.arange(held.done, held.done + end - at)
            timing[0, at:end, 1] = held.frames
            pitch[0, at:end] = held.knobs.melody(self.model.normal)
            conditions[0, -(-at // FRAMES_PER_STEP) : -(-end // FRAMES_PER_STEP)] = held.knobs.conditions
            held.done += end - at
            if held.done == held.frames:
                self.queue.popleft()
            at = end
        white = noise_of(self.seed, self.at_sample, count)[None]
        self.at_sample += count * HOP
        return Frames(encodings, timing, conditions, pitch, white)

    def silence(self) -> int:
        """Take the silence at the head: its samples."""
        head = self.queue.popleft()
        assert isinstance(head, Silence)
        self.at_sample += head.samples
        return head.samples

    def times(self, to_the_end: bool = False) -> Times:
        """Of words that begin in what was made so far (and of those without a sound that stand right at its end)."""
        return self.words.take(self.at_sample + LAG_SAMPLES + 1 if to_the_end else self.at_sample)

    @property
    def next_volume(self) -> float:
        head = self.head
        return head.volume if isinstance(head, Held) else self.volume
