"""What a brain is told."""

from antiphon.core.brain import Message, ToolCall
from antiphon.dialog.history import History, HistorySettings, UserSaid
from antiphon.dialog.reply import RUNNING, Reply
from tests.dialog.world import well_formed


def test_only_what_was_heard_is_told():
    history = History("Be kind.")
    history.add(UserSaid("Where is it?"))
    reply = Reply("r", 1, "It was sent on Monday. It should arrive soon.")
    history.add(reply)
    reply.heard_chars = len("It was sent on Monday.")
    assert history.messages() == (
        Message("system", "Be kind."),
        Message("user", "Where is it?"),
        Message("assistant", "It was sent on Monday."),
    )


def test_a_reply_nobody_heard_is_not_told():
    history = History()
    history.add(Reply("r", 1, "Hello.", heard_chars=0))
    assert history.messages() == ()


def test_X3_every_call_has_one_result_right_behind_it():
    reply = Reply("r", 1, "Let me see. Done.")
    reply.calls = [(11, ToolCall("a", "look", "{}")), (11, ToolCall("b", "book", "{}"))]
    history = History()
    history.add(reply)
    history.settle("b", "booked")
    reply.heard_chars = 4
    messages = history.messages()
    assert well_formed(messages)
    assert [message.content for message in messages] == ["Let", RUNNING, "booked"]
    assert messages[0].tool_calls == (ToolCall("a", "look", "{}"), ToolCall("b", "book", "{}"))


def test_X1_a_late_result_takes_the_place_of_what_stood_for_it():
    history = History()
    history.add(Reply("r", 1, calls=[(0, ToolCall("a", "book", "{}"))], heard_chars=0))
    history.settle("a", "cancelled")
    history.settle("a", "booked")
    assert history.messages()[1] == Message("tool", "booked", call_id="a")


def test_a_draft_leaves_no_trace():
    history = History()
    history.add(UserSaid("one"))
    assert history.messages((UserSaid("two"),))[-1].content == "two"
    assert len(history.messages()) == 1


def test_the_oldest_exchanges_go_first_and_no_call_loses_its_result():
    history = History("Be kind.", HistorySettings(max_entries=10))
    for i in range(100):
        history.add(UserSaid(f"question {i}"))
        history.add(Reply(f"r{i}", i, f"answer {i}", [(0, ToolCall(f"c{i}", "look", "{}"))]))
        history.settle(f"c{i}", f"result {i}")
        history.trim()
    assert len(history.entries) == 10
    assert len(history.results) == 5
    assert history.messages()[0].role == "system"
    assert history.messages()[1].content == "question 95"
    assert well_formed(history.messages())


def test_an_exchange_with_a_running_call_is_kept():
    history = History(settings=HistorySettings(max_entries=2))
    history.add(UserSaid("book"))
    history.add(Reply("r", 1, calls=[(0, ToolCall("a", "book", "{}"))]))
    for i in range(4):
        history.add(UserSaid(str(i)))
    history.trim(lambda call_id: call_id == "a")
    assert len(history.entries) == 6
    history.trim()
    assert len(history.entries) == 2


def test_a_huge_result_is_cut():
    history = History(settings=HistorySettings(max_result_chars=10))
    history.settle("a", "x" * 1_000)
    assert history.results["a"] == "x" * 10 + " [cut]"
