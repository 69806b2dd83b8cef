"""The conversation as a list of lines, in the order in which they began. Pure."""

from collections.abc import Iterator
from html import escape

from examples.demo.records import TurnRecord
from examples.demo.script import SHOWS
from examples.demo.story import Chapter, Story

from antiphon.protocol import native_messages as wire


def talk(story: Story) -> Iterator[str]:
    """List items: what the caller said and what was understood, what the agent said and how much of it was heard."""
    lines: list[tuple[float, str]] = []
    if story.greeting_heard_s is not None:
        lines.append((story.greeting_heard_s, _item(story.greeting_heard_s, "agent", escape(_greeting(story)))))
    for number, chapter in enumerate(story.chapters):
        if chapter.line.start_s is not None:
            lines.append((chapter.line.start_s, _caller(chapter, SHOWS[number] if number < len(SHOWS) else "")))
        for record in chapter.records:
            at_s = record.moments.get("heard")
            if at_s is not None and record.reply:
                lines.append((at_s, _agent(record, at_s)))
    yield from (text for _, text in sorted(lines, key=lambda line: line[0]))


def _greeting(story: Story) -> str:
    """The agent's first reply, as it came."""
    first = next((event.reply_id for _, event in story.call.events if isinstance(event, wire.ReplyStarted)), "")
    texts = [
        event.delta for _, event in story.call.events if isinstance(event, wire.ReplyText) and event.reply_id == first
    ]
    return " ".join("".join(texts).split())


def _caller(chapter: Chapter, shows: str) -> str:
    understood = " ".join(record.said for record in chapter.records if record.said)
    notes = [shows] if shows else []
    if chapter.step.kind != "backchannel":
        notes.append(f"understood: “{understood}”" if understood else "nothing was understood")
    return _item(chapter.line.start_s or 0.0, "caller", escape(chapter.step.text), notes)


def _agent(record: TurnRecord, at_s: float) -> str:
    notes = [f"{tool.effect} {tool.name} {tool.arguments}: {tool.state}" for tool in record.tools]
    said = escape(record.reply)
    if record.outcome == "interrupted" and record.reply.startswith(record.heard):
        said = f"{escape(record.heard)} <del>{escape(record.reply[len(record.heard) :].strip())}</del>"
        notes.append("interrupted; what is struck out was never heard, and the agent knows that")
    return _item(at_s, "agent", said, notes)


def _item(at_s: float, who: str, said: str, notes: list[str] | None = None) -> str:
    told = "".join(f'<span class="note">{escape(note)}</span>' for note in notes or ())
    start_s = max(0.0, at_s)
    return (
        f'<li class="{who}"><button class="at" value="{start_s:.2f}">{start_s:.1f} s</button>'
        f'<span class="who">{who}</span><span>{said}{told}</span></li>'
    )
