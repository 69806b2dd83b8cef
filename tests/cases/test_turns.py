"""Turn detection and barge-in: what users of other voice stacks reported (docs/faults.md)."""

import pytest

from antiphon.core.event import Event
from antiphon.core.frame import Samples
from antiphon.core.hearing import EAR_RATE_HZ, Heard, Listened, SpeechStarted, SpeechStopped, TurnScored
from antiphon.core.turns import TurnEnded, TurnEvent
from antiphon.dialog.conversation_actions import CancelSpeech, StartBrain
from antiphon.dialog.conversation_settings import ConversationSettings
from antiphon.dialog.endpoint import Endpoint
from antiphon.engine.scorer import TurnPause
from antiphon.engine.turn import HybridTurnScorer
from tests.dialog.test_conversation import LONG, recite
from tests.dialog.world import World
from tests.engine.test_turn import Sound, noise, paused


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("My number is 0 7 7", " 3 4 5 6 1 2"),
        ("My number is zero seven seven", " three four five six one two"),
        ("You can reach me at anna dot meyer at", " example dot com"),
    ],
)
def test_b1_a_dictation_with_a_pause_of_900_ms_is_one_turn(first: str, rest: str) -> None:
    scorer, endpoint, said = HybridTurnScorer(Sound(0.95)), Endpoint(), list[TurnEvent]()
    speech, at = noise(2.0), 0

    def give(event: Event) -> None:
        said.extend(endpoint.handle(event, at / EAR_RATE_HZ))

    def talk(text: str, pause_s: float) -> Samples:
        nonlocal at
        give(SpeechStarted(at))
        at += len(speech)
        stop = at
        give(SpeechStopped(stop))
        give(Heard(text[heard:], len(text) - heard, True, end_sample=stop))
        while at < stop + pause_s * EAR_RATE_HZ and not any(isinstance(event, TurnEnded) for event in said):
            at += 512
            give(Listened(at, False))
            silence_s = (at - stop) / EAR_RATE_HZ
            likelihood = scorer.score(TurnPause(paused(speech, silence_s), text, silence_s))
            give(TurnScored(at, likelihood, at - stop))
        return speech

    heard = 0
    talk(first, 0.9)
    assert not [event for event in said if isinstance(event, TurnEnded)]
    heard = len(first)
    talk(first + rest, 6.0)
    (ended,) = [event for event in said if isinstance(event, TurnEnded)]
    assert ended.transcript == first + rest


@pytest.mark.parametrize("pause_after_s", [None, 0.05])
def test_b4_a_backchannel_does_not_stop_the_agent(pause_after_s: float | None) -> None:
    world = World(recite, ConversationSettings(pause_after_s=pause_after_s))
    world.says(1.0, "tell me all")
    world.run(3.0)
    world.says(world.sounds[0].begin_s + 2.0, "mhm")
    world.says(world.sounds[0].begin_s + 6.0, "uh huh")
    world.run()
    assert world.heard == world.recorded == LONG
    assert not world.actions(CancelSpeech)
    assert len(world.actions(StartBrain)) == 1, "and nothing is answered later"


@pytest.mark.parametrize("pause_after_s", [None, 0.05])
def test_b5_its_own_words_200_ms_late_are_no_turn(pause_after_s: float | None) -> None:
    world = World(recite, ConversationSettings(pause_after_s=pause_after_s))
    world.says(1.0, "tell me all")
    world.run(3.0)
    begin_s = world.sounds[0].begin_s + 0.2
    world.says(begin_s, "the first order was sent on Monday", pace_s=0.35)
    world.says(begin_s + 6.0, "the second order is still", pace_s=0.3)
    world.run()
    assert world.users == ["tell me all"]
    assert world.heard == world.recorded == LONG
    assert len(world.actions(StartBrain)) == 1
