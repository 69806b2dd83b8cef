"""Drawings of the report, as inline SVG: the sound of both channels, and where the silences went. Pure."""

from collections.abc import Sequence
from html import escape

import numpy as np
from examples.demo.stages import STAGES, Bar

from antiphon.bench.conversation_recording import TwoChannels
from antiphon.core.frame import Samples

WAVE_W, LANE_H, AXIS_H = 1200, 90, 22
BAR_W, ROW_H, LABEL_W = 1200, 34, 360


def waveform(recording: TwoChannels, marks: Sequence[tuple[float, float, str]]) -> str:
    """Both channels, the caller above. ``marks``: (from, to, text) in seconds, shaded: the caller's lines."""
    length_s = max(recording.length_s, 0.1)
    height = 2 * LANE_H + AXIS_H
    out = [
        f'<svg id="wave" class="wave" viewBox="0 0 {WAVE_W} {height}" role="img" '
        f'aria-label="Sound of the caller and of the agent over time" preserveAspectRatio="none">'
    ]
    for number, (from_s, to_s, text) in enumerate(marks, 1):
        x, width = WAVE_W * from_s / length_s, WAVE_W * (to_s - from_s) / length_s
        out.append(
            f'<rect class="mark" x="{x:.1f}" y="0" width="{width:.1f}" height="{2 * LANE_H}">'
            f"<title>{number}. {escape(text)}</title></rect>"
        )
    for lane, (name, samples) in enumerate((("caller", recording.caller), ("agent", recording.agent))):
        middle = LANE_H * lane + LANE_H / 2
        out.append(f'<line class="axis" x1="0" y1="{middle}" x2="{WAVE_W}" y2="{middle}"/>')
        out.append(f'<path class="{name}" d="{_outline(samples, middle)}"/>')
    for second in range(0, int(length_s) + 1, 5):
        x = WAVE_W * second / length_s
        out.append(f'<line class="axis" x1="{x:.1f}" y1="{2 * LANE_H}" x2="{x:.1f}" y2="{2 * LANE_H + 5}"/>')
        out.append(f'<text x="{x + 3:.1f}" y="{2 * LANE_H + 17}">{second} s</text>')
    out.append(f'<line id="now" class="now" x1="0" y1="0" x2="0" y2="{2 * LANE_H}"/></svg>')
    return "".join(out)


def _outline(samples: Samples, middle: float, columns: int = WAVE_W) -> str:
    """A closed path along the highest and back along the lowest sample of each column."""
    if not len(samples):
        return f"M0 {middle}"
    edges = np.linspace(0, len(samples), columns + 1).astype(int)[:-1]
    loudest = max(float(np.abs(samples).max()), 1e-6)
    scale = (LANE_H / 2 - 4) / loudest
    high = np.maximum.reduceat(samples, edges) * scale
    low = np.minimum.reduceat(samples, edges) * scale
    there = [f"{x} {middle - y:.1f}" for x, y in enumerate(high)]
    back = [f"{x} {middle - y:.1f}" for x, y in reversed(list(enumerate(low)))]
    return "M" + "L".join((*there, *back)) + "Z"


def waterfall(rows: Sequence[tuple[str, Sequence[Bar]]]) -> str:
    """A row for each turn: its stages one behind the other, from the caller's last sound to the agent's first."""
    longest_s = max((bar.to_s for _, own in rows for bar in own), default=0.1) or 0.1
    step_s = next(step for step in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 1e9) if longest_s / step <= 8)
    height = ROW_H * len(rows) + AXIS_H
    scale = (BAR_W - LABEL_W - 70) / longest_s
    out = [f'<svg class="fall" viewBox="0 0 {BAR_W} {height}" role="img" aria-label="Stages of each silence">']
    for tick in range(int(longest_s / step_s) + 1):
        x = LABEL_W + scale * tick * step_s
        out.append(f'<line class="axis" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height - AXIS_H}"/>')
        out.append(f'<text x="{x:.1f}" y="{height - 6}" text-anchor="middle">{1e3 * tick * step_s:.0f} ms</text>')
    for row, (label, own) in enumerate(rows):
        y = ROW_H * row
        shown = label if len(label) <= 50 else label[:49] + "…"
        out.append(f'<text x="0" y="{y + 21}">{escape(shown)}<title>{escape(label)}</title></text>')
        for bar in own:
            if bar.seconds > 0:
                out.append(
                    f'<rect class="s-{bar.name}" x="{LABEL_W + scale * bar.from_s:.1f}" y="{y + 6}" '
                    f'width="{max(scale * bar.seconds, 0.8):.1f}" height="{ROW_H - 12}">'
                    f"<title>{escape(bar.label)}: {1e3 * bar.seconds:.0f} ms</title></rect>"
                )
        end_s = max((bar.to_s for bar in own), default=0.0)
        out.append(f'<text x="{LABEL_W + scale * end_s + 6:.1f}" y="{y + 21}">{1e3 * end_s:.0f} ms</text>')
    return "".join(out) + "</svg>"


def legend() -> str:
    """Stage colours and what they mean."""
    items = (
        f'<div><span class="key k-{name}"></span><b>{escape(label)}</b> {escape(meaning)}</div>'
        for name, (label, meaning) in STAGES.items()
    )
    return f'<div class="legend">{"".join(items)}</div>'
