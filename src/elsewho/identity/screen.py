"""The donor guard: no donor may look like one of the people it was learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elsewho.errors import BadInput, TooFewPeople
from elsewho.identity.release import check_faces
from elsewho.types import Array

FAR = 1e-3
PAIRS = 100  # of strangers, that must be expected under the threshold for it to be a measurement


@dataclass(frozen=True, slots=True)
class Screened:
    """Which vectors are nobody's likeness."""

    passed: Array  # (n,) bool
    threshold: float  # distance; nearer than this come only a share `far` of pairs of strangers
    pairs: int  # of strangers, from which it was measured


def screen(vectors: Array, training: Array, *, people: Sequence[str] | None = None, far: float = FAR) -> Screened:
    """Pass the vectors that are farther from all of `training` than nearly all strangers are from each other.

    vectors   (n, d) donors
    training  (m, d) faces of the people whom no donor may look like
    people    (m,) who each of them is; None: each is another person
    far       the share of pairs of strangers that are as near as the threshold
    """
    from scipy.spatial.distance import cdist, pdist

    donors, real = check_faces(vectors, "vectors"), check_faces(training, "training")
    if not 0 < far < 1:
        raise BadInput(f"far={far} is a share of pairs between 0 and 1, such as {FAR}.")
    if donors.shape[1] != real.shape[1]:
        raise BadInput(f"vectors have {donors.shape[1]} values, training {real.shape[1]}. Encode both with one model.")
    ids = np.arange(len(real)) if people is None else np.unique(list(people), return_inverse=True)[1]
    if len(ids) != len(real):
        raise BadInput(f"{len(real)} faces but {len(ids)} people were given; give one a row.")
    first, second = np.triu_indices(len(real), 1)
    away = pdist(real)[ids[first] != ids[second]]
    if len(away) < PAIRS / far:
        feasible = f"Use far >= {PAIRS / len(away):.2g}, or add people." if len(away) > PAIRS else "Add people."
        raise TooFewPeople(
            f"far={far} is measured on {PAIRS / far:.0f} pairs of strangers, found {len(away)}. {feasible}"
        )
    threshold = float(np.quantile(away, far))
    return Screened(cdist(donors, real).min(axis=1) > threshold, threshold, len(away))
