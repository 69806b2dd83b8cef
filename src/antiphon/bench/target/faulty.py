"""A server with planted faults on the loopback, in a process of its own: it speaks Cartesia's socket.

The plan is in the address: ``URL/<index>`` is the base address of a server that delivers as ``PLANS[index]`` says.
"""

import asyncio

import msgspec
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from antiphon.bench.planted import PLANS, Plan, schedule
from antiphon.bench.target.child import ChildServer
from antiphon.core.clock import MonotonicClock
from antiphon.protocol.cartesia_messages import Chunk, Done, ErrorMessage, encode_server_message


class _Request(msgspec.Struct):
    context_id: str
    continue_: bool = msgspec.field(name="continue", default=False)
    cancel: bool = False


class FaultyServer(ChildServer):
    """The server in a child process."""

    def __init__(self) -> None:
        super().__init__("the faulty server", faulty_app)
        self.url = f"http://127.0.0.1:{self.port}"


def faulty_app() -> Starlette:
    for plan in PLANS:  # made before the clock runs
        schedule(plan)
    return Starlette(routes=[WebSocketRoute("/{plan:int}/tts/websocket", _talk)])


async def _talk(websocket: WebSocket) -> None:
    number = websocket.path_params["plan"]
    if number >= len(PLANS):
        await websocket.send_denial_response(Response("no such plan", 404))
        return
    plan = PLANS[number]
    await asyncio.sleep(plan.connect_s)
    await websocket.accept()
    try:
        while True:
            request = msgspec.json.decode(await websocket.receive_text(), type=_Request)
            if not request.continue_ and not request.cancel:
                await _deliver(websocket, plan, request.context_id)
    except WebSocketDisconnect:
        return


async def _deliver(websocket: WebSocket, plan: Plan, context_id: str) -> None:
    clock = MonotonicClock()
    begin_s = clock.now_s()
    for at_s, pcm in schedule(plan):
        await asyncio.sleep(max(0.0, begin_s + at_s - clock.now_s()))
        await _send(websocket, Chunk(context_id=context_id, step_time=0.0, data=pcm))
    if plan.status:
        await asyncio.sleep(plan.delay_s)
        refusal = ErrorMessage(context_id=context_id, done=True, status_code=plan.status, message="planted refusal")
        await _send(websocket, refusal)
    else:
        await _send(websocket, Done(context_id=context_id))


async def _send(websocket: WebSocket, message: Chunk | Done | ErrorMessage) -> None:
    await websocket.send_text(encode_server_message(message).decode())
