"""The shape model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from elsewho.aam.procrustes import Similarity, align
from elsewho.aam.shape import check_points, fit_shapes
from elsewho.errors import BadPoints, PointsMismatch


def population(n=40, points=12, dimensions=2, seed=0):
    """Shapes in random poses that vary along three directions."""
    rng = np.random.default_rng(seed)
    mean = rng.standard_normal((points, dimensions)) * 3
    ways = rng.standard_normal((3, points, dimensions)) * np.array([0.5, 0.3, 0.15])[:, None, None]
    shapes = mean + np.einsum("nk,kld->nld", rng.standard_normal((n, 3)), ways)
    out = []
    for shape in shapes:
        angle = rng.uniform(-0.3, 0.3)
        turn = np.eye(dimensions)
        turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        out.append(Similarity(rng.uniform(20, 80), turn, rng.uniform(0, 300, dimensions)).apply(shape))
    return np.stack(out)


@pytest.fixture(scope="module", params=[2, 3])
def shapes(request):
    return population(dimensions=request.param)


@pytest.fixture(scope="module")
def model(shapes):
    return fit_shapes(shapes, 0.999999)


def test_a_decoded_shape_is_encoded_to_the_coefficients_and_pose_it_came_from(model):
    d = model.dimensions
    rng = np.random.default_rng(1)
    turn = np.eye(d)
    turn[:2, :2] = [[0.98, -0.199], [0.199, 0.98]]
    turn = np.linalg.qr(turn)[0] * np.sign(np.diag(np.linalg.qr(turn)[1]))
    pose = Similarity(55.0, turn, np.arange(d) * 40.0 + 100)
    for _ in range(10):
        truth = model.basis.sd * rng.uniform(-2, 2, len(model.basis))

        found, at = model.encode(pose.apply(model.decode(truth)))

        assert_allclose(model.decode(found), model.decode(truth), atol=2e-3)
        assert_allclose(at.apply(model.decode(found)), pose.apply(model.decode(truth)), atol=0.05)


def test_training_shapes_are_rebuilt_within_a_part_of_a_pixel(model, shapes):
    for shape in shapes:
        found, pose = model.encode(shape)
        assert np.abs(pose.apply(model.decode(found)) - shape).max() < 1.0


def test_pose_does_not_change_the_coefficients(model, shapes):
    first, _ = model.encode(shapes[0])
    d = model.dimensions
    turn = np.eye(d)
    turn[:2, :2] = [[0.0, -1.0], [1.0, 0.0]]
    moved = Similarity(0.37, turn, np.full(d, -200.0)).apply(shapes[0])

    assert_allclose(model.encode(moved)[0], first, atol=1e-8)


def test_three_coordinates_serve_a_flat_model():
    flat = fit_shapes(population(), 3)
    shape = population(1, seed=0)[0]

    assert_allclose(flat.encode(np.column_stack([shape, np.ones(12)]))[0], flat.encode(shape)[0])


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda p: p[:-1], PointsMismatch, "has 12 points, found 11"),
        (lambda p: p.ravel(), PointsMismatch, "array of shape"),
        (lambda p: np.where(np.arange(12)[:, None] == 4, np.nan, p), BadPoints, "point 4 is"),
        (lambda p: np.ones_like(p), BadPoints, "all lie at one place"),
        (lambda p: np.outer(np.arange(12.0), np.ones(p.shape[1])), BadPoints, "on one line"),
        (lambda p: p * np.r_[-1, np.ones(p.shape[1] - 1)], BadPoints, "mirrored"),
    ],
)
def test_points_that_no_face_has_are_refused(model, shapes, change, error, says):
    with pytest.raises(error, match=says):
        model.encode(change(shapes[0]))


def test_flat_points_do_not_serve_a_model_in_space():
    with pytest.raises(PointsMismatch, match="3 coordinates, found 2"):
        fit_shapes(population(dimensions=3), 3).encode(population(1)[0])


def test_points_are_checked_without_a_mean_too():
    check_points(population(1)[0])


def test_turned_heads_keep_their_shape_in_space():
    shapes = population(dimensions=3)
    model = fit_shapes(shapes, 3)
    angle = np.deg2rad(35)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])

    assert_allclose(model.encode(shapes[3] @ turn.T)[0], model.encode(shapes[3])[0], atol=1e-8)


def test_the_mean_is_that_of_procrustes(shapes, model):
    assert_allclose(model.mean, align(shapes)[0], atol=1e-12)
