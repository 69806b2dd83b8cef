"""Tools of the agent, executed: Python callables, HTTP requests, MCP servers. What may run when is decided elsewhere
(``dialog.tools``)."""

from antiphon.server.tools.box import ToolBox, ToolLimits
from antiphon.server.tools.build import tool_box
from antiphon.server.tools.outcome import ToolContext, ToolFailed, ToolOutcome

__all__ = ["ToolBox", "ToolContext", "ToolFailed", "ToolLimits", "ToolOutcome", "tool_box"]
