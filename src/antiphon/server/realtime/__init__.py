"""The record of conversations over OpenAI's Realtime socket: the same log that the native agent's sessions keep.

The socket's own machine decides everything and knows nothing of this. What it is given, what it tells the client and
what it asks of the shell is told here in the words of a conversation's log, from which records, spans and recordings
are made.
"""

from antiphon.server.realtime.machine import RecordedSocket

__all__ = ["RecordedSocket"]
