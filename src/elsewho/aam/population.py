"""How neutral faces vary: one Gaussian over shape and texture together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewho.errors import TooFewFaces
from elsewho.types import Array

PLAUSIBLE = 0.8  # at 1 every fifth face or so shows traces of several people; chosen by eye on contact sheets
FURTHEST = 2.5  # standard deviations; draws beyond are drawn again, a direction at a time


@dataclass(frozen=True, slots=True)
class Population:
    """Vectors (d,) = mean + factor @ standard normal draws (r,)."""

    mean: Array  # (d,)
    factor: Array  # (d, r)

    @classmethod
    def independent(cls, sd: Array) -> Population:
        """Where only the spread of each mode is known."""
        return cls(np.zeros(len(sd)), np.diag(sd))

    def sample(self, n: int, rng: np.random.Generator, spread: float = PLAUSIBLE) -> Array:
        """`n` vectors (n, d): truncated normal draws, `spread` times as far from the mean as people are."""
        draws = rng.standard_normal((n, self.factor.shape[1]))
        far = np.abs(draws) > FURTHEST
        while far.any():
            draws[far] = rng.standard_normal(int(far.sum()))
            far = np.abs(draws) > FURTHEST
        return np.asarray(self.mean + spread * draws @ self.factor.T)

    def towards(self, vectors: Array, readings: Array, targets: Array) -> Array:
        """Vectors (n, d) moved, as people differ, until what is read from them is what it should be.

        readings  (r, d) weights of linear readings, offsets left aside
        targets   (n, r) what the readings should give, offsets left aside

        The move is the regression of a face on its readings: of all faces that read so, the most likely one.
        """
        spread = self.factor.T @ readings.T  # (rank, r)
        gain = np.linalg.solve(spread.T @ spread, (self.factor @ spread).T)  # (r, d)
        return np.asarray(vectors + (targets - vectors @ readings.T) @ gain)


def fit_population(vectors: Array, expression: Array | None = None, neutral: Array | None = None) -> Population:
    """The population of `vectors` (n, d), one a person.

    expression  (e, d) orthonormal directions in which faces move when they smile; None: the faces are neutral
    neutral     (m, d) vectors of neutral faces: along `expression`, the population is theirs
    """
    if len(vectors) < 2:
        raise TooFewFaces(f"a population needs at least 2 people, found {len(vectors)}. Add people.")
    if expression is not None and neutral is not None:
        along = vectors @ expression.T
        calm = neutral @ expression.T
        spread = np.minimum(calm.std(axis=0) / np.maximum(along.std(axis=0), 1e-12), 1.0)
        vectors = vectors + (calm.mean(axis=0) + (along - along.mean(axis=0)) * spread - along) @ expression
    mean = vectors.mean(axis=0)
    _, s, vt = np.linalg.svd(vectors - mean, full_matrices=False)
    rank = int((s > 1e-9 * s[0]).sum())
    return Population(mean, (vt[:rank] * (s[:rank] / np.sqrt(len(vectors) - 1))[:, None]).T)
