"""The papers' theorems over thousands of sets. Recognised: nearer to the own original than to any other, strictly."""

import numpy as np
from crowds import crowds, recognised
from hypothesis import given, settings
from hypothesis import strategies as st

from elsewho.identity.diff import EXCHANGED, JOINED, k_diff_furthest
from elsewho.identity.furthest import exchanging_groups, k_same_furthest
from elsewho.identity.same import k_same_m


def crowd_of_each(release):
    """How many people's released face is the same to the last bit, for each face."""
    _, back, counts = np.unique(release.faces, axis=0, return_inverse=True, return_counts=True)
    return counts[back.ravel()]


@settings(deadline=None, max_examples=1000)
@given(crowds())
def test_paper_003_theorem_1_every_face_is_released_k_times_or_more(crowd):
    faces, k, order = crowd

    release = k_same_furthest(faces, k, order=order)

    assert len(release.faces) == len(faces)
    assert crowd_of_each(release).min() >= k
    assert release.people_per_cluster.min() >= k
    assert release.bound.value == 1 / release.people_per_cluster.min() <= 1 / k


@settings(deadline=None, max_examples=1000)
@given(crowds(least=5))
def test_paper_003_theorem_2_no_face_outside_is_nearer_to_the_centre_than_the_last_that_joined(crowd):
    faces, k, _ = crowd
    core = [0]
    while len(core) < k:
        centre = faces[core].mean(axis=0)
        others = np.setdiff1d(np.arange(len(faces)), core)
        joined = others[((faces[others] - centre) ** 2).sum(axis=1).argmin()]
        core.append(int(joined))
        centre, others = faces[core].mean(axis=0), others[others != joined]
        apart = np.sqrt(((faces - centre) ** 2).sum(axis=1))

        assert (apart[others] >= apart[joined] - 1e-9 * max(np.ptp(faces), 1e-300)).all()


@settings(deadline=None, max_examples=1000)
@given(crowds())
def test_paper_003_theorem_3_nobody_is_recognised(crowd):
    faces, k, order = crowd

    release = k_same_furthest(faces, k, order=order)

    assert not recognised(release.faces, faces).any()


@settings(deadline=None, max_examples=300)
@given(crowds())
def test_paper_003_the_clusters_that_exchange_their_centres_do_not_overlap(crowd):
    faces, k, order = crowd
    groups = exchanging_groups(faces, order, k)

    for near, far in zip(groups[::2], groups[1::2], strict=True):
        a, b = faces[near.core].mean(axis=0), faces[far.core].mean(axis=0)
        radii = [np.sqrt(((faces[g.core] - c) ** 2).sum(axis=1)).max() for g, c in ((near, a), (far, b))]
        assert len(near.core) == len(far.core) == 1 or np.sqrt(((a - b) ** 2).sum()) >= sum(radii) * (1 - 1e-9)


@settings(deadline=None, max_examples=1000)
@given(crowds(), st.sampled_from(["avoid", "allow"]))
def test_paper_000_theorem_1_nobody_but_the_exceptions_is_recognised_and_they_are_few(crowd, singles):
    faces, k, order = crowd

    release = k_diff_furthest(faces, k, singles=singles, order=order)

    covered = release.exceptions == ""
    assert not (recognised(release.faces, faces) & covered).any()
    joined = (release.exceptions == JOINED).sum()
    assert joined <= (2 if singles == "avoid" else len(faces) % 2)
    assert (release.exceptions == EXCHANGED).sum() <= (release.core_sizes == 1).sum()


@settings(deadline=None, max_examples=300)
@given(crowds())
def test_one_over_k_an_attacker_who_knows_the_clusters_does_no_better_than_guess_among_their_people(crowd):
    faces, k, order = crowd

    for release in (k_same_m(faces, k, order=order), k_same_furthest(faces, k, order=order)):
        # Who knows all but the assignment sees one face for a whole cluster: any guess is right once in its people.
        for number, people in enumerate(release.people_per_cluster):
            seen = release.faces[release.cluster == number]
            assert len(seen) == people
            assert (seen == seen[0]).all()
        assert (1 / crowd_of_each(release)).max() <= release.bound.value <= 1 / k
        assert release.bound.holds


@settings(deadline=None, max_examples=300)
@given(crowds(), st.integers(0, 1000))
def test_a_chosen_seed_never_makes_the_promise_less(crowd, seed):
    faces, k, _ = crowd

    assert not recognised(k_same_furthest(faces, k, seed=seed).faces, faces).any()
