import cv2
import numpy as np
import pytest
from numpy.testing import assert_allclose

import elsewho.find
from elsewho.errors import BadPicture, BadPoints
from elsewho.find.embedder import CHIP_PLACES, CHIP_POINTS, cut_chip, fit_similarity

NEAR = 0.2  # no two pictures of one London person are nearer than to anybody else below this


def distance(a, b):
    return float(np.linalg.norm(a - b))


@pytest.fixture(scope="module")
def original(astronaut, points, embedder):
    return embedder.embed(astronaut, points)


def again(picture, finder, mesh, embedder):
    (face,) = finder.find(picture)
    return embedder.embed(picture, mesh.points(picture, face))


def test_an_embedding_has_128_numbers_and_unit_length(original):
    assert original.shape == (128,)
    assert original.dtype == np.float32
    assert_allclose(np.linalg.norm(original), 1, rtol=1e-5)


def test_the_same_picture_gives_the_same_numbers(astronaut, points, embedder, original):
    assert np.array_equal(embedder.embed(astronaut, points), original)
    assert np.array_equal(embedder.embed(astronaut, points.points[:, :2]), original)


@pytest.mark.parametrize("gain", [0.6, 1.3])
def test_light_hardly_matters(astronaut, finder, mesh, embedder, original, gain):
    lit = np.clip(astronaut * gain, 0, 255).astype(np.uint8)

    assert distance(again(lit, finder, mesh, embedder), original) < NEAR


def test_what_is_around_the_face_hardly_matters(astronaut, finder, mesh, embedder, original):
    assert distance(again(astronaut[20:260, 100:350], finder, mesh, embedder), original) < NEAR


def test_size_and_tilt_hardly_matter(astronaut, finder, mesh, embedder, original):
    turn = cv2.getRotationMatrix2D((225, 120), 20, 0.8)

    assert distance(again(cv2.warpAffine(astronaut, turn, (512, 512)), finder, mesh, embedder), original) < NEAR


def test_many_at_once_are_as_one_by_one(astronaut, points, embedder, original):
    other = np.ascontiguousarray(astronaut[::-1])
    rows = embedder.embed_many([(astronaut, points), (other, points), (astronaut, points)])

    assert_allclose(rows[[0, 2]], [original, original], atol=1e-5)
    assert distance(rows[1], original) > NEAR


def test_no_faces_give_no_rows(embedder):
    assert embedder.embed_many([]).shape == (0, 128)


def test_a_chip_has_the_marks_where_dlib_has_them(points):
    marks = points.points[CHIP_POINTS, :2]
    place = fit_similarity(marks)

    assert_allclose(marks @ place[:, :2].T + place[:, 2], CHIP_PLACES, atol=6)


def test_marks_in_place_need_no_change():
    assert_allclose(fit_similarity(CHIP_PLACES), [[1, 0, 0], [0, 1, 0]], atol=1e-9)


def test_a_chip_follows_the_face_when_picture_and_points_turn_together(astronaut, points):
    turn = cv2.getRotationMatrix2D((225, 120), 40, 1.3)
    turned = points.points[:, :2] @ turn[:, :2].T + turn[:, 2]
    chip = cut_chip(cv2.warpAffine(astronaut, turn, (512, 512)), turned).astype(int)

    assert np.abs(chip - cut_chip(astronaut, points)).mean() < 4


def test_points_that_coincide_or_are_not_the_mesh_are_refused(astronaut, embedder, points):
    with pytest.raises(BadPoints, match="distinct"):
        embedder.embed(astronaut, np.full((468, 2), 7.0))
    with pytest.raises(BadPoints, match="distinct"):
        embedder.embed(astronaut, np.full((468, 2), np.nan))
    with pytest.raises(BadPoints, match=r"\(68, 2\)"):
        embedder.embed(astronaut, points.points[:68, :2])


def test_what_is_no_picture_is_refused(embedder, points):
    with pytest.raises(BadPicture, match=r"\(9, 9\)"):
        embedder.embed(np.zeros((9, 9), np.uint8), points)


def test_the_short_way_gives_the_same(astronaut, points, original):
    ((face, found),) = elsewho.find.find_faces(astronaut)

    assert np.array_equal(found.points, points.points)
    assert np.array_equal(elsewho.find.embed_face(astronaut, found), original)
    assert face.score > 0.9
