"""k-Diff-drawn: the key decides all, and the original nothing but its cluster."""

import hashlib
import hmac

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from elsewho.errors import BadInput, BadKey, TooFewFaces, TooFewPeople
from elsewho.identity.chance import FURTHEST, normal, snap, uniforms
from elsewho.identity.drawn import MOST_DRAWS, draw_identities, k_diff_drawn
from elsewho.identity.gallery import Gallery
from elsewho.identity.offsets import fit_offsets
from elsewho.identity.pairs import fill_pairs, find_centres

KEY = b"0123456789abcdef0123456789abcdef"
SPREAD = np.array([5.0, 4, 3, 3, 2, 2, 1, 1, 0.5, 0.5])  # of the faces, as modes of a face model have
D = len(SPREAD)


def make_faces(n, d=D, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) * SPREAD[:d]


def make_gallery(classes=("a", "b"), clusters=8, k=5, d=D, seed=1):
    """Clusters of k faces alike, `clusters` in each class."""
    rng = np.random.default_rng(seed)
    middles = np.repeat(rng.standard_normal((len(classes) * clusters, d)) * SPREAD[:d], k, axis=0)
    vectors = middles + 0.5 * rng.standard_normal(middles.shape)
    numbers = np.repeat(np.arange(len(classes) * clusters), k)
    return Gallery(vectors, tuple(classes), numbers // clusters, numbers, "")


def keys(n):
    return [hashlib.sha256(str(number).encode()).digest() for number in range(n)]


class TestChance:
    def test_numbers_are_those_that_the_documentation_defines(self):
        words = (b"elsewho draw 1", b"face", b"anna")
        stream = hmac.new(KEY, b"".join(len(w).to_bytes(8, "big") + w for w in words), hashlib.sha256).digest()
        block = hmac.new(stream, (1).to_bytes(8, "big"), hashlib.sha256).digest()
        sixth = ((int.from_bytes(block[8:16], "big") >> 12) + 0.5) / 2**52

        assert uniforms(KEY, "face", "anna", n=7)[5] == sixth

    def test_they_are_even_and_independent_between_labels(self):
        a, b = uniforms(KEY, "a", n=20_000), uniforms(KEY, "b", n=20_000)

        assert_allclose(np.histogram(a, 10, (0, 1))[0] / 2000, 1, atol=0.1)
        assert abs(np.corrcoef(a, b)[0, 1]) < 0.03
        assert ((a > 0) & (a < 1)).all()

    def test_labels_do_not_run_into_each_other(self):
        assert uniforms(KEY, "ab", "c", n=1) != uniforms(KEY, "a", "bc", n=1)

    def test_normal_numbers_are_normal_and_clipped(self):
        z = normal(uniforms(KEY, "z", n=20_000))

        assert abs(z.mean()) < 0.02
        assert_allclose(z.std(), 0.989, atol=0.02)
        assert np.abs(z).max() == FURTHEST

    def test_rounding_of_another_processor_is_snapped_away(self):
        values = make_faces(100)

        assert_array_equal(snap(values * (1 + 2e-16), 5.0), snap(values, 5.0))
        assert_allclose(snap(values, 5.0), values, atol=5e-8)


class TestPairs:
    @settings(deadline=None)
    @given(k=st.integers(2, 6), more=st.integers(0, 50), seed=st.integers(0, 9))
    def test_no_cluster_is_short_and_all_are_paired(self, k, more, seed):
        n = 2 * k + more
        sizes = np.bincount(fill_pairs(make_faces(n, seed=seed), k))

        assert sizes.min() >= k
        assert sizes.sum() == n
        assert len(sizes) % 2 == 0

    def test_faces_that_coincide_are_clustered_too(self):
        assert np.bincount(fill_pairs(np.ones((11, 3)), 5)).min() >= 5

    def test_groups_far_apart_exchange(self):
        faces = np.concatenate([make_faces(5), make_faces(5) + 100])

        assert len(set(fill_pairs(faces, 5)[:5])) == 1


class TestTheKey:
    @settings(max_examples=30, deadline=None)
    @given(n=st.integers(10, 40), k=st.integers(2, 5), seed=st.integers(0, 99))
    def test_same_key_same_bytes_in_whatever_order_the_rows_come(self, n, k, seed):
        faces = make_faces(n, seed=seed)
        turn = np.random.default_rng(seed).permutation(n)

        one, other = k_diff_drawn(faces, k, key=KEY), k_diff_drawn(faces[turn], k, key=KEY)

        assert one.faces[turn].tobytes() == other.faces.tobytes()
        assert_array_equal(one.cluster[turn], other.cluster)
        assert one.people_per_cluster.min() >= k

    def test_the_bytes_are_those_of_every_other_machine(self):
        faces = np.arange(60.0).reshape(12, 5) ** 2 % 37

        made = k_diff_drawn(faces, 3, key=KEY, people=[f"p{i}" for i in range(12)]).faces

        assert hashlib.sha256(made.astype("<f8").tobytes()).hexdigest()[:16] == "fb53f4b9d06e1554"

    def test_another_key_gives_everybody_another_face(self):
        faces = make_faces(20)
        one, other = (k_diff_drawn(faces, 5, key=key).faces for key in keys(2))

        assert (one != other).any(axis=1).all()

    def test_nobody_shares_a_face(self):
        released = k_diff_drawn(make_faces(200), 5, key=KEY).faces
        away = np.linalg.norm(released[:, None] - released, axis=2) + 1e9 * np.eye(200)

        assert away.min() > 0.1 * np.linalg.norm(SPREAD)

    def test_rows_of_one_person_move_together_whatever_else_they_show(self):
        faces = make_faces(30)
        people = [f"p{i % 15}" for i in range(30)]

        released = k_diff_drawn(faces, 5, key=KEY, people=people).faces

        assert_array_equal(released[:15], released[15:])

    def test_rows_that_are_the_same_are_two_people_where_nobody_is_named(self):
        released = k_diff_drawn(np.repeat(make_faces(10), 2, axis=0), 5, key=KEY).faces

        assert len(np.unique(released, axis=0)) == 20

    @pytest.mark.parametrize("key", [b"", b"short", bytes(33), "x" * 32, None, bytearray(32)])
    def test_a_key_of_another_size_or_type_is_refused(self, key):
        with pytest.raises(BadKey, match="a key has 32 bytes"):
            k_diff_drawn(make_faces(10), 5, key=key)

    def test_the_input_is_not_changed(self):
        faces = make_faces(10)
        before = faces.copy()

        k_diff_drawn(faces, 5, key=KEY)

        assert_array_equal(faces, before)


class TestOrder:
    def test_the_order_of_triggers_can_be_given(self):
        faces = make_faces(30)
        made = [k_diff_drawn(faces, 5, key=KEY, order=order).cluster for order in (range(30), range(29, -1, -1))]

        assert (made[0] != made[1]).any()
        assert made[0][0] == 0  # the first to trigger began the first cluster

    def test_an_order_that_misses_somebody_is_refused(self):
        with pytest.raises(BadInput, match="order must hold each of the numbers"):
            k_diff_drawn(make_faces(10), 5, key=KEY, order=[0] * 10)

    def test_another_seed_clusters_otherwise(self):
        made = [k_diff_drawn(make_faces(40), 5, key=KEY, seed=seed).cluster for seed in (0, 1)]

        assert (made[0] != made[1]).any()


class TestClosedSet:
    def test_clusters_stay_within_a_class(self):
        classes = ["m", "f"] * 20

        release = k_diff_drawn(make_faces(40), 5, key=KEY, classes=classes)

        for number in range(len(release.people_per_cluster)):
            assert len({classes[i] for i in np.flatnonzero(release.cluster == number)}) == 1
        assert release.people_per_cluster.min() >= 5

    def test_the_bound_is_one_in_the_smallest_cluster(self):
        bound = k_diff_drawn(make_faces(43), 4, key=KEY).bound

        assert bound.holds
        assert bound.value == 1 / 4
        assert not bound.broken_by

    def test_everybody_gets_the_centre_of_the_other_cluster(self):
        release = k_diff_drawn(make_faces(40), 5, key=KEY)

        assert_array_equal(release.donor, release.cluster ^ 1)
        assert_array_equal(release.core_sizes, release.people_per_cluster)

    def test_too_few_people_are_refused_with_the_largest_k(self):
        with pytest.raises(TooFewPeople, match="k=5 needs 10 people; the inputs hold 9"):
            k_diff_drawn(make_faces(9), 5, key=KEY)

    def test_a_feature_that_never_varies_stays_as_it_is(self):
        faces = make_faces(20)
        faces[:, 3] = 7

        assert_allclose(k_diff_drawn(faces, 5, key=KEY).faces[:, 3], 7, atol=1e-6)

    def test_faces_that_are_all_alike_are_an_exception(self):
        release = k_diff_drawn(np.ones((10, 3)), 5, key=KEY)

        assert not release.bound.holds
        assert all("not told apart" in reason for reason in release.exceptions)


class TestOffsets:
    def test_draws_have_the_moments_of_the_offsets(self):
        rng = np.random.default_rng(3)
        offsets = rng.standard_normal((2000, 3)) @ np.array([[3.0, 1, 0], [0, 2, 1], [0, 0, 1]])
        z = normal(uniforms(KEY, "z", n=60_000)).reshape(-1, 3)

        drawn = z @ fit_offsets(offsets).T

        assert_allclose(drawn.mean(axis=0), 0, atol=0.06)
        assert_allclose(np.cov(drawn.T), offsets.T @ offsets / 2000, atol=0.45)

    def test_released_faces_vary_as_the_originals_do(self):
        faces = make_faces(400)
        released = k_diff_drawn(faces, 5, key=KEY).faces

        assert_allclose(released.std(axis=0), faces.std(axis=0), rtol=0.15)

    def test_few_offsets_in_many_dimensions_are_not_confined_to_their_sums(self):
        factor = fit_offsets(make_faces(6))

        assert np.linalg.matrix_rank(factor) == len(SPREAD)


# Independence. Clusters, centres and the pooled distribution are known to the attacker; what is tested is whether the
# offset that was released tells which member of the cluster it belongs to.


def offsets_over_keys(n=40, k=5, count=60, leak=0.0, swell=0.0):
    """Own and released offsets, whitened (r, d), and the cluster of each (r,), over many keys; with a leak planted."""
    faces, own, new, groups = make_faces(n), [], [], []
    for number, key in enumerate(keys(count)):
        release = k_diff_drawn(faces, k, key=key)
        centres = find_centres(faces, release.cluster)
        away = faces - centres[release.cluster]
        drawn = release.faces - centres[release.donor]
        unit = away.std(axis=0)
        length = np.linalg.norm(away / unit, axis=1, keepdims=True) / np.sqrt(faces.shape[1])
        own.append(away / unit)
        new.append((drawn * (1 + swell * (length - 1)) + leak * away) / unit)
        groups.append(release.cluster + 1000 * number)
    return np.concatenate(own), np.concatenate(new), np.concatenate(groups)


def permutation_p(own, new, groups, statistic, rounds=199, seed=0):
    """The share of permutations of `own` within groups whose statistic is at least the one found."""
    rng = np.random.default_rng(seed)
    found, order = statistic(own, new), np.argsort(groups, kind="stable")
    own, new, groups = own[order], new[order], groups[order]
    at_least = 0
    for _ in range(rounds):
        turn = np.lexsort((rng.random(len(groups)), groups))
        at_least += statistic(own[turn], new) >= found
    return (1 + at_least) / (1 + rounds)


def product(own, new):
    return (own * new).sum()


def lengths(own, new):
    return np.corrcoef(np.linalg.norm(own, axis=1), np.linalg.norm(new, axis=1))[0, 1]


@pytest.mark.parametrize("statistic", [product, lengths])
def test_the_released_offset_is_independent_of_the_original_one(statistic):
    assert permutation_p(*offsets_over_keys(), statistic) > 0.05


def test_a_leak_of_a_twentieth_of_the_offset_would_be_found():
    assert permutation_p(*offsets_over_keys(leak=0.05), product) < 0.01


def test_a_leak_of_how_unusual_a_face_is_would_be_found():
    assert permutation_p(*offsets_over_keys(swell=0.2), lengths) < 0.01


def guess_right(own, new, groups):
    """How often the member whose own offset goes best with a released one is the right one."""
    right = 0
    for group in np.unique(groups):
        rows = groups == group
        right += (
            (new[rows] @ own[rows].T - (own[rows] ** 2).sum(axis=1) / 2).argmax(axis=1) == np.arange(sum(rows))
        ).sum()
    return right / len(groups)


def test_who_knows_all_but_the_key_guesses_no_better_than_one_in_k():
    assert guess_right(*offsets_over_keys()) < 0.2 + 3 * np.sqrt(0.2 * 0.8 / 2400)


def test_that_attacker_does_better_where_offsets_are_kept():
    own, _, groups = offsets_over_keys(count=5)

    assert guess_right(own, own, groups) == 1


class TestGallery:
    def test_a_face_depends_on_key_person_and_gallery_and_not_on_the_original(self):
        gallery, people = make_gallery(), ["anna", "bert"]
        made = [k_diff_drawn(make_faces(2, seed=s), 5, key=KEY, gallery=gallery, people=people) for s in (0, 1)]

        assert_array_equal(made[0].faces, made[1].faces)

    def test_a_person_keeps_the_face_whoever_else_is_there(self):
        gallery, faces, people = make_gallery(), make_faces(9), [f"p{i}" for i in range(9)]

        all_of_them = k_diff_drawn(faces, 5, key=KEY, gallery=gallery, people=people).faces
        one = k_diff_drawn(faces[3:4], 5, key=KEY, gallery=gallery, people=people[3:4]).faces

        assert_array_equal(one[0], all_of_them[3])

    def test_donors_are_of_the_persons_class(self):
        gallery, classes = make_gallery(), ["a", "b"] * 30

        release = k_diff_drawn(make_faces(60), 5, key=KEY, gallery=gallery, classes=classes)

        assert {number // 8 for number in release.donor[::2]} == {0}
        assert {number // 8 for number in release.donor[1::2]} == {1}
        assert len(set(release.donor.tolist())) > 12  # the key uses them all
        assert_array_equal(release.people_per_cluster, [30, 30])
        assert release.bound.value == 1 / 30
        assert release.bound.holds

    def test_without_classes_everybody_draws_from_all_of_them(self):
        release = k_diff_drawn(make_faces(60), 5, key=KEY, gallery=make_gallery())

        assert {number // 8 for number in release.donor} == {0, 1}
        assert release.bound.value == 1 / 60

    def test_new_faces_look_like_those_of_the_gallery(self):
        gallery = make_gallery(("a",), clusters=60)

        released = k_diff_drawn(make_faces(500), 5, key=KEY, gallery=gallery).faces

        assert_allclose(released.std(axis=0), gallery.vectors.std(axis=0), rtol=0.15)

    def test_a_larger_k_makes_larger_clusters_of_the_same_donors(self):
        release = k_diff_drawn(make_faces(3), 12, key=KEY, gallery=make_gallery())

        assert release.core_sizes.min() >= 12
        assert release.core_sizes.sum() == 80

    def test_one_person_of_a_class_has_no_crowd_and_is_told_so(self):
        release = k_diff_drawn(make_faces(3), 5, key=KEY, gallery=make_gallery(), classes=["a", "a", "b"])

        assert release.bound.value == 1
        assert release.exceptions.tolist()[:2] == ["", ""]
        assert "only person of its class" in release.exceptions[2]

    def test_a_class_that_the_gallery_lacks_is_refused(self):
        with pytest.raises(BadInput, match="no class 'c'; it has a, b"):
            k_diff_drawn(make_faces(1), 5, key=KEY, gallery=make_gallery(), classes=["c"])

    def test_a_gallery_of_another_model_is_refused(self):
        with pytest.raises(BadInput, match="the gallery's faces have 4 values, yours 10"):
            k_diff_drawn(make_faces(2), 5, key=KEY, gallery=make_gallery(d=4))

    def test_a_k_that_no_class_can_fill_is_refused(self):
        with pytest.raises(TooFewFaces, match="k=50: class 'a' of the gallery has no cluster"):
            k_diff_drawn(make_faces(1), 50, key=KEY, gallery=make_gallery(), classes=["a"])


class TestSkips:
    def test_a_draw_too_like_the_original_gives_way_to_the_next_for_this_person_alone(self):
        faces, people = make_faces(12), [f"p{i:02}" for i in range(12)]
        options = {"key": KEY, "gallery": make_gallery(), "people": people}
        plain = k_diff_drawn(faces, 5, **options).faces
        refused = plain[3]

        made = draw_identities(
            faces, 5, too_like=lambda person, face: person == "p03" and (face == refused).all(), **options
        )

        assert made.draws == {person: int(person == "p03") for person in people}
        assert (made.release.faces[3] != refused).any()
        assert_array_equal(np.delete(made.release.faces, 3, 0), np.delete(plain, 3, 0))
        assert [crowd.skipped for crowd in made.crowds] == [1]
        assert not made.release.bound.holds
        assert made.release.bound.broken_by == ("skipped draws",)

    def test_a_draw_that_is_remembered_is_used_again(self):
        faces, people = make_faces(12), [f"p{i:02}" for i in range(12)]
        options = {"key": KEY, "people": people}
        made = draw_identities(faces, 3, too_like=lambda person, face: face[0] > 3, **options)

        again = draw_identities(faces, 3, first=made.draws, **options)

        assert max(made.draws.values()) > 0
        assert_array_equal(again.release.faces, made.release.faces)
        assert again.draws == made.draws

    def test_what_skips_tell_is_measured_and_weakens_the_bound(self):
        faces, gallery, people = make_faces(2), make_gallery(), ["anna", "bert"]
        plain = k_diff_drawn(faces, 5, key=KEY, gallery=gallery, people=people)

        made = draw_identities(
            faces,
            5,
            key=KEY,
            gallery=gallery,
            people=people,
            too_like=lambda person, face: person == "anna" and face[0] in plain.faces[:, 0],
        )

        assert made.crowds[0].guess.worst == 1  # bert's face could not be anna's: both are found out
        assert made.release.bound.value == 1

    def test_nobody_is_published_whose_every_draw_is_too_like(self):
        made = draw_identities(make_faces(20), 5, key=KEY, too_like=lambda _person, face: True)

        assert np.isnan(made.release.faces).all()
        assert all(f"none of {MOST_DRAWS} draws" in reason for reason in made.release.exceptions)
        assert sum(crowd.skipped for crowd in made.crowds) == 20 * MOST_DRAWS
        assert made.release.bound.value == 1
