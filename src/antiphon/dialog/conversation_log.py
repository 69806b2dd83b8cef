"""Everything of one conversation in one order: what happened, what was decided, what went over the wire.

Records, spans and recordings fold over these values. Within one event the order is: the event, the decisions it led to
(ledger entries), then the actions.
"""

from dataclasses import dataclass
from typing import TypeAlias

from antiphon.core.event import Event
from antiphon.dialog.conversation_actions import Action
from antiphon.dialog.conversation_events import ConversationEvent
from antiphon.dialog.ledger import Entry


@dataclass(frozen=True, slots=True)
class EarSaid:
    """What the ear said, before turns were made of it: ``SpeechStarted``, ``SpeechStopped``, ``TurnScored``, ``Heard``,
    ``Failed`` (``Listened`` and ``Flushed`` are left out). Positions inside count from the ear's first sample;
    ``offset_samples`` makes them the conversation's (an ear begins anew with every socket)."""

    event: Event
    offset_samples: int = 0


@dataclass(frozen=True, slots=True)
class SpeechOpened:
    """A speech begins on the wire, under ``reply_id``; its samples count at ``rate_hz`` from 0. ``turn``: the one that
    it answers. ``encoding`` is that of its audio, where it may be another than the session's."""

    speech_id: str
    reply_id: str
    turn: int
    rate_hz: int
    encoding: str = ""


@dataclass(frozen=True, slots=True)
class AudioLeft:
    """``[start_sample, start_sample + samples)`` of a speech was given to the socket, at the wire's rate."""

    speech_id: str
    start_sample: int
    samples: int


@dataclass(frozen=True, slots=True)
class AudibleLeft:
    """The first audible sample of a speech was given to the socket (just before the ``AudioLeft`` that has it)."""

    speech_id: str
    sample: int


@dataclass(frozen=True, slots=True)
class PlayedTo:
    """The client has played the speech up to ``sample``, at the wire's rate. Said before ``Played`` or ``Truncated``,
    whose samples are the voice's."""

    speech_id: str
    sample: int
    underruns: int = 0


WireNews: TypeAlias = EarSaid | SpeechOpened | AudioLeft | AudibleLeft | PlayedTo

Observed: TypeAlias = ConversationEvent | Entry | Action | WireNews
