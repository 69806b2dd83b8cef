"""A language model behind any OpenAI-compatible chat endpoint, streamed, with failover and watchdogs."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import httpx

from antiphon.core.brain import BrainDone, BrainEvent, BrainFailed, BrainRequest
from antiphon.core.clock import Clock
from antiphon.core.errors import InvalidInput
from antiphon.engine.llm_endpoint import Health, LlmEndpoint
from antiphon.engine.llm_sse import BrokenStream, SseDecoder
from antiphon.engine.llm_wire import DeltaDecoder, check_messages, encode_request, error_text

_ERROR_BODY_BYTES = 8192
_LINGER_S = 0.5


@dataclass(frozen=True, slots=True)
class _Failed:
    """Why an attempt failed. ``again``: the same endpoint may do better; ``ours``: the request itself was refused."""

    message: str
    again: bool = True
    ours: bool = False
    wait_s: float = 0.0


class _WholeBody:
    """The one payload of a server that answers without streaming."""

    def __init__(self) -> None:
        self._body = b""

    def feed(self, chunk: bytes) -> list[str]:
        self._body += chunk
        return []

    def finish(self) -> list[str]:
        return [self._body.decode(errors="replace")]


class Llm:
    """A brain made of one or more endpoints; safe for many conversations at once on one event loop.

    An attempt that fails before its first event is made again: at the next endpoint at once, at the same one after a
    short wait, at most ``rounds`` times each, and none begins later than ``patience_s`` after the request. After the
    first event a failure is final (:class:`BrainFailed`), and what was said stands.
    """

    name = "llm"

    def __init__(
        self,
        endpoints: Sequence[LlmEndpoint],
        clock: Clock,
        *,
        rounds: int = 2,
        patience_s: float = 10.0,
        health: Health | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if not endpoints:
            raise InvalidInput("give at least one language model endpoint", "endpoints")
        self._endpoints = tuple(endpoints)
        self._clock = clock
        self._rounds = rounds
        self._patience_s = patience_s
        self._health = health or Health(len(self._endpoints))
        # Keys and proxies come from the settings alone. Redirects are not followed: they would carry the key.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=60.0)
        self._client = httpx.AsyncClient(transport=transport, trust_env=False, limits=limits)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def stream(self, request: BrainRequest) -> AsyncGenerator[BrainEvent, None]:
        """Events of one answer; the last one is ``BrainDone`` or ``BrainFailed``. Nothing is raised but cancellation.

        Cancelling the task, or closing the iterator (``contextlib.aclosing``), closes the HTTP stream at once.
        """
        try:
            check_messages(request.messages)
        except InvalidInput as error:
            yield BrainFailed(str(error), retryable=False)
            return
        give_up_s = self._clock.now_s() + self._patience_s
        failures: dict[int, _Failed] = {}
        for round_number in range(self._rounds):
            left_s = give_up_s - self._clock.now_s()
            open_to = [
                i
                for i in self._health.order(self._clock.now_s())
                if i not in failures or (failures[i].again and failures[i].wait_s < left_s)
            ]
            if not open_to:
                break
            if round_number:
                await asyncio.sleep(min(left_s, _pause_s(round_number, [failures[i] for i in open_to])))
            for index in open_to:
                if failures and self._clock.now_s() >= give_up_s:
                    break
                spoke = False
                async with aclosing(self._attempt(index, request)) as events:
                    async for event in events:
                        if isinstance(event, _Failed):
                            failures[index] = event
                            break
                        spoke = True
                        yield event
                        if isinstance(event, BrainDone):
                            self._health.answered(index)
                            return
                if not failures[index].ours:
                    self._health.failed(index, self._clock.now_s(), failures[index].wait_s)
                if spoke:
                    yield self._failure({index: failures[index]})
                    return
        yield self._failure(failures)

    def _failure(self, failures: dict[int, _Failed]) -> BrainFailed:
        parts = [f"{self._endpoints[i].label}: {failure.message}" for i, failure in failures.items()]
        text = "; ".join(parts)
        for endpoint in self._endpoints:
            if endpoint.api_key:
                text = text.replace(endpoint.api_key, "***")
        return BrainFailed(text, retryable=any(failure.again for failure in failures.values()))

    async def _attempt(self, index: int, request: BrainRequest) -> AsyncGenerator[BrainEvent | _Failed, None]:
        """One try at one endpoint; ends with ``BrainDone`` or ``_Failed``."""
        endpoint = self._endpoints[index]
        try:
            body = encode_request(request, endpoint.model, endpoint.extra, usage=endpoint.usage)
        except InvalidInput as error:
            yield _Failed(str(error), again=False, ours=True)
            return
        taken = {call.call_id for message in request.messages for call in message.tool_calls}
        try:
            async with aclosing(self._events(endpoint, body, DeltaDecoder(taken))) as events:
                async for event in events:
                    yield event
        except BrokenStream as error:
            yield _Failed(str(error))
        except TimeoutError:
            yield _Failed(f"no first token within {endpoint.first_token_s:g} s")
        except httpx.HTTPError as error:
            yield _Failed(_network(error, endpoint))
        except httpx.InvalidURL as error:
            yield _Failed(f"the url is not valid: {error}", again=False)

    async def _events(
        self, endpoint: LlmEndpoint, body: dict[str, object], decoder: DeltaDecoder
    ) -> AsyncGenerator[BrainEvent | _Failed, None]:
        headers = {"Accept": "text/event-stream"}
        if endpoint.api_key:
            headers["Authorization"] = f"Bearer {endpoint.api_key}"
        first_due_s = self._clock.now_s() + endpoint.first_token_s
        timeout = httpx.Timeout(None, connect=endpoint.connect_s)
        http = self._client.build_request("POST", endpoint.chat_url, json=body, headers=headers, timeout=timeout)
        async with asyncio.timeout(endpoint.first_token_s):
            response = await self._client.send(http, stream=True)
        try:
            if response.status_code != 200:
                async with asyncio.timeout(endpoint.first_token_s):
                    said = await _error_body(response)
                yield _refusal(response, said, endpoint)
                return
            kind = response.headers.get("content-type", "")
            if "html" in kind:
                yield _Failed(
                    "answers with a web page; the url should be the API's base, as https://host/v1", again=False
                )
                return
            sse: SseDecoder | _WholeBody = _WholeBody() if "json" in kind else SseDecoder()
            chunks = response.aiter_bytes()
            due_s = first_due_s
            while not decoder.ended:
                try:
                    async with asyncio.timeout(max(0.0, due_s - self._clock.now_s())):
                        chunk = await anext(chunks, b"")
                except TimeoutError:
                    if decoder.reason:
                        break
                    if decoder.begun:
                        raise BrokenStream(f"the stream is open but silent for {endpoint.mute_s:g} s") from None
                    raise
                before = decoder.alive
                for payload in sse.feed(chunk) if chunk else sse.finish():
                    for event in decoder.feed(payload):
                        yield event
                if not chunk:
                    break
                if decoder.reason:
                    due_s = min(due_s, self._clock.now_s() + _LINGER_S)
                elif decoder.begun and decoder.alive > before:
                    due_s = self._clock.now_s() + endpoint.mute_s
            if not decoder.reason:
                raise BrokenStream("the stream ended before the answer was complete")
            yield decoder.done()
        finally:
            await response.aclose()


def _pause_s(round_number: int, failures: Sequence[_Failed]) -> float:
    # Jitter, so that calls that failed together do not come back together.
    return max(max(f.wait_s for f in failures), 0.2 * float(2 ** (round_number - 1)) * random.uniform(0.8, 1.2))


async def _error_body(response: httpx.Response) -> str:
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) >= _ERROR_BODY_BYTES:
            break
    text = body[:_ERROR_BODY_BYTES].decode(errors="replace")
    try:
        return error_text(json.loads(text))
    except ValueError:
        return error_text(text)


def _refusal(response: httpx.Response, said: str, endpoint: LlmEndpoint) -> _Failed:
    status = response.status_code
    said = f" ({said})" if said else ""
    if status in (401, 403):
        return _Failed(f"the key was not accepted, status {status}{said}", again=False, wait_s=60.0)
    if status == 404:
        missing = f"no model {endpoint.model!r} or no chat API at this url, status 404{said}"
        return _Failed(missing, again=False, wait_s=60.0)
    if status == 429:
        wait_s = _retry_after_s(response)
        hint = f", try again after {wait_s:g} s" if wait_s else ""
        return _Failed(f"too many requests, status 429{hint}{said}", wait_s=wait_s)
    if 300 <= status < 400:
        return _Failed(f"redirects elsewhere, status {status}; set the url it redirects to", again=False, wait_s=60.0)
    if status in (408, 409, 425) or status >= 500:
        return _Failed(f"the server failed, status {status}{said}", wait_s=_retry_after_s(response))
    return _Failed(f"the request was refused, status {status}{said}", again=False, ours=True)


def _retry_after_s(response: httpx.Response) -> float:
    """Seconds asked for; 0 if none are, or if it is given as a date."""
    try:
        seconds = float(response.headers.get("retry-after", "0"))
    except ValueError:
        return 0.0
    return max(0.0, seconds)


def _network(error: httpx.HTTPError, endpoint: LlmEndpoint) -> str:
    if isinstance(error, httpx.ConnectTimeout):
        return f"no connection within {endpoint.connect_s:g} s"
    if isinstance(error, httpx.ConnectError):
        return f"cannot connect ({error})"
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError):
        return "the connection broke before the answer was complete"
    return f"the request failed ({type(error).__name__})"
