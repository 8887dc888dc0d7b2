"""The shape model: pose apart from form, in 2D or 3D."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewho.aam.basis import Basis, fit_basis
from elsewho.aam.procrustes import Similarity, align, diagonal, similarity
from elsewho.errors import BadPoints, PointsMismatch
from elsewho.types import Array

POSE_ROUNDS = 4  # pose and form are estimated in turn; what is left after four rounds is under a hundredth of a pixel


@dataclass(frozen=True, slots=True)
class ShapeModel:
    """Mean and modes of faces brought to one pose. The unit is the diagonal of the mean face."""

    basis: Basis  # vectors are shapes (L, D) laid flat
    dimensions: int  # D: 2 or 3
    weights: Array  # (L,) how much each point counts for the pose

    @property
    def mean(self) -> Array:
        """The mean shape (L, D)."""
        return self.basis.mean.reshape(-1, self.dimensions)

    @property
    def count(self) -> int:
        """How many points a face has."""
        return len(self.weights)

    def encode(self, points: Array) -> tuple[Array, Similarity]:
        """Coefficients (S,) and pose of points (L, D) in pixels.

        The pose is the one that brings the model's own shape nearest to the points, so that a face decoded
        and encoded again keeps its coefficients, whatever they are.
        """
        points = self.check(points)
        form = self.mean
        for _ in range(POSE_ROUNDS):
            pose = similarity(form, points, self.weights)
            coefficients = self.basis.encode(pose.undo(points).ravel())
            form = self.decode(coefficients)
        return coefficients, pose

    def decode(self, coefficients: Array) -> Array:
        """The shape (L, D) of coefficients (S,), in the model's own pose and unit."""
        return self.basis.decode(coefficients).reshape(-1, self.dimensions)

    def check(self, points: Array) -> Array:
        """Points as (L, D) float64; refuses what cannot be a face of this mark-up."""
        points = np.asarray(points, np.float64)
        if points.ndim != 2 or points.shape[0] != self.count:
            found = f"{points.shape[0]} points" if points.ndim == 2 else f"an array of shape {points.shape}"
            raise PointsMismatch(
                f"the model has {self.count} points, found {found}. "
                f"Landmark the face again, or train a model of that mark-up."
            )
        if points.shape[1] == 3 and self.dimensions == 2:
            points = points[:, :2]
        if points.shape[1] != self.dimensions:
            raise PointsMismatch(
                f"the model's points have {self.dimensions} coordinates, found {points.shape[1]}. "
                "Pass x, y and z as the mesh finder gives them."
            )
        check_points(points, self.mean)
        return points


def check_points(points: Array, mean: Array | None = None, name: str = "the points") -> None:
    """Refuse points (L, D) that no face can have: NaN, coincident, collinear, mirrored against the mean (L, D)."""
    if not np.isfinite(points).all():
        bad = int(np.nonzero(~np.isfinite(points).all(axis=1))[0][0])
        raise BadPoints(f"{name}: point {bad} is {points[bad].tolist()}; every coordinate must be a finite number.")
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    spread = np.linalg.svd(flat, compute_uv=False)
    if spread[0] < 1e-6 * max(1.0, np.abs(points).max()):
        raise BadPoints(f"{name} all lie at one place ({points[0].tolist()}); a face has an extent.")
    if spread[-1] < 0.02 * spread[0]:
        raise BadPoints(f"{name} lie on one line; a face has two extents. Check the annotation.")
    if mean is not None and len(points) == len(mean):
        plain, turned = _misfit(points, mean), _misfit(points * [-1, 1, 1][: points.shape[1]], mean)
        if turned < 0.5 * plain:
            raise BadPoints(
                f"{name} are mirrored: they fit the model's mean {plain / max(turned, 1e-12):.0f} times better "
                "when left and right are exchanged. Was the picture flipped, or the order of the points?"
            )


def _misfit(points: Array, mean: Array) -> float:
    pose = similarity(mean[:, :2], points[:, :2])
    return float(np.sqrt(((pose.undo(points[:, :2]) - mean[:, :2]) ** 2).sum(axis=1).mean()))


def fit_shapes(shapes: Array, keep: float | int, weights: Array | None = None) -> ShapeModel:
    """The shape model of `shapes` (n, L, D) in any pose; `keep` as in fit_basis, `weights` (L,) for the pose."""
    mean, aligned = align(np.asarray(shapes, np.float64), weights)
    for i, shape in enumerate(shapes):
        check_points(shape, mean, f"face {i}")
    basis = fit_basis(aligned.reshape(len(aligned), -1), keep, centre=mean.ravel())
    every = np.ones(len(mean)) if weights is None else np.asarray(weights, np.float64)
    return ShapeModel(basis, mean.shape[1], every / every.sum())


def size_of(points: Array) -> float:
    """The size of a face in pixels: the diagonal of its points' bounding box."""
    return diagonal(points)
