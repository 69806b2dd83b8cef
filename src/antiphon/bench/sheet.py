"""A report's verdicts and pictures on one PNG sheet, for documents that cannot hold a page. Needs matplotlib."""

import io
import textwrap
from collections.abc import Sequence

import numpy as np

from antiphon.bench.page import verdicts
from antiphon.bench.plots import figures
from antiphon.bench.report import Report
from antiphon.core.errors import InvalidInput, ModelUnavailable

DPI = 90
WIDTH_IN = 7.4
LINE_IN = 0.19


def sheet(report: Report) -> bytes:
    """PNG, 666 pixels wide. Raises ``InvalidInput`` for a report without systems, ``ModelUnavailable`` without
    matplotlib."""
    if not report.groups:
        raise InvalidInput(f"{report.title} holds no systems to draw", "report")
    lines: list[tuple[str, str]] = [(report.title, "title"), (f"{report.conditions.at}; {report.conditions.cpu}", "")]
    for good, head, faults in verdicts(report.groups):
        lines += [(line, "good" if good else "bad") for line in textwrap.wrap(head, 96)]
        lines += [(line, "") for fault in faults for line in textwrap.wrap("- " + fault, 118)]
    parts = [_text(lines)]
    for figure in figures(report.groups):
        parts += [_text([(figure.title, "title")]), _pixels(figure.picture)]
    return _png(parts)


def _text(lines: Sequence[tuple[str, str]]) -> bytes:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ModelUnavailable("pictures need matplotlib: pip install 'antiphon[bench]'") from None
    colours = {"good": "#3c6b2a", "bad": "#a8402b", "title": "#111111", "": "#444444"}
    height = LINE_IN * (len(lines) + 0.8)
    picture = Figure(figsize=(WIDTH_IN, height))
    for at, (line, kind) in enumerate(lines):
        weight = "bold" if kind else "normal"
        picture.text(0.01, 1 - (at + 0.9) * LINE_IN / height, line, fontsize=11 if kind == "title" else 8,
                     color=colours[kind], weight=weight, va="center")  # fmt: skip
    return _pixels(picture)


def _pixels(picture: object) -> bytes:
    target = io.BytesIO()
    picture.savefig(target, format="png", dpi=DPI, facecolor="white", metadata={"Software": None})  # type: ignore[attr-defined]
    return target.getvalue()


def _png(parts: Sequence[bytes]) -> bytes:
    from matplotlib.image import imread, imsave

    pixels = [imread(io.BytesIO(part), format="png")[:, :, :3] for part in parts]
    width = max(part.shape[1] for part in pixels)
    wide = [np.pad(part, ((0, 0), (0, width - part.shape[1]), (0, 0)), constant_values=1.0) for part in pixels]
    target = io.BytesIO()
    imsave(target, np.concatenate(wide), format="png", metadata={"Software": ""})
    return target.getvalue()
