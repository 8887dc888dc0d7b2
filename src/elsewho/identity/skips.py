"""What skipped draws tell: the best guess of somebody who knows everything but the key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from elsewho.types import Array

EXACT = 8  # people up to whom every way to hand out the faces is weighed
ROUNDS = 1000  # of scaling, above


@dataclass(frozen=True, slots=True)
class Guess:
    """How often the optimal attacker links a released face to its person."""

    mean: float  # over the faces of a crowd
    worst: float  # the face of which the most is told


@dataclass(frozen=True, slots=True)
class CrowdDraws:
    """The draws of one crowd: the people of a cluster, or of a class where a gallery gives the faces."""

    name: str
    people: int
    skipped: int  # draws that were too like their originals
    guess: Guess | None  # None: not measured; the crowd is too large, or no draw was left


def guess_from_skips(allowed: Array) -> Guess:
    """The optimal attacker on one crowd, who sees which face could not have been given to whom.

    allowed  (m, m) bool; row: a released face, column: a person; True where the face is not too like the person

    All ways to hand out the faces that nothing forbids are equally likely: how seldom a person's draws pass counts
    once in each of them. With more than EXACT people the chances are found by scaling rows and columns to one, which
    is near the truth, not exact.
    """
    m = len(allowed)
    if m <= EXACT:
        chances = np.zeros((m, m))
        for people in permutations(range(m)):
            chances[np.arange(m), people] += allowed[np.arange(m), people].all()
        chances /= chances.sum(axis=1, keepdims=True)
    else:
        chances = allowed.astype(np.float64)
        for _ in range(ROUNDS):
            chances = chances / chances.sum(axis=0, keepdims=True)
            chances = chances / chances.sum(axis=1, keepdims=True)
    best = chances.max(axis=1)
    return Guess(float(best.mean()), float(best.max()))


def total_skipped(crowds: Iterable[CrowdDraws]) -> int:
    """How many draws were skipped, all crowds together."""
    return sum(crowd.skipped for crowd in crowds)
