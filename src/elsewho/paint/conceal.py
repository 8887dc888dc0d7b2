"""A face that cannot be replaced is covered, never blurred: a blur keeps what tells people apart."""

from __future__ import annotations

import cv2
import numpy as np

from elsewho.types import Array

ROOM = 1.44  # the ellipse over the box that the finder gave, each way: 1.42 cover its corners


def conceal(picture: Array, box: tuple[float, float, float, float]) -> Array:
    """`picture` (H, W, 3) uint8 with an opaque ellipse over the box x, y, width, height in pixels.

    Its colour is the middle one of the inner half of the box: nothing but the tone of the face remains.
    """
    x, y, width, height = box
    rows, columns = picture.shape[:2]
    covered = picture.copy()
    top, bottom = _within(y + height / 4, y + 3 * height / 4, rows)
    left, right = _within(x + width / 4, x + 3 * width / 4, columns)
    tone = np.median(picture[top:bottom, left:right].reshape(-1, 3), axis=0)
    centre = (x + (width - 1) / 2, y + (height - 1) / 2)
    size = (max(2.0, ROOM * width), max(2.0, ROOM * height))
    cv2.ellipse(covered, (centre, size, 0.0), [int(value) for value in tone], thickness=-1)
    return covered


def _within(low: float, high: float, most: int) -> tuple[int, int]:
    """At least one pixel from `low` to `high` inside 0..most."""
    first = int(np.clip(np.floor(low), 0, most - 1))
    return first, int(np.clip(np.ceil(high), first + 1, most))
