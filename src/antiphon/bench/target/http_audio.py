"""Endpoints that answer a POST with a stream of raw PCM."""

import asyncio
from collections.abc import Mapping

import httpx

from antiphon.bench.recording import Recording, Take
from antiphon.bench.target.contract import Line, Links, finish, whole_samples, whole_text
from antiphon.core.clock import MonotonicClock


class HttpAudio:
    """POSTs a JSON body, reads s16le PCM as it comes.

    ``body``: fixed fields of the request; ``text_field`` gets the text, ``language_field`` (if the wire has one) a
    line's own language. Connections are kept alive between requests.
    The clock starts when the request is handed to an open connection.
    """

    def __init__(
        self,
        name: str,
        url: str,
        body: Mapping[str, object],
        *,
        text_field: str,
        sample_rate_hz: int,
        headers: Mapping[str, str] | None = None,
        verify: bool = True,
        language_field: str = "",
    ) -> None:
        self.name = name
        self.sample_rate_hz = sample_rate_hz
        self._url = url
        self._body = dict(body)
        self._text_field = text_field
        self._headers = dict(headers or {})
        self._verify = verify
        self._language_field = language_field
        self._client: httpx.AsyncClient | None = None
        self._opened = 0
        self._clock = MonotonicClock()
        self.links = Links()

    async def open(self, streams: int) -> None:
        if self._client is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=60.0)
            self._client = httpx.AsyncClient(
                limits=limits, timeout=None, headers=self._headers, verify=self._verify, trust_env=False
            )
        if streams > self._opened:
            # Any answer will do: what counts is that the connections stand before the clock runs.
            root = str(httpx.URL(self._url).join("/"))
            extensions = [{"trace": Trace(self.links, self._clock)} for _ in range(streams)]
            await asyncio.gather(*(self._client.get(root, extensions=each) for each in extensions))
            self._opened = streams

    async def speak(self, line: Line, recording: Recording) -> None:
        if self._client is None:
            raise RuntimeError("open the target first")
        text = await whole_text(line, recording)
        body = self._body | {self._text_field: text}
        if line.language and self._language_field:
            body[self._language_field] = line.language
        async with self._client.stream("POST", self._url, json=body) as response:
            if response.status_code != 200:
                detail = (await response.aread()).decode("utf-8", "replace")
                recording.fail(f"{response.status_code}: {detail[:200]}", response.status_code)
                return
            async for payload in response.aiter_raw():
                recording.chunk(payload)
        recording.end()

    def take(self, recording: Recording) -> Take:
        return finish(recording, whole_samples(recording.payloads), self.sample_rate_hz)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None
            self._opened = 0


class Trace:
    """Notes what a connection costs: httpcore calls it at each step of one request. TCP's handshake is one round trip
    (after the name look-up); TLS comes on top."""

    def __init__(self, links: Links, clock: MonotonicClock) -> None:
        self._links = links
        self._clock = clock
        self._begin_s = 0.0

    async def __call__(self, event: str, _: object) -> None:
        now_s = self._clock.now_s()
        if event == "connection.connect_tcp.started":
            self._begin_s = now_s
        elif event == "connection.connect_tcp.complete":
            self._links.connects_s.append(now_s - self._begin_s)
            self._links.rtts_s.append(now_s - self._begin_s)
        elif event == "connection.start_tls.complete" and self._links.connects_s:
            self._links.connects_s[-1] = now_s - self._begin_s
