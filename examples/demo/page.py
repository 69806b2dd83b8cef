"""The report as one HTML file that needs nothing else: sound, drawings and tables are in it. Pure."""

import base64
import io
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import numpy as np
import soundfile
from examples.demo.checks import Check
from examples.demo.house import Book
from examples.demo.page_talk import talk
from examples.demo.stages import STAGES, bars
from examples.demo.story import TOLERANCE_S, Story
from examples.demo.svg import legend, waterfall, waveform
from examples.demo.text import said

from antiphon.bench.conversation_recording import TwoChannels

_HERE = Path(__file__).parent


def page(story: Story, found: Sequence[Check], facts: Sequence[tuple[str, str]]) -> str:
    """``facts``: what to say of the machine and the versions."""
    style, script = ((_HERE / name).read_text("utf-8") for name in ("page.css", "page.js"))
    body = "\n".join(_body(story, found, facts))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Antiphon: one conversation</title><style>{style}</style></head>\n"
        f"<body><main>\n{body}\n</main><script>{script}</script></body></html>\n"
    )


def _body(story: Story, found: Sequence[Check], facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    wrong = [check for check in found if not check.ok]
    yield "<h1>One conversation with Antiphon</h1>"
    yield (
        "<p>A synthetic caller telephones the order desk of a small shop. It speaks in real time to a real Antiphon "
        "server, which listens, decides when the caller has finished, looks into a real order book, answers, and can "
        "be interrupted and corrected. All models run on this machine; nothing went over a "
        "network, and no key was used. "
        "The agent follows rules from a file, it is no language model.</p>"
    )
    if wrong:
        yield f'<p class="verdict not">It did not go as it should: {len(wrong)} of {len(found)} facts do not hold.</p>'
        yield from _facts(wrong)
    else:
        yield f'<p class="verdict ok">It went as it should: all {len(found)} facts hold (they are listed below).</p>'
    yield from _sound(story)
    yield '<h2>Who said what</h2><div class="card"><ol class="talk">'
    yield from talk(story)
    yield "</ol></div>"
    yield from _silences(story)
    yield from _books(story.before, story.after)
    yield "<h2>What must hold, and what was found</h2>"
    yield from _facts(found)
    yield from _ledger(story)
    yield "<h2>How this was made</h2><div class='card'><table><tbody>"
    for name, told in facts:
        yield f"<tr><td>{escape(name)}</td><td>{escape(told)}</td></tr>"
    yield (
        "</tbody></table></div><p class='soft'>Made by <code>make demo</code>. Next: <code>antiphon talk</code> to "
        "speak with the agent yourself, <code>antiphon serve</code> to run it for your own programs.</p>"
    )


def _facts(found: Sequence[Check]) -> Iterator[str]:
    yield '<div class="card"><table><tbody>'
    for check in found:
        mark = '<td class="ok">holds</td>' if check.ok else '<td class="not">does not hold</td>'
        yield f"<tr>{mark}<td>{escape(check.name)}</td><td>{escape(check.found)}</td></tr>"
    yield "</tbody></table></div>"


def _sound(story: Story) -> Iterator[str]:
    marks = [
        (line.start_s, line.end_s, story.call.scenario.steps[line.index].text)
        for line in story.call.lines
        if line.start_s is not None and line.end_s is not None
    ]
    yield '<h2>Listen</h2><div class="card">'
    sound = base64.b64encode(mp3(story.call.recording)).decode()
    yield f'<audio controls src="data:audio/mpeg;base64,{sound}"></audio>'
    yield waveform(story.call.recording, marks)
    yield (
        '<p class="soft"><span class="key caller"></span>above: the caller as it spoke (left channel) '
        '<span class="key agent"></span>below: the agent as the caller heard it (right channel). Shaded: the '
        "caller's lines. Click to listen from there.</p></div>"
    )


def mp3(recording: TwoChannels) -> bytes:
    out = io.BytesIO()
    both = np.clip(np.stack((recording.caller, recording.agent), axis=1), -1.0, 1.0)
    soundfile.write(out, both, recording.rate_hz, format="MP3")
    return out.getvalue()


def _silences(story: Story) -> Iterator[str]:
    spoken = story.spoken()
    yield "<h2>Where each silence went</h2>"
    yield (
        "<p>From the caller's last sound to the agent's first. The stages come from the server's record of the turn; "
        "their sum must be the silence that can be measured in the recording, which the client made.</p>"
    )
    yield '<div class="card">' + waterfall([(chapter.step.text, bars(record)) for chapter, record in spoken]) + legend()
    names = [name for name in STAGES if any(name in dict(record.stages) for _, record in spoken)]
    heads = "".join(f'<th class="n">{escape(STAGES[name][0])}</th>' for name in names)
    yield (
        f'<table><caption>Milliseconds</caption><thead><tr><th>turn</th>{heads}<th class="n">sum</th>'
        '<th class="n">recorded</th><th class="n">apart</th><th>guess</th><th>cause</th></tr></thead><tbody>'
    )
    for chapter, record in spoken:
        spent = dict(record.stages)
        numbers = [f"{1e3 * spent[name]:.0f}" if name in spent else "" for name in names]
        cells = "".join(f'<td class="n">{number}</td>' for number in numbers)
        apart, recorded = chapter.apart_s, chapter.measured.v2v_s
        told = "" if apart is None else f"{1e3 * apart:+.0f}"
        mark = "ok" if apart is not None and abs(apart) <= TOLERANCE_S else "not"
        yield (
            f'<tr><td>{record.number}</td>{cells}<td class="n">{1e3 * sum(spent.values()):.0f}</td>'
            f'<td class="n">{"" if recorded is None else f"{1e3 * recorded:.0f}"}</td><td class="n {mark}">{told}</td>'
            f"<td>{escape(record.speculation)}</td><td>{escape(record.cause)}</td></tr>"
        )
    yield (
        "</tbody></table><p class='soft'>Guess: the answer was prepared before it was certain that the caller had "
        "finished (right: it could be used at once). What was ready beforehand takes no time. Cause: of a turn that "
        "took longer than is good, the stage that is to blame.</p></div>"
    )


def _books(before: Book, after: Book) -> Iterator[str]:
    yield "<h2>The order book</h2><div class='card'><table><thead><tr><th>order</th><th>customer</th><th>status</th>"
    yield "<th>delivery before</th><th>delivery after</th></tr></thead><tbody>"
    for one in before.orders:
        other = after.order(one.id)
        yield (
            f"<tr{' class=changed' if other != one else ''}><td>{one.id}</td><td>{escape(one.customer)}</td>"
            f"<td>{escape(other.status)}</td><td>{one.delivery_day} {one.part}</td>"
            f"<td>{other.delivery_day} {other.part}</td></tr>"
        )
    yield f"</tbody></table><p class='soft'>Changes written: {after.changes - before.changes}.</p></div>"


def _ledger(story: Story) -> Iterator[str]:
    yield "<h2>The ledger</h2><p>Every decision of the agent, with its moment in the recording.</p><div class='card'>"
    for record in story.records:
        cause = f"; cause: {record.cause}" if record.cause else ""
        yield (
            f"<details open><summary><b>Turn {record.number}</b> {escape(said(record))} "
            f"<span class='soft'>{escape(record.outcome + cause)}</span></summary><table><tbody>"
        )
        for entry in record.ledger:
            fault = f" (fault: {entry.fault})" if entry.fault else ""
            yield (
                f'<tr><td class="n">{entry.at_s:.3f} s</td><td><code>{escape(entry.kind)}</code></td>'
                f"<td>{escape(entry.reason + fault)}</td></tr>"
            )
        yield "</tbody></table></details>"
    yield "</div>"
