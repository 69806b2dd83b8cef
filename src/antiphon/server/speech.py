"""Speech over HTTP: text in, audio out."""

import asyncio
from collections.abc import Mapping

from starlette.requests import Request

from antiphon.core.errors import AntiphonError
from antiphon.core.event import Audio, Event
from antiphon.core.speech import SpeechConfig
from antiphon.protocol.http import TooLarge, TooSlow
from antiphon.server.exchange import END, BodyWriter, Order
from antiphon.server.front import CallerGone
from antiphon.server.lines import Line
from antiphon.text.markup import check_phonemes

_PATIENCE = 16
"""How many times the allowed size a body may have and still be heard out."""


class AudioBody:
    """The encoded audio itself."""

    def deliver(self, event: Event) -> list[bytes]:
        return [event.data] if isinstance(event, Audio) and event.data else []

    def fail(self, error: AntiphonError) -> list[bytes]:
        return []


class TextFeed:
    """A whole text at once."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def run(self, line: Line) -> None:
        line.push(self._text)
        line.flush(END, last=True)

    def pulled(self, line: Line) -> None:
        """It was all taken at once."""

    async def close(self) -> None:
        """There is nothing to let go of."""


def speech_order(
    config: SpeechConfig, text: str, content_type: str, writer: BodyWriter, headers: Mapping[str, str] | None = None
) -> Order:
    """Raises ``InvalidInput`` for phonemes in the text that are none: it shall not be found out in the middle."""
    check_phonemes(text)
    return Order(config, TextFeed(text), content_type, writer, headers or {})


async def read_body(request: Request, limit_bytes: int, timeout_s: float) -> bytes:
    """Raises ``TooLarge``, ``TooSlow``, ``CallerGone``.

    A body that is too large is read to its end, within reason, before it is refused: a client that is still sending
    when the connection closes sees a broken pipe instead of the answer.
    """
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise CallerGone
                piece = message.get("body", b"")
                size += len(piece)
                if size <= limit_bytes:
                    body += piece
                if not message.get("more_body", False) or size > limit_bytes * _PATIENCE:
                    break
    except TimeoutError:
        raise TooSlow(f"the body did not come within {timeout_s:g} s") from None
    if size > limit_bytes:
        raise TooLarge(f"the body has more than the {limit_bytes} bytes allowed")
    return bytes(body)
