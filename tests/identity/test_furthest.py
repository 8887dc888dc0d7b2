from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from crowds import crowds, make_crowd
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from transcriptions import k_same_furthest as transcribed

from elsewho.errors import BadInput, TooFewPeople
from elsewho.identity import groups as grouping
from elsewho.identity import search
from elsewho.identity.diff import k_diff_furthest
from elsewho.identity.furthest import exchanging_groups, furthest_average, k_same_furthest
from elsewho.identity.same import k_same_m

METHODS = [k_same_m, k_same_furthest, k_diff_furthest]


def as_lists(groups):
    return [(g.core + g.joined, g.core, g.donor) for g in groups]


@pytest.mark.parametrize("few", [0, search.FEW])
@settings(deadline=None, max_examples=300)
@given(crowd=crowds())
def test_the_clusters_are_those_of_the_transcription_index_for_index(few, crowd):
    faces, k, order = crowd
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "FEW", few)
        groups = exchanging_groups(faces, order, k)

    expected = [(g.members, g.core, g.donor) for g in transcribed(faces, k, order)]

    assert as_lists(groups) == expected


@pytest.mark.parametrize("few", [0, search.FEW])
@pytest.mark.parametrize("kind", ["falling", "clustered", "coincident"])
def test_the_clusters_of_a_large_crowd_are_those_of_the_transcription(few, kind, monkeypatch):
    monkeypatch.setattr(search, "FEW", few)
    faces, order = make_crowd(kind, 1500, 59, 1), np.random.default_rng(2).permutation(1500)

    groups = exchanging_groups(faces, order, 5)

    assert as_lists(groups) == [(g.members, g.core, g.donor) for g in transcribed(faces, 5, order)]


def test_the_example_of_the_papers_figure_3():
    faces = np.array([[1.0], [2.0], [7.0], [9.0]])

    release = k_same_furthest(faces, 2, order=[0, 1, 2, 3])

    assert_allclose(release.faces[:, 0], [8, 8, 1.5, 1.5])
    assert release.cluster.tolist() == [0, 0, 1, 1]
    assert release.donor.tolist() == [1, 1, 0, 0]
    assert release.core_sizes.tolist() == [2, 2]


def test_a_face_that_would_make_the_clusters_overlap_fills_up_without_moving_the_centre():
    faces = np.array([[0.0], [4.0], [6.0], [10.0]])

    release = k_same_furthest(faces, 2, order=[0, 1, 2, 3])

    # 6 joins 10: centre 8, radius 2. 4 would join 0 at centre 2 with radius 2: 6 apart, 4 of radii. No overlap.
    assert_allclose(release.faces[:, 0], [8, 8, 2, 2])
    release = k_same_furthest(np.array([[0.0], [5.0], [5.0], [10.0]]), 2, order=[0, 1, 2, 3])
    # 5 joins 10: centre 7.5, radius 2.5. The other 5 joins 0: centre 2.5, radius 2.5; 5 apart: touching is overlap.
    assert_allclose(release.faces[:, 0], [7.5, 0, 7.5, 0])
    assert release.core_sizes.tolist() == [1, 2]
    assert release.core.tolist() == [True, True, False, True]


def test_who_is_left_over_gets_the_further_of_the_last_two_centres():
    faces = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])

    release = k_same_furthest(faces, 2, order=[0, 4, 3, 1, 2])

    assert release.cluster.tolist() == [0, 0, 0, 1, 1]
    assert_allclose(release.faces[:, 0], [9.5, 9.5, 9.5, 0.5, 0.5])


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_rows_changes_nothing(method):
    rng = np.random.default_rng(3)
    faces = rng.standard_normal((41, 6))
    faces[7] = faces[30]
    mixed = rng.permutation(41)
    people = [f"p{i % 29}" for i in range(41)]

    plain, shuffled = method(faces, 3, seed=5), method(faces[mixed], 3, seed=5)
    named = method(faces, 3, seed=5, people=people)
    renamed = method(faces[mixed], 3, seed=5, people=[people[i] for i in mixed])

    rest = ~np.isin(mixed, [7, 30])
    assert_array_equal(plain.faces[mixed][rest], shuffled.faces[rest])
    assert_array_equal(named.faces[mixed], renamed.faces)
    assert_array_equal(named.cluster[mixed], renamed.cluster)


@pytest.mark.parametrize("method", METHODS)
def test_people_who_coincide_may_be_given_in_any_order(method):
    rng = np.random.default_rng(3)
    faces = rng.standard_normal((10, 4))[rng.integers(10, size=30)]
    people = [f"p{i}" for i in range(30)]
    mixed = rng.permutation(30)

    first = method(faces, 3, people=people)
    second = method(faces[mixed], 3, people=[people[i] for i in mixed])

    assert_array_equal(first.faces[mixed], second.faces)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_bytes_and_the_input_stays_as_it_is(method):
    faces = np.random.default_rng(3).standard_normal((40, 6))
    before = faces.copy()
    faces.flags.writeable = False

    first, second, other = method(faces, 3, seed=5), method(faces, 3, seed=5), method(faces, 3, seed=6)

    assert first.faces.tobytes() == second.faces.tobytes()
    assert first.faces.tobytes() != other.faces.tobytes()
    assert_array_equal(faces, before)


def test_the_number_of_threads_changes_no_byte():
    code = """
import hashlib, numpy as np
from elsewho.identity.diff import k_diff_furthest
from elsewho.identity.furthest import k_same_furthest
from elsewho.identity.same import k_same_m
faces = np.random.default_rng(0).standard_normal((20000, 40)) * 0.8 ** np.arange(40)
seen = hashlib.sha256()
for method in (k_same_m, k_same_furthest, k_diff_furthest):
    release = method(faces, 50)
    seen.update(release.faces.tobytes() + release.cluster.tobytes())
print(seen.hexdigest())
"""

    def run(threads):
        names = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), threads)
        source = os.pathsep.join(path for path in sys.path if path)
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, **names, "PYTHONPATH": source},
        )  # fmt: skip
        return done.stdout

    assert run("1") == run("2")


@pytest.mark.parametrize("method", METHODS)
def test_in_blocks_everybody_still_has_a_crowd(method, monkeypatch):
    monkeypatch.setattr(grouping, "BLOCK", 50)
    faces = np.random.default_rng(3).standard_normal((211, 6))
    classes = ["ab"[i % 2] for i in range(211)]

    release = method(faces, 4, classes=classes)

    assert np.bincount(release.cluster).tolist() == release.people_per_cluster.tolist()
    if method is not k_diff_furthest:
        assert release.people_per_cluster.min() >= 4
    for number in range(len(release.people_per_cluster)):
        assert len({classes[i] for i in np.flatnonzero(release.cluster == number)}) == 1


def test_several_rows_of_a_person_get_the_same_face_and_count_once():
    faces = np.random.default_rng(1).standard_normal((30, 4))
    people = [f"p{i % 10}" for i in range(30)]

    release = k_same_furthest(faces, 3, people=people)

    for i in range(30):
        assert_array_equal(release.faces[i], release.faces[i % 10])
    assert release.people_per_cluster.sum() == 10
    assert release.bound.value == 1 / release.people_per_cluster.min() <= 1 / 3


def test_people_who_coincide_are_exceptions():
    faces = np.random.default_rng(1).standard_normal((12, 4))
    faces[3] = faces[9]

    release = k_same_furthest(faces, 3)

    assert np.flatnonzero(release.exceptions != "").tolist() == [3, 9]


def test_k_is_at_most_half_the_people():
    faces = np.random.default_rng(1).standard_normal((12, 4))

    assert k_same_furthest(faces, 6).people_per_cluster.tolist() == [6, 6]
    with pytest.raises(TooFewPeople, match=r"k-same-furthest with k=10 needs 20 people; .* hold 12\. Use k <= 6"):
        k_same_furthest(faces, 10)
    with pytest.raises(TooFewPeople, match="class 'b' holds 5"):
        k_same_furthest(faces, 3, classes=["a"] * 7 + ["b"] * 5)


def test_the_furthest_average_is_the_mean_of_the_k_donors_furthest_from_each_probe():
    rng = np.random.default_rng(4)
    probes, donors = rng.standard_normal((30, 5)), rng.standard_normal((200, 5))

    new = furthest_average(probes, donors, 7)

    for probe, face in zip(probes, new, strict=True):
        far = np.argsort(((donors - probe) ** 2).sum(axis=1))[-7:]
        assert_allclose(face, donors[far].mean(axis=0))


def test_the_furthest_average_refuses_what_it_cannot_do():
    rng = np.random.default_rng(4)
    probes, donors = rng.standard_normal((3, 5)), rng.standard_normal((6, 5))

    with pytest.raises(TooFewPeople, match="needs 7 donors, found 6"):
        furthest_average(probes, donors, 7)
    with pytest.raises(BadInput, match="probes have 4 values a face, donors 5"):
        furthest_average(probes[:, :4], donors, 2)
    with pytest.raises(BadInput, match="k=1"):
        furthest_average(probes, donors, 1)
