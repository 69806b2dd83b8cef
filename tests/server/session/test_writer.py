"""What leaves together, and what a wire that is full holds back."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from antiphon.protocol.actions import Send, SendBytes
from antiphon.server.session.writer import BYTES_A_TURN, FRAMES_A_TURN, Writer
from antiphon.server.wire import Message, SocketWire

from ..support import run


class Peer:
    """A wire, and a machine that has ``frames`` to make. ``room``: how many messages it takes before it is full."""

    def __init__(self, frames: Sequence[bytes] = (), room: int = 1000) -> None:
        self.turns: list[list[Message]] = []
        self.looked = 0
        self.room = room
        self.writable = asyncio.Event()
        self.writable.set()
        self.frames = list(frames)
        wire = SocketWire(self.writable, lambda: None, self._take)
        self.writer = Writer(wire, 10.0, self._make, lambda: not self.frames, lambda: None)

    def free(self, room: int) -> None:
        self.room = room
        self.writable.set()

    def _take(self, messages: Sequence[Message]) -> None:
        self.turns.append(list(messages))
        self.room -= len(messages)
        if self.room <= 0:
            self.writable.clear()

    def _make(self) -> bool:
        self.looked += 1
        if not self.frames:
            return False
        self.writer.put(Send(self.frames.pop(0)))
        return True


async def settle(writer: Writer, act: Callable[[], None]) -> "asyncio.Task[int]":
    """``act`` while the writer runs, until the loop has nothing more to do at once."""
    running = asyncio.create_task(writer.run())
    act()
    await turns()
    return running


async def turns() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def test_what_can_leave_in_a_turn_leaves_together_in_its_order() -> None:
    async def test() -> None:
        peer = Peer([b"%d" % n for n in range(FRAMES_A_TURN + 2)])
        running = await settle(peer.writer, peer.writer.go)
        assert [[message for message, _ in turn] for turn in peer.turns] == [[b"0", b"1", b"2", b"3"], [b"4", b"5"]]
        assert peer.looked == FRAMES_A_TURN + 3  # the second turn found nothing more, and no third one looked
        running.cancel()

    run(test())


def test_text_and_bytes_keep_their_kind_and_their_order() -> None:
    async def test() -> None:
        peer = Peer()

        def act() -> None:
            peer.writer.put(SendBytes(b"b"))
            peer.writer.put(Send(b"t"))

        running = await settle(peer.writer, act)
        assert peer.turns == [[(b"b", False), (b"t", True)]]
        running.cancel()

    run(test())


def test_no_frame_is_made_for_a_turn_that_is_heavy_enough() -> None:
    async def test() -> None:
        peer = Peer([bytes(BYTES_A_TURN // 2)] * 3)
        running = await settle(peer.writer, peer.writer.go)
        assert [len(turn) for turn in peer.turns] == [2, 1]
        running.cancel()

    run(test())


def test_a_wire_that_was_full_gets_one_frame_until_it_flows_again() -> None:
    async def test() -> None:
        peer = Peer([b"x"] * 9, room=FRAMES_A_TURN)
        running = await settle(peer.writer, peer.writer.go)
        assert [len(turn) for turn in peer.turns] == [4]
        assert len(peer.frames) == 5  # nothing is made for a wire that is full
        peer.free(1)
        await turns()
        assert [len(turn) for turn in peer.turns] == [4, 1]
        peer.free(1000)
        await turns()
        assert [len(turn) for turn in peer.turns] == [4, 1, 1, 3]
        running.cancel()

    run(test())


def test_what_was_made_before_a_fault_leaves() -> None:
    async def test() -> None:
        peer = Peer([b"a"])

        def broken() -> bool:
            if not peer.frames:
                raise RuntimeError("the machine broke")
            peer.writer.put(Send(peer.frames.pop(0)))
            return True

        wire = SocketWire(peer.writable, lambda: None, peer._take)
        peer.writer = Writer(wire, 10.0, broken, lambda: False, lambda: None)
        running = await settle(peer.writer, peer.writer.go)
        assert peer.turns == [[(b"a", True)]]
        with pytest.raises(RuntimeError, match="the machine broke"):
            await running

    run(test())


def test_the_code_comes_back_after_all_that_was_put() -> None:
    async def test() -> None:
        peer = Peer()

        def act() -> None:
            for n in range(6):
                peer.writer.put(Send(b"%d" % n))
            peer.writer.close(1000)
            peer.writer.put(Send(b"too late"))

        running = await settle(peer.writer, act)
        assert await running == 1000
        assert [message for turn in peer.turns for message, _ in turn] == [b"0", b"1", b"2", b"3", b"4", b"5"]

    run(test())
