"""Paper 004's 64 landmarks: IMM's 58 and six of the inner lips, which nobody annotated and the finder's mesh has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elsewho.expression.marks import IMM58, MESH468, Component
from elsewho.expression.measure import upright
from elsewho.types import Array

OUTER = np.array((40, 41, 42, 44, 45, 46))  # the annotated point above or below each of the six
FIRST = 47  # where the six stand among the 64


def add_inner_lips(points: Array, mesh: Array) -> Array:
    """The 64 landmarks (64, 2) of a face annotated with IMM's 58 (58, 2) and found as a mesh (468, 2 or 3).

    The mesh says how thick the lips are along the mouth, in shares of the outer lips' height; the annotated outer
    lips say where they lie.
    """
    own, to_face = _level(points, IMM58.mouth)
    found, _ = _level(mesh[:, :2], MESH468.mouth)
    thick, height = [], []
    for rim, partner in MESH468.mouth.rims:
        order = np.argsort(found[rim, 0])
        along = found[rim, 0][order]
        thick.append((along, (found[partner, 1] - found[rim, 1])[order]))
        height.append((along, found[rim, 1][order]))
    at = own[OUTER]
    x = at[:, 0]
    upper, lower = (np.interp(x, *curve) for curve in height)
    grown = (at[3:, 1][::-1] - at[:3, 1]).mean() / max(float((lower[:3] - upper[:3]).mean()), 1e-6)
    inner = at.copy()
    inner[:3, 1] += grown * np.interp(x[:3], *thick[0])
    inner[3:, 1] += grown * np.interp(x[3:], *thick[1])
    gap = inner[3:, 1][::-1] - inner[:3, 1]
    crossed = np.minimum(gap, 0) / 2
    inner[:3, 1] += crossed
    inner[3:, 1] -= crossed[::-1]
    return np.concatenate([points[:FIRST], to_face(inner), points[FIRST:]])


def _level(points: Array, mouth: Component) -> tuple[Array, Callable[[Array], Array]]:
    """Points (L, 2) as the mouth sees them, its width being 1, and the way back."""
    left, right = points[mouth.corners]
    middle, across = (left + right) / 2, right - left
    width = float(np.hypot(*across))

    def back(levelled: Array) -> Array:
        return np.asarray(upright(levelled * width, across * [1, -1]) + middle)

    return upright(points - middle, across) / width, back
