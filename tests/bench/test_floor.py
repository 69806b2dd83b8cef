"""The whole floor, small, against the scripted server of this process."""

from os import getpid

import pytest

from antiphon.bench import floor, floor_memory
from antiphon.bench.floor import WIRES, floor_report, measure_floor
from antiphon.bench.report import markdown
from antiphon.bench.systems import Wire
from antiphon.core.errors import InvalidInput

from .scripted_server import CHUNKS, ScriptedServer


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floor, "STREAMS", (1, 2))
    monkeypatch.setattr(floor_memory, "WARM", 3)
    for name, value in (("AGE", 3), ("BLOCK", 2), ("BLOCKS", 2)):
        monkeypatch.setattr(floor, name, value)


@pytest.mark.parametrize("wire", WIRES)
def test_house_and_echo_send_as_much_and_idle_sessions_come_first(
    url: str, scripted: ScriptedServer, wire: Wire
) -> None:
    steps: list[str] = []
    found = measure_floor(url, getpid(), wire=wire, blocks=1, requests=4, sessions=12, progress=steps.append)
    assert [step.split(": ")[1] for step in steps] == [
        f"{floor_memory.ROUNDS} times 12 idle sessions", "1 streams", "2 streams", "a session that grows old"
    ]  # fmt: skip
    assert [streams for streams, *_ in found.costs] == [1, 2]
    for _, *costs in found.costs:
        assert [cost.messages for cost in costs] == [4 * len(CHUNKS)] * 3
        assert all((cost.wire_per_message_s or 0) > 0 for cost in costs)
    assert found.idle.sessions == floor_memory.ROUNDS * 12
    assert found.length.requests == 7
    assert min(found.length.fresh_s, found.length.old_s) > 0
    told = markdown(floor_report(found))
    assert f"| {found.idle.sessions} |" in told.replace("  ", "")
    assert f"{wire} sockets that have spoken once" in told


def test_more_idle_sessions_than_there_may_be_sockets_are_refused_at_once(url: str) -> None:
    steps: list[str] = []
    with pytest.raises(InvalidInput, match="open files"):
        measure_floor(url, getpid(), sessions=10**8, progress=steps.append)
    assert steps == []
