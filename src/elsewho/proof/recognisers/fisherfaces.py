"""Fisherfaces (Belhumeur and others): directions in which people differ, in units of how a person varies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from elsewho.errors import BadInput, TooFewFaces, TooFewPeople
from elsewho.types import Array

STILL = 1e-9  # of the largest spread: a feature that varies less is the same in every row


class Widened(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A covariance pulled towards the unit one: it can be inverted though nothing varies, which shares of it cannot."""

    def __init__(self, share: float) -> None:
        self.share = share

    def fit(self, rows: Array) -> Widened:
        """Learn from `rows` (n, d) whose features vary by one among all faces."""
        empirical = np.atleast_2d(np.cov(rows.T, bias=True))
        self.covariance_ = (1 - self.share) * empirical + self.share * np.eye(rows.shape[1])
        return self


@dataclass(frozen=True, slots=True)
class Fisherfaces:
    """Linear discriminants; along each, rows of one person vary by one."""

    mean: Array  # (d,)
    axes: Array  # (e, d); e = 0 where nothing tells people apart
    classifier: LinearDiscriminantAnalysis | None  # of the features that vary
    names: tuple[str, ...]
    used: Array  # (d,) bool
    scale: Array  # (d,) spread of each feature

    @classmethod
    def train(
        cls, vectors: Array, people: Sequence[str], *, shrinkage: float | Literal["auto"] = "auto"
    ) -> Fisherfaces:
        """Learn from `vectors` (n, d) of `people` (n,), or of any other classes.

        shrinkage  "auto": Ledoit and Wolf's; or a share, 0..1, by which the covariance within people is pulled towards
                   a round one as wide as all faces. Features are brought to one spread first. Above 0, features in
                   which a person never varies are used too: they tell people apart
        """
        ids = np.asarray(people, str)
        if len(ids) != len(vectors):
            raise BadInput(f"{len(vectors)} faces and {len(ids)} people were given; give one a face.")
        names = tuple(dict.fromkeys(ids.tolist()))
        if len(names) < 2:
            raise TooFewPeople(f"discriminants tell people apart; found {len(names)}. Add people.")
        if len(names) == len(ids):
            raise TooFewFaces("every person has one face, so nothing is known of how a person varies. Add faces.")
        array = np.asarray(vectors, float)
        mean, scale = array.mean(axis=0), array.std(axis=0)
        used = scale > STILL * max(float(np.abs(array).max()), 1e-300)
        if not used.any():
            return cls(mean, np.zeros((0, array.shape[1])), None, names, used, scale)
        if shrinkage == "auto":
            lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")
        else:
            lda = LinearDiscriminantAnalysis(solver="eigen", covariance_estimator=Widened(shrinkage))
        lda.fit((array[:, used] - mean[used]) / scale[used], ids)
        count = min(len(names) - 1, int(used.sum()))
        axes = np.zeros((count, array.shape[1]))
        axes[:, used] = lda.scalings_[:, :count].T / scale[used]
        return cls(mean, axes, lda, names, used, scale)

    def embed(self, vectors: Array) -> Array:
        """Coefficients (n, e) of `vectors` (n, d)."""
        return np.asarray((vectors - self.mean) @ self.axes.T)

    def classify(self, vectors: Array) -> Array:
        """The likeliest class (n,) str of each of `vectors` (n, d)."""
        if self.classifier is None:
            return np.full(len(vectors), self.names[0])
        return np.asarray(self.classifier.predict((vectors - self.mean)[:, self.used] / self.scale[self.used]))
