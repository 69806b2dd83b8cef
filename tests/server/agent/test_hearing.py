"""The ear of an agent socket: positions over several ears, and when one is given up."""

from antiphon.core.hearing import HearingConfig, Listened
from antiphon.core.turns import TurnStarted
from antiphon.protocol.actions import Cancel, Configure, Open, Push
from antiphon.protocol.native_messages import AudioShape, Start
from antiphon.server.agent.hearing import MUTE_S, REPLAY_S, AgentHearing
from antiphon.server.agent.plan import ServerTools, plan_session
from antiphon.settings import Settings

PLAN = plan_session(Settings(), ServerTools(), Start(), "v")


def hearing(before: int = 0, rate_hz: int = 8_000) -> AgentHearing:
    return AgentHearing(1, AudioShape("pcm_s16le", rate_hz), PLAN, before)


def test_it_is_opened_for_turns_in_the_declared_format() -> None:
    opened, configured = hearing().open()
    assert opened == Open(1, HearingConfig(encoding="pcm_s16le", sample_rate_hz=8_000, turns=True))
    assert configured == Configure(1, PLAN.turns)
    assert PLAN.turns.end_timeout_s == 4.0


def test_samples_count_at_16_khz_whatever_is_sent() -> None:
    ear = hearing()
    assert ear.push(bytes(1_601), 0.0) == ([Push(1, bytes(1_601))], 1_600)
    assert ear.push(b"\0", 0.0)[1] == 2, "the other half of a sample"


def test_positions_go_on_over_ears_and_sockets() -> None:
    ear = hearing(before=50_000)
    ear.push(bytes(16_001), 0.0)
    actions = ear.reopen(2, 1.0)
    assert actions is not None
    assert actions[0] == Cancel(1)
    assert ear.push(b"\7" + bytes(4), 1.0)[0] == [Push(2, bytes(4))], "no half a sample for the new ear"
    turn = TurnStarted(100)
    assert ear.in_socket(turn).at_sample == 16_100
    assert ear.in_conversation(turn).at_sample == 66_100


def test_an_ear_that_owes_and_is_silent_is_mute() -> None:
    ear = hearing()
    assert ear.due_s is None
    ear.push(bytes(64_000), 1.0)
    assert ear.due_s == 1.0 + MUTE_S
    ear.heard(Listened(64_000, False), 3.0)
    assert ear.due_s is None
    assert not ear.mute(100.0)
    ear.push(bytes(64_000), 50.0)
    assert ear.mute(50.0 + MUTE_S)


def test_what_a_mute_ear_did_not_listen_to_is_given_to_the_next() -> None:
    ear = hearing()
    ear.push(bytes(16_000), 0.0)
    ear.heard(Listened(8_000, False), 0.1)  # half of it
    ear.push(b"\7" * 48_001, 1.0)  # three seconds more and half a sample
    assert ear.mute(1.0 + MUTE_S)
    actions = ear.reopen(2, 6.0, replay=True)
    assert actions is not None
    *_, again = actions
    assert isinstance(again, Push)
    assert again.key == 2
    missed = bytes(8_000) + b"\7" * 48_001
    assert again.item[-len(missed) :] == missed
    assert len(again.item) - len(missed) <= 2, "hardly anything twice"
    assert ear.push(b"\7" + bytes(4), 6.0)[0] == [Push(2, b"\7" + bytes(4))], "the other half of the sample"
    assert abs(ear.in_socket(TurnStarted(0)).at_sample - 8_000) <= 2


def test_audio_that_silenced_two_ears_is_not_given_to_a_third() -> None:
    ear = hearing()
    ear.push(bytes(64_000), 0.0)
    assert isinstance((ear.reopen(2, 6.0, replay=True) or [])[-1], Push)
    assert not isinstance((ear.reopen(3, 12.0, replay=True) or [])[-1], Push)


def test_what_is_kept_for_the_next_ear_is_bounded() -> None:
    ear = hearing()
    for second in range(120):
        ear.push(bytes(16_000), float(second))
    again = (ear.reopen(2, 120.0, replay=True) or [])[-1]
    assert isinstance(again, Push)
    assert len(again.item) <= (REPLAY_S + 1.0) * 16_000


def test_ears_that_break_again_and_again_are_given_up() -> None:
    ear = hearing()
    assert all(ear.reopen(key, float(key)) for key in (2, 3, 4))
    assert ear.reopen(5, 10.0) is None
    assert ear.reopen(6, 40.0) is not None, "three in half a minute are too many, not three in all"
