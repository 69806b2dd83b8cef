"""A voice agent in Pipecat with Antiphon as its ear and its voice: `python examples/pipecat_agent.py LLM_URL MODEL`.

Needs `pip install 'pipecat-ai[openai,cartesia,local]'` and a running `antiphon serve`. Talk into the microphone.
"""

import asyncio
import sys
from typing import Any

from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.services.cartesia.tts import CartesiaTTSService
from pipecat.services.cartesia.turns.stt import CartesiaTurnsSTTService
from pipecat.services.llm_service import FunctionCallParams
from pipecat.services.openai.llm import OpenAILLMService

INSTRUCTIONS = "You answer the telephone of a small shop. Say one or two short sentences of plain words."


# [agent]
async def opening_hours(params: FunctionCallParams, day: str) -> None:
    """When the shop is open.

    Args:
        day: The day of the week, in English.
    """
    await params.result_callback({"day": day, "opens": "09:00", "closes": "18:00"})


def agent(antiphon: str, llm_url: str, llm_model: str, key: str = "any") -> tuple[list[Any], list[Any], LLMContext]:
    """What stands between a transport's input and its output, and what stands behind the output."""
    sockets = antiphon.replace("http", "ws", 1)
    ear = CartesiaTurnsSTTService(
        api_key=key,
        url=f"{sockets}/stt/turns/websocket",
        enable_eager_end_of_turn=True,  # the answer is prepared while the turn is only probably over
    )
    brain = OpenAILLMService(
        api_key="any",
        base_url=llm_url,
        settings=OpenAILLMService.Settings(model=llm_model, system_instruction=INSTRUCTIONS),
    )
    voice = CartesiaTTSService(
        api_key=key,
        url=f"{sockets}/tts/websocket",
        settings=CartesiaTTSService.Settings(voice="heart"),
    )
    context = LLMContext(tools=[opening_hours])
    said = LLMContextAggregatorPair(context)
    return [ear, said.user(), brain, voice], [said.assistant()], context


# [/agent]


async def main(llm_url: str, llm_model: str, antiphon: str = "http://127.0.0.1:8080") -> None:
    from pipecat.transports.local.audio import LocalAudioTransport, LocalAudioTransportParams
    from pipecat.workers.runner import WorkerRunner

    transport = LocalAudioTransport(LocalAudioTransportParams(audio_in_enabled=True, audio_out_enabled=True))
    inner, outer, _ = agent(antiphon, llm_url, llm_model)
    worker = PipelineWorker(
        Pipeline([transport.input(), *inner, transport.output(), *outer]),
        params=PipelineParams(audio_in_sample_rate=16_000, audio_out_sample_rate=24_000),
    )
    house = WorkerRunner()
    await house.add_workers(worker)
    await house.run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
