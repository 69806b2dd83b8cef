"""How a conversation behaves."""

from dataclasses import dataclass, field

from antiphon.dialog.history import HistorySettings
from antiphon.dialog.interruption import InterruptionSettings
from antiphon.dialog.reply_feed import FeedMode
from antiphon.dialog.tool_run import ToolSettings


@dataclass(frozen=True, slots=True)
class Phrases:
    """What the agent says of itself."""

    greeting: str = ""
    filler: str = "One moment, please."
    apology: str = "I'm sorry, something went wrong on my side. Could you say that again?"
    idle: str = "Are you still there?"
    handover: str = "I'm handing you over to a colleague."
    too_long: str = "Let me stop you there for a moment."


@dataclass(frozen=True, slots=True)
class ReplySettings:
    """One reply: how it is fed to the voice, and when its makers are given up on."""

    language: str = "en"
    feed: FeedMode = "tokens"
    fade_ms: int = 40
    playout_delay_s: float = 0.0
    """From sending to sounding, where the client does not report: a phone network's delay."""
    report_grace_s: float = 2.0
    """How much later than by the clock a client may report the end, before it is taken for silent."""
    brain_first_s: float = 8.0
    brain_gap_s: float = 5.0
    brain_retries: int = 1
    voice_mute_s: float = 4.0
    lead_s: float | None = None
    """How far ahead of the listener the voice makes audio at most; None: as fast as it can."""
    voice_retries: int = 2
    max_rounds: int = 6
    """Questions to the brain within one reply, tool results between them."""
    filler_after_s: float = 1.5
    filler_every_s: float = 6.0
    max_fillers: int = 2


@dataclass(frozen=True, slots=True)
class ConversationSettings:
    """A whole conversation. A time of None means never."""

    instructions: str = ""
    speculate: bool = True
    protect_greeting: bool = False
    protect_replies: bool = False
    """Every reply plays out."""
    keep_protected: bool = True
    """What the user says during a protected reply is answered after it; else it is dropped."""
    idle_s: float | None = None
    max_idle_prompts: int = 2
    max_turn_s: float | None = 60.0
    resume_window_s: float = 30.0
    """How long a lost client may take to come back."""
    dtmf_gap_s: float = 2.0
    echo_tail_s: float = 1.0
    """For so long after its end the agent's voice may still come back."""
    pause_after_s: float | None = None
    """The agent pauses after so much sound over its speech, until it is judged."""
    handover_tool: str = "handover"
    handover_on_failure: bool = False
    """Hand over instead of falling silent when the voice cannot be recovered."""
    phrases: Phrases = field(default_factory=Phrases)
    reply: ReplySettings = field(default_factory=ReplySettings)
    interruption: InterruptionSettings = field(default_factory=InterruptionSettings)
    history: HistorySettings = field(default_factory=HistorySettings)
    tools: ToolSettings = field(default_factory=ToolSettings)
