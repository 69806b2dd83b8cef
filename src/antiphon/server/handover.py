"""Tells somebody that a person has to take over: one signed message to a webhook, delivered beside the conversation."""

import asyncio
import hashlib
import hmac
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import msgspec

from antiphon.core.brain import Message
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


@dataclass(frozen=True, slots=True)
class HandoverNote:
    """What the person who takes over needs. ``session`` is whatever says which call it is: ids, caller, address."""

    reason: str
    transcript: Sequence[Message]
    ledger: Sequence[Mapping[str, object]] = ()
    session: Mapping[str, object] = field(default_factory=dict)

    def body(self, delivery: str, at_s: float) -> bytes:
        """The message as JSON."""
        told = {
            "type": "handover",
            "id": delivery,
            "at": round(at_s, 3),
            "reason": self.reason,
            "session": dict(self.session),
            "transcript": [_entry(message) for message in self.transcript],
            "ledger": [dict(entry) for entry in self.ledger],
        }
        return msgspec.json.encode(told, enc_hook=str)


class HandoverHook:
    """Posts notes to ``settings.url``. Each attempt has its own time limit; what may pass (no connection, no answer,
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

    def begin(self, note: HandoverNote) -> None:
        """Deliver it in the background; the conversation waits for nothing. Of too many at once, the newest is only
        logged."""
        if len(self._under_way) >= _MOST_WAITING:
            log.error("handover: %d messages wait already; this one is dropped", _MOST_WAITING)
            return
        task = asyncio.get_running_loop().create_task(self.handover(note))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def handover(self, note: HandoverNote) -> bool:
        """Deliver it; says whether it arrived. Raises nothing but ``CancelledError``. Without a url nothing is sent."""
        if not self._url:
            log.warning("handover asked for, but agent.handover.url is not set")
            return False
        at_s = self._now_s()
        try:
            delivery = _identity(note, at_s)
            body = note.body(delivery, at_s)
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


def _entry(message: Message) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        entry["tool_calls"] = [
            {"id": call.call_id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls
        ]
    if message.call_id:
        entry["call_id"] = message.call_id
    return entry


def _identity(note: HandoverNote, at_s: float) -> str:
    return "ho_" + hashlib.sha256(note.body("", at_s)).hexdigest()[:32]


def _check(url: str) -> None:
    try:
        parts = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        parts = httpx.URL("")
    if parts.scheme not in ("http", "https") or not parts.host:
        raise InvalidInput("agent.handover.url should look like https://host/path", "agent.handover.url")
