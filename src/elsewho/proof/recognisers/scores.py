"""Rank-1, CMC and ROC from distances: the smaller a distance, the more alike two faces are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from elsewho.errors import BadInput
from elsewho.types import Array

TIE = 1e-9  # of the largest distance: two that differ by less are equal
PAIRS_NEEDED = 100  # impostor pairs over the false accept rate, below which a rate is not stated


def distances(probes: Array, gallery: Array) -> Array:
    """Euclidean distances (n, m) of `probes` (n, e) to `gallery` (m, e)."""
    return np.asarray(cdist(probes, gallery))


def rank1(away: Array, probe_people: Sequence[str], gallery_people: Sequence[str], *, strict: bool = False) -> float:
    """The share of probes whose nearest gallery face shows their own person.

    away    (n, m) distances of probes to the gallery; infinity where a pair must not count
    strict  True: the own person must be nearer than everybody else, as in the papers' theorems;
            False: a tie is won by chance
    """
    return float(hits(away, probe_people, gallery_people, strict=strict).mean())


def hits(away: Array, probe_people: Sequence[str], gallery_people: Sequence[str], *, strict: bool = False) -> Array:
    """For each probe (n,) the chance, 0..1, that rank-1 names its person; see rank1."""
    names, best = nearest_by_person(away, gallery_people)
    own = best[np.arange(len(best)), _columns(names, probe_people)]
    limit = TIE * float(best[np.isfinite(best)].max(initial=0.0))
    tied = best <= best.min(axis=1, keepdims=True) + limit
    won = own <= best.min(axis=1) + limit
    if strict:
        return np.asarray((won & (tied.sum(axis=1) == 1)).astype(float))
    return np.asarray(won / tied.sum(axis=1))


def cmc(away: Array, probe_people: Sequence[str], gallery_people: Sequence[str]) -> Array:
    """Cumulative match curve (p,): the share of probes whose person is among the r nearest people, r = 1..p."""
    names, best = nearest_by_person(away, gallery_people)
    own = best[np.arange(len(best)), _columns(names, probe_people)][:, None]
    limit = TIE * float(best[np.isfinite(best)].max(initial=0.0))
    nearer, tied = (best < own - limit).sum(axis=1), (np.abs(best - own) <= limit).sum(axis=1)
    ranks = np.arange(1, len(names) + 1)
    return np.asarray(np.clip((ranks[None] - nearer[:, None]) / tied[:, None], 0, 1).mean(axis=0))


def nearest_by_person(away: Array, gallery_people: Sequence[str]) -> tuple[list[str], Array]:
    """The people of the gallery (p,) and the distance (n, p) of each probe to their nearest face."""
    ids = np.asarray(gallery_people, dtype=str)
    if away.ndim != 2 or away.shape[1] != len(ids):
        raise BadInput(f"distances of shape {away.shape} were given with {len(ids)} gallery people; give one a column.")
    names = list(dict.fromkeys(ids.tolist()))
    return names, np.stack([away[:, ids == name].min(axis=1) for name in names], axis=1)


def _columns(names: list[str], probe_people: Sequence[str]) -> Array:
    number = {name: i for i, name in enumerate(names)}
    if absent := sorted({str(one) for one in probe_people} - set(number)):
        raise BadInput(
            f"the gallery shows {len(names)} people, but not {', '.join(absent[:3])}, whom probes show. "
            "Add a face of each to the gallery."
        )
    return np.array([number[str(one)] for one in probe_people], np.intp)


def pairs(
    away: Array, probe_people: Sequence[str], gallery_people: Sequence[str], counted: Array | None = None
) -> tuple[Array, Array]:
    """Distances of genuine and of impostor pairs.

    counted  (n, m) bool: False leaves a pair out, such as an image and itself
    """
    same = np.asarray(probe_people, str)[:, None] == np.asarray(gallery_people, str)[None]
    use = np.ones_like(same) if counted is None else counted
    return away[same & use], away[~same & use]


@dataclass(frozen=True, slots=True)
class Roc:
    """A ROC curve: at each threshold the share of impostor and of genuine pairs that are accepted."""

    far: Array  # rising
    tar: Array


def roc(genuine: Array, impostor: Array) -> Roc:
    """The ROC curve of distances of genuine and of impostor pairs, from (0, 0) to (1, 1)."""
    if not len(genuine) or not len(impostor):
        raise BadInput(f"a ROC curve needs pairs of both kinds, found {len(genuine)} genuine and {len(impostor)}.")
    scale = float(max(np.abs(genuine).max(), np.abs(impostor).max())) or 1.0
    own, others = (np.sort(np.round(one / scale, 10)) for one in (genuine, impostor))
    limits = np.unique(np.concatenate([own, others]))
    far = np.searchsorted(others, limits, side="right") / len(others)
    tar = np.searchsorted(own, limits, side="right") / len(own)
    return Roc(np.concatenate([[0.0], far]), np.concatenate([[0.0], tar]))


def area_under(curve: Roc) -> float:
    """The area under the curve: the chance that a genuine pair is nearer than an impostor pair; a tie is half."""
    return float((np.diff(curve.far) * (curve.tar[1:] + curve.tar[:-1]) / 2).sum())


def equal_error(curve: Roc) -> float:
    """The rate at which as many impostors are accepted as genuine pairs are refused, interpolated."""
    gap = curve.far - (1 - curve.tar)  # rising from -1 to 1
    after = int(np.argmax(gap >= 0))
    share = -gap[after - 1] / (gap[after] - gap[after - 1])
    return float(curve.far[after - 1] + share * (curve.far[after] - curve.far[after - 1]))


def tar_at(genuine: Array, impostor: Array, far: float) -> float | None:
    """The share of genuine pairs accepted where at most `far` of the impostors are; None from too few impostors."""
    if not 0 < far < 1:
        raise BadInput(f"far={far} must lie between 0 and 1.")
    if len(impostor) < PAIRS_NEEDED / far:
        return None
    curve = roc(genuine, impostor)
    return float(curve.tar[curve.far <= far].max())
