"""What every method on vectors owes its caller, whichever it is."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from elsewho.errors import BadInput, TooFewPeople
from elsewho.identity.isd import rank_identity_features
from elsewho.identity.methods import METHODS

KEY = bytes(range(32))
D, M = 6, 3  # features, and how many of them isd replaces
VECTOR_METHODS = [method for method in METHODS.values() if method.works_on == "vectors"]
every_method = pytest.mark.parametrize("method", VECTOR_METHODS, ids=lambda method: method.name)


def make_ranking():
    """A ranking learned from other people, for those with one picture each."""
    rng = np.random.default_rng(99)
    ids = np.repeat(np.arange(10), 5)
    rows = rng.normal(size=(10, D))[ids] * np.arange(1, D + 1) + rng.normal(size=(50, D))
    return rank_identity_features(rows, ids.astype(str))


RANKING = make_ranking()


def release(method, faces, k, *, people=None, classes=None, **options):
    """Call a method with what it needs."""
    if "key" in method.needs:
        options.setdefault("key", KEY)
    if "features" in method.needs:
        return method(faces, people, k, M, ranking=RANKING, classes=classes, **options)
    if "classes" in method.needs:
        return method(faces, k, ["all"] * len(faces) if classes is None else classes, people=people, **options)
    return method(faces, k, people=people, classes=classes, **options)


def identity_of(method, new, faces, people=None):
    """What the method gave to each row (n, ...): the same for all rows of a person."""
    if "features" in method.needs:
        return new[:, RANKING.order[:M]]
    if method.name == "k-diff-furthest":  # rows move together and keep what sets them apart
        names = np.array(range(len(faces)) if people is None else people)
        means = np.stack([faces[names == name].mean(axis=0) for name in names])
        return new - faces + means
    return new


def draw_faces(people, seed=0):
    return np.random.default_rng(seed).normal(size=(people, D)) * np.arange(1, D + 1)


def several_rows(people, seed=0):
    """Faces, ids and classes of `people` people with one to four rows each, shuffled."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(np.repeat(np.arange(people), rng.integers(1, 5, people)))
    faces = draw_faces(people, seed)[rows] + 0.1 * rng.normal(size=(len(rows), D))
    return faces, [f"p{row:02}" for row in rows], ["odd" if row % 2 else "even" for row in rows]


def check_release(one, n, people):
    """A release of n rows of `people` people whose parts fit together."""
    clusters = len(one.people_per_cluster)
    assert one.faces.shape == (n, D)
    assert one.faces.dtype == np.float64
    assert np.isfinite(one.faces).all()
    for part in (one.cluster, one.donor, one.exceptions, *(() if one.core is None else (one.core,))):
        assert part.shape == (n,)
    assert one.exceptions.dtype.kind == "U"
    assert set(one.cluster.tolist()) == set(range(clusters))
    assert set(one.donor.tolist()) <= set(range(len(one.core_sizes)))
    assert one.people_per_cluster.sum() == people
    assert one.core_sizes.min() >= 1
    assert 0 < one.bound.value <= 1
    assert not (one.bound.holds and one.bound.broken_by)
    if one.bound.holds:
        assert one.bound.value >= 1 / one.people_per_cluster.min() - 1e-12


@every_method
class TestEveryMethod:
    def test_the_input_is_never_changed(self, method):
        faces, people, classes = several_rows(16)
        given_faces, given_people, given_classes = faces.copy(), list(people), list(classes)
        faces.flags.writeable = False

        release(method, faces, 3, people=people, classes=classes)

        assert_array_equal(faces, given_faces)
        assert (people, classes) == (given_people, given_classes)

    def test_the_release_does_not_share_memory_with_the_input(self, method):
        faces = draw_faces(10)

        assert not np.shares_memory(release(method, faces, 2).faces, faces)

    def test_the_same_arguments_give_the_same_bytes(self, method):
        faces, people, classes = several_rows(16)

        one, two = (release(method, faces, 3, people=people, classes=classes) for _ in range(2))

        for name in ("faces", "cluster", "donor", "people_per_cluster", "core_sizes", "exceptions"):
            assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
        assert one.bound == two.bound

    def test_layout_and_type_of_the_input_do_not_matter(self, method):
        faces = np.round(draw_faces(10) * 8).astype(np.int16)

        usual = release(method, faces.astype(np.float64), 3).faces

        for other in (faces, np.asfortranarray(faces.astype(np.float32)), np.repeat(faces, 2, axis=0)[::2]):
            assert_array_equal(release(method, other, 3).faces, usual)

    def test_rows_of_one_person_get_one_identity_and_one_cluster(self, method):
        faces, people, _ = several_rows(14)

        one = release(method, faces, 3, people=people)

        check_release(one, len(faces), 14)
        new = identity_of(method, one.faces, faces, people)
        for person in set(people):
            rows = [row for row, name in enumerate(people) if name == person]
            assert_allclose(new[rows], np.broadcast_to(new[rows[0]], (len(rows), new.shape[1])), atol=1e-12)
            for part in (one.cluster, one.donor, one.exceptions):
                assert len(set(part[rows].tolist())) == 1

    def test_several_rows_of_a_person_count_once_as_their_mean(self, method):
        faces, people, _ = several_rows(14)
        names = list(dict.fromkeys(people))
        means = np.stack([faces[[name == one for name in people]].mean(axis=0) for one in names])

        by_row = release(method, faces, 3, people=people)
        by_person = release(method, means, 3, people=names)

        first = [people.index(name) for name in names]
        new = identity_of(method, by_row.faces, faces, people)[first]
        assert_allclose(new, identity_of(method, by_person.faces, means), atol=1e-9)
        assert_array_equal(by_row.cluster[first], by_person.cluster)

    def test_clusters_and_donors_stay_within_a_class(self, method):
        faces, people, classes = several_rows(20)

        one = release(method, faces, 3, people=people, classes=classes)

        check_release(one, len(faces), 20)
        class_of_cluster = dict(zip(one.cluster.tolist(), classes, strict=True))
        assert [class_of_cluster[number] for number in one.cluster.tolist()] == classes
        assert [class_of_cluster[number] for number in one.donor.tolist()] == classes

    def test_a_class_is_released_as_if_the_others_were_not_there(self, method):
        odd, even = draw_faces(8, 1), draw_faces(8, 2)
        classes = ["odd"] * 8 + ["even"] * 8

        faces = np.vstack([odd, even + 100])

        new = identity_of(method, release(method, faces, 2, classes=classes).faces, faces)

        assert np.abs(new[:8]).max() < 50
        assert new[8:].min() > 50

    def test_no_cluster_is_smaller_than_k_but_where_the_method_says_so(self, method):
        one = release(method, draw_faces(23), 4)

        check_release(one, 23, 23)
        assert one.people_per_cluster.min() >= 4 or not one.bound.holds

    def test_a_k_that_is_too_large_names_the_largest_that_works(self, method):
        faces = draw_faces(9)
        most = method.largest_k(9)

        with pytest.raises(TooFewPeople, match=rf"k <= {most}\b") as refused:
            release(method, faces, most + 1)

        assert method.name in str(refused.value)
        check_release(release(method, faces, most), 9, 9)

    def test_too_few_people_for_any_k(self, method):
        people = method.clusters * 2 - 1
        assert method.largest_k(people) == 0

        with pytest.raises(TooFewPeople) as refused:
            release(method, draw_faces(people), 2)

        assert not re.search(r"k <= \d", str(refused.value))

    @pytest.mark.parametrize("k", [1, 0, -3, 2.5, True])
    def test_a_k_that_hides_nobody(self, method, k):
        with pytest.raises(BadInput, match="k"):
            release(method, draw_faces(12), k)

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_nan_and_infinity_name_the_row(self, method, bad):
        faces = draw_faces(12)
        faces[7, 2] = bad

        with pytest.raises(BadInput, match="row 7"):
            release(method, faces, 2)

    @pytest.mark.parametrize("shape", [(D,), (12, D, 2), (0, D)])
    def test_wrong_dimensions_and_no_faces_at_all(self, method, shape):
        with pytest.raises(BadInput):
            release(method, np.zeros(shape), 2)

    def test_the_order_of_triggers_can_be_given_and_must_name_each_once(self, method):
        faces = draw_faces(12)
        order = np.random.default_rng(5).permutation(12)

        one, two = (release(method, faces, 2, order=given) for given in (order, order.tolist()))

        assert_array_equal(one.faces, two.faces)
        for wrong in (order[1:], np.zeros(12, int), order + 1):
            with pytest.raises(BadInput, match="order"):
                release(method, faces, 2, order=wrong)

    def test_people_and_classes_of_another_number_than_faces(self, method):
        faces = draw_faces(12)

        with pytest.raises(BadInput, match="people"):
            release(method, faces, 2, people=["a", "b"])
        with pytest.raises(BadInput, match="classes"):
            release(method, faces, 2, classes=["a", "b"])

    def test_a_person_in_two_classes(self, method):
        people = ["twice", "twice", *map(str, range(10))]

        with pytest.raises(BadInput, match="'twice' is in two classes"):
            release(method, draw_faces(12), 2, people=people, classes=["a", "b"] * 6)

    @settings(max_examples=20, deadline=None)
    @given(people=st.integers(4, 15), k=st.integers(2, 7), seed=st.integers(0, 999))
    def test_whatever_the_numbers_the_parts_fit_together(self, method, people, k, seed):
        faces, ids, _ = several_rows(people, seed)
        k = min(k, method.largest_k(people))

        one = release(method, faces, k, people=ids)

        check_release(one, len(faces), people)
        assert (one.method, one.k) == (method.name, k)
