"""Principal components."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from elsewho.aam.basis import fit_basis
from elsewho.errors import BadInput, TooFewFaces


def rows(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.linspace(3, 0.1, d) + rng.standard_normal(d)


@given(n=st.integers(3, 25), d=st.integers(2, 25), seed=st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_both_ways_give_what_a_singular_value_decomposition_gives(n, d, seed):
    vectors = rows(n, d, seed)
    most = min(n - 1, d)

    basis = fit_basis(vectors, most)

    _, s, vt = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    assert_allclose(basis.variance, s[:most] ** 2 / (n - 1), rtol=1e-6, atol=1e-9)
    assert_allclose(basis.modes @ basis.modes.T, np.eye(most), atol=1e-7)
    assert_allclose(basis.decode(basis.encode(vectors)), vectors, atol=1e-6)
    assert basis.rest == pytest.approx(0, abs=1e-6)
    if most > 1 and s[0] > 1.1 * s[1]:
        assert abs(basis.modes[0] @ vt[0]) == pytest.approx(1, abs=1e-6)


def test_a_share_of_variance_takes_the_fewest_modes_that_reach_it():
    vectors = rows(60, 10)
    full = fit_basis(vectors, 10).variance

    basis = fit_basis(vectors, 0.9)

    share = np.cumsum(full) / full.sum()
    assert share[len(basis) - 1] >= 0.9 > share[len(basis) - 2]
    assert basis.rest == pytest.approx(full[len(basis) :].sum())


def test_training_in_place_takes_the_mean_off_the_vectors_themselves():
    vectors = rows(20, 50).astype(np.float32)
    before = vectors.copy()

    basis = fit_basis(vectors, 5, in_place=True)

    assert_allclose(vectors + basis.mean, before, atol=1e-5)
    assert_allclose(basis.modes, fit_basis(before, 5).modes, atol=1e-4)


def test_without_in_place_the_vectors_are_left_alone():
    vectors = rows(20, 50)
    before = vectors.copy()

    fit_basis(vectors, 5)

    assert_allclose(vectors, before, atol=0)


def test_the_same_data_in_another_order_give_modes_of_the_same_sign():
    vectors = rows(30, 8)

    assert_allclose(fit_basis(vectors, 3).modes, fit_basis(vectors[::-1], 3).modes, atol=1e-9)


def test_coefficients_are_held_within_three_standard_deviations():
    basis = fit_basis(rows(30, 8), 3)

    assert_allclose(basis.limit(np.array([1e9, -1e9, 0.0])), basis.sd * [3, -3, 0])


def test_the_first_modes_alone_leave_the_variance_of_the_others_as_rest():
    basis = fit_basis(rows(30, 8), 6)

    assert basis.first(2).rest == pytest.approx(basis.rest + basis.variance[2:].sum())


@pytest.mark.parametrize(
    ("vectors", "keep", "error", "says"),
    [
        (rows(1, 5), 1, TooFewFaces, "at least 2 faces; found 1"),
        (rows(5, 9), 5, TooFewFaces, "at most 4"),
        (rows(5, 9), 0, TooFewFaces, "1 to 4"),
        (rows(5, 9), 1.5, BadInput, "between 0 and 1"),
        (np.ones((6, 9)), 2, BadInput, "the same, or constant"),
        (np.repeat(rows(3, 9), 4, axis=0), 7, TooFewFaces, "vary in 2 directions only"),
    ],
)
def test_what_cannot_be_modelled_is_refused_by_name(vectors, keep, error, says):
    with pytest.raises(error, match=says):
        fit_basis(vectors, keep)
