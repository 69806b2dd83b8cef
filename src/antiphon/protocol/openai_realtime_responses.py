"""The responses of one Realtime socket: one of the conversation itself at a time, others beside it."""

from collections.abc import Callable, Iterator

from antiphon.protocol.actions import AgentAction, Key
from antiphon.protocol.openai_realtime_client import BadEvent, ResponseOrder
from antiphon.protocol.openai_realtime_items import Conversation, messages_of
from antiphon.protocol.openai_realtime_plan import Plan, context_of, plan_for
from antiphon.protocol.openai_realtime_reply import Reply, SendEvent
from antiphon.protocol.openai_realtime_session import Settings


class Responses:
    """``keys``: whence streams and questions get theirs. ``begins`` is called before one of the conversation begins.

    What may be asked for raises ``InvalidInput`` (``BadEvent``, where the documents have a code for it).
    """

    def __init__(
        self,
        conversation: Conversation,
        keys: Iterator[Key],
        send: SendEvent,
        new_id: Callable[[], str],
        begins: Callable[[], None],
        *,
        most: int,
        owner: str,
    ) -> None:
        self._conversation = conversation
        self._conversation_id = f"conv_{new_id()}"
        self._keys = keys
        self._send = send
        self._new_id = new_id
        self._begins = begins
        self._most = most
        self._owner = owner
        self._open: dict[str, Reply] = {}

    def __bool__(self) -> bool:
        return bool(self._open)

    @property
    def active(self) -> Reply | None:
        """The response of the conversation itself."""
        return next((reply for reply in self._open.values() if reply.plan.in_conversation), None)

    def of(self, key: Key) -> Reply | None:
        """Whose question or stream of speech this is."""
        return next((reply for reply in self._open.values() if key in (reply.brain_key, reply.voice_key)), None)

    def answer(self, settings: Settings) -> list[AgentAction]:
        """What has been said, as the session has it."""
        return self._begin(self._plan(settings, ResponseOrder()))

    def create(self, settings: Settings, order: ResponseOrder, *, leaving: bool) -> list[AgentAction]:
        """The client asks for one."""
        plan = self._plan(settings, order)
        active = self.active
        if plan.in_conversation and active is not None:
            message = (
                f"Conversation already has an active response in progress: {active.id}. "
                "Wait until the response is finished before creating a new one."
            )
            raise BadEvent(message, None, "conversation_already_has_active_response")
        if len(self._open) >= self._most or leaving:
            raise BadEvent("there are too many responses at once; wait for one to end", None, "server_overloaded")
        return self._begin(plan)

    def cancel(self, response_id: str | None) -> list[AgentAction]:
        """None: that of the conversation."""
        reply = self.active if response_id is None else self._open.get(response_id)
        if reply is None:
            message = "Cancellation failed: no active response found"
            raise BadEvent(message, None, "response_cancel_not_active")
        return reply.cancel("client_cancelled")

    def interrupt(self) -> list[AgentAction]:
        """The user takes the floor."""
        active = self.active
        return [] if active is None else active.cancel("turn_detected")

    def ask(self) -> list[AgentAction]:
        """Questions that can be put: all the words that they hang on are there."""
        actions: list[AgentAction] = []
        for reply in self._open.values():
            context = self._conversation if reply.plan.context is None else reply.plan.context
            if not reply.asked and not any(entry.awaits_words for entry in context):
                actions += reply.ask(messages_of(context, reply.plan.instructions))
        return actions

    def ended(self) -> list[Reply]:
        """Those that are over, which are forgotten with this."""
        over = [reply for reply in self._open.values() if reply.over]
        for reply in over:
            del self._open[reply.id]
        return over

    def fail(self, message: str) -> list[AgentAction]:
        """All of them."""
        actions = [action for reply in self._open.values() for action in reply.fail(message)]
        self._open.clear()
        return actions

    def _begin(self, plan: Plan) -> list[AgentAction]:
        if plan.in_conversation:
            self._begins()
        reply = Reply(
            plan,
            f"resp_{self._new_id()}",
            next(self._keys),
            next(self._keys),
            self._conversation,
            self._send,
            self._new_id,
        )
        self._open[reply.id] = reply
        return reply.create()

    def _plan(self, settings: Settings, order: ResponseOrder) -> Plan:
        context = context_of(order, self._conversation, self._new_id)
        return plan_for(settings, order, context, self._conversation_id, self._owner)
