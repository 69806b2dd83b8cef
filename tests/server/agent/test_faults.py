"""Two hundred dialogues over the agent socket in which brain, voice, ear, tools and socket die at random points."""

import random
from collections import Counter
from functools import cache
from typing import Any

import pytest

from antiphon.core.brain import BrainEvent, BrainRequest
from antiphon.core.event import Failed
from antiphon.core.turns import TurnEnded, TurnStarted
from antiphon.dialog.ledger import cause
from antiphon.dialog.reply import Reply

from ...dialog.talking import (
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
from .world import AgentWorld

SEEDS = [*range(40), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(40, 200))]
FEW = range(40)
PHRASES = {"filler": "filler.", "apology": "apology.", "handover": "colleague.", "idle": "idle?"}
OWN = {"welcome.", "filler.", "apology.", "colleague.", "idle?"}


def brain(request: BrainRequest) -> list[BrainEvent]:
    """Every word is unique to the question; a "book" asks for a read and a write first."""
    name, results = asked_about(request)
    if "book" in last(request) and not results:
        return books(name)
    return tokens(unique(name, results, sentences=3, words=4))


def play(seed: int) -> tuple[AgentWorld, set[str]]:
    rng = random.Random(seed)
    agent: dict[str, Any] = {
        "greeting": "welcome.", "feed": rng.choice(("tokens", "sentences", "reply")), "max_turn_s": 20.0,
        "resume_window_s": 15.0, "pause_after_s": rng.choice((None, 0.05, 0.3)), "brain_first_s": 3.0,
        "brain_gap_s": 2.0, "phrases": PHRASES, "lead_s": rng.choice((0.5, 3.0)),
    }  # fmt: skip
    world, injected = AgentWorld(brain, agent, reports=rng.random() < 0.8), set[str]()
    if world.reports is False:
        injected.add("client_playback")
    look_s, book = rng.choice((0.1, 1.0, 5.0, float("inf"))), (rng.choice((0.1, 0.6, 4.0)), rng.random() < 0.9)
    world.tools.results = {"look_up": (look_s, "seen", True), "book": (book[0], "booked", book[1])}
    if look_s > 2.0 or book[0] > 2.0 or not book[1]:
        injected.add("tool")
    brain_at = {rng.randrange(4): rng.randrange(12) for _ in range(rng.randrange(3))}
    kind = rng.choice(("mute", "gone"))

    def brain_fault(request: int, index: int) -> str:
        if brain_at.get(request) != index:
            return ""
        injected.add("llm")
        return kind

    world.brain_fault = brain_fault
    world.connect()
    at_s = 2.0
    for turn in range(rng.randrange(2, 5)):
        what, number = rng.random(), f"{turn}x{seed}"
        end_s = says_at_random(world, rng, what, at_s, number, books=0.65)
        if end_s is not None:
            at_s = end_s
        elif what < 0.92:
            world.ear(at_s, TurnStarted(0))
            at_s += rng.uniform(0.3, 4.0)
            world.ear(at_s, TurnEnded("", 0, "timeout"))
        else:
            injected.add("stt")
            world.at(at_s, lambda: world.hear(Failed("gone")) if world.client.closed_with is None else None)
        if rng.random() < 0.2:
            injected.add("tts")
            world.at(at_s + rng.uniform(0.1, 2.0), world.break_voice)
        at_s += rng.choice((0.2, 1.0, 3.0, 8.0))
    if rng.random() < 0.4:
        injected.add("network")
        lost_s = rng.uniform(1.0, at_s)
        world.at(lost_s, world.lose)
        if rng.random() < 0.7:
            world.at(lost_s + rng.uniform(0.5, 10.0), lambda: world.come_back() if not world.session.over else None)
    return world.run(at_s + 70.0), injected


played = cache(play)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_hangs_is_lost_done_twice_or_said_twice(seed: int) -> None:
    world, injected = played(seed)
    conversation = world.session.conversation
    assert_settled(conversation)

    failed = failed_calls(conversation)
    begun = Counter(f"{call.call.name} {call.call.arguments}" for call in world.tools.started if call.effect == "write")
    assert not [what for what, times in begun.items() if times > 1 and what not in failed], "a write done twice"

    recorded = {call.call_id for entry in conversation.history.entries if isinstance(entry, Reply)
                for _, call in entry.calls}  # fmt: skip
    assert_no_result_is_lost(conversation, recorded, world.tools.returned)

    assert_nothing_is_said_twice(world.heard, OWN)
    believed = " ".join(
        " ".join(entry.heard.split()) for entry in conversation.history.entries if isinstance(entry, Reply)
    )
    if world.reports:
        assert believed.split() == world.heard.split(), "history is not what was heard"
    if not conversation.over and "network" not in injected:
        assert isinstance(conversation.history.entries[-1], Reply), "a turn without an answer"


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_of_a_reply_follows_its_clear_or_its_end(seed: int) -> None:
    world, _ = played(seed)
    for client in world.clients:
        done: set[str] = set()
        for _, message in client.messages:
            reply_id = message.get("reply_id")
            if message["type"] in ("reply.text", "reply.words", "reply.mark", "reply.end", "reply.start"):
                assert reply_id not in done, message
            if message["type"] in ("reply.end", "clear"):
                done.add(str(reply_id))
        assert not client.lines or client.closed_with is None, "a voice that nobody closed"


@pytest.mark.parametrize("seed", SEEDS)
def test_every_turn_has_one_cause_at_most_and_it_is_one_of_the_injected(seed: int) -> None:
    world, injected = played(seed)
    ledger = world.session.conversation.ledger
    causes = {entry.turn: cause(ledger.entries(entry.turn)) for entry in ledger.entries()}
    assert set(causes.values()) <= injected | {None}


@pytest.mark.parametrize("seed", range(0, 40, 10))
def test_the_same_seed_gives_the_same_messages(seed: int) -> None:
    first, second = played(seed)[0], play(seed)[0]
    assert [c.messages for c in first.clients] == [c.messages for c in second.clients]


def test_the_dialogues_hit_what_they_are_for() -> None:
    kinds = Counter(entry.kind for seed in FEW for entry in played(seed)[0].session.conversation.ledger.entries())
    for kind in ("brain.failed", "voice.failed", "client.lost", "client.back", "interrupted", "ear.failed"):
        assert kinds[kind] >= 4, (kind, kinds[kind])
    for kind in ("guess.right", "guess.wrong", "tool.ended", "apology", "filler", "turn.ignored"):
        assert kinds[kind] >= 2, (kind, kinds[kind])
