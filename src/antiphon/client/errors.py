"""What can go wrong for a client, each kind once, in words that say what to do."""

from antiphon.core.errors import AntiphonError


class ClientError(AntiphonError):
    """Anything that went wrong between this client and the server."""


class Unreachable(ClientError):
    """Nobody answers at the address, or what answers is no WebSocket server."""


class Refused(ClientError):
    """The server answers, and will not serve this session.

    ``code`` is the server's word for it (``unauthorized``, ``at_capacity``, ``invalid_message``, ...), ``status`` the
    HTTP status where the handshake was refused (else 0), ``param`` the field at fault, if one is.
    """

    def __init__(self, message: str, code: str, *, status: int = 0, param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.param = param

    @property
    def may_retry(self) -> bool:
        """Whether the same request can succeed later."""
        return self.code in ("at_capacity", "server_error", "restart", "not_ready") or self.status in (429, 503)


class SessionLost(ClientError):
    """The socket was lost, and the session could not be taken up again within its window."""


class SessionOver(ClientError):
    """Something was sent after the session had ended."""
