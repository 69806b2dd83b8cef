import pytest

from antiphon.models.protobuf import read_fields, varint, write_field


@pytest.mark.parametrize("size", [0, 1, 127, 128, 300, 20_000])
def test_what_is_written_is_read(size: int) -> None:
    message = write_field(7, b"x" * size) + write_field(200, b"y")
    assert [(number, bytes(payload)) for number, payload, _ in read_fields(message)] == [(7, b"x" * size), (200, b"y")]
    assert b"".join(whole for _, _, whole in read_fields(message)) == message


def test_other_wire_types_are_passed_over_whole() -> None:
    number, fixed64 = varint(1 << 3) + varint(300), varint(2 << 3 | 1) + bytes(8)
    fixed32 = varint(3 << 3 | 5) + bytes(4)
    found = list(read_fields(memoryview(number + fixed64 + fixed32)))
    assert [(field, bytes(whole)) for field, _, whole in found] == [(1, number), (2, fixed64), (3, fixed32)]


def test_an_unknown_wire_type_is_an_error() -> None:
    with pytest.raises(ValueError, match="wire type 7"):
        list(read_fields(varint(1 << 3 | 7)))
