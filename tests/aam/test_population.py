"""How people vary, and what is read from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from elsewho.aam.load import PACKAGED, load_model
from elsewho.aam.population import FURTHEST, Population, fit_population
from elsewho.aam.traits import Reading, Traits, fit_reading
from elsewho.errors import TooFewFaces


def crowd(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    mix = rng.standard_normal((6, 6))
    return rng.standard_normal((n, 6)) @ mix + np.arange(6), mix


def test_samples_have_the_mean_and_the_covariance_of_the_people():
    people, _ = crowd()

    drawn = fit_population(people).sample(40_000, np.random.default_rng(1), spread=1.0)

    assert_allclose(drawn.mean(0), people.mean(0), atol=0.1)
    expected = np.cov(people.T)
    # Draws beyond 2.5 deviations are drawn again: a truncated normal has .911 of the variance.
    assert_allclose(np.cov(drawn.T), 0.911 * expected, atol=0.05 * np.abs(expected).max())


def test_half_the_spread_lies_half_as_far_from_the_mean():
    population = fit_population(crowd()[0])
    near, far = (population.sample(5, np.random.default_rng(2), spread) for spread in (0.5, 1.0))

    assert_allclose(near - population.mean, 0.5 * (far - population.mean))


def test_no_draw_lies_beyond_the_furthest():
    population = Population.independent(np.ones(3))

    assert np.abs(population.sample(20_000, np.random.default_rng(3), 1.0)).max() <= FURTHEST


def test_the_expression_of_the_people_is_replaced_by_that_of_neutral_faces():
    rng = np.random.default_rng(4)
    smile = np.array([[0.0, 0, 1]])
    people = np.column_stack([rng.standard_normal((500, 2)), 10 + 3 * rng.standard_normal(500)])
    neutral = np.column_stack([rng.standard_normal((80, 2)), 1 + 0.2 * rng.standard_normal(80)])

    drawn = fit_population(people, smile, neutral).sample(5000, rng, 1.0)

    assert drawn[:, 2].mean() == pytest.approx(neutral[:, 2].mean(), abs=0.05)
    assert drawn[:, 2].std() < 0.3
    assert drawn[:, 0].std() == pytest.approx(1, abs=0.1)


def test_faces_moved_towards_traits_read_so_and_stay_likely():
    people, _ = crowd()
    population = fit_population(people)
    readings = np.random.default_rng(5).standard_normal((2, 6))
    targets = np.tile([3.0, -2.0], (50, 1))
    drawn = population.sample(50, np.random.default_rng(6), 1.0)

    moved = population.towards(drawn, readings, targets)

    assert_allclose(moved @ readings.T, targets, atol=1e-9)
    # Where nothing has to change, nothing does.
    assert_allclose(population.towards(drawn, readings, drawn @ readings.T), drawn, atol=1e-9)


def test_one_person_is_no_population():
    with pytest.raises(TooFewFaces, match="at least 2 people, found 1"):
        fit_population(np.ones((1, 5)))


def test_a_linear_trait_is_learned_and_holds_for_other_people():
    rng = np.random.default_rng(7)
    vectors, weights = rng.standard_normal((300, 20)), rng.standard_normal(20)
    truth = vectors @ weights + 5 + 0.1 * rng.standard_normal(300)
    people = np.repeat(np.arange(100), 3)

    reading = fit_reading(vectors[:200], truth[:200], people[:200])

    assert np.corrcoef(reading.of(vectors[200:]), truth[200:])[0, 1] > 0.99


def test_noise_is_not_learned():
    rng = np.random.default_rng(8)
    vectors, truth = rng.standard_normal((100, 80)), rng.standard_normal(100)

    reading = fit_reading(vectors, truth, np.arange(100))

    assert reading.of(rng.standard_normal((500, 80))).std() < 0.5


def test_a_class_names_gender_tone_and_age():
    axis = np.eye(3)
    traits = Traits(Reading(axis[0], 0.0), Reading(axis[1], 0.0), Reading(axis[2], 0.0), axis[0], 50.0, 40.0)

    assert traits.class_of(np.array([1.0, 49.0, 41.0])) == "male-darker-older"
    assert traits.class_of(np.array([-1.0, 51.0, 39.0])) == "female-lighter-younger"
    assert traits.unsure_of_gender(np.array([-0.2, 51.0, 39.0]))
    assert not traits.unsure_of_gender(np.array([-0.4, 51.0, 39.0]))


@pytest.mark.skipif(not PACKAGED.exists(), reason="the packaged face model is not built")
def test_the_packaged_models_brightness_is_taken_out_and_tone_stays():
    model = load_model()
    faces = np.stack([model.to_vector(face) for face in model.sample(20, seed=5)])
    brighter = faces + 500 * model.traits.brightness

    assert_allclose(model.without_brightness(brighter), model.without_brightness(faces), atol=1e-8)
    assert_allclose(model.traits.tone.of(brighter), model.traits.tone.of(faces), atol=1e-6)
    assert np.ptp(model.traits.tone.of(model.without_brightness(faces))) > 5


@pytest.mark.skipif(not PACKAGED.exists(), reason="the packaged face model is not built")
def test_turning_the_light_up_moves_a_face_along_brightness():
    model = load_model()
    for face in model.sample(5, seed=6):
        brighter = model.texture.encode(model.texture.decode(face.texture) * 1.08)
        move = np.concatenate([np.zeros(len(face.shape)), brighter - face.texture])

        assert move @ model.traits.brightness > 0.5 * np.linalg.norm(move)
