"""The face as the camera sees it: a flat linear model of the points, cut from the shape model.

A flat shape model is its own view. A model of the head is turned first, and may then turn a little further about
its vertical and its sideways axis: two more modes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewho.aam.basis import LIMIT
from elsewho.aam.procrustes import Similarity, similarity
from elsewho.aam.shape import ShapeModel
from elsewho.types import Array

TILT_SD = 0.3  # radians a head may turn away from the view between two estimates of its turn
POINT_SD = 0.01  # of fitted points, in diagonals: annotators differ by so much
LIFT_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class View:
    """Mean and modes of the points in the picture plane, in units of the mean face's diagonal."""

    mean: Array  # (L, 2)
    modes: Array  # (S, L * 2) rows
    variance: Array  # (S,) along each mode
    weights: Array  # (L,) how much each point counts for the pose, summing to 1
    oblique: bool = False  # the modes are those of a head, cut flat: no longer at right angles to each other

    def decode(self, coefficients: Array) -> Array:
        """Points (L, 2) of coefficients (S,)."""
        return np.asarray(self.mean + (coefficients @ self.modes).reshape(-1, 2))

    def encode(self, points: Array) -> tuple[Array, Similarity]:
        """Coefficients (S,) within their limits, and the pose of points (L, 2)."""
        pose = flat_similarity(self.mean, points, self.weights)
        most = LIMIT * np.sqrt(self.variance)
        overlap = self.modes @ self.modes.T + np.diag(POINT_SD**2 / self.variance) if self.oblique else None
        for _ in range(2 if self.oblique else 1):  # a tilt looks like a change of pose at first
            coefficients = self.modes @ (pose.undo(points) - self.mean).ravel()
            if overlap is not None:
                coefficients = np.linalg.solve(overlap, coefficients)
            coefficients = np.clip(coefficients, -most, most)
            pose = flat_similarity(self.decode(coefficients), points, self.weights)
        return coefficients, pose


def look(shape: ShapeModel, count: int, turn: Array | None = None) -> View:
    """The first `count` modes of the shape model, seen after `turn` (3, 3); None: from the front.

    A head leant over to its shoulder is seen upright: leaning is a matter of the pose in the picture plane.
    """
    count = min(count, len(shape.basis))
    modes = np.asarray(shape.basis.modes[:count], np.float64).reshape(count, -1, shape.dimensions)
    variance = np.asarray(shape.basis.variance[:count], np.float64)
    front = np.asarray(shape.mean, np.float64)
    if turn is None:
        return View(front[:, :2], modes[:, :, :2].reshape(count, -1), variance, shape.weights, shape.dimensions == 3)
    lean = np.eye(3)
    lean[:2, :2] = flat_similarity(front[:, :2], (front @ turn.T)[:, :2], shape.weights).turn
    turn = lean.T @ turn
    mean = front @ turn.T
    tilts = np.zeros((2, *mean.shape))
    tilts[0, :, 0], tilts[0, :, 2] = mean[:, 2], -mean[:, 0]  # about the vertical axis
    tilts[1, :, 1], tilts[1, :, 2] = -mean[:, 2], mean[:, 1]  # about the sideways axis
    every = np.concatenate([modes @ turn.T, tilts])[:, :, :2].reshape(count + 2, -1)
    return View(mean[:, :2], every, np.append(variance, [TILT_SD**2] * 2), shape.weights, True)


def flat_similarity(source: Array, target: Array, weights: Array) -> Similarity:
    """procrustes.similarity for points (L, 2), in closed form: ten times faster, for inner loops."""
    source_middle, target_middle = weights @ source, weights @ target
    a, b = source - source_middle, target - target_middle
    spread = weights @ (a * a).sum(axis=1)
    along = weights @ (a * b).sum(axis=1) / spread
    across = weights @ (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) / spread
    scale = float(np.hypot(along, across))
    turn = np.array([[along, -across], [across, along]]) / scale
    return Similarity(scale, turn, target_middle - scale * turn @ source_middle)


def lift(shape: ShapeModel, points: Array) -> tuple[Array, Similarity]:
    """Coefficients (S,) and pose of a head model from points (L, 2) in the picture alone.

    Pose and form are estimated in turn: the pose is the weak perspective that brings the form nearest to the points,
    the form the likeliest one, given the noise of the points.
    """
    coefficients = np.zeros(len(shape.basis))
    variance = np.asarray(shape.basis.variance, np.float64)
    modes = shape.basis.modes.reshape(len(variance), -1, 3).astype(np.float64)
    pose = _weak_perspective(shape.mean, points, shape.weights)
    for _ in range(LIFT_ROUNDS):
        seen = (modes @ pose.turn.T)[:, :, :2].reshape(len(variance), -1)
        flat = ((points - pose.move[:2]) / pose.scale - (shape.mean @ pose.turn.T)[:, :2]).ravel()
        system = seen @ seen.T + np.diag(POINT_SD**2 / variance)
        coefficients = shape.basis.limit(np.linalg.solve(system, seen @ flat))
        pose = _improve(pose, shape.decode(coefficients), points, shape.weights)
    return coefficients, pose


def _weak_perspective(form: Array, points: Array, weights: Array) -> Similarity:
    """The pose whose scale, turn and shift bring `form` (L, 3) nearest to points (L, 2), seen from the front."""
    centre, target = weights @ form, weights @ points
    root = np.sqrt(weights)[:, None]
    affine = np.linalg.lstsq((form - centre) * root, (points - target) * root, rcond=1e-6)[0].T
    u, s, vt = np.linalg.svd(affine, full_matrices=False)
    rows = u @ vt
    turn = np.vstack([rows, np.cross(rows[0], rows[1])])
    pose = Similarity(float(s.mean()), turn, np.append(target, 0.0) - s.mean() * turn @ centre)
    for _ in range(LIFT_ROUNDS):
        pose = _improve(pose, form, points, weights)
    return pose


def _improve(pose: Similarity, form: Array, points: Array, weights: Array) -> Similarity:
    """A nearer pose: the points (L, 2) take their depth from the form (L, 3), which leaves a similarity in space."""
    return similarity(form, np.column_stack([points, pose.apply(form)[:, 2]]), weights)
