"""The conversation with an agent over its own socket: its machine, sessions, ears, voices and tools.

``sessions`` and ``machine`` are imported by their own names: they need the hub, which needs what stands here.
"""

from antiphon.server.agent.keeping import SessionKeeper, session_keeper
from antiphon.server.agent.log import AGENT_ROUTE, REALTIME_ROUTE, AgentLog, AgentSessionFacts, MakeAgentLog
from antiphon.server.agent.tools import NO_TOOLS, ToolSource

__all__ = [
    "AGENT_ROUTE",
    "NO_TOOLS",
    "REALTIME_ROUTE",
    "AgentLog",
    "AgentSessionFacts",
    "MakeAgentLog",
    "SessionKeeper",
    "ToolSource",
    "session_keeper",
]
