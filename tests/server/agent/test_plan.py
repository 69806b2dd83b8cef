"""What a session is made of."""

import pytest

from antiphon.core.brain import ToolSpec
from antiphon.core.errors import InvalidInput
from antiphon.protocol.native_messages import AgentSettings, ClientTool, Start, TurnSettings
from antiphon.server.agent.plan import ServerTools, plan_session
from antiphon.settings import Settings

SETTINGS = Settings(
    agent={"greeting": "Hello.", "lead_s": 2.0, "feed": "sentences", "phrases": {"filler": "Wait."}},  # type: ignore[arg-type]
    brain={"instructions": "Be brief."},  # type: ignore[arg-type]
)
TOOLS = ServerTools((ToolSpec("book", "Books", effect="write"),), {"book": ("day",)}, {"book": ("Booking.", 0.5)})


def test_the_servers_agent() -> None:
    plan = plan_session(SETTINGS, TOOLS, Start(), "v")
    conversation = plan.conversation
    assert (plan.voice, plan.language, conversation.instructions) == ("v", "en", "Be brief.")
    assert (conversation.phrases.greeting, conversation.phrases.filler) == ("Hello.", "Wait.")
    assert (conversation.reply.lead_s, conversation.reply.feed) == (2.0, "sentences")
    assert (conversation.protect_replies, conversation.pause_after_s) == (False, 0.05)
    assert conversation.tools.targets == {"book": ("day",)}
    assert conversation.tools.fillers == {"book": ("Booking.", 0.5)}
    assert [spec.name for spec in plan.specs] == ["book"]


def test_what_a_client_may_change() -> None:
    tool = ClientTool(name="dim", parameters={"type": "object"}, effect="read", timeout_ms=500)
    agent = AgentSettings(
        instructions="Shout.", greeting="", interruptible=False, turn=TurnSettings(end_timeout_ms=2_000), tools=[tool]
    )
    plan = plan_session(SETTINGS, TOOLS, Start(voice="w", agent=agent), "v")
    assert (plan.voice, plan.conversation.instructions, plan.conversation.phrases.greeting) == ("w", "Shout.", "")
    assert (plan.conversation.protect_replies, plan.turns.end_timeout_s) == (True, 2.0)
    assert plan.client_tools == {"dim"}
    assert plan.specs[1] == ToolSpec("dim", "", '{"type":"object"}', "read", 0.5)


def test_a_tool_cannot_be_two_things() -> None:
    agent = AgentSettings(tools=[ClientTool(name="book")])
    with pytest.raises(InvalidInput, match="a tool of the server"):
        plan_session(SETTINGS, TOOLS, Start(agent=agent), "v")


def test_the_ear_knows_the_numbers_that_tools_ask_for() -> None:
    schema = {"type": "object", "properties": {"order": {"type": "string", "pattern": r"^\d{4}$"}}}
    asks = Start(agent=AgentSettings(tools=[ClientTool(name="find", parameters=schema)]))
    assert plan_session(SETTINGS, TOOLS, asks, "v").expected_digits == (4,)
    assert plan_session(SETTINGS, TOOLS, Start(), "v").expected_digits == ()
    told = Settings(agent={"expected_digits": [6], "keyterms": ["Okafor"]})  # type: ignore[arg-type]
    plan = plan_session(told, TOOLS, asks, "v")
    assert (plan.expected_digits, plan.keyterms) == ((6,), ("Okafor",))
