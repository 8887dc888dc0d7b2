"""Recompute from arrays alone that a release is what it claims to be, and say what it publishes besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elsewho.errors import BadInput
from elsewho.identity.release import Release, check_faces, gather
from elsewho.identity.search import Remaining
from elsewho.types import Array

AVERAGED = ("k-same-m", "k-same-select", "k-same-furthest")  # everybody gets the centre of the donor cluster
MOVED = ("k-diff-furthest",)  # everybody keeps the offset from the own centre
EXCHANGED = ("k-same-furthest", "k-diff-furthest")  # the donors are other people
SAME = 1e-9  # of the largest value: two numbers that differ by less are one


@dataclass(frozen=True, slots=True)
class Verification:
    """What was recomputed, and what was found."""

    wrong: tuple[str, ...]  # claims that do not hold, in words
    unchecked: tuple[str, ...]  # what the arrays alone cannot tell
    copies: Array  # (m, 2) a released row, and a row whose real face it is
    cores_of_one: tuple[int, ...]  # clusters whose centre is one person's real face
    fewest_people: int  # of all clusters

    @property
    def holds(self) -> bool:
        """True where everything that could be checked is right; copies of real faces are no breach of a claim."""
        return not self.wrong


def verify(release: Release, faces: Array, people: Sequence[str] | None = None) -> Verification:
    """Check `release` against the originals it was made of.

    faces   (n, d) the original vectors, in the rows of the release
    people  (n,) an id a row; None: every row its own person

    Recomputed: that each cluster holds as many people as it says, at least k where the method promises it; that a
    person is in one cluster alone; that donors are other people than those who get the face; that centres are the
    means of those who count. Reported besides: exact copies of real faces, and centres of one person.
    """
    array = check_faces(faces)
    if array.shape != release.faces.shape:
        raise BadInput(
            f"verify: the release holds faces of shape {release.faces.shape}, the originals are {array.shape}. "
            "Give the originals in the rows of the release."
        )
    crowd = gather(array, 2, "verify", people=people, classes=None)
    first = np.unique(crowd.person_of, return_index=True)[1]  # a row of each person
    cluster, donor = release.cluster[first], release.donor[first]
    core = np.ones(len(crowd), bool) if release.core is None else release.core[first]
    wrong = _check_rows(release, crowd.person_of, first) + _check_groups(release, cluster, donor, core)
    unchecked: list[str] = []
    if not wrong:
        if release.method not in AVERAGED + MOVED:
            unchecked.append(f"the faces: {release.method} needs more than arrays to recompute them")
        elif release.core is None and (release.core_sizes < release.people_per_cluster).any():
            unchecked.append("the centres: the release does not say who counts in them")
        else:
            wrong += _check_faces(release, array, crowd.means, cluster, core)
    return Verification(
        wrong=tuple(wrong),
        unchecked=tuple(unchecked),
        copies=find_copies(release.faces, array),
        cores_of_one=tuple(np.flatnonzero(release.core_sizes == 1).tolist()),
        fewest_people=int(np.bincount(cluster, minlength=len(release.people_per_cluster)).min()),
    )


def find_copies(released: Array, faces: Array) -> Array:
    """Rows (m, 2): a row of `released` (n, d), and the first row of `faces` (p, d) that is the same face."""
    if not len(faces) or not faces.shape[1]:
        return np.zeros((0, 2), np.intp)
    limit = SAME * float(np.abs(faces).max())
    distinct, back = np.unique(released, axis=0, return_inverse=True)
    everybody = Remaining(np.ascontiguousarray(faces))
    nearest = np.array([int(everybody.nearest(face)[0]) for face in distinct])
    same = (np.abs(faces[nearest] - distinct) <= limit).all(axis=1)
    rows = np.flatnonzero(same[back.ravel()])
    return np.stack([rows, nearest[back.ravel()][rows]], axis=1)


def _check_rows(release: Release, person_of: Array, first: Array) -> list[str]:
    """All rows of a person must be treated alike."""
    wrong = []
    own = first[person_of]
    if (release.cluster != release.cluster[own]).any():
        row = int(np.flatnonzero(release.cluster != release.cluster[own])[0])
        wrong.append(f"row {row} is in another cluster than the other rows of its person")
    if (release.donor != release.donor[own]).any():
        row = int(np.flatnonzero(release.donor != release.donor[own])[0])
        wrong.append(f"row {row} has another donor than the other rows of its person")
    return wrong


def _check_groups(release: Release, cluster: Array, donor: Array, core: Array) -> list[str]:
    wrong = []
    count = len(release.people_per_cluster)
    if len(release.core_sizes) != count or not all(((one >= 0) & (one < count)).all() for one in (cluster, donor)):
        return [f"clusters and donors must be numbers below {count}, of which people and cores are counted"]
    people = np.bincount(cluster, minlength=count)
    for number in np.flatnonzero(people != release.people_per_cluster).tolist():
        wrong.append(f"cluster {number} holds {people[number]} people, not {release.people_per_cluster[number]}")
    counted = np.bincount(cluster[core], minlength=count)
    if release.core is not None:
        for number in np.flatnonzero(counted != release.core_sizes).tolist():
            wrong.append(f"the centre of cluster {number} is of {counted[number]}, not {release.core_sizes[number]}")
    if release.method in AVERAGED and people.min() < release.k:
        wrong.append(f"cluster {int(people.argmin())} holds {people.min()} people, fewer than k={release.k}")
    if release.bound.holds and release.bound.value < (1 - SAME) / people.min():
        wrong.append(f"the bound {release.bound.value:.4g} is below 1/{people.min()}, one over the smallest cluster")
    own = np.flatnonzero(cluster == donor)
    if release.method in EXCHANGED and len(own):
        wrong.append(f"cluster {int(cluster[own[0]])} is its own donor")
    pairs = np.unique(np.stack([cluster, donor], axis=1), axis=0)
    if release.method in AVERAGED + MOVED and len(pairs) != count:
        wrong.append(f"{count} clusters have {len(pairs)} donors; one each was expected")
    return wrong


def _check_faces(release: Release, faces: Array, means: Array, cluster: Array, core: Array) -> list[str]:
    """Recompute every released face from the means (p, d) of the people who count."""
    centres = np.zeros((len(release.core_sizes), faces.shape[1]))
    np.add.at(centres, cluster[core], means[core])
    centres /= release.core_sizes[:, None]
    expected = centres[release.donor]
    if release.method in MOVED:
        expected = faces + (expected - centres[release.cluster])
    scale = float(np.abs(faces).max(initial=0.0)) or 1.0
    off = np.flatnonzero((np.abs(release.faces - expected) > SAME * scale).any(axis=1))
    if not len(off):
        return []
    what = "its face moved to the donors' centre" if release.method in MOVED else "the mean of its donors"
    return [f"row {int(off[0])} is not {what}; {len(off)} rows of {len(faces)} are not"]
