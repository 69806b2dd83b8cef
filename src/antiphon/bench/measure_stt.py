"""From what an ear said to what it is worth. Pure; every boundary is defined here and in docs/bench.md."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UnsetType

from antiphon.bench.hearing import Hearing
from antiphon.protocol.cartesia_stt_messages import (
    SttFlushDone,
    SttTranscript,
    TurnEagerEnd,
    TurnEnd,
    TurnResume,
    TurnStart,
    TurnUpdate,
)

LATE_END_S = 2.0
"""A turn that ends later than this after its true end, or never, is an error."""

NOTICED_S = 0.3
"""Speech that goes on after a pause is noticed by then, so that an end is no longer said because of that pause."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Figures of one clip with finalize, in seconds. None: there is no such moment.

    ``final_s``: ``finalize`` sent at the true end -> the last words are there as finals (0 where they were before).
    ``flush_done_s``: the same -> ``flush_done``. ``first_interim_s``: speech begins -> the first words are shown.
    ``words``: of the transcript. ``revised``: words that were shown and later changed or taken back.
    ``interims``: how many. ``behind_s``: how late the client sent audio at worst.
    """

    clip: str
    group: str
    text: str
    audio_s: float
    final_s: float | None
    flush_done_s: float | None
    first_interim_s: float | None
    words: int
    revised: int
    interims: int
    behind_s: float
    error: str

@dataclass(frozen=True, slots=True)
class TurnHeard:
    """Figures of one clip with turn detection, in seconds from the true end of speech. None: there is no such moment.

    ``end_s``: ``turn.end``. ``eager_s``: the ``turn.eager_end`` that was not taken back (where there is none, the end
    itself). ``words_s``: the last change of the turn's words, spelling and marks aside; negative when the words stood
    before the true end. ``end_s`` is none where no end came, or only because the client closed.
    ``cut_offs``: ends before the true end. ``pauses_cut``: known pauses after whose beginning, and before the next
    one's, the turn was ended too early; ``pauses_ended``: those of them in which it was, or before the speech after it
    could be noticed (the rest came in a later pause that is not on the list). ``pauses_eager``: those in which an eager
    end was said (and had to be taken back). ``turns``: that began. ``extra_turns``: those that began after the last
    end. ``shrunk``: times a transcript was no extension of the one before, which the protocol forbids. ``ends_turn``:
    whether the clip has a true end of turn at all.
    """

    clip: str
    group: str
    kind: str
    text: str
    audio_s: float
    ends_turn: bool
    pauses: int
    cut_offs: int
    pauses_cut: int
    pauses_ended: int
    pauses_eager: int
    turns: int
    resumes: int
    extra_turns: int
    shrunk: int
    start_s: float | None
    words_s: float | None
    eager_s: float | None
    end_s: float | None
    behind_s: float
    error: str

    @property
    def missing(self) -> bool:
        """No end, or one that came too late."""
        return self.ends_turn and not self.error and (self.end_s is None or self.end_s > LATE_END_S)

    @property
    def eager_lead_s(self) -> float | None:
        """By how much the eager end came before the end."""
        return None if self.end_s is None or self.eager_s is None else self.end_s - self.eager_s


def measure_final(hearing: Hearing) -> Heard:
    """Figures of a clip that was finalized at its true end."""
    shown, finals = "", ""
    final_s = flush_done_s = first_s = None
    revised = interims = 0
    asked_s = hearing.finalize_s
    for stamp_s, message in zip(hearing.stamps_s, hearing.messages, strict=True):
        if isinstance(message, SttTranscript):
            now = finals + message.text
            revised += words_lost(shown, now)
            shown = now
            if message.is_final:
                finals = now
                if message.text.strip() and asked_s is not None:
                    final_s = max(0.0, stamp_s - asked_s)
            else:
                interims += 1
            if first_s is None and shown.strip() and hearing.true_start_s is not None:
                first_s = stamp_s - hearing.true_start_s
        elif isinstance(message, SttFlushDone) and asked_s is not None and flush_done_s is None:
            flush_done_s = stamp_s - asked_s
    return Heard(
        clip=hearing.clip.name,
        group=hearing.clip.group,
        text=hearing.transcript,
        audio_s=hearing.clip.until_true_end().audio_s,
        final_s=final_s,
        flush_done_s=flush_done_s,
        first_interim_s=first_s,
        words=len(plain_words(hearing.transcript)),
        revised=revised,
        interims=interims,
        behind_s=hearing.behind_s,
        error=hearing.error,
    )


def measure_turn(hearing: Hearing) -> TurnHeard:
    """Figures of a clip that was played to an ear with turn detection."""
    true_end_s = hearing.true_end_s if hearing.true_end_s is not None else hearing.begin_s or 0.0
    ends: list[float] = []
    eager: list[float] = []
    starts: list[float] = []
    resumes = shrunk = 0
    standing_s: float | None = None
    eager_s = end_s = words_s = None
    turn_words: list[str] = []
    turn_text = ""
    changed_s: float | None = None
    for stamp_s, message in zip(hearing.stamps_s, hearing.messages, strict=True):
        if isinstance(message, TurnStart):
            starts.append(stamp_s)
            turn_words, turn_text, standing_s, changed_s = [], "", None, None
        elif isinstance(message, TurnResume):
            resumes += 1
            standing_s = None
        elif isinstance(message, TurnUpdate | TurnEagerEnd | TurnEnd):
            shrunk += not message.transcript.startswith(turn_text)
            turn_text = message.transcript
            words = plain_words(message.transcript)
            if words != turn_words:
                turn_words, changed_s = words, stamp_s
            if isinstance(message, TurnEagerEnd):
                standing_s = stamp_s
                eager.append(stamp_s)
            elif isinstance(message, TurnEnd):
                if hearing.close_s is not None and stamp_s >= hearing.close_s:
                    continue
                ends.append(stamp_s)
                if stamp_s >= true_end_s and end_s is None:
                    end_s = stamp_s - true_end_s
                    eager_s = (standing_s if standing_s is not None else stamp_s) - true_end_s
                    words_s = None if changed_s is None else changed_s - true_end_s
    early = [stamp_s for stamp_s in ends if stamp_s < true_end_s]
    clip = hearing.clip
    begin_s = hearing.begin_s or 0.0
    pauses = [begin_s + start / clip.rate_hz for start, _ in clip.pauses]
    spans = list(zip(pauses, [*pauses, true_end_s][1:], strict=True))
    quiet = [(begin_s + start / clip.rate_hz, begin_s + end / clip.rate_hz) for start, end in clip.pauses]
    wanted = clip.ends_turn
    return TurnHeard(
        clip=clip.name,
        group=clip.group,
        kind=clip.kind,
        text=hearing.transcript,
        audio_s=clip.audio_s,
        ends_turn=wanted,
        pauses=len(clip.pauses),
        cut_offs=len(early),
        pauses_cut=sum(any(start <= stamp_s < end for stamp_s in early) for start, end in spans),
        pauses_ended=sum(any(start <= stamp_s < end + NOTICED_S for stamp_s in early) for start, end in quiet),
        pauses_eager=sum(any(start <= stamp_s < end for stamp_s in eager) for start, end in quiet),
        turns=len(starts),
        resumes=resumes,
        extra_turns=sum(1 for stamp_s in starts if ends and stamp_s > max(ends) and stamp_s > true_end_s),
        shrunk=shrunk,
        start_s=starts[0] - hearing.true_start_s if starts and hearing.true_start_s is not None else None,
        words_s=words_s if wanted else None,
        eager_s=eager_s if wanted else None,
        end_s=end_s if wanted else None,
        behind_s=hearing.behind_s,
        error=hearing.error,
    )


def word_time_errors(hearing: Hearing) -> list[tuple[float, float]]:
    """(start, end) of every word that was heard right, told minus true, in seconds. Needs a clip with exact times."""
    told = [
        word
        for message in hearing.messages
        if isinstance(message, SttTranscript) and message.is_final and not isinstance(message.words, UnsetType)
        for word in message.words
    ]
    heard = [_plain(word.word) for word in told]
    true = [_plain(word.text) for word in hearing.clip.words]
    return [
        (told[right].start - hearing.clip.words[left].start_s, told[right].end - hearing.clip.words[left].end_s)
        for left, right in common_words(true, heard)
    ]


def words_lost(before: str, after: str) -> int:
    """Words of ``before`` that are not in ``after`` at their place: a smallest set, capitals and marks aside."""
    old, new = plain_words(before), plain_words(after)
    return len(old) - len(common_words(old, new))


def common_words(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Index pairs of a longest common subsequence."""
    first = 0
    while first < min(len(left), len(right)) and left[first] == right[first]:
        first += 1
    pairs = [(at, at) for at in range(first)]
    rows, columns = len(left) - first, len(right) - first
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            same = left[first + row] == right[first + column]
            best[row][column] = (
                best[row + 1][column + 1] + 1 if same else max(best[row + 1][column], best[row][column + 1])
            )
    row = column = 0
    while row < rows and column < columns:
        if left[first + row] == right[first + column]:
            pairs.append((first + row, first + column))
            row, column = row + 1, column + 1
        elif best[row + 1][column] >= best[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs


def plain_words(text: str) -> list[str]:
    """Words without capitals and marks; what is only marks is no word."""
    return [word for part in text.split() if (word := _plain(part))]


def slope(values: Sequence[float]) -> float:
    """Least-squares slope per step; 0.0 for fewer than two."""
    count = len(values)
    if count < 2:
        return 0.0
    middle = (count - 1) / 2
    mean = sum(values) / count
    spread = sum((at - middle) ** 2 for at in range(count))
    return sum((at - middle) * (value - mean) for at, value in enumerate(values)) / spread


def _plain(word: str) -> str:
    return re.sub(r"[^\w']+", "", word.casefold()).strip("'_")
