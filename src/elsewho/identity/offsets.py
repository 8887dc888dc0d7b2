"""How faces differ from the centre of their cluster, as a distribution to draw from."""

from __future__ import annotations

import numpy as np

from elsewho.types import Array

LEAST_SHRINKAGE = 0.01  # keeps the correlations positive definite, whatever the offsets


def fit_offsets(offsets: Array) -> Array:
    """The factor (d, d) whose product with standard normal numbers (d,) is spread as `offsets` (n, d) are.

    A Gaussian of their second moments. Correlations are shrunk to none by as much as they are uncertain (Schäfer and
    Strimmer 2005): fewer offsets than dimensions would confine the draws to sums of these very offsets. A Cholesky
    factor, not eigenvectors: those may turn sign from one library to the next, and every draw with them.
    """
    n, d = offsets.shape
    sd = np.sqrt((offsets**2).mean(axis=0))
    varies = np.flatnonzero(sd > 1e-9 * sd.max(initial=0.0))
    factor = np.zeros((d, d))
    if not len(varies):
        return factor
    unit = offsets[:, varies] / sd[varies]
    correlation = unit.T @ unit / n
    apart = ~np.eye(len(varies), dtype=bool)
    squares = (correlation[apart] ** 2).sum()
    noise = ((unit**2).T @ unit**2 / n)[apart].sum() - squares
    shrinkage = min(max(noise / max(n - 1, 1) / squares, LEAST_SHRINKAGE), 1.0) if squares > 0 else 1.0
    correlation = (1 - shrinkage) * correlation
    np.fill_diagonal(correlation, 1.0)
    factor[np.ix_(varies, varies)] = sd[varies, None] * np.linalg.cholesky(correlation)
    return factor
