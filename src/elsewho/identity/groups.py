"""From people to groups and from groups to a release: what the methods share that work in rounds.

Results do not depend on the order of the input. People are first put in an order of their own: by their vectors, first
coordinate first; people who coincide by their names, short before long. Where the papers pick at random, a generator
seeded with `seed` shuffles that order, and of people at equal distance the first in it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from elsewho.errors import BadInput
from elsewho.identity.release import Bound, Crowd, Release
from elsewho.identity.search import squared_distances
from elsewho.types import Array

BLOCK = 200_000  # people that are searched together; of more, see `form_groups`
COINCIDES = "coincides with another person: no distance tells the two apart"


@dataclass(slots=True)
class Group:
    """People who are treated alike."""

    core: list[int]  # the centre is their mean
    donor: int  # the number of the group whose centre they get
    joined: list[int]  # members who did not move the centre


Former = Callable[[Array, Array], list[Group]]  # points (n, d) and the order of triggers (n,) in, groups out


@dataclass(frozen=True, slots=True)
class Cluster:
    """People and their mean, while a cluster is formed."""

    points: Array  # (n, d) of everybody
    core: list[int]
    centre: Array  # (d,)
    radius: float  # the largest distance of a member to the centre

    @classmethod
    def of(cls, points: Array, core: list[int]) -> Cluster:
        """The cluster of `core`, numbers in `points` (n, d)."""
        own = points.take(core, axis=0)
        centre = np.add.reduce(own, axis=0) / len(core)
        return cls(points, core, centre, float(np.sqrt(np.maximum.reduce(squared_distances(own, centre)))))

    def __len__(self) -> int:
        return len(self.core)

    def and_also(self, number: int) -> Cluster:
        """This cluster with one more member."""
        return Cluster.of(self.points, [*self.core, number])


def distance(a: Array, b: Array) -> float:
    """Euclidean distance of two points (d,)."""
    return float(np.sqrt(np.add.reduce(np.square(a - b))))


def own_order(crowd: Crowd) -> Array:
    """The numbers (p,) of all people in an order that is theirs, not that of the input."""
    if not crowd.means.shape[1]:
        raise BadInput("faces have no values, so that nobody is nearer than anybody. Give vectors (n, d) with d >= 1.")
    order = np.argsort(crowd.means[:, 0], kind="stable")
    first = crowd.means[order, 0]
    edges = np.flatnonzero(np.concatenate([[True], first[1:] != first[:-1], [True]]))
    for start, end in pairwise(edges.tolist()):
        if end - start > 1:
            tied = order[start:end].tolist()
            tied.sort(key=lambda i: (crowd.means[i].tolist(), len(crowd.names[i]), crowd.names[i]))
            order[start:end] = tied
    return order


def trigger_order(own: Array, order: Sequence[int] | Array | None, seed: int, method: str) -> Array:
    """The numbers (p,) of all people in the order in which they trigger.

    own    (p,) the order that own_order gives, shuffled where `order` is None
    order  (p,) people's numbers 0..p-1 in order of first appearance (without `people`: row numbers)
    """
    if order is None:
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise BadInput(f"{method}: seed must be a whole number from 0, found {seed!r}.")
        return np.asarray(np.random.default_rng(seed).permutation(own))
    given = np.asarray(order)
    if given.shape != own.shape or given.dtype.kind not in "iu" or not np.array_equal(np.sort(given), np.sort(own)):
        raise BadInput(
            f"{method}: order must hold each of the numbers 0..{len(own) - 1} of the {len(own)} people once, as they "
            f"first appear in the input; found {given.dtype} of shape {given.shape}. Leave it out for a random order."
        )
    return given.astype(np.intp)


def form_groups(crowd: Crowd, own: Array, triggers: Array, k: int, form: Former) -> list[Group]:
    """Groups of people's numbers, class by class.

    More than BLOCK people of a class are dealt, as they trigger, into blocks of at most so many, each of them a crowd
    of its own. Then nearest and furthest are those of the block: an approximation, and every group still has its size.
    """
    groups: list[Group] = []
    for members in _blocks(crowd, own, triggers, k):
        shift = len(groups)
        local = np.empty(len(crowd), np.intp)
        local[members] = np.arange(len(members))
        chosen = np.zeros(len(crowd), bool)
        chosen[members] = True
        for group in form(crowd.means[members], local[triggers[chosen[triggers]]]):
            names = [members[group.core].tolist(), members[group.joined].tolist()]
            groups.append(Group(names[0], group.donor + shift, names[1]))
    return groups


def _blocks(crowd: Crowd, own: Array, triggers: Array, k: int) -> Iterator[Array]:
    rank = np.empty(len(own), np.intp)
    rank[own] = np.arange(len(own))
    for kind in sorted(range(len(crowd.classes)), key=lambda number: crowd.classes[number]):
        members = triggers[crowd.class_of[triggers] == kind]
        count = min(-(-len(members) // BLOCK), max(len(members) // (2 * k), 1))
        for block in np.array_split(members, count):
            yield block[np.argsort(rank[block])]


def coincident(crowd: Crowd, own: Array) -> Array:
    """Which people (p,) have another person's vector exactly."""
    same = np.zeros(len(crowd), bool)
    for start in range(0, len(own) - 1, BLOCK):
        here = own[start : start + BLOCK + 1]
        equal = crowd.means[here[0:-1], 0] == crowd.means[here[1:], 0]
        at = np.flatnonzero(equal)
        equal[at] = (crowd.means[here[at]] == crowd.means[here[at + 1]]).all(axis=1)
        same[here[:-1][equal]] = same[here[1:][equal]] = True
    return same


def make_release(
    method: str,
    k: int,
    faces: Array,
    crowd: Crowd,
    groups: list[Group],
    bound: Bound,
    *,
    reasons: dict[int, str] | None = None,
    keep_offset: bool = False,
) -> Release:
    """The release of `faces` (n, d) as rows of people in `groups`.

    reasons      why the method's promise does not cover a person, by the person's number
    keep_offset  False: all of a group get the donor's centre; True: they keep their place about it
    """
    sizes = np.array([len(group.core) for group in groups])
    donors = np.array([group.donor for group in groups])
    centres = np.stack([np.add.reduce(crowd.means[group.core], axis=0) / len(group.core) for group in groups])
    group_of = np.empty(len(crowd), np.intp)
    in_core = np.zeros(len(crowd), bool)
    for number, group in enumerate(groups):
        group_of[group.core] = group_of[group.joined] = number
        in_core[group.core] = True
    cluster = group_of[crowd.person_of]
    if keep_offset:
        released = np.take(centres[donors] - centres, cluster, axis=0)
        released += faces
    else:
        released = np.take(centres, donors[cluster], axis=0)
    why = np.full(len(crowd), "", dtype=object)
    for person, reason in (reasons or {}).items():
        why[person] = reason
    return Release(
        method=method,
        k=k,
        faces=released,
        cluster=cluster,
        donor=donors[cluster],
        people_per_cluster=np.bincount(group_of, minlength=len(groups)),
        core_sizes=sizes,
        exceptions=why[crowd.person_of].astype(str),
        bound=bound,
        core=in_core[crowd.person_of],
    )


def crowd_bound(groups: list[Group]) -> Bound:
    """What holds where all people of a group get one face: nobody does better than to guess among them."""
    fewest = min(len(group.core) + len(group.joined) for group in groups)
    return Bound(1 / fewest, "identity coefficients seen alone, equal priors", holds=True)
