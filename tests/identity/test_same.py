from __future__ import annotations

import numpy as np
import pytest
from crowds import crowds, make_crowd
from hypothesis import given, settings
from numpy.testing import assert_allclose
from transcriptions import k_same_m as transcribed

from elsewho.errors import BadInput, TooFewPeople
from elsewho.identity.same import k_same_m, k_same_select, nearest_groups


@settings(deadline=None, max_examples=400)
@given(crowds(apart=1))
def test_the_clusters_are_those_of_the_transcription_index_for_index(crowd):
    faces, k, order = crowd

    groups = nearest_groups(faces, order, k)

    assert [(g.core, g.donor) for g in groups] == [(g.members, g.donor) for g in transcribed(faces, k, order)]


def test_the_clusters_of_a_large_crowd_are_those_of_the_transcription():
    faces, order = make_crowd("falling", 2000, 59, 1), np.random.default_rng(2).permutation(2000)

    groups = nearest_groups(faces, order, 5)

    assert [g.core for g in groups] == [g.members for g in transcribed(faces, 5, order)]


def test_everybody_gets_the_mean_of_the_own_cluster():
    faces = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [13.0]])

    release = k_same_m(faces, 3, order=[1, 0, 2, 3, 4, 5])

    assert_allclose(release.faces[:, 0], [1, 1, 1, 34 / 3, 34 / 3, 34 / 3])
    assert release.cluster.tolist() == release.donor.tolist() == [0, 0, 0, 1, 1, 1]
    assert release.bound.value == 1 / 3
    assert release.bound.holds


def test_fewer_than_2k_that_are_left_form_one_cluster():
    release = k_same_m(np.random.default_rng(0).standard_normal((11, 3)), 4)

    assert sorted(release.people_per_cluster.tolist()) == [4, 7]
    assert release.core_sizes.tolist() == release.people_per_cluster.tolist()


def test_k_may_be_everybody():
    faces = np.random.default_rng(0).standard_normal((10, 3))

    assert_allclose(k_same_m(faces, 10).faces, np.tile(faces.mean(axis=0), (10, 1)))


def test_several_rows_of_a_person_count_once_and_get_the_same_face():
    faces = np.array([[0.0], [2.0], [3.0], [10.0], [12.0]])

    release = k_same_m(faces, 2, people=["a", "a", "b", "c", "d"])

    assert_allclose(release.faces[:, 0], [2, 2, 2, 11, 11])
    assert release.people_per_cluster.tolist() == [2, 2]


def test_select_keeps_clusters_within_a_class():
    faces = np.random.default_rng(0).standard_normal((20, 3))
    classes = ["smile" if i % 2 else "calm" for i in range(20)]

    release = k_same_select(faces, 3, classes)

    for number in range(len(release.people_per_cluster)):
        assert len({classes[i] for i in np.flatnonzero(release.cluster == number)}) == 1
    assert release.method == "k-same-select"


def test_what_cannot_be_done_is_refused_by_name():
    faces = np.random.default_rng(0).standard_normal((8, 3))

    with pytest.raises(TooFewPeople, match=r"k=9 needs 9 people; the inputs hold 8\. Use k <= 8"):
        k_same_m(faces, 9)
    with pytest.raises(BadInput, match="k=1"):
        k_same_m(faces, 1)
    with pytest.raises(BadInput, match="row 0 holds NaN"):
        k_same_m(np.full((8, 3), np.nan), 2)
    with pytest.raises(BadInput, match=r"shape \(3,\)"):
        k_same_m(faces[0], 2)
    with pytest.raises(BadInput, match="8 faces but 7 people"):
        k_same_m(faces, 2, people=list("abcdefg"))
    with pytest.raises(TooFewPeople, match="class 'b' holds 1"):
        k_same_select(faces, 2, list("aaaaaaab"))
    with pytest.raises(BadInput, match=r"order must hold each of the numbers 0\.\.7"):
        k_same_m(faces, 2, order=[0, 1, 2, 3, 4, 5, 6, 6])
    with pytest.raises(BadInput, match="seed must be a whole number from 0, found -1"):
        k_same_m(faces, 2, seed=-1)
    with pytest.raises(BadInput, match="no values"):
        k_same_m(np.zeros((8, 0)), 2)
