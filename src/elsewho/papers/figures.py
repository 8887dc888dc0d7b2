"""How plots and contact sheets look: one hand for all papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from elsewho.types import Array

COLOURS = {  # told apart by all kinds of colour vision
    "originals": "#444444",
    "k-same-m": "#d55e00",
    "k-same-furthest": "#0072b2",
    "k-diff-furthest": "#009e73",
    "k-diff-furthest, singles avoided": "#009e73",
    "k-diff-furthest, singles allowed": "#56b4e9",
    "k-diff-drawn": "#8a3fb0",
}
DASHES = ("-", "--", ":", "-.")
LABEL = 26  # pixels of a line of text on a sheet
GROUND = 245


def make_plot(panels: int = 1, *, width: float = 7.2, height: float = 4.2) -> tuple[Figure, list[Axes]]:
    """An empty figure with `panels` axes side by side."""
    plot = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(plot)
    axes = [plot.add_subplot(1, panels, i + 1) for i in range(panels)]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(visible=True, axis="y", color="#e4e7ea", linewidth=0.8)
        one.set_axisbelow(True)
    return plot, axes


def draw_lines(
    axes: Axes,
    at: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    across: str,
    up: str,
    theory: Mapping[str, Sequence[float]] | None = None,
    spread: Mapping[str, Sequence[float]] | None = None,
) -> None:
    """Lines over `at`, measured ones with dots; `theory` is dashed; `spread` is half the height of a bar."""
    for name, values in (theory or {}).items():
        axes.plot(at, values, color="#888888", linestyle=(0, (4, 3)), linewidth=1.3, label=name)
    for number, (name, values) in enumerate(lines.items()):
        family = name.split(":")[0]
        colour = COLOURS.get(family, f"C{number}")
        same = [other for other in lines if other.split(":")[0] == family]
        dash = DASHES[same.index(name) % len(DASHES)]
        reach = (spread or {}).get(name)
        axes.errorbar(
            at, values, yerr=reach, color=colour, linestyle=dash, marker="o", markersize=4, linewidth=1.7, capsize=2,
            label=name,
        )  # fmt: skip
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))


def make_sheet(rows: Sequence[Sequence[Array | None]], names: Sequence[str], heads: Sequence[str]) -> Array:
    """Pictures (h, w, 3) uint8 in rows, named at the left, columns named above; None leaves a place empty."""
    pictures = [one for row in rows for one in row if one is not None]
    height, width = max(one.shape[0] for one in pictures), max(one.shape[1] for one in pictures)
    left = max([0, *(12 + text_width(name) for name in names)])
    columns = max(len(row) for row in rows)
    width = max([width, *(text_width(head) + 8 for head in heads)])
    sheet = np.full((LABEL + len(rows) * (height + 6), left + columns * (width + 6), 3), GROUND, np.uint8)
    for column, head in enumerate(heads):
        write_text(sheet, head, left + column * (width + 6) + 2, LABEL - 8)
    for number, (name, row) in enumerate(zip(names, rows, strict=True)):
        top = LABEL + number * (height + 6)
        write_text(sheet, name, 6, top + height // 2)
        for column, picture in enumerate(row):
            if picture is None:
                continue
            x = left + column * (width + 6)
            sheet[top : top + picture.shape[0], x : x + picture.shape[1]] = picture
    return sheet


def text_width(text: str) -> int:
    """Pixels that a label takes."""
    return int(cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 0.45, 1)[0][0])


def write_text(sheet: Array, text: str, x: int, y: int) -> None:
    """Put a label on the sheet, its foot at y."""
    cv2.putText(sheet, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (40, 40, 40), 1, cv2.LINE_AA)
