"""Frames as they come in: cut up, taken in order, and everyone else's turn between those that came at once."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest
from starlette.websockets import WebSocket

from antiphon.core.clock import ManualClock
from antiphon.server.session.reader import PIECE_BYTES, Reader


class Socket:
    """Has all its messages already: receiving them never waits."""

    def __init__(self, messages: Sequence[dict[str, Any]]) -> None:
        self.messages = [*messages, {"type": "websocket.disconnect", "code": 1000}]

    async def receive(self) -> dict[str, Any]:
        return self.messages.pop(0)


def turns_between(messages: Sequence[dict[str, Any]], *, more: bool, hears: bool = True) -> tuple[list[int], int]:
    """Sizes of what was taken, and how often another task had its turn before all of it was."""
    taken: list[int] = []

    async def test() -> int:
        turns = 0

        async def another() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        reader = Reader(
            cast(WebSocket, Socket(messages)), ManualClock(), lambda frame, _: taken.append(len(frame)),
            lambda: False, lambda: hears, b"", lambda: more,
        )  # fmt: skip
        other = asyncio.ensure_future(another())
        try:
            assert await reader.run() == 1000
            return turns
        finally:
            other.cancel()

    return taken, asyncio.run(test())


def texts(count: int) -> list[dict[str, Any]]:
    return [{"type": "websocket.receive", "text": "x"} for _ in range(count)]


def test_everyone_has_a_turn_between_frames_that_came_at_once_and_a_lone_one_costs_none() -> None:
    assert turns_between(texts(20), more=True) == ([1] * 20, 20)
    assert turns_between(texts(1), more=False) == ([1], 0)


@pytest.mark.parametrize(("hears", "sizes"), [(True, [PIECE_BYTES, PIECE_BYTES, 10]), (False, [2 * PIECE_BYTES + 10])])
def test_long_audio_is_taken_in_pieces_with_a_turn_after_each_if_somebody_listens(
    hears: bool, sizes: list[int]
) -> None:
    audio = [{"type": "websocket.receive", "bytes": bytes(2 * PIECE_BYTES + 10)}]
    assert turns_between(audio, more=False, hears=hears) == (sizes, len(sizes) if hears else 0)
