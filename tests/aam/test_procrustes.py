"""Similarities and the generalised Procrustes mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from elsewho.aam.procrustes import Similarity, align, diagonal, similarity
from elsewho.errors import BadPoints


def turned(angle, dimensions=2):
    turn = np.eye(dimensions)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return turn


def tilted(rng):
    q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return q * np.sign(np.linalg.det(q))


@given(
    seed=st.integers(0, 10_000),
    scale=st.floats(0.01, 100),
    angle=st.floats(-3.1, 3.1),
    move=st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)),
)
@settings(max_examples=200, deadline=None)
def test_a_similarity_is_recovered_from_the_points_it_moved(seed, scale, angle, move):
    shape = np.random.default_rng(seed).standard_normal((12, 2))
    truth = Similarity(scale, turned(angle), np.array(move))

    found = similarity(shape, truth.apply(shape))

    assert_allclose(found.scale, scale, rtol=1e-8)
    assert_allclose(found.turn, truth.turn, atol=1e-8)
    assert_allclose(found.move, move, atol=1e-6 * (1 + scale))


def test_a_similarity_in_space_is_recovered():
    rng = np.random.default_rng(3)
    shape = rng.standard_normal((30, 3))
    truth = Similarity(2.5, tilted(rng), np.array([4.0, -2.0, 7.0]))

    found = similarity(shape, truth.apply(shape))

    assert_allclose(found.turn, truth.turn, atol=1e-12)
    assert_allclose(found.undo(truth.apply(shape)), shape, atol=1e-12)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_mirrored_shape_is_never_matched_by_a_reflection(dimensions):
    shape = np.random.default_rng(0).standard_normal((10, dimensions))
    mirrored = shape * ([-1, 1, 1][:dimensions])

    assert np.linalg.det(similarity(shape, mirrored).turn) == pytest.approx(1)


def test_points_of_no_weight_do_not_move_the_pose():
    rng = np.random.default_rng(1)
    shape = rng.standard_normal((10, 2))
    truth = Similarity(3.0, turned(0.4), np.array([1.0, 2.0]))
    target = truth.apply(shape)
    target[7:] += 5
    weights = np.r_[np.ones(7), np.zeros(3)]

    assert_allclose(similarity(shape, target, weights).turn, truth.turn, atol=1e-10)


def test_shapes_that_differ_by_pose_alone_have_that_shape_as_their_mean():
    rng = np.random.default_rng(2)
    shape = rng.standard_normal((15, 2))
    poses = [Similarity(s, turned(a), rng.standard_normal(2) * 9) for s, a in [(1, 0.1), (4, -0.2), (0.3, 0.25)]]

    mean, aligned = align(np.stack([pose.apply(shape) for pose in poses]))

    assert diagonal(mean) == pytest.approx(1)
    assert_allclose(aligned, np.repeat(mean[None], 3, axis=0), atol=1e-9)
    assert_allclose(similarity(shape, mean).apply(shape), mean, atol=1e-9)


def test_the_mean_stands_as_upright_as_the_shapes_do():
    rng = np.random.default_rng(4)
    shape = rng.standard_normal((20, 2))
    shapes = np.stack([Similarity(1, turned(a), np.zeros(2)).apply(shape) for a in (-0.3, -0.1, 0.1, 0.3)])

    mean, _ = align(shapes)

    found = similarity(shape, mean).turn
    assert abs(np.arctan2(found[1, 0], found[0, 0])) < 1e-3


def test_aligned_shapes_lie_in_the_tangent_space_of_the_mean():
    rng = np.random.default_rng(5)
    shapes = rng.standard_normal((20, 2)) + 0.2 * rng.standard_normal((30, 20, 2))

    mean, aligned = align(shapes)

    assert_allclose(((aligned - mean) * mean).sum(axis=(1, 2)), 0, atol=1e-12)


def test_coincident_points_are_refused():
    with pytest.raises(BadPoints, match="coincide"):
        similarity(np.ones((5, 2)), np.arange(10.0).reshape(5, 2))
