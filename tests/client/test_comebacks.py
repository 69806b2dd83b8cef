from antiphon.client.comebacks import RESUME_PAUSES_S, SETTLED_S, Comebacks


def test_the_pauses_of_one_loss_grow_and_the_last_repeats() -> None:
    comebacks = Comebacks()
    comebacks.taken_up(0.0)
    comebacks.lost(SETTLED_S)
    pauses = [comebacks.pause_s() for _ in range(len(RESUME_PAUSES_S) + 2)]
    assert pauses == [*RESUME_PAUSES_S, RESUME_PAUSES_S[-1], RESUME_PAUSES_S[-1]]


def test_sockets_that_do_not_last_are_no_success() -> None:
    comebacks, first = Comebacks(), []
    for number in range(5):
        comebacks.taken_up(10.0 * number)
        comebacks.lost(10.0 * number + 1.0)
        first.append(comebacks.pause_s())
    assert first == [RESUME_PAUSES_S[0], *RESUME_PAUSES_S[:4]]
    comebacks.taken_up(100.0)
    comebacks.lost(100.0 + SETTLED_S)
    assert comebacks.pause_s() == RESUME_PAUSES_S[0]
