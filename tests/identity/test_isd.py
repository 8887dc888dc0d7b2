"""Identity subspace decomposition: the ranking against a second computation, and what is kept and replaced."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from elsewho.errors import BadInput, TooFewFaces, TooFewPeople
from elsewho.identity.isd import k_same_isd, rank_identity_features


def draw(seed, people=12, rows=6, d=7, identity=None, mix=0.0):
    """Rows (people * rows, d): feature j varies `identity[j]` times as much between people as within them."""
    rng = np.random.default_rng(seed)
    identity = rng.exponential(0.6, d) if identity is None else np.asarray(identity)
    ids = np.repeat(np.arange(people), rows)
    x = rng.normal(size=(people, d))[ids] * identity + rng.normal(size=(len(ids), d))
    return x @ (np.eye(d) + mix * rng.normal(size=(d, d))) * rng.uniform(0.1, 100, d), ids.astype(str)


def wilks_of(x, ids, chosen):
    """Wilks' lambda from the determinants of both scatter matrices, as its definition says."""
    if not chosen:
        return 1.0
    part = x[:, sorted(chosen)]
    own = [part[ids == one] - part[ids == one].mean(axis=0) for one in sorted(set(ids))]
    within = sum(rows.T @ rows for rows in own)
    everybody = part - part.mean(axis=0)
    total = everybody.T @ everybody
    return float(np.exp(np.linalg.slogdet(within)[1] - np.linalg.slogdet(total)[1]))


def step_by_determinants(x, ids, f_to_enter, f_to_remove):
    """Stepwise selection again, nothing shared with the package: every lambda from scratch, at every step."""
    n, d = x.shape
    groups = len(set(ids))
    chosen, steps = [], []

    def f_of(smaller, larger):
        ratio = wilks_of(x, ids, larger) / wilks_of(x, ids, smaller)
        return (1 - ratio) / ratio * (n - groups - len(smaller)) / (groups - 1)

    for _ in range(2 * d):
        leave = {j: f_of([i for i in chosen if i != j], chosen) for j in chosen}
        if leave and min(leave.values()) < f_to_remove:
            j = min(leave, key=leave.get)
            chosen.remove(j)
            steps.append((j, False, leave[j], wilks_of(x, ids, chosen)))
            continue
        enter = {j: f_of(chosen, [*chosen, j]) for j in range(d) if j not in chosen}
        if not enter or max(enter.values()) < f_to_enter:
            break
        j = max(enter, key=enter.get)
        chosen.append(j)
        steps.append((j, True, enter[j], wilks_of(x, ids, chosen)))
    rest = {j: f_of(chosen, [*chosen, j]) for j in range(d) if j not in chosen}
    return steps, chosen + sorted(rest, key=rest.get, reverse=True), rest


def hide_and_seek(seed):
    """Data in which a feature that enters first is not needed once two others are in."""
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(30), 5)
    a, b = rng.normal(size=(2, 30))[:, ids] + 0.2 * rng.normal(size=(2, len(ids)))
    cancels = 0.8 * rng.normal(size=len(ids))
    a, b = a + cancels, b - cancels
    both = a + b + 0.6 * rng.normal(size=len(ids))
    return np.stack([a, b, both, rng.normal(size=len(ids))], axis=1), ids.astype(str)


class TestRanking:
    def test_features_come_in_the_order_of_what_they_truly_say_about_identity(self):
        truth = [0.0, 3.0, 0.7, 6.0, 1.4]
        x, ids = draw(3, people=40, rows=12, d=5, identity=truth)

        ranking = rank_identity_features(x, ids)

        assert_array_equal(ranking.order, [3, 1, 4, 2, 0])
        assert_array_equal(ranking.entered, [False, True, True, True, True])

    @pytest.mark.parametrize("seed", range(12))
    def test_every_step_is_that_of_a_computation_from_determinants(self, seed):
        x, ids = draw(seed, mix=0.5)

        ranking = rank_identity_features(x, ids)

        steps, order, rest = step_by_determinants(x, ids, 3.84, 2.71)
        assert [(step.feature, step.entered) for step in ranking.steps] == [step[:2] for step in steps]
        assert_allclose([(s.f, s.wilks) for s in ranking.steps], [s[2:] for s in steps], rtol=1e-7)
        assert_array_equal(ranking.order, order)
        assert_allclose([ranking.f[j] for j in rest], list(rest.values()), rtol=1e-7)

    def test_removals_are_those_of_a_computation_from_determinants(self):
        removed = 0
        for seed in range(10):
            x, ids = hide_and_seek(seed)

            ranking = rank_identity_features(x, ids)

            steps, order, _ = step_by_determinants(x, ids, 3.84, 2.71)
            assert [(step.feature, step.entered) for step in ranking.steps] == [step[:2] for step in steps]
            assert_allclose([(s.f, s.wilks) for s in ranking.steps], [s[2:] for s in steps], rtol=1e-7)
            assert_array_equal(ranking.order, order)
            removed += sum(not step.entered for step in ranking.steps)
        assert removed >= 5

    def test_f_of_the_first_feature_is_that_of_an_analysis_of_variance(self):
        from scipy.stats import f_oneway

        x, ids = draw(5)

        ranking = rank_identity_features(x, ids)

        first = ranking.order[0]
        groups = [x[ids == one, first] for one in sorted(set(ids))]
        assert_allclose(ranking.steps[0].f, f_oneway(*groups).statistic, rtol=1e-10)

    @given(st.integers(0, 10_000))
    @settings(max_examples=25, deadline=None)
    def test_neither_unit_nor_origin_nor_the_order_of_rows_matters(self, seed):
        x, ids = draw(seed, mix=0.3)
        rng = np.random.default_rng(seed)
        shuffled = rng.permutation(len(x))
        moved = x * 10 ** rng.uniform(-4, 4, x.shape[1])
        moved += 1e3 * moved.std(axis=0)

        one, other = rank_identity_features(x, ids), rank_identity_features(moved[shuffled], ids[shuffled])

        assert_array_equal(one.order, other.order)
        assert_allclose(one.f, other.f, rtol=1e-6)

    def test_a_near_copy_of_a_feature_that_is_in_does_not_enter(self):
        x, ids = draw(1, d=3, identity=[5, 1, 1])
        copy = x[:, :1] + 1e-3 * x[:, :1].std() * np.random.default_rng(0).normal(size=(len(x), 1))

        ranking = rank_identity_features(np.hstack([x, copy]), ids)

        assert sum(ranking.entered[[0, 3]]) == 1

    def test_lower_thresholds_let_every_feature_in(self):
        x, ids = draw(2, identity=[4, 0, 0, 1, 0, 0, 2])

        strict, lax = rank_identity_features(x, ids), rank_identity_features(x, ids, f_to_enter=1e-6, f_to_remove=0)

        assert strict.entered.sum() < lax.entered.sum() == 7

    def test_more_features_than_rows_leave_the_rank_of_each_defined(self):
        x, ids = draw(4, people=5, rows=3, d=40)

        ranking = rank_identity_features(x, ids)

        assert sorted(ranking.order) == list(range(40))
        assert np.isfinite(ranking.f).all()
        assert ranking.entered.sum() < 10

    def test_the_input_is_not_changed_and_the_same_input_gives_the_same_bytes(self):
        x, ids = draw(6)
        before = x.copy()

        one, two = rank_identity_features(x, ids), rank_identity_features(x, ids)

        assert_array_equal(x, before)
        assert one.f.tobytes() == two.f.tobytes()
        assert one.order.tobytes() == two.order.tobytes()


class TestWhatCannotBeRanked:
    def test_a_constant_feature(self):
        x, ids = draw(0)
        x[:, 2] = 0.1

        with pytest.raises(BadInput, match="feature 2 is the same in every row"):
            rank_identity_features(x, ids)

    def test_a_feature_that_never_varies_within_a_person(self):
        x, ids = draw(0)
        x[:, 4] = ids.astype(float) / 3

        with pytest.raises(BadInput, match="feature 4 never varies within a person"):
            rank_identity_features(x, ids)

    def test_a_feature_made_of_others(self):
        x, ids = draw(0, d=3, identity=[3, 3, 0])
        x = np.hstack([x, x[:, :1] - 2 * x[:, 1:2]])

        with pytest.raises(BadInput, match="is a linear combination of features"):
            rank_identity_features(x, ids)

    def test_one_person(self):
        with pytest.raises(TooFewPeople, match="found 1"):
            rank_identity_features(np.random.default_rng(0).normal(size=(6, 2)), ["a"] * 6)

    def test_one_image_a_person(self):
        with pytest.raises(TooFewFaces, match="every person has one row"):
            rank_identity_features(np.random.default_rng(0).normal(size=(6, 2)), list("abcdef"))

    def test_nan_wrong_dimensions_no_features_and_people_of_another_number(self):
        x, ids = draw(0)
        broken = x.copy()
        broken[3, 1] = np.nan

        for wrong, what in ((broken, "row 3"), (x[0], "n, d"), (x[:, :0], "no features"), (x[1:], "people")):
            with pytest.raises(BadInput, match=what):
                rank_identity_features(wrong, ids)

    @pytest.mark.parametrize(
        ("options", "what"),
        [({"f_to_enter": 2, "f_to_remove": 3}, "F to enter"), ({"tolerance": 1}, "tolerance=1")],
    )
    def test_thresholds_that_make_no_sense(self, options, what):
        with pytest.raises(BadInput, match=what):
            rank_identity_features(*draw(0), **options)


class TestReplacement:
    def test_the_most_sensitive_features_are_means_over_people_and_the_others_are_untouched(self):
        x, ids = draw(7, people=12, rows=4)
        ranking = rank_identity_features(x, ids)

        release = k_same_isd(x, ids, 3, 4, ranking=ranking)

        means = np.stack([x[ids == one].mean(axis=0) for one in dict.fromkeys(ids)])[:, ranking.order[:4]]
        cluster = release.cluster[::4]
        for number in np.unique(cluster):
            rows = release.faces[release.cluster == number][:, ranking.order[:4]]
            assert_allclose(rows, np.broadcast_to(means[cluster == number].mean(axis=0), rows.shape))
            assert (cluster == number).sum() >= 3
        assert_array_equal(release.faces[:, ranking.order[4:]], x[:, ranking.order[4:]])

    def test_with_k_all_people_the_replaced_features_are_the_same_for_everybody(self):
        x, ids = draw(8, people=10, rows=5)

        release = k_same_isd(x, ids, 10, 5)

        assert (np.ptp(release.faces, axis=0) < 1e-9).sum() == 5
        assert list(release.people_per_cluster) == [10]

    def test_nothing_is_proven_while_features_are_kept(self):
        x, ids = draw(9)

        some, every = k_same_isd(x, ids, 3, 6), k_same_isd(x, ids, 3, 7)

        assert not some.bound.holds
        assert "features kept" in some.bound.broken_by
        assert "features kept" not in every.bound.broken_by

    def test_a_ranking_learned_elsewhere_serves_people_with_one_image(self):
        x, ids = draw(10)
        ranking = rank_identity_features(x, ids)

        release = k_same_isd(x[::6], None, 3, 2, ranking=ranking)

        assert release.faces.shape == (12, 7)

    @pytest.mark.parametrize("m", [0, 8, -1, 1.5, True])
    def test_m_that_would_release_real_faces_or_more_than_there_is(self, m):
        with pytest.raises(BadInput, match="m from 1 to 7"):
            k_same_isd(*draw(0), 3, m)

    def test_people_or_a_ranking_of_these_features_is_needed(self):
        x, ids = draw(0)

        with pytest.raises(BadInput, match="give people, or a ranking"):
            k_same_isd(x, None, 3, 2)
        with pytest.raises(BadInput, match="ranking is of 7 features, the faces have 6"):
            k_same_isd(x[:, :6], ids, 3, 2, ranking=rank_identity_features(x, ids))

    def test_too_few_people_for_k(self):
        with pytest.raises(TooFewPeople, match="k <= 12"):
            k_same_isd(*draw(0), 13, 2)
