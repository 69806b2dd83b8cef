"""Decides about tool calls: what may run when, what must not run twice, and that every call comes to an end.

Reads may run on a guess. Writes wait until the turn is certain, and a moment longer, in which the user may go on and
correct it; then they run once, under a key by which whoever executes them can tell a repetition.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from antiphon.core.brain import ToolCall, ToolSpec
from antiphon.dialog.tool_run import CallState, CallTool, CancelTool, ToolAction, ToolRun, ToolSettings

_KEPT = 256


class ToolDesk:
    """All tool calls of a conversation. Pure. ``owner`` names the answer that asks.

    What each ended call said is to be moved to the history (:meth:`take_results`).
    """

    def __init__(
        self, conversation_id: str, specs: Sequence[ToolSpec] = (), settings: ToolSettings | None = None
    ) -> None:
        self.specs = {spec.name: spec for spec in specs}
        self.settings = settings or ToolSettings()
        self.runs: dict[str, ToolRun] = {}
        self.held = False
        """No write starts: the user is speaking, and may correct it."""
        self._conversation_id = conversation_id
        self._results: list[tuple[str, str]] = []

    @property
    def writing(self) -> bool:
        """Whether a write is on its way: nobody should tell how it went before it is known."""
        return any(run.state == "running" and run.effect == "write" for run in self.runs.values())

    @property
    def deadline_s(self) -> float | None:
        times = [run.deadline_s for run in self.runs.values() if run.state == "running"]
        if not self.held:
            times += [run.due_s for run in self.runs.values() if run.due_s is not None]
        return min(times, default=None)

    def touched(self, owner: str) -> bool:
        """Whether any call of this answer has been executed, or may still be."""
        return any(run.started or run.open for run in self.runs.values() if run.owner == owner)

    def filler(self, owner: str) -> tuple[str | None, float | None]:
        """What is said, and after how long, while the calls of this answer take long; None: as for every tool."""
        names = (run.call.name for run in self.runs.values() if run.owner == owner and run.open)
        return next((self.settings.fillers[name] for name in names if name in self.settings.fillers), (None, None))

    def waits(self, owner: str) -> bool:
        return any(run.open for run in self.runs.values() if run.owner == owner)

    def is_open(self, call_id: str) -> bool:
        return call_id in self.runs and self.runs[call_id].open

    def ask(
        self, call: ToolCall, turn: int, owner: str, committed: bool, now_s: float, since_s: float | None = None
    ) -> tuple[ToolCall, list[ToolAction]]:
        """A brain wishes for a tool. Returns the call as it is to be recorded (its id made unique) and what to do.

        ``committed``: the turn is certain, since ``since_s`` (None: now).
        """
        call = self._unique(call)
        spec = self.specs.get(call.name)
        arguments = _arguments(call.arguments)
        if spec is None or arguments is None:
            problem = f"there is no tool {call.name}" if spec is None else "the arguments are not a JSON object"
            self._refuse(call, turn, owner, problem)
            return call, []
        canonical = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        signature = f"{call.name}({canonical})"
        key = _key(self._conversation_id, str(turn), call.name, canonical)
        run = ToolRun(call, spec.effect, key, turn, owner, "waiting", 0.0, spec.timeout_s, signature)
        if sum(other.turn == turn for other in self.runs.values()) >= self.settings.max_calls_per_turn:
            self._refuse(call, turn, owner, "too many calls in one turn")
            return call, []
        self.runs[call.call_id] = run
        self._forget()
        if spec.effect == "read":
            return call, [self._start(run, now_s)]
        names = self.settings.targets.get(call.name)
        run.target = json.dumps([call.name, [arguments.get(name) for name in names]]) if names is not None else ""
        twin = self._twin(run)
        if twin is not None:
            self._pair(run, twin)
            return call, []
        for other in self.runs.values():
            same = other is not run and run.target and other.target == run.target and other.turn == turn
            if same and other.state == "waiting":
                self._end(other, "superseded", "replaced by a later call of the same turn")
        return call, self._schedule([run], now_s if since_s is None else since_s, now_s) if committed else []

    def commit(self, owner: str, now_s: float) -> list[ToolAction]:
        """The turn is certain: what waited for that runs, in the order of asking."""
        waiting = [run for run in self.runs.values() if run.owner == owner and run.state == "waiting"]
        return self._schedule([run for run in waiting if not run.twin_of], now_s, now_s)

    def start_due(self, now_s: float, *, last: bool = False) -> list[ToolAction]:
        """Start the writes whose moment has come, if nobody is speaking. ``last``: nobody can correct them any more."""
        due = [run for run in self.runs.values() if run.due_s is not None and (last or run.due_s <= now_s)]
        return [] if self.held else [self._start(run, now_s) for run in due]

    def discard(self, owner: str) -> list[ToolAction]:
        """The answer was a guess, and wrong: nothing of it happened."""
        actions: list[ToolAction] = []
        for run in self._open_of(owner):
            if run.state == "waiting":
                self._end(run, "superseded", "the turn went on")
            else:
                actions += self._cancel(run)
        return actions

    def interrupt(self, owner: str) -> list[ToolAction]:
        """The answer was cut off: its reads are of no use any more; its writes go on to their end, or never begin."""
        actions: list[ToolAction] = []
        for run in self._open_of(owner):
            if run.state == "waiting":
                self._end(run, "superseded", "not done: the user went on before it began")
            elif run.effect == "read":
                actions += self._cancel(run)
        return actions

    def finish(self, call_id: str, content: str, ok: bool = True) -> bool:
        """A result came. It is recorded whatever has become of the call. Says whether the call was still open."""
        run = self.runs.get(call_id)
        if run is None:
            return False
        if not run.open:
            run.said = content
            self._results.append((call_id, content))
            if run.state == "timed_out" and ok:
                run.state = "done"  # it did happen: an identical write must not happen again
            return False
        self._end(run, "done" if ok else "failed", content, verbatim=True)
        return True

    def tick(self, now_s: float) -> list[ToolAction]:
        actions: list[ToolAction] = []
        for run in list(self.runs.values()):
            if run.state == "running" and not run.twin_of and now_s >= run.deadline_s:
                if run.effect == "read":
                    self._end(run, "timed_out", "no answer in time")
                    actions.append(CancelTool(run.call.call_id))
                else:
                    self._end(run, "timed_out", "no answer in time; it is not known whether it was done")
        return actions

    def tell(self, owner: str) -> None:
        """The user has heard how the calls of this answer went: the same wish again is a new wish."""
        for run in self.runs.values():
            if run.owner == owner and not run.open:
                run.told = True

    def close(self) -> list[ToolAction]:
        """The conversation is over: reads are cancelled, what waited never runs, running writes go on to their end."""
        actions: list[ToolAction] = []
        for run in list(self.runs.values()):
            if run.state == "waiting":
                self._end(run, "cancelled", "the conversation is over")
            elif run.state == "running" and run.effect == "read":
                actions += self._cancel(run)
        return actions

    def save(self) -> list[ToolRun]:
        """All that another process has to know. Guesses are not worth saving."""
        return [replace(run) for run in self.runs.values() if run.state != "waiting" or run.due_s is not None]

    def restore(self, runs: Sequence[ToolRun], now_s: float, goes_on: Callable[[ToolRun], bool], why: str) -> None:
        """Take over what another process saved. ``goes_on``: whether a call that was running still does; of the others
        it is not known how they ended. Nothing that has run runs again."""
        for run in runs:
            self.runs[run.call.call_id] = run
            run.deadline_s = now_s + run.timeout_s
            if run.due_s is not None:
                run.due_s = now_s
        for run in runs:
            if run.state == "running" and not run.twin_of and not goes_on(run):
                if run.effect == "read":
                    self._end(run, "cancelled", why)
                else:
                    self._end(run, "timed_out", f"{why}; it is not known whether it was done")

    def take_results(self) -> list[tuple[str, str]]:
        """(call id, what it said) of all that ended since the last time, late results included."""
        out, self._results = self._results, []
        return out

    def _open_of(self, owner: str) -> list[ToolRun]:
        return [run for run in self.runs.values() if run.owner == owner and run.open]

    def _schedule(self, runs: Sequence[ToolRun], since_s: float, now_s: float) -> list[ToolAction]:
        for run in runs:
            run.due_s = since_s + self.settings.write_grace_s
        return self.start_due(now_s)

    def _start(self, run: ToolRun, now_s: float) -> CallTool:
        run.state, run.deadline_s, run.due_s, run.started = "running", now_s + run.timeout_s, None, True
        for twin in self.runs.values():
            if twin.twin_of == run.call.call_id:
                twin.state, twin.deadline_s = run.state, run.deadline_s
        return CallTool(run.call, run.key, run.effect)

    def _cancel(self, run: ToolRun) -> list[ToolAction]:
        self._end(run, "cancelled", "not waited for")
        return [CancelTool(run.call.call_id)]

    def _twin(self, run: ToolRun) -> ToolRun | None:
        """An earlier call for the same write that has run or will, in this turn or with a result not yet told."""
        for other in self.runs.values():
            if other is run or other.twin_of or other.signature != run.signature or other.effect != "write":
                continue
            if other.turn != run.turn and other.told:
                continue
            if other.state in ("failed", "timed_out"):
                run.key = other.key  # another attempt at the same write
            elif other.state in ("running", "done") or (other.state == "waiting" and other.owner == run.owner):
                return other
        return None

    def _pair(self, run: ToolRun, twin: ToolRun) -> None:
        run.twin_of, run.key = twin.call.call_id, twin.key
        run.state, run.deadline_s = twin.state, twin.deadline_s
        if not twin.open:
            self._results.append((run.call.call_id, twin.said))

    def _end(self, run: ToolRun, state: CallState, content: str, verbatim: bool = False) -> None:
        said = content if verbatim else json.dumps({"status": state, "note": content})
        for each in (run, *(other for other in self.runs.values() if other.twin_of == run.call.call_id)):
            if each.open:
                each.state, each.said, each.due_s = state, said, None
                self._results.append((each.call.call_id, said))

    def _refuse(self, call: ToolCall, turn: int, owner: str, problem: str) -> None:
        self.runs[call.call_id] = run = ToolRun(call, "read", "", turn, owner, "waiting", 0.0, 0.0)
        self._end(run, "failed", problem)

    def _unique(self, call: ToolCall) -> ToolCall:
        call_id, count = call.call_id or "call", 1
        while call_id in self.runs:
            count += 1
            call_id = f"{call.call_id or 'call'}-{count}"
        return replace(call, call_id=call_id)

    def _forget(self) -> None:
        ended = [call_id for call_id, run in self.runs.items() if not run.open]
        for call_id in ended[: max(0, len(self.runs) - _KEPT)]:
            del self.runs[call_id]


def _arguments(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _key(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]
