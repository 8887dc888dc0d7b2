"""Clusters in pairs, none of them short."""

from __future__ import annotations

import numpy as np

from elsewho.identity.search import Remaining, squared_distances
from elsewho.types import Array


def fill_pairs(vectors: Array, k: int) -> Array:
    """Cluster numbers (n,) of at least `k` rows each, by pairs: of 2i and 2i + 1, each began far from the other.

    While 2k are left, the first of them and the one furthest from it take their k - 1 nearest each. What is left
    joins the cluster whose centre is nearest, so that no cluster is ever short.
    """
    numbers = np.full(len(vectors), -1, dtype=np.intp)
    left = Remaining(vectors)
    number = 0
    for start in range(len(vectors)):
        if len(left) < 2 * k:
            break
        if start not in left:
            continue
        far = int(left.furthest(vectors[start])[0])
        if far == start:  # all that are left coincide
            far = int(left.all()[1])
        left.take([start, far])
        for centre in (start, far):
            near = left.nearest(vectors[centre], k - 1)
            left.take(near.tolist())
            numbers[[centre, *near]] = number
            number += 1
    if len(left):
        taken = numbers >= 0
        centres = find_centres(vectors[taken], numbers[taken])
        rest = left.all()
        numbers[rest] = [squared_distances(centres, vector).argmin() for vector in vectors[rest]]
    return numbers


def find_centres(vectors: Array, cluster: Array) -> Array:
    """The mean (c, d) of each cluster of `vectors` (n, d), over all its members; clusters are 0..c-1."""
    centres = np.zeros((int(cluster.max()) + 1, vectors.shape[1]))
    np.add.at(centres, cluster, vectors)
    return np.asarray(centres / np.bincount(cluster)[:, None])
