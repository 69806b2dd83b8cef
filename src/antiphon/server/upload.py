"""A form with a recording in it, taken in without being held: the file goes to a spool on disk as it comes."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import BinaryIO

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from antiphon.core.errors import InvalidInput
from antiphon.protocol.http import TooLarge, TooSlow
from antiphon.protocol.transcription import missing_file
from antiphon.server.front import CallerGone

MAX_FIELDS = 400
FIELD_BYTES = 65_536
_FRAMING_BYTES = 1 << 20
"""What the other fields and the boundaries may add to the file."""
_PATIENCE_BYTES = 64 << 20
"""How much of what is too large is still read: a client that is sending when the connection closes sees no answer."""


@dataclass(frozen=True, slots=True)
class Upload:
    """The form's text fields in order, and its part named ``file``: a spool that its reader closes."""

    fields: tuple[tuple[str, str], ...]
    file: BinaryIO
    size_bytes: int


async def read_upload(request: Request, limit_bytes: int, timeout_s: float) -> Upload:
    """``timeout_s`` is how long nothing may come.

    Raises ``InvalidInput``, ``TooLarge``, ``TooSlow``, ``CallerGone``.
    """
    kind = request.headers.get("content-type", "")
    if not kind.lower().startswith("multipart/form-data"):
        raise InvalidInput(f"the body must be multipart/form-data with a part named file, not {kind[:60]!r}", "file")
    pieces = _pieces(request, limit_bytes, timeout_s)
    parser = MultiPartParser(
        request.headers, pieces, max_files=1, max_fields=MAX_FIELDS, max_part_size=FIELD_BYTES
    )
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise InvalidInput(f"the form cannot be read: {error.message}") from None
    items = form.multi_items()
    fields = tuple((name, value) for name, value in items if isinstance(value, str))
    files = [(name, value) for name, value in items if isinstance(value, UploadFile)]
    for name, file in files:
        if name == "file" and file.size:
            return Upload(fields, file.file, file.size)
        file.file.close()
    raise missing_file()


async def _pieces(request: Request, limit_bytes: int, timeout_s: float) -> AsyncGenerator[bytes, None]:
    size = 0
    async for piece in _body(request, timeout_s):
        size += len(piece)
        if size <= limit_bytes + _FRAMING_BYTES:
            yield piece
        elif size > limit_bytes + _PATIENCE_BYTES:
            break
    if size > limit_bytes + _FRAMING_BYTES:
        raise TooLarge(f"file: a recording may have {limit_bytes} bytes here (stt.file_limit_bytes)", "file")


async def _body(request: Request, timeout_s: float) -> AsyncGenerator[bytes, None]:
    more = True
    while more:
        try:
            async with asyncio.timeout(timeout_s):
                message = await request.receive()
        except TimeoutError:
            raise TooSlow(f"nothing of the body came for {timeout_s:g} s") from None
        if message["type"] == "http.disconnect":
            raise CallerGone
        more = message.get("more_body", False)
        if body := message.get("body", b""):
            yield body
