"""How the features on the mesh change when the points move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewho.aam.mesh import Mesh
from elsewho.aam.view import View
from elsewho.types import Array

POSE = 4  # scale, turn, shift right, shift down come before the shape modes
POSE_SD = 1.0  # of one step: no bound in practice, but a step stays finite where the picture says nothing


@dataclass(frozen=True, slots=True)
class Steering:
    """How each pixel of the mesh moves, in patch pixels, per unit of each parameter."""

    x: Array  # (P, K) float32, K = POSE + S
    y: Array  # (P, K) float32
    points: Array  # (L * 2, K) the same for the points
    prior: Array  # (K,) 1 / variance of each parameter


@dataclass(frozen=True, slots=True)
class Neighbours:
    """For each pixel of the mesh its neighbours (itself at the border), and what the differences are multiplied by."""

    left: Array  # (P,) pixel numbers
    right: Array
    above: Array
    below: Array
    across: Array  # (P, 1) float32: 1 / distance of left and right
    down: Array  # (P, 1) float32


def steer(view: View, spread: Array, diagonal: float) -> Steering:
    """The steering of mesh pixels that are `spread` (P, L) weighted sums of the points."""
    middle = view.mean - view.weights @ view.mean
    quarter = np.stack([-middle[:, 1], middle[:, 0]], axis=1)
    ones, zeros = np.ones(len(middle)), np.zeros(len(middle))
    right, down = np.stack([ones, zeros], axis=1), np.stack([zeros, ones], axis=1)
    pose = np.stack([part.ravel() for part in (middle, quarter, right, down)])
    points = diagonal * np.concatenate([pose, view.modes]).T
    x = spread @ points[0::2].astype(np.float32)
    y = spread @ points[1::2].astype(np.float32)
    return Steering(x, y, points, np.concatenate([np.full(POSE, 1 / POSE_SD**2), 1 / view.variance]))


def find_neighbours(mesh: Mesh, step: float) -> Neighbours:
    """The neighbours on a mesh whose pixels are `step` patch pixels apart."""
    number = np.full((mesh.size[0] + 2, mesh.size[1] + 2), -1)
    number[1:-1, 1:-1][mesh.inside] = np.arange(len(mesh.pixels))
    column, row = mesh.pixels[:, 0] + 1, mesh.pixels[:, 1] + 1
    own = np.arange(len(mesh.pixels))
    found = [number[row + r, column + c] for r, c in ((0, -1), (0, 1), (-1, 0), (1, 0))]
    left, right, above, below = (np.where(n >= 0, n, own) for n in found)

    def weight(low: Array, high: Array) -> Array:
        apart = (low != own).astype(np.float32) + (high != own)
        return np.asarray(1 / (np.maximum(apart, 1) * step), np.float32)[:, None]

    return Neighbours(left, right, above, below, weight(left, right), weight(above, below))


def slopes(values: Array, neighbours: Neighbours) -> tuple[Array, Array]:
    """Gradients in x and in y, each (P, C), of features (P, C) on the mesh, per patch pixel."""
    n = neighbours
    return (values[n.right] - values[n.left]) * n.across, (values[n.below] - values[n.above]) * n.down


def jacobian(values: Array, neighbours: Neighbours, steering: Steering) -> Array:
    """(P * C, K): change of the features (P, C) per unit of each parameter."""
    right, down = slopes(values, neighbours)
    change = right[:, :, None] * steering.x[:, None, :]
    change += down[:, :, None] * steering.y[:, None, :]
    return change.reshape(-1, change.shape[2])
