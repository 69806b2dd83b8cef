"""How a session begins."""

from dataclasses import dataclass, field
from ssl import SSLContext

import msgspec

from antiphon.client.tools import Tool
from antiphon.protocol import native_messages as wire

_INPUT = wire.AudioShape(sample_rate_hz=16_000)
_OUTPUT = wire.AudioShape()
_AGENT = wire.AgentSettings()


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What is empty is left to the server's own agent.

    ``report_every_s``: how often the server is told what was heard. ``ready_within_s``: the longest wait for the
    server's first word. ``most_events``: how many may wait to be taken; when they do, nothing more is read. ``tls``:
    whom to trust, where that is not what the system trusts. ``resume``: whether lost sockets are replaced.
    """

    api_key: str = field(default="", repr=False)
    input: wire.AudioShape = _INPUT
    output: wire.AudioShape = _OUTPUT
    voice: str = ""
    language: str = ""
    agent: wire.AgentSettings = _AGENT
    tools: tuple[Tool, ...] = ()
    report_every_s: float = 0.05
    ready_within_s: float = 10.0
    most_events: int = 2_000
    resume: bool = True
    tls: SSLContext | None = field(default=None, repr=False)

    def start(self, resume: str | None = None, heard: wire.LastHeard | None = None) -> wire.Start:
        """The first message of a socket. Raises ``InvalidInput``."""
        declared = [*self.agent.tools, *(tool.declared for tool in self.tools)]
        start = wire.Start(
            input=self.input,
            output=self.output,
            voice=self.voice,
            language=self.language,
            agent=msgspec.structs.replace(self.agent, tools=declared),
            resume=resume,
            heard=heard,
        )
        start.check()
        return start
