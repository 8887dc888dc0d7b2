"""Files of points: .asf, .pts, .tem, .csv, each to pixels with x = 0.0 at the centre of the first pixel.

.asf  relative to the image size, 0 at the left edge: times the size, minus 0.5. The clicks of the IMM
      base lie on the grid of a screen at 155 %, half a pixel off, which shows where its 0 is
.pts  Matlab counts from 1: minus 1
.tem  Psychomorph counts from 0: as it is
.csv  as .tem
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from elsewho.errors import BadAnnotation
from elsewho.media.files import show_name
from elsewho.types import Array

MAX_BYTES = 1 << 20  # a file of points is some kilobytes
MAX_OUTSIDE = 0.5  # of the picture's size: ears and chins are marked slightly outside, slips far outside

Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a file of points."""

    path: Path
    number: int
    text: str

    def fail(self, found: str, remedy: str = "Annotate the picture again.") -> NoReturn:
        raise BadAnnotation(f"{show_name(self.path)}:{self.number}: {found}. {remedy}")


def read_points(path: str | os.PathLike[str], image_size: Size) -> Array:
    """Read one file of points, of the kind that its extension names.

    image_size  width, height of the upright picture, pixels
    returns     (L, 2) float64, x, y in pixels; up to half of the picture's size outside of it
    """
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise BadAnnotation(
            f"{show_name(path)}:1: points are not read from '{path.suffix}'. Use {', '.join(SUFFIXES)}."
        )
    lines = read_lines(path)
    rows = reader(lines, image_size)
    for line, x, y in rows:
        _check_inside(line, x, y, image_size)
    points = np.array([(x, y) for _, x, y in rows], dtype=np.float64)
    points.flags.writeable = False
    return points


def read_lines(path: Path) -> list[_Line]:
    """The lines of a UTF-8 text file that hold something."""
    try:
        if path.stat().st_size > MAX_BYTES:
            _Line(path, 1, "").fail(f"over {MAX_BYTES >> 20} MB, so no file of points", "Check the name.")
        data = path.read_bytes()
    except OSError as error:
        raise BadAnnotation(
            f"{show_name(path)}:1: cannot be read ({error.strerror}). Check name and permissions."
        ) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = 1 + data.count(b"\n", 0, error.start)
        _Line(path, number, "").fail("not UTF-8 text", "Save the file as UTF-8.")
    if "\0" in text:
        number = 1 + text.count("\n", 0, text.index("\0"))
        _Line(path, number, "").fail("holds zero bytes, so it is no UTF-8 text", "Save the file as UTF-8.")
    lines = [_Line(path, n, t.strip()) for n, t in enumerate(text.splitlines(), 1) if t.strip()]
    if not lines:
        _Line(path, 1, "").fail("the file is empty")
    return lines


Rows = list[tuple[_Line, float, float]]


def _read_asf(lines: list[_Line], image_size: Size) -> Rows:
    """Count, then rows of 7 or 10 columns: path, type, x, y, number, its neighbours; then the picture."""
    count, *body = [line for line in lines if not line.text.startswith("#")] or lines[-1:]
    if body and len(body[-1].text.split()) not in (7, 10):
        body.pop()  # the name of the picture
    _check_count(body, count, count.text)
    rows = []
    for number, line in enumerate(body):
        columns = line.text.split()
        if len(columns) not in (7, 10):
            line.fail(f"a row of 7 or 10 columns was expected, this has {len(columns)}")
        if columns[4] != str(number):
            line.fail(f"point {number} was expected, this is point {columns[4]}")
        x, y = _read_number(line, columns[2]), _read_number(line, columns[3])
        rows.append((line, x * image_size[0] - 0.5, y * image_size[1] - 0.5))
    return rows


def _read_pts(lines: list[_Line], _image_size: Size) -> Rows:
    """`version: 1`, `n_points: L`, `{`, L rows of x and y, `}`."""
    head, body = lines[:3], lines[3:]
    texts = [line.text.replace(" ", "") for line in head]
    for line, text, begin in zip(head, texts, ("version:", "n_points:", "{"), strict=False):
        if not text.startswith(begin):
            line.fail(f"'{begin}' was expected, found '{show_name(line.text[:40])}'")
    if not body or body[-1].text != "}":
        lines[-1].fail("the closing brace is missing, so the file may be cut short")
    _check_count(body[:-1], head[1], texts[1].removeprefix("n_points:"))
    pairs = [(line, *_read_pair(line, line.text.split())) for line in body[:-1]]
    return [(line, x - 1.0, y - 1.0) for line, x, y in pairs]


def _read_tem(lines: list[_Line], _image_size: Size) -> Rows:
    """Count, then rows of x and y; the lines that connect them follow and are not needed."""
    body = lines[1 : 1 + _read_count(lines[0], lines[0].text)]
    _check_count(body, lines[0], lines[0].text)
    return [(line, *_read_pair(line, line.text.split())) for line in body]


def _read_csv(lines: list[_Line], _image_size: Size) -> Rows:
    """A header `x,y`, then one point a row."""
    if [cell.strip().lower() for cell in lines[0].text.split(",")] != ["x", "y"]:
        lines[0].fail(f"the header 'x,y' was expected, found '{show_name(lines[0].text[:40])}'")
    if len(lines) == 1:
        lines[0].fail("the file holds no points")
    return [(line, *_read_pair(line, line.text.split(","))) for line in lines[1:]]


_READERS: dict[str, Callable[[list[_Line], Size], Rows]] = {
    ".asf": _read_asf,
    ".pts": _read_pts,
    ".tem": _read_tem,
    ".csv": _read_csv,
}
SUFFIXES = tuple(_READERS)


def _check_count(body: list[_Line], stated: _Line, text: str) -> None:
    if len(body) != _read_count(stated, text):
        stated.fail(f"{text} points were announced, {len(body)} rows follow")


def _read_count(line: _Line, text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= 100_000):
        line.fail(f"the number of points was expected, found '{show_name(text[:40])}'")
    return int(text)


def _read_pair(line: _Line, cells: list[str]) -> tuple[float, float]:
    if len(cells) != 2:
        line.fail(f"x and y were expected, found '{show_name(line.text[:40])}'")
    return _read_number(line, cells[0]), _read_number(line, cells[1])


def _read_number(line: _Line, text: str) -> float:
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        line.fail(f"a number was expected, found '{show_name(text[:40])}'")
    return value


def _check_inside(line: _Line, x: float, y: float, image_size: Size) -> None:
    for name, value, size in (("x", x, image_size[0]), ("y", y, image_size[1])):
        if not -MAX_OUTSIDE * size <= value <= (1 + MAX_OUTSIDE) * size:
            line.fail(
                f"{name} = {value:.1f} is far outside the picture ({image_size[0]} x {image_size[1]} pixels)",
                "Check that the points belong to this picture and to its size.",
            )
