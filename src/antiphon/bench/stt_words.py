"""Error rates of what was heard: against what was said, and against the same weights without streaming."""

from collections.abc import Callable, Sequence

from antiphon.bench.clip import Clip
from antiphon.bench.hearing import Hearing
from antiphon.bench.stt_tables import Accuracy
from antiphon.bench.wer import WordErrors, error_rate, rate_difference, word_errors


def accuracy(group: str, streams: int, hearings: Sequence[Hearing], offline: Callable[[Clip], str | None]) -> Accuracy:
    """``offline``: the text of the whole recording, or None where there is no recogniser.

    A clip that failed counts with all its words. Clips without a reference only count against the offline text.
    """
    ours: list[WordErrors] = []
    theirs: list[WordErrors] = []
    apart: list[WordErrors] = []
    knows_offline = False
    for hearing in hearings:
        text = "" if hearing.error else hearing.transcript
        other = offline(hearing.clip)
        heard = _errors(hearing.clip.reference, text)
        if heard is not None:
            ours.append(heard)
        if other is None:
            continue
        knows_offline = True
        read = _errors(hearing.clip.reference, other)
        if read is not None:
            theirs.append(read)
        between = _errors(other, text)
        if between is not None:
            apart.append(between)
    compared = bool(ours) and knows_offline
    return Accuracy(
        group=group,
        streams=streams,
        clips=len(hearings),
        failed=sum(1 for hearing in hearings if hearing.error),
        rate=error_rate(ours) if ours else None,
        offline=error_rate(theirs) if compared else None,
        loss=rate_difference(ours, theirs) if compared else None,
        apart=error_rate(apart) if apart else None,
    )


def _errors(reference: str | None, text: str) -> WordErrors | None:
    """None where there is nothing to compare with."""
    try:
        return word_errors(reference, text) if reference else None
    except ValueError:
        return None
