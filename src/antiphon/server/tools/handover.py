"""Tells somebody that a person has to take over: one signed message to a webhook, delivered beside the conversation."""

import asyncio
import hashlib
import hmac
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec

from antiphon.core.clock import unix_time_s
from antiphon.core.errors import InvalidInput
from antiphon.settings import HandoverSettings

log = logging.getLogger("antiphon.handover")
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 8.0
_MOST_WAITING = 256
_CLOSE_S = 10.0
_AGAIN = frozenset((408, 425, 429, 500, 502, 503, 504))
SIGNATURE = "X-Antiphon-Signature"
DELIVERY = "X-Antiphon-Delivery"


class HandoverHook:
    """Posts to ``settings.url``. Each attempt has its own time limit; what may pass (no connection, no answer,
    429, 5xx) is tried again with the same ``X-Antiphon-Delivery``, by which the receiver can tell a repetition.

    With a secret, ``X-Antiphon-Signature`` is ``t=SECONDS,v1=HEX``, the HMAC-SHA256 of ``SECONDS.BODY``. Raises
    ``InvalidInput`` for a url that cannot work.
    """

    def __init__(
        self,
        settings: HandoverSettings,
        *,
        now_s: Callable[[], float] = unix_time_s,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = settings.url or ""
        self._secret = settings.secret.get_secret_value().encode() if settings.secret else b""
        self._timeout_s = settings.timeout_s
        self._attempts = settings.attempts
        self._now_s = now_s
        self._sleep = sleep
        if self._url:
            _check(self._url)
        self._client = httpx.AsyncClient(trust_env=False, follow_redirects=False, transport=transport)
        self._under_way: set[asyncio.Task[bool]] = set()

    async def handover(self, payload: Mapping[str, Any]) -> bool:
        """Deliver ``payload`` (reason, transcript, ledger, what says which call it is); says whether it arrived.

        Raises nothing. Whoever is cancelled while it waits does not stop the delivery. Without a url nothing is sent.
        """
        if not self._url:
            log.warning("handover asked for, but agent.handover.url is not set")
            return False
        if len(self._under_way) >= _MOST_WAITING:
            log.error("handover: %d messages wait already; this one is dropped", _MOST_WAITING)
            return False
        task = asyncio.get_running_loop().create_task(self._deliver(payload))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.wait({task})
        return not task.cancelled() and task.result()

    async def _deliver(self, payload: Mapping[str, Any]) -> bool:
        at_s = round(self._now_s(), 3)
        try:
            told = msgspec.json.encode({"type": "handover", "at": at_s, **payload}, enc_hook=str)
            delivery = "ho_" + hashlib.sha256(told).hexdigest()[:32]
            body = msgspec.json.encode({"type": "handover", "id": delivery, "at": at_s, **payload}, enc_hook=str)
        except (TypeError, ValueError, RecursionError) as error:
            log.error("handover: the message cannot be written: %s", type(error).__name__)
            return False
        pause_s = _FIRST_PAUSE_S
        for attempt in range(1, self._attempts + 1):
            problem, again = await self._post(body, delivery)
            if not problem:
                return True
            log.warning("handover: attempt %d of %d: %s", attempt, self._attempts, problem)
            if not again or attempt == self._attempts:
                break
            await self._sleep(pause_s)
            pause_s = min(pause_s * 3, _LONGEST_PAUSE_S)
        log.error("handover: not delivered: %s", problem)
        return False

    async def aclose(self, wait_s: float = _CLOSE_S) -> None:
        """What is under way may arrive within ``wait_s``."""
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=wait_s)
            for task in late:
                task.cancel()
            if late:
                log.error("handover: %d messages were not delivered before the end", len(late))
        await self._client.aclose()

    async def _post(self, body: bytes, delivery: str) -> tuple[str, bool]:
        """(what went wrong, whether it may go right later); the first is empty if it arrived."""
        headers = {"Content-Type": "application/json", DELIVERY: delivery, "Idempotency-Key": delivery}
        if self._secret:
            headers[SIGNATURE] = signature(self._secret, body, int(self._now_s()))
        try:
            async with asyncio.timeout(self._timeout_s):
                async with self._client.stream(
                    "POST", self._url, content=body, headers=headers, timeout=None
                ) as answer:
                    status = answer.status_code
        except TimeoutError:
            return f"no answer within {self._timeout_s:g} s", True
        except (httpx.HTTPError, OSError) as error:
            return f"the receiver cannot be reached ({type(error).__name__})", True
        if 200 <= status < 300:
            return "", False
        return f"the receiver answered {status}", status in _AGAIN


def signature(secret: bytes, body: bytes, at_s: int) -> str:
    """The value of ``X-Antiphon-Signature``."""
    mac = hmac.new(secret, str(at_s).encode() + b"." + body, hashlib.sha256)
    return f"t={at_s},v1={mac.hexdigest()}"


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets that do not match
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("agent.handover.url should look like https://host/path", "agent.handover.url")
