"""Server-sent events out of bytes, as the HTML standard writes them (section 9.2.6), for ``data`` fields only."""

from antiphon.core.errors import AntiphonError

_LINE_LIMIT_BYTES = 1 << 20


class BrokenStream(AntiphonError):
    """The bytes are not the stream that was promised."""


class SseDecoder:
    """Bytes in, the ``data`` of complete events out. Comments (keep-alives) and other fields are skipped."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        """Raises :class:`BrokenStream` for a line over 1 MiB or bytes that are not UTF-8."""
        *lines, self._rest = (self._rest + chunk).replace(b"\r\n", b"\n").split(b"\n")
        if len(self._rest) > _LINE_LIMIT_BYTES:
            raise BrokenStream("the stream has a line of more than 1 MiB")
        return [event for line in lines for event in self._line(line)]

    def finish(self) -> list[str]:
        """The last event, if its empty line is missing, as many servers leave it out."""
        rest, self._rest = self._rest, b""
        return [*self._line(rest), *self._line(b"")] if rest else self._line(b"")

    def _line(self, raw: bytes) -> list[str]:
        try:
            line = raw.decode().rstrip("\r")
        except UnicodeDecodeError as error:
            raise BrokenStream("the stream is not UTF-8 text") from error
        if not line:
            data, self._data = self._data, []
            return ["\n".join(data)] if data else []
        field, _, value = line.partition(":")
        if field == "data":
            self._data.append(value.removeprefix(" "))
        return []
