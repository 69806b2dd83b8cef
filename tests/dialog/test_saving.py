"""A conversation goes on in another process: what was heard, said and done stays so, and nothing is done twice."""

import random

import msgspec
import pytest

from antiphon.core.brain import BrainEvent, BrainRequest
from antiphon.dialog import conversation_events as happens
from antiphon.dialog.conversation import Conversation
from antiphon.dialog.conversation_settings import ConversationSettings, Phrases
from antiphon.dialog.saved import SavedConversation
from antiphon.dialog.tool_run import ToolRun, ToolSettings

from .talking import asks, assert_settled, echo, last, says_at_random, tokens
from .world import SPECS, World

NEW_CLOCK_S = 5_000.0
"""What the other process's clock shows more."""


def through_a_file(saved: SavedConversation) -> SavedConversation:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(saved), type=SavedConversation)


def books(request: BrainRequest) -> list[BrainEvent]:
    results = [message.content for message in request.messages if message.role == "tool"]
    done = request.messages[-1].role == "tool"
    return tokens(f"It said {results[-1]} and no more.") if done else asks("book", '{"day":"friday"}')


class Restarted(World):
    """A world whose server is replaced by another one, which knows of the first only what was saved."""

    def restart(self, at_s: float, back_s: float, *, dies: bool = False, client_calls: bool = False) -> None:
        """``dies``: what is saved is what was saved before the process died, with the client still there."""

        def stop() -> None:
            self.client_here = False
            if not dies:
                self._silence()
                self._give(happens.ClientLost())
            self.saved = through_a_file(self.conversation.save())
            if dies:
                self._silence()
            self.before = self.conversation
            self.conversation = Conversation("c", SPECS, self.before.settings)
            self._requests.clear()
            for speech in self._speeches.values():
                speech.dead = True

            def goes_on(run: ToolRun) -> bool:
                return client_calls

            self.conversation.restore(self.saved, self.now_s, 0.0, goes_on)
            if dies:
                self.conversation.answers.numbers += 1_000

        def back() -> None:
            self.client_here = True
            self._give(happens.ClientBack())

        self.at(at_s, stop)
        self.at(back_s, back)


def heard(world: World) -> str:
    return " ".join(sound.text for sound in world.sounds if sound.heard)


def said_to_brain(conversation: Conversation) -> list[str]:
    return [f"{message.role}: {message.content}" for message in conversation.history.messages()]


@pytest.mark.parametrize("dies", [False, True])
def test_an_idle_conversation_goes_on_without_a_second_greeting(dies: bool) -> None:
    world = Restarted(echo, ConversationSettings(instructions="Be brief.", phrases=Phrases(greeting="Hello there.")))
    world.at(0.0, happens.Begun())
    world.says(3.0, "my name is Anna")
    world.restart(20.0, 21.0, dies=dies)
    world.says(25.0, "what is my name")
    world.run(60.0)
    assert heard(world).count("Hello") == 1
    assert said_to_brain(world.conversation) == [
        "system: Be brief.", "assistant: Hello there.", "user: my name is Anna",
        "assistant: You said my name is Anna and that is all.", "user: what is my name",
        "assistant: You said what is my name and that is all.",
    ]  # fmt: skip
    assert world.conversation.answers.turn == 2
    kinds = [entry.kind for entry in world.conversation.ledger.entries()]
    assert kinds.index("turn.ended") < kinds.index("restored") < kinds.index("client.back")
    assert_settled(world.conversation)


@pytest.mark.parametrize("word_times", [True, False])
def test_an_answer_goes_on_behind_the_last_heard_word(word_times: bool) -> None:
    world = Restarted(echo, word_times=word_times)
    end_s = world.says(1.0, "one two three four five six seven eight nine ten")
    world.restart(end_s + 2.0, end_s + 5.0)
    world.run(60.0)
    text = "You said one two three four five six seven eight nine ten and that is all."
    if word_times:
        assert heard(world) == text, "every word once"
    assert said_to_brain(world.conversation)[-1] == f"assistant: {text}"
    assert_settled(world.conversation)


def test_what_was_said_last_is_answered_by_the_next_process() -> None:
    world = Restarted(echo)
    end_s = world.says(1.0, "are you there", eager=False)
    world.restart(end_s + 0.05, end_s + 3.0)  # the brain had not said a word
    world.run(30.0)
    assert heard(world) == "You said are you there and that is all."
    assert [line.split(":")[0] for line in said_to_brain(world.conversation)] == ["user", "assistant"]


@pytest.mark.parametrize("dies", [False, True])
def test_a_write_that_was_done_is_not_done_again(dies: bool) -> None:
    world = Restarted(books)
    end_s = world.says(1.0, "book friday please")
    world.restart(end_s + 1.2, end_s + 4.0, dies=dies)  # done, and half told
    world.says(end_s + 20.0, "thank you", eager=False)
    world.brain = lambda request: tokens("Welcome.") if last(request) == "thank you" else books(request)
    world.run(60.0)
    assert [what for _, what in world.executed] == ['book {"day":"friday"}']
    assert '{"ok":true}' in " ".join(said_to_brain(world.conversation))
    assert_settled(world.conversation)


def test_the_same_wish_right_after_is_known_to_be_done() -> None:
    """The client was lost before it heard that it was done, and asks again."""
    world = Restarted(books)
    world.results["book"] = (1.0, '{"booked":"friday"}', True)
    end_s = world.says(1.0, "book friday please")
    world.restart(end_s + 1.25, end_s + 4.0)
    world.at(end_s + 4.05, happens.Written("book friday please"))
    world.run(60.0)
    assert len(world.executed) == 1
    assert 'tool: {"booked":"friday"}' in said_to_brain(world.conversation)


def test_a_write_whose_end_nobody_saw_is_said_to_be_unknown() -> None:
    world = Restarted(books)
    world.results["book"] = (float("inf"), "", True)
    end_s = world.says(1.0, "book friday please")
    world.restart(end_s + 1.0, end_s + 4.0)
    world.says(end_s + 25.0, "book friday please", eager=False)
    world.run(end_s + 20.0)
    assert "not known whether it was done" in heard(world)
    world.run(90.0)
    assert len(world.executed) == 2, "the user has heard that it is not known, and asks for it again"


def test_another_attempt_at_a_write_whose_end_nobody_saw_has_the_same_key() -> None:
    def tries_again(request: BrainRequest) -> list[BrainEvent]:
        unknown = "not known" in request.messages[-1].content
        return asks("book", '{"day":"friday"}', call_id="c2") if unknown else books(request)

    world = Restarted(tries_again)
    world.results["book"] = (float("inf"), "", True)
    end_s = world.says(1.0, "book friday please")
    world.at(end_s + 1.5, lambda: world.results.update(book=(0.1, '{"booked":"friday"}', True)))
    world.restart(end_s + 1.0, end_s + 4.0)
    world.run(60.0)
    (first, _), (second, _) = world.executed
    assert first == second
    assert '{"booked":"friday"}' in heard(world)


def test_a_call_of_the_clients_own_tool_is_still_waited_for() -> None:
    world = Restarted(books)
    world.results["book"] = (5.0, '{"booked":"friday"}', True)
    end_s = world.says(1.0, "book friday please")
    world.restart(end_s + 1.5, end_s + 2.5, client_calls=True)
    world.run(60.0)
    assert len(world.executed) == 1
    assert '{"booked":"friday"}' in heard(world)


def test_a_write_that_was_to_begin_in_a_moment_begins_once() -> None:
    world = Restarted(books, ConversationSettings(tools=ToolSettings(write_grace_s=1.0)))
    end_s = world.says(1.0, "book friday please", eager=False)
    world.restart(end_s + 0.5, end_s + 2.0, dies=True)
    world.run(60.0)
    assert len(world.executed) == 1
    assert_settled(world.conversation)


def test_a_guess_leaves_nothing_behind() -> None:
    def looks_up(request: BrainRequest) -> list[BrainEvent]:
        return tokens("Found.") if request.messages[-1].role == "tool" else asks("look_up")

    world = Restarted(looks_up)
    world.results["look_up"] = (float("inf"), "", True)
    world.hesitates(1.0, "please look", " up my order", pause_s=3.0)
    world.restart(2.2, 2.3, dies=True)
    world.run(1.9)
    assert world.conversation.answers.guess is not None
    world.run(2.2)
    assert not world.saved.runs
    assert [entry.user.text for entry in world.saved.history if entry.user] == []
    assert world.saved.kept == ["please look"]


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_said_and_whenever_it_restarts_no_write_is_done_twice(seed: int) -> None:
    rng = random.Random(seed)

    def brain(request: BrainRequest) -> list[BrainEvent]:
        text = last(request)
        if "book" in text and request.messages[-1].role != "tool":
            return asks("book", msgspec.json.encode({"what": text[-3:]}).decode())
        return tokens(f"You said {text} and that is all.")

    world = Restarted(brain, reports=rng.random() < 0.5)
    at_s = 1.0
    for number in range(6):
        says_at_random(world, rng, rng.random(), at_s, f"n{number}", 0.6)
        at_s += rng.uniform(3.0, 9.0)
    for _ in range(3):
        lost_s = rng.uniform(1.0, at_s)
        world.restart(lost_s, lost_s + rng.uniform(0.1, 3.0))
    world.run(at_s + 60.0)
    done = [what for _, what in world.executed]
    assert len(done) == len(set(done)), "done twice"
    assert_settled(world.conversation)
