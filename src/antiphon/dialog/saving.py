"""From a conversation to plain values, and back in another process."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from antiphon.dialog.conversation_answers import Answers
from antiphon.dialog.history import UserSaid
from antiphon.dialog.saved import RESTARTED, SavedConversation, SavedEntry
from antiphon.dialog.tool_run import ToolRun


def save(answers: Answers, kept: Sequence[str], prompts: int, digits: str) -> SavedConversation:
    """The conversation as it would be if its client were lost now; nothing is changed. Guesses are left out."""
    at, desk, history = answers.at, answers.desk, answers.history
    current, answer = answers.current, None
    entries = [SavedEntry(user=replace(entry)) if isinstance(entry, UserSaid)
               else SavedEntry(reply=replace(entry, calls=list(entry.calls))) for entry in history.entries]  # fmt: skip
    if current is not None:
        places = {id(entry): place for place, entry in enumerate(history.entries)}
        place = places.get(id(current.reply))
        if place is not None:
            answer = current.save(place, places.get(id(current.entry)), at.now_s)
            entries[place] = SavedEntry(reply=replace(current.reply, heard_chars=answer.heard))
    guess = "" if answers.guess is None else answers.guess.reply.reply_id
    return SavedConversation(
        at_s=at.now_s,
        sample=at.sample,
        turn=answers.turn,
        numbers=answers.numbers,
        history=entries,
        results={**history.results},
        runs=[run for run in desk.save() if not guess or run.owner != guess],
        ledger=list(answers.ledger.entries()),
        answer=answer,
        kept=list(kept),
        prompts=prompts,
        digits=digits,
    )


def restore(
    answers: Answers,
    saved: SavedConversation,
    now_s: float,
    elapsed_s: float,
    goes_on: Callable[[ToolRun], bool],
) -> None:
    """Into answers that are as new. ``elapsed_s``: since it was saved; ``goes_on``: see ``ToolDesk.restore``."""
    shift_s = now_s - elapsed_s - saved.at_s
    answers.turn, answers.numbers = saved.turn, saved.numbers
    answers.ledger.restore(replace(entry, at_s=entry.at_s + shift_s) for entry in saved.ledger)
    for entry in saved.history:
        said = entry.user if entry.reply is None else entry.reply
        if said is not None:
            answers.history.add(said)
    answers.history.results.update(saved.results)
    answers.desk.restore(saved.runs, now_s, goes_on, RESTARTED)
    if saved.answer is not None:
        reply = saved.history[saved.answer.reply].reply
        asked = None if saved.answer.entry is None else saved.history[saved.answer.entry].user
        if reply is not None:
            answers.restore(reply, asked, saved.answer)
    answers.keep_results()
