"""What the appearance modes explain of a face, and what one Gauss-Newton step makes of the rest.

All three solvers minimise, over the move d (K,) of the mean frame and the appearance c (m,),

    |rest - A' c - J d|^2 + doubt sum(c^2 / variance) + noise (b - d)' P (b - d)

rest: features less their mean, A: modes (rows), J: Jacobian, b: the shape's coefficients so far, P: the precision of
their prior. The terms in c and d are soft: they are what a Gaussian model of faces adds to the plain squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elsewho.aam.jacobian import POSE, Steering, jacobian
from elsewho.types import Array

if TYPE_CHECKING:
    from elsewho.aam.jacobian import Neighbours


@dataclass(frozen=True, slots=True)
class Appearance:
    """A Gaussian model of features (d,)."""

    mean: Array  # (d,) float32
    modes: Array  # (m, d) float32, orthonormal rows
    shares: Array  # (m,) how much of a coefficient is believed: variance / (variance + doubt)
    doubt: float  # variance along a direction that the modes leave out
    seen: Array | None = None  # (d,) 1 or 0 float32: what is hidden counts for nothing; None: all is seen

    def rest(self, values: Array) -> Array:
        """What is left of features (..., d) without the mean; 0 where they are hidden."""
        rest = values - self.mean
        return rest if self.seen is None else rest * self.seen

    def encode(self, rest: Array) -> Array:
        """The likeliest coefficients (..., m) float32 of what is left (..., d)."""
        return np.asarray((rest @ self.modes.T) * self.shares, np.float32)

    def misfit(self, values: Array) -> Array:
        """Mean square (...) of what the model does not explain of features (..., d)."""
        rest = self.rest(values)
        inside = rest @ self.modes.T
        left = np.einsum("...d,...d->...", rest, rest) - inside**2 @ self.shares
        return np.asarray(left / (rest.shape[-1] if self.seen is None else max(1.0, float(self.seen.sum()))))

    def hide(self, seen: Array) -> Appearance:
        """The same Gaussian of the `seen` (d,) bool features alone: its modes are found again."""
        kept = seen.astype(np.float32)
        spread = np.sqrt(self.doubt * self.shares / (1 - self.shares)).astype(np.float32)
        modes = self.modes * (spread[:, None] * kept)
        energy, turn = np.linalg.eigh((modes @ modes.T).astype(np.float64))
        usable = energy > 1e-6 * max(energy[-1], 1e-12)
        energy, turn = energy[usable], turn[:, usable]
        modes = (turn / np.sqrt(energy)).T.astype(np.float32) @ modes
        return Appearance(self.mean, modes, energy / (energy + self.doubt), self.doubt, kept)


@dataclass(frozen=True, slots=True)
class Linear:
    """How features change with the parameters, around one template."""

    change: Array  # (d, K) float32
    inside: Array  # (m, K) float32, its part in the modes
    normal: Array  # (K, K) change' change, less what the modes explain of it


def linearise(appearance: Appearance, template: Array, neighbours: Neighbours, steering: Steering) -> Linear:
    """The change of a `template` (d,) of features."""
    change = jacobian(template.reshape(len(steering.x), -1), neighbours, steering)
    if appearance.seen is not None:
        change *= appearance.seen[:, None]
    inside = appearance.modes @ change
    believed = appearance.shares.astype(np.float32)[:, None] * inside
    normal = change.T @ change - inside.T @ believed
    return Linear(change, inside, normal.astype(np.float64))


def eliminate(
    appearance: Appearance, linear: Linear, rest: Array, prior: Array, coefficients: Array
) -> tuple[Array, Array]:
    """One step with the appearance eliminated: what the modes explain is projected out of both sides.

    rest          (d,) what is left of the features without their mean
    prior         (K,) noise times the precision of each parameter
    coefficients  (S,) of the shape so far
    returns       the move (K,) and the appearance (m,) before it
    """
    explained = appearance.encode(rest)
    pull = (rest @ linear.change - explained @ linear.inside).astype(np.float64)
    pull[POSE:] += prior[POSE:] * coefficients
    return np.linalg.solve(linear.normal + np.diag(prior), pull), explained


def solve_jointly(
    appearance: Appearance, linear: Linear, rest: Array, prior: Array, coefficients: Array
) -> tuple[Array, Array]:
    """One step for the move and the appearance together, written out in full: slow, and a check of `eliminate`.

    returns  the move (K,) and the appearance (m,) after it
    """
    columns = np.concatenate([linear.change, appearance.modes.T], axis=1)
    system = (columns.T @ columns).astype(np.float64)
    system += np.diag(np.concatenate([prior, 1 / appearance.shares - 1]))
    pull = (rest @ columns).astype(np.float64)
    pull[POSE : len(prior)] += prior[POSE:] * coefficients
    both = np.linalg.solve(system, pull)
    return both[: len(prior)], both[len(prior) :].astype(np.float32)
