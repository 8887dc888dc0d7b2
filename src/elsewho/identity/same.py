"""k-Same-M and k-Same-Select: k people get the mean of their own k faces."""

from __future__ import annotations

from collections.abc import Sequence

from elsewho.identity.groups import Group, crowd_bound, form_groups, make_release, own_order, trigger_order
from elsewho.identity.release import Release, check_faces, gather
from elsewho.identity.search import Remaining
from elsewho.types import Array


def k_same_m(
    faces: Array,
    k: int,
    *,
    people: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    order: Sequence[int] | Array | None = None,
    seed: int = 0,
) -> Release:
    """Each trigger and the k - 1 people nearest to it get their mean; fewer than 2k left form one cluster.

    faces    (n, d) coefficient vectors, as FaceModel.to_vector gives them; never modified
    people   (n,) an id a row; several rows of a person count once, as their mean, and get the same face
    classes  (n,) a class a row: clusters stay within a class
    order    (p,) the people's numbers, as they first appear, in the order in which they trigger; None: by `seed`

    The result does not depend on the order of the rows, and the same seed gives the same bytes. Of more than
    200,000 people in a class, clusters are formed within blocks of at most so many: the bound is the same.
    """
    return _average_the_nearest("k-same-m", faces, k, people, classes, order, seed)


def k_same_select(
    faces: Array,
    k: int,
    classes: Sequence[str],
    *,
    people: Sequence[str] | None = None,
    order: Sequence[int] | Array | None = None,
    seed: int = 0,
) -> Release:
    """k-Same-M within each class of use (an expression, a gender), as Gross and others do; see k_same_m."""
    return _average_the_nearest("k-same-select", faces, k, people, classes, order, seed)


def _average_the_nearest(
    method: str,
    faces: Array,
    k: int,
    people: Sequence[str] | None,
    classes: Sequence[str] | None,
    order: Sequence[int] | Array | None,
    seed: int,
) -> Release:
    crowd = gather(faces, k, method, people=people, classes=classes)
    own = own_order(crowd)
    triggers = trigger_order(own, order, seed, method)
    groups = form_groups(crowd, own, triggers, k, lambda points, turns: nearest_groups(points, turns, k))
    return make_release(method, k, check_faces(faces), crowd, groups, crowd_bound(groups))


def nearest_groups(points: Array, triggers: Array, k: int) -> list[Group]:
    """Newton's k-Same on `points` (n, d): groups in the order in which `triggers` (n,) form them."""
    left, groups = Remaining(points), list[Group]()
    for trigger in triggers.tolist():
        if trigger not in left:
            continue
        left.take([trigger])
        wanted = k - 1 if len(left) + 1 >= 2 * k else len(left)
        near = left.nearest(points[trigger], wanted).tolist() if wanted else []
        left.take(near)
        groups.append(Group([trigger, *near], len(groups), []))
    return groups
