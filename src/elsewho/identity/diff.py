"""k-Diff-furthest: two clusters far from each other change places, each face keeping its place in its cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from elsewho.errors import BadInput
from elsewho.identity.groups import (
    COINCIDES,
    Cluster,
    Group,
    coincident,
    distance,
    form_groups,
    make_release,
    own_order,
    trigger_order,
)
from elsewho.identity.release import Bound, Release, check_faces, gather
from elsewho.identity.search import Remaining, Surroundings
from elsewho.types import Array

METHOD = "k-diff-furthest"
Singles = Literal["avoid", "allow"]
JOINED = "joined the nearer of the last two clusters: may be recognised"
EXCHANGED = "was a cluster of one: gets another person's real face, who gets this one"


def k_diff_furthest(
    faces: Array,
    k: int,
    *,
    singles: Singles = "avoid",
    people: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    order: Sequence[int] | Array | None = None,
    seed: int = 0,
) -> Release:
    """Paper 000, figure 2: the people near a trigger and those near the face furthest from it change places.

    faces    (n, d) coefficient vectors, as FaceModel.to_vector gives them; never modified
    singles  "avoid": the last one or two people join the nearer of the last two clusters, and may be recognised;
             "allow": the last two exchange their faces. Clusters of one occur earlier as well: see `exceptions`
    people   (n,) an id a row; several rows of a person count once, as their mean, and move together
    classes  (n,) a class a row: clusters stay within a class
    order    (p,) the people's numbers, as they first appear, in the order in which they trigger; None: by `seed`

    Every face keeps its offset from its cluster's mean, so nothing bounds how well it can be linked: see
    docs/guarantees.md. The result does not depend on the order of the rows, and the same seed gives the same bytes.
    Of more than 200,000 people in a class, clusters are formed within blocks of at most so many.
    """
    if singles not in ("avoid", "allow"):
        raise BadInput(f'{METHOD}: singles must be "avoid" or "allow", found {singles!r}.')
    crowd = gather(faces, k, METHOD, people=people, classes=classes, clusters=2)
    own = own_order(crowd)
    triggers = trigger_order(own, order, seed, METHOD)
    groups = form_groups(crowd, own, triggers, k, lambda points, turns: translated_groups(points, turns, k, singles))
    reasons = dict.fromkeys(np.flatnonzero(coincident(crowd, own)).tolist(), COINCIDES)
    for group in groups:
        reasons.update(dict.fromkeys(group.joined, JOINED))
        if len(group.core) == 1:
            reasons[group.core[0]] = EXCHANGED
    fewest = min(len(group.core) + len(group.joined) for group in groups)
    bound = Bound(1 / fewest, "identity coefficients seen alone, equal priors", holds=False, broken_by=("offset kept",))
    return make_release(METHOD, k, check_faces(faces), crowd, groups, bound, reasons=reasons, keep_offset=True)


def translated_groups(points: Array, triggers: Array, k: int, singles: Singles) -> list[Group]:
    """Paper 000, figure 2 on `points` (n, d): pairs of groups in the order in which `triggers` (n,) form them."""
    left, groups = Remaining(points), list[Group]()
    for trigger in triggers.tolist():
        if trigger not in left:
            continue
        near, far = grow_together(left, trigger, k)
        here = len(groups)
        groups += [Group(near.core, here + 1, []), Group(far.core, here, [])]
        if len(left) == 1 or (len(left) == 2 and singles == "avoid"):  # lines 23 to 29
            for last in left.all().tolist():
                point = points[last]
                nearer_far = distance(point, near.centre) > distance(point, far.centre)
                groups[-1 if nearer_far else -2].joined.append(last)
            break
    return groups


def grow_together(left: Remaining, trigger: int, k: int) -> tuple[Cluster, Cluster]:
    """Lines 4 to 22: the clusters about the trigger and about the face furthest from it, taken from `left`."""
    near, about_near, about_far = Cluster.of(left.points, [trigger]), Surroundings(left), Surroundings(left)
    left.take(near.core)
    nearest, furthest = about_near.nearest_and_furthest(near.centre)
    far = Cluster.of(left.points, [furthest])
    left.take(far.core)
    while len(near) < k and len(left) >= 2:
        chosen = about_far.nearest(far.centre)
        left.take([chosen])
        if len(near) > 1 or nearest not in left:
            nearest = about_near.nearest(near.centre)
        wider_near, wider_far = near.and_also(nearest), far.and_also(chosen)
        if distance(wider_near.centre, wider_far.centre) < wider_near.radius + wider_far.radius:  # touching is allowed
            left.put_back(chosen)
            break
        near, far = wider_near, wider_far
        left.take([nearest])
    return near, far
