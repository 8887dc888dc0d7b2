"""Eigenfaces (Turk and Pentland): principal components of pixels, or of the coefficients of a face model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import PCA

from elsewho.errors import TooFewFaces
from elsewho.types import Array


@dataclass(frozen=True, slots=True)
class Eigenfaces:
    """Faces as coefficients of principal components; whitened: each in units of its standard deviation."""

    mean: Array  # (d,)
    axes: Array  # (e, d)

    @classmethod
    def train(cls, vectors: Array, *, components: int | float = 0.98, whiten: bool = False) -> Eigenfaces:
        """Learn from `vectors` (n, d), rows of pixels or coefficients.

        components  a whole number, or the share of variance under 1 that they must explain
        """
        if len(vectors) < 2:
            raise TooFewFaces(f"Eigenfaces need at least 2 faces to learn from; found {len(vectors)}. Add faces.")
        most = min(len(vectors) - 1, vectors.shape[1])
        keep = components if isinstance(components, float) else min(components, most)
        found = PCA(keep, svd_solver="full").fit(np.asarray(vectors, float))
        spread = np.sqrt(found.explained_variance_)
        use = spread > 1e-9 * spread[0]
        axes = found.components_[use]
        return cls(found.mean_, axes / spread[use, None] if whiten else axes)

    def embed(self, vectors: Array) -> Array:
        """Coefficients (n, e) of `vectors` (n, d)."""
        return np.asarray((vectors - self.mean) @ self.axes.T)
