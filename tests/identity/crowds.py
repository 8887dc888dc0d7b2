"""Sets of faces on which the methods are tried: the tame, the clustered, the coincident and the nearly tied."""

import numpy as np
from hypothesis import strategies as st

KINDS = ("normal", "falling", "clustered", "coincident", "lattice", "nearly tied", "far away", "on a line", "one place")


def make_crowd(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    faces = rng.standard_normal((n, d))
    if kind == "falling":
        return faces * 0.7 ** np.arange(d)
    if kind == "clustered":
        return rng.standard_normal((max(n // 6, 1), d))[rng.integers(max(n // 6, 1), size=n)] * 10 + faces * 0.1
    if kind == "coincident":
        return faces[rng.integers(max(n // 2, 1), size=n)]
    if kind == "lattice":
        return rng.integers(-2, 3, (n, d)).astype(float)
    if kind == "nearly tied":
        return rng.integers(-2, 3, (n, d)) + 1e-6 * faces
    if kind == "far away":
        return 1e6 + faces
    if kind == "on a line":
        return faces[:, :1] * np.ones(d)
    if kind == "one place":
        return np.ones((n, d))
    return faces


@st.composite
def crowds(draw, least=2, most=40, wide=12, apart=2):
    """Faces (n, d), k and an order of triggers; n is at least `apart` times k."""
    k = draw(st.integers(2, 7))
    n = draw(st.integers(max(apart * k, least), max(most, apart * k)))
    faces = make_crowd(draw(st.sampled_from(KINDS)), n, draw(st.integers(1, wide)), draw(st.integers(0, 2**32 - 1)))
    return faces, k, np.random.default_rng(draw(st.integers(0, 99))).permutation(n)


def recognised(released, faces):
    """Which released faces (n, d) are nearer to their own original than to any other, by more than rounding."""
    apart = np.sqrt(((released[:, None] - faces[None]) ** 2).sum(axis=2))
    own = np.diagonal(apart).copy()
    np.fill_diagonal(apart, np.inf)
    return own < apart.min(axis=1) - 1e-9 * max(np.ptp(faces), 1e-300)
