"""How sure a figure is: over splits, by people, or of a plain count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from elsewho.errors import BadInput
from elsewho.types import Array


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and where the truth may lie."""

    value: float
    low: float
    high: float

    def __contains__(self, truth: float) -> bool:
        return self.low <= truth <= self.high

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f})"


def mean_interval(values: Sequence[float] | Array, confidence: float = 0.95) -> Interval:
    """The mean over independent runs or splits, by Student's t; of one run, the run and nothing known about it."""
    array = np.asarray(values, float)
    if not len(array):
        raise BadInput("an interval needs at least one value; found none.")
    mean = float(array.mean())
    if len(array) == 1:
        return Interval(mean, float("-inf"), float("inf"))
    reach = float(stats.t.ppf((1 + confidence) / 2, len(array) - 1) * array.std(ddof=1) / np.sqrt(len(array)))
    return Interval(mean, mean - reach, mean + reach)


def bootstrap_people(
    values: Array, people: Sequence[str], *, confidence: float = 0.95, draws: int = 2000, seed: int = 0
) -> Interval:
    """The mean of `values` (n,) over rows, with people drawn again and again: rows of a person hang together."""
    array, ids = np.asarray(values, float), np.asarray(people, str)
    if len(array) != len(ids) or not len(array):
        raise BadInput(f"{len(array)} values and {len(ids)} people were given; give one a value, and at least one.")
    names, person_of = np.unique(ids, return_inverse=True)
    sums, counts = np.bincount(person_of, array), np.bincount(person_of)
    chosen = np.random.default_rng(seed).integers(len(names), size=(draws, len(names)))
    means = sums[chosen].sum(axis=1) / counts[chosen].sum(axis=1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(array.mean()), float(low), float(high))


def clopper_pearson(hits: int, of: int, confidence: float = 0.95) -> Interval:
    """The exact interval of a share: `hits` in `of` independent trials."""
    if not 0 <= hits <= of or of < 1:
        raise BadInput(f"hits={hits} of {of}: give a whole number from 0 to the number of trials.")
    tail = (1 - confidence) / 2
    low = float(stats.beta.ppf(tail, hits, of - hits + 1)) if hits else 0.0
    high = float(stats.beta.ppf(1 - tail, hits + 1, of - hits)) if hits < of else 1.0
    return Interval(hits / of, low, high)
