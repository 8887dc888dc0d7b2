"""Similarities between shapes, and the generalised Procrustes mean. Everything works in 2D and in 3D."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewho.errors import BadPoints
from elsewho.types import Array


@dataclass(frozen=True, slots=True)
class Similarity:
    """x -> scale * turn @ x + move."""

    scale: float
    turn: Array  # (D, D) a rotation, never a reflection
    move: Array  # (D,)

    def apply(self, points: Array) -> Array:
        """Points (L, D) of the model's space in the picture's."""
        return np.asarray(self.scale * points @ self.turn.T + self.move)

    def undo(self, points: Array) -> Array:
        """Points (L, D) of the picture's space in the model's."""
        return np.asarray((points - self.move) @ self.turn / self.scale)


def similarity(source: Array, target: Array, weights: Array | None = None) -> Similarity:
    """The similarity that brings `source` (L, D) nearest to `target` (L, D), by weighted least squares.

    Reflections are excluded (Umeyama 1991): a mirrored face is not a turned one.
    """
    w = np.full(len(source), 1 / len(source)) if weights is None else weights / weights.sum()
    source_middle, target_middle = w @ source, w @ target
    a, b = source - source_middle, target - target_middle
    u, s, vt = np.linalg.svd((b * w[:, None]).T @ a)
    flip = np.ones(len(s))
    flip[-1] = np.sign(np.linalg.det(u @ vt)) or 1.0
    turn = (u * flip) @ vt
    spread = w @ (a**2).sum(axis=1)
    if not spread > 0:
        raise BadPoints("the points coincide: a face needs points that are apart; check the annotation.")
    scale = float((s * flip).sum() / spread)
    return Similarity(scale, turn, target_middle - scale * turn @ source_middle)


def diagonal(points: Array) -> float:
    """Diagonal of the bounding box of `points` (L, 2 or 3), by x and y alone."""
    return float(np.hypot(*np.ptp(points[:, :2], axis=0)))


def align(shapes: Array, weights: Array | None = None, rounds: int = 20) -> tuple[Array, Array]:
    """Generalised Procrustes.

    shapes   (n, L, D) in any pose
    weights  (L,) how much each point counts for the pose; None: all alike
    returns  mean (L, D), upright as the shapes are on average, centred, with a diagonal of 1;
             aligned (n, L, D), each brought onto the mean and then into its tangent space
    """
    mean = _standard(shapes.mean(axis=0) - shapes.mean(axis=(0, 1)), weights)
    aligned = shapes
    for _ in range(rounds):
        aligned = np.stack([similarity(shape, mean, weights).apply(shape) for shape in shapes])
        before, mean = mean, _standard(aligned.mean(axis=0), weights)
        # Without an anchor the mean may drift in angle: hold it to the one before.
        held = similarity(mean, before, weights)
        mean = mean @ held.turn.T
        if np.abs(mean - before).max() < 1e-9:
            break
    aligned = np.stack([similarity(shape, mean, weights).apply(shape) for shape in shapes])
    return mean, np.stack([_to_tangent(shape, mean) for shape in aligned])


def _standard(shape: Array, weights: Array | None) -> Array:
    """Centred on its weighted middle, with a diagonal of 1."""
    centred = shape - np.average(shape, axis=0, weights=weights)
    size = diagonal(centred)
    if not size > 0:
        raise BadPoints("the mean shape has no extent: all points coincide; check the annotations.")
    return np.asarray(centred / size)


def _to_tangent(shape: Array, mean: Array) -> Array:
    """Stretched until its projection on the mean is the mean itself (Cootes, tangent space)."""
    along = float((shape * mean).sum() / (mean * mean).sum())
    return np.asarray(shape / along)
