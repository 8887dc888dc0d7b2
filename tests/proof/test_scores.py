"""Recognisers are counted right: against sets and distributions whose figures are known beforehand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from elsewho.errors import BadInput
from elsewho.proof.recognisers import (
    area_under,
    bootstrap_people,
    clopper_pearson,
    cmc,
    distances,
    equal_error,
    mean_interval,
    pairs,
    rank1,
    roc,
    tar_at,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_separable_people_are_all_recognised(rng):
    centres = rng.normal(size=(10, 5)) * 100
    people = [f"p{i}" for i in range(10)]

    away = distances(centres + rng.normal(size=centres.shape), centres)

    assert rank1(away, people, people) == 1
    assert_allclose(cmc(away, people, people), 1)


def test_a_tie_is_won_by_chance_and_never_strictly():
    away = distances(np.zeros((4, 2)), np.ones((4, 2)))
    people = list("abcd")

    assert rank1(away, people, people) == 0.25
    assert rank1(away, people, people, strict=True) == 0
    assert_allclose(cmc(away, people, people), [0.25, 0.5, 0.75, 1])


def test_the_nearest_picture_of_several_counts():
    away = np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]])

    assert rank1(away, ["a", "b"], ["a", "a", "b"]) == 0.5


def test_a_probe_whose_person_is_not_in_the_gallery_is_refused():
    with pytest.raises(BadInput, match="the gallery shows 1 people, but not b"):
        rank1(np.zeros((1, 1)), ["b"], ["a"])


def test_pairs_can_be_left_out():
    away = np.arange(4.0).reshape(2, 2)

    genuine, impostor = pairs(away, ["a", "a"], ["a", "b"], ~np.eye(2, dtype=bool))

    assert genuine.tolist() == [2.0]
    assert impostor.tolist() == [1.0]


def test_the_area_of_two_equal_distributions_is_a_half(rng):
    areas = [area_under(roc(rng.normal(size=300), rng.normal(size=300))) for _ in range(40)]

    assert 0.5 in mean_interval(areas)


def test_the_area_of_ties_alone_is_a_half():
    assert area_under(roc(np.zeros(5), np.zeros(7))) == 0.5


def test_area_and_equal_error_of_known_gaussians(rng):
    apart = 2.0
    curve = roc(rng.normal(size=200_000), apart + rng.normal(size=200_000))

    assert_allclose(area_under(curve), norm.cdf(apart / np.sqrt(2)), atol=0.003)
    assert_allclose(equal_error(curve), norm.cdf(-apart / 2), atol=0.003)


def test_the_accept_rate_of_known_gaussians_and_none_from_too_few_impostors(rng):
    genuine, impostor = rng.normal(size=100_000), 3 + rng.normal(size=100_000)

    assert_allclose(tar_at(genuine, impostor, 0.01), norm.cdf(3 + norm.ppf(0.01)), atol=0.01)
    assert tar_at(genuine, impostor[:999], 0.1) is None


def test_clopper_pearson_gives_the_values_of_the_tables():
    assert_allclose([clopper_pearson(0, 10).low, clopper_pearson(0, 10).high], [0, 0.3085], atol=1e-4)
    assert_allclose([clopper_pearson(5, 10).low, clopper_pearson(5, 10).high], [0.1871, 0.8129], atol=1e-4)
    assert clopper_pearson(10, 10).high == 1


def test_clopper_pearson_refuses_more_hits_than_trials():
    with pytest.raises(BadInput, match="hits=11 of 10"):
        clopper_pearson(11, 10)


def test_a_bootstrap_by_person_is_wider_where_rows_of_a_person_hang_together(rng):
    by_person = rng.normal(size=20)
    values, people = np.repeat(by_person, 10), np.repeat([f"p{i}" for i in range(20)], 10)

    whole = bootstrap_people(values, people)
    apart = bootstrap_people(values, [str(i) for i in range(200)])

    assert whole.high - whole.low > 2 * (apart.high - apart.low)


def test_an_interval_of_one_run_knows_nothing():
    assert 99.0 in mean_interval([0.5])
