"""The one shell around every speech socket, and what it holds open for as long as the socket lives."""

from antiphon.server.session.alarm import Alarm
from antiphon.server.session.socket import SpeechSocket

__all__ = ["Alarm", "SpeechSocket"]
