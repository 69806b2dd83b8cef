"""The stages of a silence, in the words of this demo."""

from dataclasses import dataclass

from examples.demo.records import TurnRecord

STAGES: dict[str, tuple[str, str]] = {
    "final": ("final words", "from the caller's last sound until the last words of the turn stood"),
    "turn": ("turn end", "until it was certain that the caller had finished"),
    "llm": ("brain first token", "until the brain gave its first word, or asked for a tool"),
    "tool": ("tool", "a tool was waited for"),
    "unit": ("first phrase", "until there was enough text to be spoken"),
    "tts": ("TTS first byte", "until the voice gave its first audio"),
    "send": ("first audible sent", "until the first sample that can be heard was sent"),
    "playback": ("first heard", "until the caller's loudspeaker played it"),
}
"""Name in the record -> what it is called here, and what it is. In their order."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A stage of one turn: ``[from_s, to_s)`` after the end of speech."""

    name: str
    from_s: float
    to_s: float
    early_s: float = 0.0
    """So long before the turn's end it was ready, on a guess."""

    @property
    def label(self) -> str:
        return STAGES[self.name][0]

    @property
    def seconds(self) -> float:
        return self.to_s - self.from_s


_POINTS = {"llm": "llm_first", "unit": "unit", "tts": "tts_first"}


def bars(record: TurnRecord) -> list[Bar]:
    """The stages one behind the other; what was ready before it was needed has no length."""
    spent = dict(record.stages)
    names = [name for name, _ in record.stages]
    names += [name for name in ("llm", "tts") if name not in spent]
    order = [*STAGES]
    if "tool" in names and "llm" in names and names.index("tool") < names.index("llm"):
        order.remove("tool")
        order.insert(order.index("llm"), "tool")  # the brain was asked again, with the tool's result
    end_s = record.moments.get("turn_end")
    found, at_s = [], 0.0
    for name in sorted(names, key=order.index):
        ready_s = record.moments.get(_POINTS.get(name, ""))
        early_s = 0.0 if end_s is None or ready_s is None else max(0.0, end_s - ready_s)
        found.append(Bar(name, at_s, at_s + spent.get(name, 0.0), early_s))
        at_s += spent.get(name, 0.0)
    return found
