from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from elsewho.aam.procrustes import Similarity
from elsewho.aam.warp import sample
from elsewho.find import topology
from elsewho.paint import carry_shape, draw, open_window, pull

FREE = np.ones(468)


@pytest.fixture
def own(points):
    """The person's shape and its pose."""
    middle = points.mean(axis=0)
    return (points - middle) / 100, Similarity(100.0, np.eye(3), middle)


def test_the_same_identity_keeps_every_point(points, own, masks):
    shape, pose = own

    assert_allclose(carry_shape(points, pose, shape, shape, masks, FREE), points)


def test_another_identity_moves_the_nose_and_holds_the_outline(points, own, masks):
    shape, pose = own

    target = carry_shape(points, pose, shape, shape + [0.05, 0, 0], masks, FREE)

    assert_allclose(target[1] - points[1], [5, 0, 0], atol=1e-9)
    assert_allclose(target[topology.OVAL], points[topology.OVAL])


def test_eyes_move_as_a_whole(points, own, masks):
    shape, pose = own
    new = shape + np.random.default_rng(0).normal(0, 0.02, shape.shape)

    target = carry_shape(points, pose, shape, new, masks, FREE)

    for eye in topology.EYES:
        change = (target - points)[eye] / masks.give[eye][:, None]
        assert_allclose(change, np.broadcast_to(change[0], change.shape), atol=1e-9)


def test_the_mouth_stays_as_open_as_it_was(points, own, masks):
    shape, pose = own
    new = shape.copy()
    new[topology.LIPS_INNER, 1] *= 0.2

    target = carry_shape(points, pose, shape, new, masks, FREE)

    def opening(at):
        return at[14, 1] - at[13, 1]

    assert opening(target) == pytest.approx(opening(points), abs=0.2)


def test_what_hair_hides_does_not_move(points, own, masks):
    shape, pose = own

    assert_allclose(carry_shape(points, pose, shape, shape + 0.1, masks, 0 * FREE), points)


def test_a_texture_drawn_where_it_was_taken_gives_the_photo_back(portrait, points, mesh, masks):
    values, _ = sample(portrait, points, mesh)
    window = open_window(portrait, points, points, mesh)

    drawn = draw(mesh.fill(values), window)

    within = draw(masks.edge, window) * window.rim > 0.99
    part = portrait[window.rows, window.columns].astype(float)
    assert within.sum() > 3000
    assert np.abs(drawn - part)[within].mean() < 4


def test_pulled_onto_itself_the_photo_is_unchanged(portrait, points, mesh):
    window = open_window(portrait, points, points, mesh)

    assert_allclose(pull(portrait, window), portrait[window.rows, window.columns], atol=3)


def test_a_window_ends_where_the_picture_ends(portrait, points, mesh):
    moved = points - [points[1, 0], 0, 0]  # the nose on the left edge

    window = open_window(portrait, moved, moved, mesh)

    assert window.columns.start == 0
    assert draw(mesh.inside.astype(np.float32), window).shape == window.rim.shape
