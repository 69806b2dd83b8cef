"""A LiveKit agent with Antiphon as its ear and its voice: `python examples/livekit_agent.py dev`.

Needs `pip install livekit-agents livekit-plugins-cartesia livekit-plugins-openai`, a running `antiphon serve`, a chat
endpoint (ANTIPHON_URL, LLM_URL and LLM_MODEL name them), and a LiveKit server for its rooms.
"""

import os
from typing import Any

from livekit.agents import Agent, AgentSession, JobContext, WorkerOptions, cli, function_tool
from livekit.plugins import cartesia, openai

INSTRUCTIONS = "You answer the telephone of a small shop. Say one or two short sentences of plain words."


# [agent]
@function_tool
async def opening_hours(day: str) -> str:
    """When the shop is open on a day of the week."""
    return f"On {day} from 9:00 to 18:00."


def agent() -> Agent:
    return Agent(instructions=INSTRUCTIONS, tools=[opening_hours])


def session(antiphon: str, llm_url: str, llm_model: str, key: str = "any", **options: Any) -> AgentSession:
    """The server's ear says when a turn is over, so that no voice activity detector runs here."""
    return AgentSession(
        stt=cartesia.STT(model="ink-2", api_key=key, base_url=antiphon),
        llm=openai.LLM(model=llm_model, api_key="any", base_url=llm_url),
        tts=cartesia.TTS(voice="heart", api_key=key, base_url=antiphon),
        vad=None,
        turn_handling={"turn_detection": "stt", "endpointing": {"min_delay": 0.0}},
        **options,
    )


# [/agent]


async def entrypoint(context: JobContext) -> None:
    antiphon = os.environ.get("ANTIPHON_URL", "http://127.0.0.1:8080")
    talk = session(antiphon, os.environ["LLM_URL"], os.environ["LLM_MODEL"])
    await talk.start(agent=agent(), room=context.room)
    await talk.generate_reply(instructions="Greet the caller.")


if __name__ == "__main__":
    cli.run_app(WorkerOptions(entrypoint_fnc=entrypoint))
