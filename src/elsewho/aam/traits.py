"""What can be read from a face's coefficients: apparent gender, skin tone, age, brightness. All linear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewho.types import Array

UNSURE = 0.3  # |gender score| below which donors of both genders are taken


@dataclass(frozen=True, slots=True)
class Reading:
    """A linear reading of a vector: weights . vector + offset."""

    weights: Array  # (d,)
    offset: float

    def of(self, vectors: Array) -> Array:
        """Scores (...,) of vectors (..., d)."""
        return np.asarray(vectors @ self.weights + self.offset)


@dataclass(frozen=True, slots=True)
class Traits:
    """Readings of FaceModel.to_vector. Apparent traits, as pictures show them: not what a person is."""

    gender: Reading  # below 0 looks female, above 0 male; London's labels are -1 and 1
    tone: Reading  # L* of the skin in Lab, exposure taken out
    age: Reading  # years, as London's people gave theirs
    brightness: Array  # (d,) unit vector: where a face goes when the light is turned up, skin tone taken out
    tone_split: float  # at and above: the lighter class
    age_split: float  # at and above: the older class

    def class_of(self, vector: Array) -> str:
        """The class of a vector (d,), such as "female-lighter-younger"."""
        return "-".join(
            (
                "male" if self.gender.of(vector) > 0 else "female",
                "lighter" if self.tone.of(vector) >= self.tone_split else "darker",
                "older" if self.age.of(vector) >= self.age_split else "younger",
            )
        )

    def unsure_of_gender(self, vector: Array) -> bool:
        """True where the score is too near 0 to choose donors by."""
        return bool(abs(float(self.gender.of(vector))) < UNSURE)


def fit_reading(vectors: Array, truth: Array, people: Array) -> Reading:
    """Ridge regression of `truth` (n,) on `vectors` (n, d), each value in units of its spread.

    people  (n,) who each row shows: the penalty is the one that reads people best whom it was not fitted on
    """
    mean, sd = vectors.mean(axis=0), vectors.std(axis=0)
    sd = np.where(sd > 1e-9 * sd.max(), sd, np.inf)
    z, middle = (vectors - mean) / sd, float(truth.mean())
    fold = np.unique(people, return_inverse=True)[1] % FOLDS
    error = np.zeros(len(PENALTIES))
    for f in range(FOLDS):
        test = fold == f
        if test.all() or not test.any():
            continue
        for i, weights in enumerate(_ridge(z[~test], truth[~test] - middle)):
            error[i] += ((z[test] @ weights - truth[test] + middle) ** 2).sum()
    weights = _ridge(z, truth - middle)[int(error.argmin())] / sd
    return Reading(weights, float(middle - mean @ weights))


FOLDS = 8
PENALTIES = np.logspace(0, 5, 21)


def _ridge(z: Array, truth: Array) -> list[Array]:
    """The weights (d,) for each of the penalties."""
    u, s, vt = np.linalg.svd(z, full_matrices=False)
    right = u.T @ truth
    return [np.asarray(vt.T @ (s / (s**2 + penalty) * right)) for penalty in PENALTIES]
