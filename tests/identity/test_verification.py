from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowds import crowds
from hypothesis import given, settings

from elsewho.errors import BadInput
from elsewho.identity.diff import k_diff_furthest
from elsewho.identity.furthest import k_same_furthest
from elsewho.identity.same import k_same_m
from elsewho.identity.verification import verify

METHODS = [k_same_m, k_same_furthest, k_diff_furthest]


@pytest.fixture
def faces():
    return np.random.default_rng(5).standard_normal((40, 6)) * 0.7 ** np.arange(6)


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=60)
@given(crowd=crowds())
def test_what_the_methods_release_is_what_they_claim(method, crowd):
    faces, k, order = crowd

    found = verify(method(faces, k, order=order), faces)

    assert found.wrong == ()
    assert found.unchecked == ()


@pytest.mark.parametrize("method", METHODS)
def test_people_with_several_rows_are_one_entry(method, faces):
    people = [f"p{i % 13}" for i in range(40)]
    release = method(faces, 3, people=people)

    assert verify(release, faces, people).holds
    assert not verify(release, faces).holds


@pytest.mark.parametrize("method", METHODS)
def test_a_face_that_was_changed_is_found(method, faces):
    release = method(faces, 3)
    changed = release.faces.copy()
    changed[17, 2] += 1e-6

    assert verify(replace(release, faces=changed), faces).wrong[0].startswith("row 17 is not")


def test_what_is_claimed_wrongly_is_named(faces):
    release = k_same_furthest(faces, 3)
    moved = release.cluster.copy()
    moved[0] = (moved[0] + 1) % 4
    sizes = release.core_sizes.copy()
    sizes[0] += 1
    tight = replace(release.bound, value=0.01)

    assert "holds" in verify(replace(release, cluster=moved), faces).wrong[0]
    assert "centre of cluster 0" in verify(replace(release, core_sizes=sizes), faces).wrong[0]
    assert "own donor" in verify(replace(release, donor=release.cluster), faces).wrong[0]
    assert "fewer than k=30" in verify(replace(release, k=30), faces).wrong[0]
    assert "below 1/" in verify(replace(release, bound=tight), faces).wrong[0]
    assert "numbers below" in verify(replace(release, cluster=release.cluster + 99), faces).wrong[0]


def test_real_faces_that_are_published_are_counted():
    faces = np.array([[0.0], [5.0], [5.0], [10.0]])  # 0 stays alone in its core, so 10 and one 5 get a real face

    found = verify(k_same_furthest(faces, 2, order=[0, 1, 2, 3]), faces)

    assert found.holds
    assert found.cores_of_one == (0,)
    assert found.copies.tolist() == [[1, 0], [3, 0]]
    assert found.fewest_people == 2


def test_no_copy_is_found_where_there_is_none(faces):
    assert verify(k_same_m(faces, 3), faces).copies.shape == (0, 2)


def test_what_the_arrays_cannot_tell_is_said(faces):
    release = k_same_furthest(faces, 5)

    assert "who counts" in verify(replace(release, core=None), faces).unchecked[0]
    assert "k-diff-drawn needs more" in verify(replace(release, method="k-diff-drawn"), faces).unchecked[0]


def test_originals_of_another_shape_are_refused(faces):
    with pytest.raises(BadInput, match="in the rows of the release"):
        verify(k_same_m(faces, 3), faces[:39])
