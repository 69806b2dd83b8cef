"""Answers that are remembered."""

import numpy as np

from antiphon.engine.remembered import Remembered, fingerprint


def test_the_same_question_is_answered_once_and_the_oldest_is_forgotten() -> None:
    asked: list[str] = []
    known = Remembered[int](2)

    def ask(question: str) -> int:
        def answer() -> int:
            asked.append(question)
            return len(question)

        return known.get(question, answer)

    assert [ask("a"), ask("bb"), ask("a")] == [1, 2, 1]
    assert asked == ["a", "bb"]
    ask("ccc")  # now "bb", asked longest ago, is forgotten
    ask("a")
    assert asked == ["a", "bb", "ccc"]
    ask("bb")
    assert asked == ["a", "bb", "ccc", "bb"]


def test_a_failure_is_not_an_answer() -> None:
    known = Remembered[int](2)
    for _ in range(2):
        try:
            known.get("a", lambda: 1 // 0)
        except ZeroDivisionError:
            continue
        raise AssertionError("a failure was taken for an answer")
    assert known.get("a", lambda: 7) == 7


def test_a_fingerprint_tells_sounds_apart() -> None:
    sound = np.arange(100, dtype=np.float32)
    assert fingerprint(sound) == fingerprint(sound.copy()) != fingerprint(sound + 1)
