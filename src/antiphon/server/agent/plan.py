"""What a session is made of: the server's agent, as far as the client's ``start`` does not change it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from antiphon.core.brain import ToolSpec
from antiphon.core.errors import InvalidInput
from antiphon.core.expected_digits import expected_digits
from antiphon.core.turns import EndpointSettings
from antiphon.dialog.conversation_settings import ConversationSettings, Phrases, ReplySettings
from antiphon.dialog.interruption import InterruptionSettings
from antiphon.dialog.tool_run import ToolSettings
from antiphon.protocol import native_messages as wire
from antiphon.settings import Settings

HUM_S = 0.5
"""A sound without words is over after so much silence: longer than the first words of a short answer take to come."""

OPENER_S = 1.2
"""Who says "All right." without having been asked mostly goes on within so much silence."""

HANDOVER = "handover"
"""The tool by which a brain calls a person. It is not executed: the conversation hands over."""


@dataclass(frozen=True, slots=True)
class ServerTools:
    """What of the server's own tools a session has to know. ``fillers``: see :class:`ToolSettings`."""

    specs: tuple[ToolSpec, ...] = ()
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fillers: Mapping[str, tuple[str | None, float | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """``turns``: as long as the agent has not asked for yes or no. ``client_tools``: names of the tools that the client
    runs. ``echo_delay_ms``: the server removes the agent's echo from what the client sends, which comes back so late at
    least; None: it does not."""

    conversation: ConversationSettings
    specs: tuple[ToolSpec, ...]
    client_tools: frozenset[str]
    turns: EndpointSettings
    voice: str
    language: str
    echo_delay_ms: int | None = None
    keyterms: tuple[str, ...] = ()
    expected_digits: tuple[int, ...] = ()


def plan_session(settings: Settings, tools: ServerTools, start: wire.Start, default_voice: str) -> AgentPlan:
    """Raises ``InvalidInput`` where the client's wishes do not fit the server's agent."""
    agent, asked = settings.agent, start.agent
    language = start.language or agent.language
    instructions = settings.brain.instructions if asked.instructions is None else asked.instructions
    interruptible = agent.interruptible if asked.interruptible is None else asked.interruptible
    greeting = agent.greeting if asked.greeting is None else asked.greeting
    turns = EndpointSettings(end_timeout_s=agent.turn_timeout_s) if asked.turn is None else asked.turn.endpoint()
    english = language.lower().startswith("en")
    turns = replace(turns, wordless_s=HUM_S, opener_s=OPENER_S if english else None)
    conversation = ConversationSettings(
        instructions=instructions,
        speculate=agent.speculate,
        protect_greeting=agent.protect_greeting,
        protect_replies=not interruptible,
        idle_s=agent.idle_s,
        max_idle_prompts=agent.max_idle_prompts,
        max_turn_s=agent.max_turn_s,
        resume_window_s=agent.resume_window_s,
        pause_after_s=agent.pause_after_s,
        handover_tool=HANDOVER,
        handover_on_failure=agent.handover_on_failure,
        phrases=Phrases(
            greeting=greeting,
            filler=agent.phrases.filler,
            apology=agent.phrases.apology,
            idle=agent.phrases.idle,
            handover=agent.phrases.handover,
        ),
        reply=ReplySettings(
            language=language,
            feed=asked.feed or agent.feed,
            fade_ms=agent.fade_ms,
            lead_s=agent.lead_s,
            brain_first_s=agent.brain_first_s,
            brain_gap_s=agent.brain_gap_s,
            brain_retries=agent.brain_retries,
            voice_mute_s=agent.voice_mute_s,
            voice_retries=agent.voice_retries,
            filler_after_s=agent.filler_after_s,
            filler_every_s=agent.filler_every_s,
        ),
        interruption=InterruptionSettings(
            wordless_s=agent.wordless_s, echo_cancelled=agent.echo_cancelled or agent.echo_cancellation
        ),
        tools=ToolSettings(targets=tools.targets, fillers=tools.fillers, write_grace_s=agent.write_grace_s),
    )
    theirs = _client_specs(asked.tools, tools.specs)
    names = frozenset(spec.name for spec in theirs)
    digits = expected_digits(msgspec.json.decode(spec.parameters) for spec in (*tools.specs, *theirs))
    return AgentPlan(
        conversation,
        (*tools.specs, *theirs),
        names,
        turns,
        start.voice or default_voice,
        language,
        agent.echo_delay_ms if agent.echo_cancellation else None,
        tuple(agent.keyterms),
        tuple(agent.expected_digits) or digits,
    )


def _client_specs(asked: Sequence[wire.ClientTool], own: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    taken = {spec.name for spec in own}
    for tool in asked:
        if tool.name in taken:
            about = f"agent.tools: {tool.name[:100]!r} is a tool of the server; choose another name"
            raise InvalidInput(about, "agent.tools")
    return tuple(
        ToolSpec(
            tool.name,
            tool.description,
            msgspec.json.encode(tool.parameters).decode(),
            tool.effect,
            tool.timeout_ms / 1000,
        )
        for tool in asked
    )
