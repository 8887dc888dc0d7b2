"""Fitting: cartoon faces, so that the truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from faces import GROUND, SIDE, make_faces, make_model
from numpy.testing import assert_allclose

from elsewho.aam import store
from elsewho.aam.descent import SOLVERS
from elsewho.aam.model import FaceModel
from elsewho.errors import BadInput, BadPoints, PointsMismatch


@pytest.fixture(scope="module")
def model():
    return make_model()


@pytest.fixture(scope="module")
def head():
    return make_model(head=True)


@pytest.fixture(scope="module")
def unseen():
    """Pictures and points of faces that are not in the training set."""
    pictures, points = make_faces(8, seed=5)
    return list(zip(pictures, points, strict=True))


def distance(fit, points):
    """Mean distance of the fitted points from the true ones, in pixels."""
    return np.linalg.norm(fit.points - points[:, :2], axis=1).mean()


@pytest.mark.parametrize("solver", SOLVERS)
def test_unseen_faces_are_found_within_a_third_of_a_pixel(model, unseen, solver):
    rng = np.random.default_rng(1)
    for picture, points in unseen:
        fit = model.fit(picture, points + rng.uniform(-8, 8, 2), solver=solver)

        assert fit.stopped != "diverged"
        assert distance(fit, points) < 0.33


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_face_the_model_painted_is_fitted_back_to_its_coefficients(model, unseen, solver):
    pose = model.encode(*unseen[0]).pose
    for face in model.sample(3, seed=4):
        face = replace(face, pose=pose, shape=0.6 * face.shape)
        picture = model.paint(np.full((SIDE, SIDE, 3), GROUND, np.uint8), face)
        truth = pose.apply(model.shape.decode(face.shape))

        fit = model.fit(picture, truth + 2.0, solver=solver)

        assert fit.stopped == "converged"
        assert distance(fit, truth) < 0.5
        off = (fit.shape - face.shape) / model.shape.basis.sd
        assert_allclose(off[:4], 0, atol=0.5)  # the last two modes move brows, at the edge of what was painted
        assert_allclose(fit.texture[:2], face.texture[:2], atol=0.25 * model.texture.basis.sd[0])


def test_simultaneous_and_wiberg_come_to_rest_at_the_same_place(model, unseen):
    for picture, points in unseen[:3]:
        wiberg, simultaneous = (model.fit(picture, points + 3, solver=s) for s in ("wiberg", "simultaneous"))

        assert np.abs(wiberg.points - simultaneous.points).max() < 0.15


def test_the_fit_encodes_what_lies_at_its_points(model, unseen):
    picture, points = unseen[0]
    fit = model.fit(picture, points)
    encoded = model.encode(picture, fit.points)

    assert_allclose(fit.texture, encoded.texture, atol=0.01)
    assert_allclose(fit.shape, encoded.shape, atol=1e-6)
    assert_allclose(fit.pose.apply(model.shape.decode(fit.shape)), fit.points, atol=0.5)
    assert 0 < fit.rms < 8


def test_a_box_is_a_start(model, unseen):
    picture, points = unseen[1]
    box = np.concatenate([points.min(axis=0) + 3, np.ptp(points, axis=0) * 1.1])

    assert distance(model.fit(picture, box), points) < 0.33


@pytest.mark.parametrize(("scale", "angle"), [(0.65, 0), (1.5, 0), (1, 30), (1, -30)])
def test_a_start_of_wrong_size_or_angle_is_overcome(model, unseen, scale, angle):
    picture, points = unseen[2]
    c, s = scale * np.cos(np.deg2rad(angle)), scale * np.sin(np.deg2rad(angle))
    middle = points.mean(axis=0)

    fit = model.fit(picture, (points - middle) @ np.array([[c, s], [-s, c]]) + middle)

    assert distance(fit, points) < 0.33


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("what", ["noise", "flat", "upside down", "one pixel", "three pixels"])
def test_a_picture_without_an_upright_face_ends_diverged(model, unseen, what, solver):
    picture, points = unseen[3]
    pictures = {
        "noise": np.random.default_rng(0).integers(0, 256, picture.shape, np.uint8),
        "flat": np.full_like(picture, 77),
        "upside down": np.ascontiguousarray(picture[::-1]),
        "one pixel": picture[:1, :1],
        "three pixels": picture[:3, :3],
    }

    fit = model.fit(pictures[what], points, solver=solver)

    assert fit.stopped == "diverged"
    assert not fit.trustworthy
    assert np.isfinite(fit.points).all()
    assert np.isfinite(fit.shape).all()
    assert np.isfinite(fit.texture).all()


def test_a_start_outside_the_picture_ends_diverged(model, unseen):
    picture, points = unseen[0]

    assert model.fit(picture, points + [5 * SIDE, 0]).stopped == "diverged"


def test_a_face_partly_outside_the_picture_is_found(model, unseen):
    picture, points = unseen[1]
    edge = int(points[:, 0].min() + 0.3 * np.ptp(points[:, 0]))
    cut = np.ascontiguousarray(picture[:, edge:])

    fit = model.fit(cut, points - [edge, 0] + 2)

    assert fit.stopped != "diverged"
    assert distance(fit, points - [edge, 0]) < 1.0


def test_a_constant_stripe_over_the_face_does_no_harm(model, unseen):
    picture, points = unseen[4]
    striped = picture.copy()
    row = int(points[27:31, 1].mean())
    striped[row - 3 : row + 3] = 0

    fit = model.fit(striped, points + 2)

    assert distance(fit, points) < 2.0


def test_a_face_four_times_smaller_is_still_found(model, unseen):
    import cv2

    picture, points = unseen[5]
    small = cv2.resize(picture, (SIDE // 4, SIDE // 4), interpolation=cv2.INTER_AREA)
    at = (points + 0.5) / 4 - 0.5

    assert distance(model.fit(small, at), at) < 0.5


def test_a_large_picture_gives_the_same_face(model, unseen):
    import cv2

    picture, points = unseen[5]
    large = cv2.resize(picture, (SIDE * 5, SIDE * 5), interpolation=cv2.INTER_CUBIC)
    at = (points + 0.5) * 5 - 0.5

    assert distance(model.fit(large, at + 10), at) < 5 * 0.33


def test_shapes_stay_within_their_limits(model):
    rng = np.random.default_rng(0)
    for seed in range(4):
        picture = rng.integers(0, 256, (SIDE, SIDE, 3), np.uint8)
        fit = model.fit(picture, make_faces(1, seed)[1][0])

        assert (np.abs(fit.shape) <= 3.0001 * model.shape.basis.sd).all()


def test_fitting_is_repeatable_and_leaves_its_inputs_alone(model, unseen):
    picture, points = unseen[0]
    before, start = picture.copy(), points + 2

    first, again = model.fit(picture, start), model.fit(picture, start)

    assert (first.points == again.points).all()
    assert (first.texture == again.texture).all()
    assert (picture == before).all()
    assert (start == points + 2).all()


def test_a_small_file_of_the_model_fits_as_well(model, unseen):
    small = store.from_bytes(store.to_bytes(model, "model", small=True), "model", FaceModel, "small")

    for picture, points in unseen[:3]:
        assert np.abs(small.fit(picture, points + 3).points - model.fit(picture, points + 3).points).max() < 0.1


@pytest.mark.parametrize("start", ["solid", "flat", "box"])
def test_a_turned_head_is_found_and_its_turn_is_known(head, start):
    pictures, points = make_faces(6, seed=6, head=True)
    for picture, at in zip(pictures, points, strict=True):
        flat = at[:, :2]
        starts = {
            "solid": at + [3, 2, 0],
            "flat": flat + 2,
            "box": np.concatenate([flat.min(axis=0), np.ptp(flat, axis=0)]),
        }
        yaw = np.arcsin(head.shape.encode(at)[1].turn[0, 2])
        if start == "box" and abs(yaw) > 0.3:
            continue  # a box says nothing of the turn: heads far from frontal need points

        fit = head.fit(picture, starts[start])

        assert fit.stopped != "diverged"
        assert distance(fit, at) < 0.9
        assert fit.points.shape == flat.shape
        assert fit.shape.shape == (len(head.shape.basis),)
        assert abs(np.arcsin(fit.pose.turn[0, 2]) - yaw) < 0.12


def test_a_model_without_levels_says_that_it_cannot_fit(model, unseen):
    with pytest.raises(BadInput, match="without levels"):
        replace(model, levels=()).fit(*unseen[0])


def test_an_unknown_solver_is_named_with_those_that_exist(model, unseen):
    with pytest.raises(BadInput, match=r"newton.*wiberg, simultaneous, project-out"):
        model.fit(*unseen[0], solver="newton")


@pytest.mark.parametrize(
    ("start", "error", "message"),
    [
        (np.zeros((30, 2)), PointsMismatch, "31 points"),
        (np.full((31, 2), np.nan), BadPoints, "finite"),
        (np.array([0, 0, 0, 10.0]), BadInput, "no area"),
        (np.array([0, 0, np.nan, 10.0]), BadInput, "no area"),
    ],
)
def test_a_start_that_no_face_can_have_is_refused(model, unseen, start, error, message):
    with pytest.raises(error, match=message):
        model.fit(unseen[0][0], start)
