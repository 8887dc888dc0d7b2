"""How much of an expression a shape shows, in numbers."""

from __future__ import annotations

import numpy as np

from elsewho.expression.marks import Component, Marks
from elsewho.types import Array

MEASURES = ("mouth opening", "mouth width", "eye opening", "brow height", "smile")


def measure(form: Array, marks: Marks) -> Array:
    """The five MEASURES (5,) of a shape (L, D), upright or not, in units of the distance between the eyes' middles.

    smile: how far the corners of the mouth lie above the middle of the outer lips
    """
    eyes = [form[eye.corners, :2].mean(axis=0) for eye in marks.eyes]
    unit = float(np.hypot(*(eyes[1] - eyes[0])))
    level = upright(form[:, :2] - (eyes[0] + eyes[1]) / 2, eyes[1] - eyes[0])
    corners = level[marks.mouth.corners]
    lids = np.mean([opening_of(level, eye) for eye in marks.eyes])
    brows = np.mean([level[brow, 1].mean() for brow in marks.brows])
    smile = level[marks.lips, 1].mean() - corners[:, 1].mean()
    width = np.hypot(*(corners[1] - corners[0]))
    return np.array([opening_of(level, marks.mouth), width, lids, -brows, smile]) / unit


def upright(points: Array, across: Array) -> Array:
    """Points (L, 2) turned about the origin so that the direction `across` (2,) becomes horizontal."""
    c, s = across / np.hypot(*across)
    return np.asarray(points @ np.array([[c, -s], [s, c]]))


def opening_of(level: Array, component: Component) -> float:
    """How far a component of a levelled shape (L, 2) is open: the mean over its pairs of points."""
    upper, lower = component.pairs.T
    return float((level[lower, 1] - level[upper, 1]).mean())
