"""Principal components: a mean, orthonormal modes, and how much varies along each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewho.errors import BadInput, TooFewFaces
from elsewho.types import Array

LIMIT = 3.0  # standard deviations a coefficient may reach


@dataclass(frozen=True, slots=True)
class Basis:
    """A linear model of vectors (d,)."""

    mean: Array  # (d,)
    modes: Array  # (m, d) orthonormal rows
    variance: Array  # (m,) along each mode, falling
    rest: float  # variance of all that the modes leave out, summed

    @property
    def sd(self) -> Array:
        """Standard deviation along each mode (m,)."""
        return np.sqrt(self.variance)

    def __len__(self) -> int:
        return len(self.variance)

    def encode(self, vectors: Array) -> Array:
        """Coefficients (..., m) of vectors (..., d)."""
        return np.asarray((vectors - self.mean).astype(self.modes.dtype, copy=False) @ self.modes.T)

    def decode(self, coefficients: Array) -> Array:
        """Vectors (..., d) of coefficients (..., m); fewer than m stand for the first modes."""
        own = coefficients.astype(self.modes.dtype, copy=False)  # else all modes would be widened to match
        return np.asarray(self.mean + own @ self.modes[: coefficients.shape[-1]])

    def limit(self, coefficients: Array, sds: float = LIMIT) -> Array:
        """Coefficients (..., m) held within `sds` standard deviations."""
        most = sds * self.sd[: coefficients.shape[-1]]
        return np.clip(coefficients, -most, most)

    def first(self, count: int) -> Basis:
        """The same with its first `count` modes; what is cut adds to `rest`."""
        return Basis(
            self.mean,
            self.modes[:count],
            self.variance[:count],
            self.rest + float(self.variance[count:].sum()),
        )


def fit_basis(vectors: Array, keep: float | int, *, centre: Array | None = None, in_place: bool = False) -> Basis:
    """Principal components of `vectors` (n, d), through the smaller of n x n and d x d.

    keep      an int: so many modes; a float under 1: as few as explain that share of the variance
    centre    (d,) what to take for the mean; None: the mean of the vectors
    in_place  True: the mean is taken off `vectors` themselves, which saves a copy of them

    The n x n way holds the vectors once and the modes once, so memory is linear in d.
    """
    n, d = vectors.shape
    if n < 2:
        raise TooFewFaces(f"principal components need at least 2 faces; found {n}. Add faces.")
    if isinstance(keep, float) and not 0 < keep < 1:
        raise BadInput(f"keep={keep} must be a share between 0 and 1, or a whole number of modes.")
    most = min(n - 1, d)
    if not isinstance(keep, float) and not 1 <= keep <= most:
        raise TooFewFaces(
            f"{keep} modes were asked of {n} faces with {d} values each, which give at most {most}. "
            f"Ask for 1 to {most} modes, or add faces."
        )
    mean = vectors.mean(axis=0) if centre is None else centre
    centred = np.subtract(vectors, mean, out=vectors) if in_place else vectors - mean
    gram = (centred @ centred.T if n <= d else centred.T @ centred).astype(np.float64) / (n - 1)
    energy, vectors_of_gram = np.linalg.eigh(gram)
    energy, vectors_of_gram = energy[::-1][:most], vectors_of_gram[:, ::-1][:, :most]
    total = float(np.trace(gram))
    if not total > 0:
        raise BadInput("all faces are the same, or constant: there is nothing to model. Check the pictures.")
    noise = 1e-6 if vectors.dtype.itemsize <= 4 else 1e-12  # of the inner products, by rounding
    usable = int((energy > noise * energy[0]).sum())
    if isinstance(keep, float):
        count = int(np.searchsorted(np.cumsum(energy) / total, keep) + 1)
    else:
        count = int(keep)
        if count > usable:
            raise TooFewFaces(
                f"{count} modes were asked, but these {n} faces vary in {usable} directions only "
                f"(copies among them?). Ask for 1 to {usable} modes, or add other faces."
            )
    count = min(count, usable)
    energy = energy[:count]
    modes = vectors_of_gram[:, :count].T
    if n <= d:
        modes = modes.astype(centred.dtype) @ centred
        modes /= np.linalg.norm(modes, axis=1, keepdims=True)
    modes = np.ascontiguousarray(modes, dtype=vectors.dtype) * _signs(modes)[:, None].astype(vectors.dtype)
    return Basis(mean.astype(vectors.dtype), modes, energy, max(0.0, total - float(energy.sum())))


def _signs(modes: Array) -> Array:
    """+1 or -1 a mode, so that its largest entry is positive: the same data give the same modes."""
    largest = np.abs(modes).argmax(axis=1)
    return np.where(modes[np.arange(len(modes)), largest] < 0, -1.0, 1.0)
