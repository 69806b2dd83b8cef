"""The client of our own sockets (``docs/client.md``): a session with an agent, and streams of speech."""

from antiphon.client.errors import ClientError, Refused, SessionLost, SessionOver, Unreachable
from antiphon.client.events import ClientEvent, Heard, ReplyAudio, SocketLost, ToolRan
from antiphon.client.options import SessionOptions
from antiphon.client.playback import Player, Position, SimulatedPlayer
from antiphon.client.session import AgentSession, connect
from antiphon.client.speaker import Speaker
from antiphon.client.speech import (
    SpeechAudio,
    SpeechEvent,
    SpeechOptions,
    SpeechSnapshot,
    SpeechStream,
    resume,
    speak,
)
from antiphon.client.tools import Tool

__all__ = [
    "AgentSession",
    "ClientError",
    "ClientEvent",
    "Heard",
    "Player",
    "Position",
    "Refused",
    "ReplyAudio",
    "SessionLost",
    "SessionOptions",
    "SessionOver",
    "SimulatedPlayer",
    "SocketLost",
    "Speaker",
    "SpeechAudio",
    "SpeechEvent",
    "SpeechOptions",
    "SpeechSnapshot",
    "SpeechStream",
    "Tool",
    "ToolRan",
    "Unreachable",
    "connect",
    "resume",
    "speak",
]
