"""Releases of coefficient vectors, and what attackers and verifiers count of them: what papers and benchmarks share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from elsewho.identity.methods import METHODS
from elsewho.identity.release import Release
from elsewho.proof.recognisers import distances
from elsewho.types import Array

KEYS = 7  # sets the keys of throw-away runs apart from their seeds
SAME = 1e-9  # of the largest value: two faces that differ by less are one


def release(name: str, faces: Array, k: int, seed: int, **options: Any) -> Release:
    """A release by the method of this name; one that needs a key gets a throw-away one, made from the seed."""
    if "key" in METHODS[name].needs:
        options["key"] = np.random.default_rng([KEYS, seed]).bytes(32)
    made: Release = METHODS[name](faces, k, seed=seed, **options)
    return made


def recognised(released: Array, originals: Array) -> Array:
    """Which rows (n,) are strictly nearer to their own original than to any other: the papers' recognition."""
    away = distances(released, originals)
    own = np.diag(away).copy()
    np.fill_diagonal(away, np.inf)
    return np.asarray(own < away.min(axis=1))


def chance_hits(score: Array) -> float:
    """The share of rows whose own column of `score` (n, n) is highest; ties are shared by chance."""
    best = np.isclose(score, score.max(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
    return float((np.diag(best) / best.sum(axis=1)).mean())


def copied(released: Array, originals: Array) -> Array:
    """Which rows (n,) of a release are somebody's exact original."""
    away = np.abs(released[:, None] - originals[None]).max(axis=2)
    return np.asarray((away < SAME * np.abs(originals).max()).any(axis=1))


def whitened(faces: Array) -> Array:
    """The spread (d,) by which an attacker divides each coefficient; infinite where it never varies."""
    sd = faces.std(axis=0)
    return np.where(sd > 0, sd, np.inf)


@dataclass(frozen=True, slots=True)
class Spread:
    """Distances between all pairs of faces of a set, as in table I of paper 000."""

    least: float
    most: float
    mean: float
    sd: float

    @classmethod
    def of(cls, faces: Array, *, zeros: bool = True) -> Spread:
        """Of `faces` (n, d); without `zeros`, the deviation leaves pairs of equal faces out."""
        away = pair_distances(faces)
        apart = away if zeros else away[away > SAME * np.abs(faces).max()]
        return cls(
            float(away.min()), float(away.max()), float(away.mean()), float(apart.std(ddof=1)) if len(apart) > 1 else 0
        )


def pair_distances(faces: Array) -> Array:
    """Distances (n * (n - 1) / 2,) between all pairs of `faces` (n, d); those of equal faces are zero."""
    away = distances(faces, faces)[np.triu_indices(len(faces), 1)]
    return np.where(away > SAME * np.abs(faces).max(), away, 0.0)
