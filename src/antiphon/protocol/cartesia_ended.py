"""Contexts that ended otherwise than by ``done``, remembered for the messages of theirs that may still be under way."""

from dataclasses import dataclass

from antiphon.protocol.cartesia_context import Context
from antiphon.protocol.cartesia_request import GenerationRequest

CANCELLED_S = 5.0
"""How long after a cancel a blank message for the id gets no answer."""

STRAGGLER_S = 1.0
"""How long after an error a message of the same settings counts as sent before the error was read."""

CAPACITY = 256


@dataclass(frozen=True, slots=True)
class _Ended:
    context: Context
    cancelled: bool
    until_s: float


class EndedContexts:
    """A bounded memory; the oldest entry gives way."""

    def __init__(self) -> None:
        self._ended: dict[str, _Ended] = {}

    def cancelled(self, context: Context, now_s: float) -> None:
        self._remember(_Ended(context, True, now_s + CANCELLED_S))

    def failed(self, context: Context, now_s: float) -> None:
        self._remember(_Ended(context, False, now_s + STRAGGLER_S))

    def is_straggler(self, context_id: str, request: GenerationRequest, now_s: float) -> bool:
        """Whether the message is to be dropped. One that is not begins the context anew, and ends the memory of it.

        After a cancel only blank messages are late ones: text means that the id is used again.
        """
        ended = self._ended.get(context_id)
        if ended is None:
            return False
        blank = not (request.transcript or "").strip()
        late = now_s < ended.until_s and (blank or (not ended.cancelled and ended.context.same_settings(request)))
        if not late or (not ended.cancelled and not request.continue_):
            del self._ended[context_id]
        return late

    def _remember(self, ended: _Ended) -> None:
        self._ended.pop(ended.context.id, None)
        if len(self._ended) >= CAPACITY:
            del self._ended[next(iter(self._ended))]
        self._ended[ended.context.id] = ended
