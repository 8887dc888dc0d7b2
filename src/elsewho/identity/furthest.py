"""k-Same-furthest: two clusters far from each other exchange their means (paper 003), or the furthest k (paper 004)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elsewho.errors import BadInput, TooFewPeople
from elsewho.identity.groups import (
    COINCIDES,
    Cluster,
    Group,
    coincident,
    crowd_bound,
    distance,
    form_groups,
    make_release,
    own_order,
    trigger_order,
)
from elsewho.identity.release import Release, check_faces, check_k, gather
from elsewho.identity.search import Remaining, Surroundings
from elsewho.types import Array

METHOD = "k-same-furthest"


def k_same_furthest(
    faces: Array,
    k: int,
    *,
    people: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    order: Sequence[int] | Array | None = None,
    seed: int = 0,
) -> Release:
    """Paper 003, figure 2: the people near a trigger and those near the face furthest from it exchange their means.

    faces    (n, d) coefficient vectors, as FaceModel.to_vector gives them; never modified
    people   (n,) an id a row; several rows of a person count once, as their mean, and get the same face
    classes  (n,) a class a row: clusters stay within a class
    order    (p,) the people's numbers, as they first appear, in the order in which they trigger; None: by `seed`

    A cluster grows until it would overlap the other, then is filled up to k by people who do not count in its mean:
    `core_sizes` says how many do, and a core of one publishes a real face. The result does not depend on the order of
    the rows, and the same seed gives the same bytes. Of more than 200,000 people in a class, clusters are formed
    within blocks of at most so many: the bound is the same, "furthest" is that of the block.
    """
    crowd = gather(faces, k, METHOD, people=people, classes=classes, clusters=2)
    own = own_order(crowd)
    triggers = trigger_order(own, order, seed, METHOD)
    groups = form_groups(crowd, own, triggers, k, lambda points, turns: exchanging_groups(points, turns, k))
    reasons = dict.fromkeys(np.flatnonzero(coincident(crowd, own)).tolist(), COINCIDES)
    return make_release(METHOD, k, check_faces(faces), crowd, groups, crowd_bound(groups), reasons=reasons)


def furthest_average(probes: Array, donors: Array, k: int) -> Array:
    """Paper 004, section II.B: for each of `probes` (n, d) the mean (n, d) of the k `donors` (m, d) furthest from it.

    Leave the probe's own person out of the donors. Donors at equal distance: the first ones.
    """
    probes, donors, k = check_faces(probes, "probes"), check_faces(donors, "donors"), check_k(k, "furthest_average")
    if probes.shape[1] != donors.shape[1]:
        raise BadInput(
            f"furthest_average: probes have {probes.shape[1]} values a face, donors {donors.shape[1]}. "
            "Make both with the same model."
        )
    if len(donors) < k:
        raise TooFewPeople(
            f"furthest_average with k={k} needs {k} donors, found {len(donors)}. "
            f"Use k <= {len(donors)}, or add {k - len(donors)} donors."
        )
    everybody = Remaining(np.ascontiguousarray(donors))
    chosen = [np.sort(everybody.furthest(probe, k)) for probe in probes]
    return np.stack([donors[numbers].mean(axis=0) for numbers in chosen]) if chosen else probes.copy()


def exchanging_groups(points: Array, triggers: Array, k: int) -> list[Group]:
    """Paper 003, figure 2 on `points` (n, d): pairs of groups in the order in which `triggers` (n,) form them."""
    left, groups = Remaining(points), list[Group]()
    near = far = Cluster.of(points, [int(triggers[0])])
    for trigger in triggers.tolist():
        if trigger not in left:
            continue
        if len(left) >= 2 * k:  # lines 5 to 39
            near, far = grow_apart(left, trigger, k)
            joined = fill(left, far, k), fill(left, near, k)  # the far cluster first
            here = len(groups)
            groups += [Group(near.core, here + 1, joined[1]), Group(far.core, here, joined[0])]
        else:  # lines 41 to 45
            left.take([trigger])
            point = points[trigger]
            further = distance(point, far.centre) > distance(point, near.centre)
            groups[-2 if further else -1].joined.append(trigger)  # who gets the far centre is of the near group
    return groups


def grow_apart(left: Remaining, trigger: int, k: int) -> tuple[Cluster, Cluster]:
    """Lines 5 to 29: the clusters about the trigger and about the face furthest from it, taken from `left`."""
    near, about_near, about_far = Cluster.of(left.points, [trigger]), Surroundings(left), Surroundings(left)
    left.take(near.core)
    nearest, furthest = about_near.nearest_and_furthest(near.centre)
    far = Cluster.of(left.points, [furthest])
    left.take(far.core)
    while len(near) < k and len(far) < k:
        wider = far.and_also(about_far.nearest(far.centre))
        if overlap(near, wider):
            break
        far = wider
        left.take(far.core[-1:])
        if len(near) > 1 or nearest not in left:
            nearest = about_near.nearest(near.centre)
        wider = near.and_also(nearest)
        if overlap(wider, far):
            break
        near = wider
        left.take(near.core[-1:])
    return near, far


def overlap(near: Cluster, far: Cluster) -> bool:
    """Lines 14 and 23: touching counts."""
    return distance(near.centre, far.centre) <= near.radius + far.radius


def fill(left: Remaining, cluster: Cluster, k: int) -> list[int]:
    """Lines 30 to 37: the people nearest to the cluster's centre, as many as it lacks, taken from `left`."""
    if len(cluster) == k:
        return []
    joined: list[int] = left.nearest(cluster.centre, k - len(cluster)).tolist()
    left.take(joined)
    return joined
