"""Facts of a session, and conversations of the scripted world told to an agent's log."""

from antiphon.core.brain import BrainEvent, BrainRequest
from antiphon.dialog.conversation_events import Moment
from antiphon.dialog.turn_records import TurnRecords
from antiphon.server.agent.log import AgentLog, AgentSessionFacts

from ...dialog.logged_world import LoggedWorld
from ...dialog.talking import asks, tokens

BEGAN_UNIX_S = 1_764_590_400.0  # 2025-12-01 12:00 UTC


def facts(session_id: str = "as_1") -> AgentSessionFacts:
    return AgentSessionFacts(
        session_id, "alice", "rules", "v", "en", "pcm_s16le", 16_000, "pcm_s16le", 16_000, 0.0, BEGAN_UNIX_S
    )


def looks_up(request: BrainRequest) -> list[BrainEvent]:
    told = any(message.role == "tool" for message in request.messages)
    return tokens("Thank you, Anna. I will call 555-867-5309 at noon.") if told else asks("look_up", '{"name":"Anna"}')


def conversation(*logs: AgentLog) -> None:
    """One turn with a tool, then one that interrupts; the whole log goes to ``logs``."""
    world = LoggedWorld(looks_up).listen(TurnRecords())
    world.results["look_up"] = (0.2, '{"email":"anna@mail.example","order":4711}', True)
    world.says(1.0, "my name is Anna where is my order")
    world.says(6.0, "no stop that please")
    world.run(30.0)
    for moment, entry in world.observed:
        for log in logs:
            log.observe(moment, entry)
    for log in logs:
        log.end(Moment(world.now_s, 0), "the client closed")
