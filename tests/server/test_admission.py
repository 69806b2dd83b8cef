import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.core.errors import AtCapacity
from antiphon.server.admission import Admission, Place


def test_connections_are_counted_and_come_back() -> None:
    admission = Admission(2, 9)
    first, _ = admission.connect(), admission.connect()
    with pytest.raises(AtCapacity) as refused:
        admission.connect()
    assert refused.value.retry_after_s > 0
    first.release()
    admission.connect()
    assert admission.connections == 2


def test_a_place_is_given_back_once() -> None:
    admission = Admission(9, 9)
    first, _ = admission.open_stream("a"), admission.open_stream("a")
    first.release()
    first.release()
    assert (admission.streams, admission.streams_of("a")) == (1, 1)


def test_an_owners_limit_is_its_own() -> None:
    admission = Admission(9, 3)
    admission.open_stream("a", 1)
    with pytest.raises(AtCapacity, match="API key"):
        admission.open_stream("a", 1)
    admission.open_stream("b", 5)
    admission.open_stream("b", 5)
    with pytest.raises(AtCapacity, match="all 3"):
        admission.open_stream("b", 5)
    assert admission.streams == 3


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=60))
def test_whatever_comes_and_goes_the_counts_agree(moves: list[tuple[str, bool]]) -> None:
    admission, held = Admission(9, 5), list[tuple[str, Place]]()
    for owner, arrives in moves:
        if arrives:
            try:
                held.append((owner, admission.open_stream(owner, 3)))
            except AtCapacity:
                assert len(held) == 5 or sum(name == owner for name, _ in held) == 3
        elif held:
            held.pop(0)[1].release()
        assert admission.streams == len(held)
        assert all(admission.streams_of(name) == sum(o == name for o, _ in held) for name in "abc")
