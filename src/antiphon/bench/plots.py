"""The pictures of a report. Needs matplotlib (extra ``bench``)."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from antiphon.bench.diagnosis import COMPONENTS
from antiphon.bench.metrics import group_metric
from antiphon.bench.report import Group
from antiphon.core.errors import ModelUnavailable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

COLOURS = {"client": "#8a8a8a", "network": "#4878a8", "server": "#c8553d", "voice": "#d9a441", "delivery": "#7b5ea7"}
LINES = ("#1f5a7a", "#c8553d", "#4f7a3a", "#7b5ea7", "#b8862b", "#3a3a3a")
KNEE = 2.0
"""The knee is the first load whose p95 is more than this many times that of the lightest load."""


@dataclass(frozen=True, slots=True)
class Figure:
    """``picture``: matplotlib's. ``reading``: how to read it, in a sentence or two."""

    title: str
    picture: Any
    reading: str

    @property
    def svg(self) -> str:
        """One element, ready for a page."""
        return _svg(self.picture)


def figures(groups: Sequence[Group]) -> list[Figure]:
    """All pictures that these groups allow; none for none. Raises ``ModelUnavailable`` without matplotlib."""
    if not groups:
        return []
    made = [latency_cdf(groups), waterfalls(groups), load_curve(groups), pareto(groups)]
    return [figure for figure in made if figure is not None]


def latency_cdf(groups: Sequence[Group]) -> Figure | None:
    """Share of takes whose first audible sample had arrived by then: one line per system and load."""
    held = [group for group in groups if any(take.ttfa_s is not None for take in group.takes)]
    if not held:
        return None
    picture, axes = _canvas()
    for at, group in enumerate(held):
        values = np.sort([1e3 * take.ttfa_s for take in group.takes if take.ttfa_s is not None])
        share = np.arange(1, len(values) + 1) / len(values)
        style = "-" if group.streams <= 1 else "--"
        axes.step(values, share, where="post", color=LINES[at % len(LINES)], linestyle=style, label=_name(group))
    _logarithmic(axes.xaxis)
    axes.set_xlabel("first audible sample, ms after the first text (log)")
    axes.set_ylabel("share of requests")
    axes.set_ylim(0, 1.02)
    axes.axhline(0.95, color="#bbbbbb", linewidth=0.8)
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    reading = "Further left is sooner; the steeper a line, the more a caller can rely on it."
    return Figure("First audible sample: how many had it by when", picture, reading)


def waterfalls(groups: Sequence[Group]) -> Figure | None:
    """What the caller waited for, stage by stage, of the takes near the p95."""
    rows = [(group, fall) for group in groups for fall in group.waterfalls if fall.quantile == 0.95 and fall.stages]
    if not rows:
        return None
    picture, axes = _canvas(height=0.9 + 0.42 * len(rows))
    for place, (_, fall) in enumerate(rows):
        begin = 0.0
        for stage in fall.stages:
            width = 1e3 * stage.seconds
            axes.barh(place, width, left=begin, color=COLOURS[stage.component], height=0.62, edgecolor="white",
                      linewidth=0.5)  # fmt: skip
            begin += width
        culprit = fall.culprit
        axes.annotate(f"{begin:.0f} ms" + (f": {culprit.name}" if culprit else ""), (begin, place), xytext=(5, 0),
                      textcoords="offset points", va="center", fontsize=8)  # fmt: skip
    axes.set_yticks(range(len(rows)), [_name(group) for group, _ in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.45 * max(1e3 * fall.total_s for _, fall in rows) + 1)
    axes.set_xlabel("ms the caller waited, of the takes near the p95")
    for name in COMPONENTS:
        axes.barh([0], [0], color=COLOURS[name], label=name)
    axes.legend(fontsize=8, frameon=False, ncols=len(COMPONENTS), loc="lower center", bbox_to_anchor=(0.45, 1.0))
    reading = (
        "Each bar is one wait, cut where the client saw something happen. The longest piece is named: that component "
        "made the caller wait. Voice is silence in front of the speech; delivery is silence in its middle."
    )
    return Figure("Who made the caller wait", picture, reading)


def knee(loads: Sequence[float], p95_s: Sequence[float]) -> int | None:
    """Place of the first load, rising, whose p95 is over :data:`KNEE` times that of the lightest; None: none is."""
    return next((at for at in range(1, len(loads)) if p95_s[at] > KNEE * p95_s[0]), None)


def load_curve(groups: Sequence[Group]) -> Figure | None:
    """First audible p95 against streams, where a system was measured under several loads."""
    systems = dict.fromkeys(group.system for group in groups)
    curves = {name: _curve([group for group in groups if group.system == name]) for name in systems}
    curves = {name: curve for name, curve in curves.items() if len(curve) > 1}
    if not curves:
        return None
    picture, axes = _canvas()
    found = []
    for at, (name, curve) in enumerate(curves.items()):
        loads, p50, p95, dry = (list(column) for column in zip(*curve, strict=True))
        colour = LINES[at % len(LINES)]
        axes.plot(loads, [1e3 * value for value in p95], "o-", color=colour, label=f"{name}, p95")
        axes.plot(loads, [1e3 * value for value in p50], "o:", color=colour, label=f"{name}, p50", markersize=3)
        for load, value, underruns in zip(loads, p95, dry, strict=True):
            if underruns:
                axes.plot(load, 1e3 * value, "x", color="black", markersize=9)
        place = knee(loads, p95)
        if place is not None:
            axes.annotate(f"knee: {loads[place]:g}", (loads[place], 1e3 * p95[place]), xytext=(6, 8),
                          textcoords="offset points", fontsize=9, color=colour)  # fmt: skip
            axes.axvline(loads[place], color=colour, linewidth=0.8, linestyle="--")
        found.append(f"{name}: " + (f"none up to {loads[-1]:g}" if place is None else f"{loads[place]:g}"))
    axes.set_xlabel("streams")
    axes.set_ylabel("first audible, ms")
    _logarithmic(axes.yaxis)
    axes.legend(fontsize=8, frameon=False)
    reading = (
        f"The knee is the first load with a p95 over {KNEE:g} times that of the lightest ({'; '.join(found)}). "
        "A cross marks a load at which players ran dry: there the latency is worth nothing."
    )
    return Figure("Latency against load", picture, reading)


def pareto(groups: Sequence[Group]) -> Figure | None:
    """Word error rate against latency: the lower left corner is better in both."""
    points = [
        (wer, latency, group)
        for group in groups
        if (wer := group_metric(group, "quality.wer")) is not None
        and (latency := group_metric(group, "ttfa_s.p95")) is not None
    ]
    if len(points) < 2:
        return None
    picture, axes = _canvas()
    best = sorted((latency, wer) for wer, latency, _ in points)
    front, least = [], float("inf")
    for latency, wer in best:
        if wer < least:
            front.append((latency, wer))
            least = wer
    axes.step([1e3 * x for x, _ in front], [100 * y for _, y in front], where="post", color="#999999", linestyle="--")
    for at, (wer, latency, group) in enumerate(points):
        axes.plot(1e3 * latency, 100 * wer, "o", color=LINES[at % len(LINES)])
        axes.annotate(_name(group), (1e3 * latency, 100 * wer), xytext=(5, 4), textcoords="offset points", fontsize=8)
    _logarithmic(axes.xaxis)
    axes.margins(x=0.25, y=0.2)
    axes.set_xlabel("first audible p95, ms (log)")
    axes.set_ylabel("word error rate, %")
    reading = "Points on the dashed line have no other that is both sooner and better understood."
    return Figure("Errors against latency", picture, reading)


def _curve(groups: Sequence[Group]) -> list[tuple[float, float, float, float]]:
    """(streams, p50, p95, underruns), rising."""
    rows = []
    for group in groups:
        spread = group.distributions.get("ttfa_s")
        if spread is not None and group.streams:
            rows.append((group.streams, spread.p50, spread.p95, group_metric(group, "underruns") or 0.0))
    return sorted(dict.fromkeys(rows))


def _name(group: Group) -> str:
    return f"{group.system}, {group.load}"


def _canvas(height: float = 3.4) -> "tuple[Any, Axes]":
    try:
        from matplotlib.figure import Figure as Picture
    except ImportError:
        raise ModelUnavailable("pictures need matplotlib: pip install 'antiphon[bench]'") from None
    picture = Picture(figsize=(7.4, height), layout="constrained")
    axes = picture.subplots()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(True, color="#eeeeee", linewidth=0.7)
    axes.set_axisbelow(True)
    return picture, axes


def _logarithmic(axis: "Axis") -> None:
    """Numbers as people write them: 20, 50, 100."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    scale = axis.axes.set_xscale if axis is axis.axes.xaxis else axis.axes.set_yscale
    scale("log")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())


def _svg(picture: Any) -> str:
    """The picture without its XML head; letters stay letters, so that a page can be searched."""
    import matplotlib as mpl

    target = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "font.family": "sans-serif", "svg.hashsalt": "antiphon"}):
        picture.savefig(target, format="svg", metadata={"Date": None})
    text = target.getvalue()
    return re.sub(r'(<svg\b[^>]*?) width="[^"]*" height="[^"]*"|(<svg\b[^>]*?) height="[^"]*" width="[^"]*"',
                  lambda found: found.group(1) or found.group(2), text[text.index("<svg") :], count=1)  # fmt: skip
