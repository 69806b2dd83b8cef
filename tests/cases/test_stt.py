"""Speech to text: what users of other voice stacks reported (docs/faults.md)."""

from collections.abc import Iterable

from antiphon.core.brain import BrainEvent, BrainRequest
from antiphon.core.event import Event, Flushed
from antiphon.core.hearing import EAR_RATE_HZ, Heard, Listened, SpeechStarted, SpeechStopped, TurnScored
from antiphon.core.turns import EndpointSettings, TurnEnded, TurnEvent
from antiphon.protocol.actions import AgentAction, Push
from antiphon.server.turns import NO_FINAL, TurnTaking
from tests.dialog.talking import tokens
from tests.server.agent.world import AgentWorld, Client

SECOND = EAR_RATE_HZ


def told(request: BrainRequest) -> list[BrainEvent]:
    return tokens("Yes.")


def test_s11_an_ear_that_stops_answering_is_replaced_and_hears_what_was_said_meanwhile() -> None:
    world = AgentWorld(told)
    client = world.connect()
    world.run(20.0)
    pushed: list[tuple[float, Push]] = []
    act = world._act

    def watched(client: Client, action: AgentAction) -> Iterable[AgentAction]:
        if isinstance(action, Push) and action.key == client.ear:
            pushed.append((world.now_s, action))
        return act(client, action)

    world._act = watched  # type: ignore[method-assign]
    first, world.deaf = client.ear, True
    world.run(31.0)
    assert client.ear != first
    again = [(at_s, push) for at_s, push in pushed if len(push.item) > 3_200]  # the microphone gives 100 ms at a time
    assert again
    at_s, push = again[0]
    assert at_s - 20.0 <= 10.0
    assert len(push.item) / (2 * SECOND) >= at_s - 20.0 - 0.2, "all that was said since it stopped"


def turn_of(turns: TurnTaking, start: int, final: bool, before: str = "") -> list[TurnEvent]:
    """A turn of a second; the recogniser answers a flush, with or without its last words as a final.

    ``before``: what it has said so far and never called final.
    """
    stop, text = start + SECOND, before + "so what"
    events: list[Event] = [
        SpeechStarted(start),
        Heard(text, len(text), False, start_sample=start, end_sample=stop),
        SpeechStopped(stop),
        TurnScored(stop + 3_200, 0.1, 3_200),
        Heard(text, len(text), final, start_sample=start, end_sample=stop),
        Flushed("hasten"),
        *(Listened(stop + 3_200 + at, False) for at in range(1_600, 2 * SECOND, 1_600)),
    ]
    return [decided for event in events for decided in turns.take(event, 0.0)]


def test_s12_a_final_that_is_not_called_final_costs_a_second_and_is_told_once() -> None:
    warned: list[str] = []
    turns = TurnTaking(lambda marker: None, EndpointSettings(), 0.0, warned.append)
    for number in range(3):
        start = number * 5 * SECOND
        decided = turn_of(turns, start, final=False, before="so what " * number)
        (ended,) = [event for event in decided if isinstance(event, TurnEnded)]
        assert ended.transcript.strip() == "so what"
        assert ended.at_sample - start - SECOND <= 1.3 * SECOND
    assert warned == [NO_FINAL]


def test_s12_a_final_that_is_called_so_costs_nothing_and_is_not_warned_of() -> None:
    warned: list[str] = []
    turns = TurnTaking(lambda marker: None, EndpointSettings(), 0.0, warned.append)
    (ended,) = [event for event in turn_of(turns, 0, final=True) if isinstance(event, TurnEnded)]
    assert ended.at_sample - SECOND <= 0.3 * SECOND
    assert warned == []
