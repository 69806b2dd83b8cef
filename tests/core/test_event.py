from antiphon.core.errors import EngineFailed, InvalidInput, NotFound
from antiphon.core.event import Failed


def test_whose_fault_it_was_survives_the_stream() -> None:
    assert type(Failed.of(EngineFailed("a")).error) is EngineFailed
    back = Failed.of(InvalidInput("b", "transcript")).error
    assert isinstance(back, InvalidInput)
    assert (str(back), back.param) == ("b", "transcript")
    assert isinstance(Failed.of(NotFound("c")).error, InvalidInput)
