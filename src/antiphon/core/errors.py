"""Errors that cross rooms. Each says what was wrong and what would be right, in words a user can act on."""


class AntiphonError(Exception):
    """An error with a message meant for the person who uses Antiphon."""


class InvalidInput(AntiphonError):
    """The request cannot be served as asked. ``param`` names the field at fault."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


class NotFound(InvalidInput):
    """A named thing (voice, model, context) does not exist."""


class AtCapacity(AntiphonError):
    """No place is free. ``retry_after_s`` is a hint for the caller."""

    def __init__(self, message: str, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class EngineFailed(AntiphonError):
    """A model failed on one piece of work; the stream may go on with the next."""


class ModelUnavailable(AntiphonError):
    """A model's files are missing, damaged, or cannot be fetched."""
