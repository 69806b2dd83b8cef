"""The native agent socket with the embedded models: a caller looks an order up, interrupts, corrects a wish within a
turn, and loses the socket."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
from examples.orders.seed import write

from antiphon.client import Heard, SocketLost
from antiphon.protocol import native_messages as wire

from . import order_desk
from .caller import Caller, calling
from .conftest import assert_nothing_is_left
from .running import Server, serving

RULES = Path(__file__).parents[2] / "examples" / "orders" / "brain.toml"
SETTINGS = f"""
[brain]
rules = "{RULES}"
""" + "".join(
    f"""
[[agent.tools]]
name = "{name}"
python = "{order_desk.__name__}:{name}"
{more}
"""
    for name, more in (
        ("lookup_order", 'effect = "read"'),
        ("opening_hours", 'effect = "read"'),
        ("reschedule_delivery", 'targets = "order_id"'),
    )
)


@dataclass(frozen=True)
class Desk:
    server: Server
    folder: Path


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    write(folder / "orders.sqlite", date.today())
    config = folder / "antiphon.toml"
    config.write_text(SETTINGS)
    with serving(folder, "--config", str(config), variables={order_desk.FOLDER: str(folder)}) as running:
        yield Desk(running, folder)
        assert_nothing_is_left(running)


def test_a_lookup_an_interruption_a_correction_and_a_lost_socket(desk: Desk) -> None:
    async def call() -> None:
        async with calling(desk.server) as caller:
            assert await caller.answered() == "Hello! How can I help you?"
            await looks_up_and_interrupts(caller)
            await corrects_within_a_turn(caller, desk.folder)
            await loses_the_socket(caller)

    asyncio.run(asyncio.wait_for(call(), 120))


async def looks_up_and_interrupts(caller: Caller) -> None:
    await caller.say("Where is my order four seven one one?")
    reply_id = await caller.begun()
    await caller.heard(reply_id, 1.5)
    assert caller.text_of(reply_id).startswith("Order 4 7 1 1 is on its way")
    speaking = asyncio.create_task(caller.say("Stop. When are you open on Saturday?"))
    await caller.until(lambda: any(clear.reply_id == reply_id for clear in caller.only(wire.Clear)))
    cleared = next(i for i, (_, e) in enumerate(caller.events) if isinstance(e, wire.Clear))
    await speaking
    assert "10 AM to 2 PM" in await caller.answered()
    late = [e for _, e in caller.events[cleared + 1 :] if getattr(e, "reply_id", "") == reply_id]
    assert all(isinstance(event, Heard) for event in late), "nothing of an old reply follows its clear"
    paused = [pause.reply_id for pause in caller.only(wire.ReplyPaused)]
    assert reply_id in paused, "silence comes before it is clear what was said"


async def corrects_within_a_turn(caller: Caller, folder: Path) -> None:
    await caller.say("Please move order four seven one one to Friday. No, wait, Thursday afternoon.")
    assert (await caller.answered()).startswith("Done.")
    writes = [arguments for name, arguments in order_desk.calls(folder) if name == "reschedule_delivery"]
    assert len(writes) == 1
    assert (date.fromisoformat(writes[0]["day"]).weekday(), writes[0]["part"]) == (3, "afternoon")


async def loses_the_socket(caller: Caller) -> None:
    await caller.say("Where is my order four seven one one?")
    reply_id = await caller.begun()
    await caller.heard(reply_id, 2.0)
    session_id = caller.session.session_id
    caller.hang()
    rest = await caller.answered()
    whole = caller.text_of(reply_id)
    assert caller.only(SocketLost)
    assert [ready.resumed for ready in caller.only(wire.Ready)] == [False, True]
    assert caller.session.session_id == session_id
    assert rest.strip()
    assert whole.endswith(rest.strip())
    assert len(rest) < len(whole), "what was heard is not said again"
    assert "Hello" not in rest
