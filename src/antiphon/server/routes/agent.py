"""The native agent socket's route."""

from starlette.websockets import WebSocket

from antiphon.protocol.native import NativeLimits
from antiphon.protocol.native_frames import AUDIO
from antiphon.server.agent.log import AGENT_ROUTE
from antiphon.server.agent.machine import AgentMachine
from antiphon.server.agent.sessions import AgentSessions
from antiphon.server.auth import Principal
from antiphon.server.hub import Hub
from antiphon.server.machine import Machine
from antiphon.server.session import SpeechSocket
from antiphon.server.sockets import SocketRoute, traceparent_of

SOCKET = AGENT_ROUTE
GRANT = "agent"


class AgentRoute(SocketRoute):
    """``sessions`` outlive their sockets."""

    def __init__(self, hub: Hub) -> None:
        self.sessions = AgentSessions(hub)
        limits = NativeLimits(resume_window_s=hub.settings.agent.resume_window_s)

        def converse(websocket: WebSocket, request_id: str, principal: Principal) -> AgentMachine:
            return AgentMachine(self.sessions.door(principal, traceparent_of(websocket)), limits)

        super().__init__(
            hub,
            SOCKET,
            GRANT,
            converse,
            frame_bytes=limits.max_frame_bytes,
            told_inside=True,
            audio_mark=bytes((AUDIO,)),
            finishes=True,
        )

    async def serve(self, socket: SpeechSocket, machine: Machine) -> None:
        assert isinstance(machine, AgentMachine)
        machine.connect(socket.prod, socket.drop)
        socket.meet(machine.meet)
        try:
            await socket.run()
        finally:
            machine.gone(self.hub.clock.now_s())
