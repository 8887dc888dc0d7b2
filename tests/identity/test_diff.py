from __future__ import annotations

import numpy as np
import pytest
from crowds import crowds, make_crowd
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from transcriptions import k_diff_furthest as transcribed

from elsewho.errors import BadInput, TooFewPeople
from elsewho.identity import search
from elsewho.identity.diff import EXCHANGED, JOINED, k_diff_furthest, translated_groups


def as_lists(groups):
    return [(g.core + g.joined, g.core, g.donor) for g in groups]


@pytest.mark.parametrize("few", [0, search.FEW])
@settings(deadline=None, max_examples=300)
@given(crowd=crowds(), singles=st.sampled_from(["avoid", "allow"]))
def test_the_clusters_are_those_of_the_transcription_index_for_index(few, crowd, singles):
    faces, k, order = crowd
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "FEW", few)
        groups = translated_groups(faces, order, k, singles)

    expected, joined = transcribed(faces, k, order, singles)

    assert as_lists(groups) == [(g.members, g.core, g.donor) for g in expected]
    assert sorted(face for g in groups for face in g.joined) == sorted(joined)


@pytest.mark.parametrize("few", [0, search.FEW])
@pytest.mark.parametrize("kind", ["falling", "clustered", "coincident"])
def test_the_clusters_of_a_large_crowd_are_those_of_the_transcription(few, kind, monkeypatch):
    monkeypatch.setattr(search, "FEW", few)
    faces, order = make_crowd(kind, 1500, 59, 1), np.random.default_rng(2).permutation(1500)

    groups = translated_groups(faces, order, 5, "avoid")

    assert as_lists(groups) == [(g.members, g.core, g.donor) for g in transcribed(faces, 5, order, "avoid")[0]]


def test_clusters_change_places_and_faces_keep_their_place_in_them():
    faces = np.array([[1.0], [2.0], [7.0], [9.0]])

    release = k_diff_furthest(faces, 2, order=[0, 1, 2, 3])

    assert_allclose(release.faces[:, 0], [7.5, 8.5, 0.5, 2.5])
    assert release.exceptions.tolist() == [""] * 4
    assert not release.bound.holds
    assert release.bound.broken_by == ("offset kept",)


def test_touching_clusters_may_stay():
    release = k_diff_furthest(np.array([[0.0], [5.0], [5.0], [10.0]]), 2, order=[0, 1, 2, 3])

    assert release.core_sizes.tolist() == [2, 2]


def test_a_last_pair_joins_where_singles_are_avoided_and_exchanges_faces_where_they_are_allowed():
    faces = np.array([[0.0], [1.0], [4.0], [6.5], [9.0], [10.0]])
    order = [0, 1, 2, 3, 4, 5]

    avoided, allowed = (k_diff_furthest(faces, 2, singles=one, order=order) for one in ("avoid", "allow"))

    assert avoided.cluster.tolist() == [0, 0, 0, 1, 1, 1]
    assert avoided.exceptions.tolist() == ["", "", JOINED, JOINED, "", ""]
    assert_allclose(avoided.faces[:, 0], [9, 10, 13, -2.5, 0, 1])
    assert allowed.cluster.tolist() == [0, 0, 2, 3, 1, 1]
    assert allowed.exceptions.tolist() == ["", "", EXCHANGED, EXCHANGED, "", ""]
    assert_allclose(allowed.faces[:, 0], [9, 10, 6.5, 4, 0, 1])


def test_the_last_of_an_odd_number_joins_in_either_case():
    faces = np.array([[0.0], [1.0], [4.0], [9.0], [10.0]])

    for singles in ("avoid", "allow"):
        release = k_diff_furthest(faces, 2, singles=singles, order=[0, 1, 2, 3, 4])

        assert release.exceptions.tolist() == ["", "", JOINED, "", ""]
        assert release.core.tolist() == [True, True, False, True, True]


def test_all_rows_of_a_person_move_together():
    faces = np.random.default_rng(1).standard_normal((30, 4))
    people = [f"p{i % 10}" for i in range(30)]

    release = k_diff_furthest(faces, 3, people=people)

    moves = release.faces - faces
    for i in range(30):
        assert_allclose(moves[i], moves[i % 10], atol=1e-12)
    assert release.people_per_cluster.sum() == 10


def test_what_cannot_be_done_is_refused_by_name():
    faces = np.random.default_rng(1).standard_normal((12, 4))

    with pytest.raises(TooFewPeople, match=r"k-diff-furthest with k=7 needs 14 people; .* hold 12\. Use k <= 6"):
        k_diff_furthest(faces, 7)
    with pytest.raises(BadInput, match='singles must be "avoid" or "allow", found \'never\''):
        k_diff_furthest(faces, 3, singles="never")
