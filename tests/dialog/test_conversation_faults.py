"""Two hundred dialogues in which brain, voice, tools and client die at random points. Every dialogue is repeatable."""

import random
from collections import Counter
from functools import cache

import pytest

from antiphon.core.brain import BrainEvent, BrainRequest
from antiphon.core.turns import TurnEnded, TurnStarted
from antiphon.dialog import conversation_events as happens
from antiphon.dialog.conversation_actions import StartBrain
from antiphon.dialog.conversation_settings import ConversationSettings, Phrases, ReplySettings
from antiphon.dialog.ledger import cause
from antiphon.dialog.reply import Reply
from tests.dialog.talking import (
    asked_about,
    assert_no_result_is_lost,
    assert_nothing_is_said_twice,
    assert_settled,
    books,
    failed_calls,
    last,
    says_at_random,
    tokens,
    unique,
)
from tests.dialog.world import World, well_formed

SEEDS = range(200)
PHRASES = Phrases(greeting="welcome.", filler="filler.", apology="apology.", handover="colleague.", too_long="long.")
OWN = {"welcome.", "filler.", "apology.", "colleague.", "Are", "you", "still", "there?"}


def scripted(rng: random.Random):
    """A brain whose every word is unique to the question; it may go on after a break, or begin anew."""
    begins_anew = rng.random() < 0.5

    def brain(request: BrainRequest) -> list[BrainEvent]:
        name, results = asked_about(request)
        if "book" in last(request) and not results:
            return books(name)
        text = unique(name, results, sentences=5, words=5)
        if not begins_anew and request.messages[-1].role == "system":
            before = next(message for message in reversed(request.messages) if message.role != "system")
            said = before.content if before.role == "assistant" else ""
            at = text.find(said[-20:]) if said else -1
            if at >= 0:
                text = text[at + len(said[-20:]) :].lstrip()
        return tokens(text)

    return brain


def play(seed: int, reports: bool = False) -> World:
    rng = random.Random(seed)
    feed = rng.choice(("tokens", "sentences", "reply"))
    settings = ConversationSettings(
        phrases=PHRASES,
        max_turn_s=20.0,
        resume_window_s=15.0,
        pause_after_s=rng.choice((None, 0.2)),
        reply=ReplySettings(feed=feed, brain_first_s=3.0, brain_gap_s=2.0, voice_mute_s=2.0),
    )
    world = World(scripted(rng), settings, reports=reports, word_times=True)
    world.tool_s = rng.choice((0.1, 1.0, 5.0, float("inf")))
    world.results["book"] = (rng.choice((0.1, 0.6, 4.0)), '{"booked":true}', rng.random() < 0.9)
    brain_at = {rng.randrange(4): rng.randrange(25) for _ in range(rng.randrange(4))}
    voice_at = {rng.randrange(6): rng.randrange(25) for _ in range(rng.randrange(4))}
    if world.tool_s > 2.0 or not world.results["book"][2] or world.results["book"][0] > 2.0:
        world.injected.add("tool")
    asked: list[str] = []
    spoken: list[str] = []
    kind = rng.choice(("mute", "gone"))

    def brain_fault(request_id: str, index: int) -> str:
        asked.extend([request_id] if request_id not in asked else [])
        if brain_at.get(asked.index(request_id), -1) != index:
            return ""
        world.injected.add("llm")
        return kind

    def voice_fault(speech_id: str, index: int) -> str:
        spoken.extend([speech_id] if speech_id not in spoken else [])
        if voice_at.get(spoken.index(speech_id), -1) != index:
            return ""
        world.injected.add("tts")
        return kind

    world.brain_fault, world.voice_fault = brain_fault, voice_fault
    world.at(0.0, happens.Begun())
    at_s = 1.0
    for turn in range(rng.randrange(2, 6)):
        what = rng.random()
        number = f"{turn}x{seed}"
        end_s = says_at_random(world, rng, what, at_s, number, books=0.6)
        if end_s is not None:
            at_s = end_s
        elif what < 0.95:
            world.at(at_s, TurnStarted(0))
            at_s += rng.uniform(0.3, 4.0)
            world.at(at_s, TurnEnded("", 0, "timeout"))
        else:
            world.injected.add("stt")
            world.at(at_s, happens.EarFailed("gone"))
        at_s += rng.choice((0.2, 1.0, 3.0, 8.0, 15.0))
    if rng.random() < 0.3:
        world.injected.add("network")
        lost_s = rng.uniform(2.0, at_s)
        world.lose_client(lost_s, rng.choice((None, lost_s + rng.uniform(1.0, 10.0))))
    return world.run(at_s + 120.0)


played = cache(play)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_hangs_is_lost_done_twice_or_said_twice(seed):
    world = played(seed)
    conversation = world.conversation
    assert_settled(conversation)

    writes = Counter(what for _, what in world.executed)
    failed = failed_calls(conversation)
    assert not [what for what, times in writes.items() if times > 1 and what not in failed], "a write done twice"

    replies = [entry for entry in conversation.history.entries if isinstance(entry, Reply)]
    recorded = {call.call_id for reply in replies for _, call in reply.calls}
    assert all(conversation.history.results[call_id] for call_id in recorded)
    assert_no_result_is_lost(conversation, recorded, world.returned)

    assert_nothing_is_said_twice(world.heard, OWN)
    assert world.recorded.split() == world.heard.split(), "history is not what was heard"
    if not conversation.over and "network" not in world.injected:
        assert isinstance(conversation.history.entries[-1], Reply), "a turn without an answer"


@pytest.mark.parametrize("seed", SEEDS)
def test_every_request_is_well_formed(seed):
    for _, action in played(seed).actions(StartBrain):
        assert well_formed(action.request.messages)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_turn_has_one_cause_at_most_and_it_is_one_of_the_injected(seed):
    world = played(seed)
    ledger = world.conversation.ledger
    turns = {entry.turn for entry in ledger.entries()}
    causes = {turn: cause(ledger.entries(turn)) for turn in turns}
    assert set(causes.values()) <= world.injected | {None}
    for turn in turns:
        if any(entry.fault for entry in ledger.entries(turn)):
            assert causes[turn] is not None


@pytest.mark.parametrize("seed", range(0, 200, 10))
def test_the_same_seed_gives_the_same_actions(seed):
    first, second = played(seed), play(seed)
    assert repr(first.log).encode() == repr(second.log).encode()
    assert first.conversation.ledger.text() == second.conversation.ledger.text()


@pytest.mark.parametrize("seed", range(0, 200, 4))
def test_with_reports_history_never_claims_more_than_was_played(seed):
    world = play(seed, reports=True)
    assert world.conversation.over or not world.conversation.busy
    heard = Counter(world.heard.split())
    assert not Counter(world.recorded.split()) - heard


def test_the_dialogues_hit_what_they_are_for():
    """Faults that do not occur prove nothing."""
    kinds = Counter(entry.kind for seed in SEEDS for entry in played(seed).conversation.ledger.entries())
    for kind in ("brain.failed", "voice.failed", "client.lost", "client.back", "interrupted", "interruption.false"):
        assert kinds[kind] >= 10, kind
    for kind in ("guess.right", "guess.wrong", "tool.ended", "apology", "filler", "ear.failed", "turn.ignored"):
        assert kinds[kind] >= 5, kind
