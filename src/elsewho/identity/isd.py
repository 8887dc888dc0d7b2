"""Identity subspace decomposition (paper 002): features that tell people apart are averaged, the others are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from elsewho.errors import BadInput, TooFewFaces, TooFewPeople
from elsewho.identity.release import Bound, Release, check_faces, gather
from elsewho.identity.same import k_same_m
from elsewho.types import Array

F_TO_ENTER = 3.84  # SPSS's defaults
F_TO_REMOVE = 2.71
TOLERANCE = 1e-3
NONE_LEFT = 1e-10  # share of a feature's spread within people, below which the others determine it


@dataclass(frozen=True, slots=True)
class Step:
    """One feature that came into the analysis, or left it."""

    feature: int
    entered: bool  # False: it was removed
    f: float  # F to enter, or to remove
    wilks: float  # Wilks' lambda of all features then in


@dataclass(frozen=True, slots=True)
class Ranking:
    """Features by how well they tell people apart, given those before them."""

    order: Array  # (d,) feature numbers, the most identity-sensitive first
    f: Array  # (d,) by feature: F when it entered; for those left out, F to enter at the end
    entered: Array  # (d,) bool, by feature
    steps: tuple[Step, ...]

    def __len__(self) -> int:
        return len(self.order)


def rank_identity_features(
    features: Array,
    people: Sequence[str],
    *,
    f_to_enter: float = F_TO_ENTER,
    f_to_remove: float = F_TO_REMOVE,
    tolerance: float = TOLERANCE,
) -> Ranking:
    """Stepwise discriminant analysis with the F of the change in Wilks' lambda, by the rules of SPSS.

    features     (n, d)
    people       (n,) who each row shows; two people and more, some of them with several rows
    f_to_enter   a step enters the feature with the largest F, if it is at least this ...
    f_to_remove  ... unless one that is in has fallen below this: then the one with the smallest F goes
    tolerance    the least share of a feature's variance within people that the others may leave it

    Features in at the end are ranked by when they entered, then the others by F. A feature that repeats another one
    ranks low although it tells people apart on its own: ranks are for features that hang together little, such as
    principal components.
    """
    if not f_to_enter > f_to_remove >= 0:
        raise BadInput(
            f"F to enter must be above F to remove, found {f_to_enter} and {f_to_remove}: else steps go round."
        )
    if not 0 <= tolerance < 1:
        raise BadInput(f"tolerance={tolerance} must be from 0 to below 1.")
    within, total, groups = _scatter(features, people)
    n, d = len(features), len(within)
    w, t = within.copy(), total.copy()
    inside = np.zeros(d, bool)
    entry_f = np.zeros(d)
    steps: list[Step] = []
    wilks = 1.0
    for _ in range(2 * d):  # as SPSS: enough for all to enter, leave and settle
        _refuse_dependent(w, inside)
        f = _partial_f(w, t, inside, n, groups)
        allowed = _tolerable(w, inside, tolerance)
        q = int(inside.sum())
        weakest = int(np.where(inside, f, np.inf).argmin())
        if q and f[weakest] < f_to_remove:
            feature, entering = weakest, False
        else:
            feature, entering = int(np.where(allowed, f, -np.inf).argmax()), True
            if not allowed[feature] or f[feature] < f_to_enter or n - groups - q < 1:
                break
            entry_f[feature] = f[feature]
        share = w[feature, feature] / t[feature, feature]  # lambda after over before; inverses where it leaves
        wilks *= share
        _sweep(w, feature, entering)
        _sweep(t, feature, entering)
        inside[feature] = entering
        steps.append(Step(feature, entering, float(f[feature]), float(wilks)))
    last_entry = {step.feature: number for number, step in enumerate(steps) if step.entered}
    final = _partial_f(w, t, inside, n, groups)
    first = sorted(np.flatnonzero(inside).tolist(), key=last_entry.__getitem__)
    rest = sorted(np.flatnonzero(~inside).tolist(), key=lambda j: -final[j])
    return Ranking(np.array(first + rest, np.intp), np.where(inside, entry_f, final), inside, tuple(steps))


def k_same_isd(
    features: Array,
    people: Sequence[str] | None,
    k: int,
    m: int,
    *,
    ranking: Ranking | None = None,
    classes: Sequence[str] | None = None,
    order: Sequence[int] | Array | None = None,
    seed: int = 0,
) -> Release:
    """Replace the `m` most identity-sensitive features by their mean over k people alike in them; keep the others.

    features  (n, d)
    people    (n,) an id a row; people count once, by their mean. None: every row its own person (give a ranking)
    k         people in a cluster, up to all of them
    m         1..d features; at d nothing is kept, and this is k-Same-M
    ranking   of the features; None: learned from these rows
    classes, order, seed  as in k_same_m

    Clusters are those of k-Same-M in the m features: each person in one. Were each person given the k neighbours of
    its own, all means would differ, and whoever knows the originals would tell them apart.
    """
    array = check_faces(features, "features")
    d = array.shape[1]
    if isinstance(m, bool) or int(m) != m or not 1 <= m <= d:
        raise BadInput(f"isd needs m from 1 to {d} features to replace, found m={m!r}; with 0 real faces are released.")
    if ranking is None:
        if people is None:
            raise BadInput("isd learns the ranking from several rows a person: give people, or a ranking.")
        ranking = rank_identity_features(array, people)
    if len(ranking) != d:
        raise BadInput(f"the ranking is of {len(ranking)} features, the faces have {d}. Rank these features.")
    sensitive = ranking.order[: int(m)]
    gather(array, k, "isd", people=people, classes=classes)  # refuses in this method's name
    crowd = k_same_m(array[:, sensitive], k, people=people, classes=classes, order=order, seed=seed)
    faces = array.copy()
    faces[:, sensitive] = crowd.faces
    broken = () if m == d else ("features kept",)
    bound = Bound(crowd.bound.value, crowd.bound.of, crowd.bound.holds and m == d, crowd.bound.broken_by + broken)
    return replace(crowd, method="isd", faces=faces, bound=bound)


def _scatter(features: Array, people: Sequence[str]) -> tuple[Array, Array, int]:
    """Scatter within people and in all (d, d), each feature in units of its spread within people; and how many."""
    x = check_faces(features, "features")
    if len(people) != len(x):
        raise BadInput(f"{len(x)} rows of features but {len(people)} people were given; give one a row.")
    names, person_of = np.unique(np.asarray(people, dtype=str), return_inverse=True)
    if len(names) < 2:
        raise TooFewPeople(f"features are ranked by how they tell people apart; found {len(names)}. Add people.")
    if len(names) == len(x):
        raise TooFewFaces("every person has one row, so nothing is known of how a person varies. Add rows of people.")
    if not x.shape[1]:
        raise BadInput("there are no features to rank: found an array (n, 0).")
    centred = x - x.mean(axis=0)
    means = np.zeros((len(names), x.shape[1]))
    np.add.at(means, person_of, centred)
    means /= np.bincount(person_of)[:, None]
    own = centred - means[person_of]
    rounding = 1e-12 * np.abs(x).max(axis=0)
    for spread, what in ((centred, "is the same in every row"), (own, "never varies within a person")):
        still = np.flatnonzero(np.sqrt((spread**2).mean(axis=0)) <= rounding)
        if len(still):
            raise BadInput(f"feature {still[0]} {what}, so it has no F. Leave it out of the ranking.")
    unit = np.sqrt((own**2).sum(axis=0))
    own, centred = own / unit, centred / unit
    return np.asarray(own.T @ own), np.asarray(centred.T @ centred), len(names)


def _sweep(a: Array, j: int, entering: bool) -> None:
    """Sweep feature j into `a` (d, d) symmetric, or out of it, in place.

    With the set S in, a[S, S] is minus the inverse of the scatter of S, and the rest the scatter that S leaves.
    """
    pivot = a[j, j]
    row = a[j] / pivot
    a -= np.outer(a[:, j], row)
    a[j] = a[:, j] = row if entering else -row
    a[j, j] = -1 / pivot


def _partial_f(w: Array, t: Array, inside: Array, n: int, groups: int) -> Array:
    """By feature (d,): F to remove of those inside, F to enter of the others, given those inside."""
    ratio = np.diag(t) / np.diag(w)
    change = np.where(inside, 1 / ratio, ratio) - 1  # 1 / partial lambda - 1
    degrees = n - groups - inside.sum() + inside
    return np.asarray(np.maximum(change, 0) * np.maximum(degrees, 0) / (groups - 1))


def _tolerable(w: Array, inside: Array, tolerance: float) -> Array:
    """Which features (d,) may enter: the others leave it enough of its spread, and it leaves enough to them."""
    own = np.diag(w)
    may = ~inside & (own >= tolerance)
    inverse = -own[inside, None] + w[np.ix_(inside, may)] ** 2 / own[may]  # of those inside, were each other added
    may[may] = (1 / inverse >= tolerance).all(axis=0)
    return np.asarray(may)


def _refuse_dependent(w: Array, inside: Array) -> None:
    """Refuse a feature that, within people, is a linear combination of those inside: it has no F."""
    fixed = np.flatnonzero(~inside & (np.diag(w) < NONE_LEFT))
    if len(fixed) and inside.any():
        used = np.flatnonzero(inside & (np.abs(w[fixed[0]]) > 1e-6))
        raise BadInput(
            f"within people, feature {fixed[0]} is a linear combination of features {', '.join(map(str, used))}, "
            "so it has no F. Leave it out, or take principal components."
        )
