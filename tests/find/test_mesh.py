import dataclasses

import cv2
import numpy as np
import pytest
from numpy.testing import assert_allclose

from elsewho.errors import BadInput, BadPicture, BadPoints
from elsewho.find.mesh import mirror_points
from elsewho.find.picture import cut_square, place_square
from elsewho.find.topology import EYES, OVAL
from elsewho.types import FoundFace

FACE_HEIGHT = 110  # pixels, from the top of the mesh to the chin of the portrait


def test_the_points_lie_on_the_face_and_can_be_trusted(points, face):
    x, y, width, height = face.box
    flat = points.points[:, :2]

    assert points.points.shape == (468, 3)
    assert points.trustworthy
    assert (flat > [x - 0.1 * width, y - 0.1 * height]).all()
    assert (flat < [x + 1.1 * width, y + 1.1 * height]).all()


def test_the_tip_of_the_nose_is_nearer_than_the_outline(points):
    assert points.points[1, 2] < points.points[OVAL, 2].min()


def test_a_mirrored_picture_gives_the_mirrored_points(astronaut, finder, mesh, points):
    mirrored = np.ascontiguousarray(astronaut[:, ::-1])
    found = mesh.points(mirrored, finder.find(mirrored)[0])
    back = mirror_points(found.points, 512)
    apart = np.hypot(*(back - points.points)[:, :2].T)

    assert apart.mean() < 0.012 * FACE_HEIGHT
    assert apart.max() < 0.05 * FACE_HEIGHT
    assert_allclose(511 - found.iris[::-1, 0, 0], points.iris[:, 0, 0], atol=0.8)


@pytest.mark.parametrize("shift", [(7, 0), (0, 7), (-7, 7)])
def test_a_picture_shifted_by_seven_pixels_shifts_the_points_by_seven(astronaut, mesh, face, points, shift):
    shifted = np.roll(astronaut, shift[::-1], axis=(0, 1))
    x, y, width, height = face.box
    moved = FoundFace((x + shift[0], y + shift[1], width, height), face.score, face.marks + shift)
    found = mesh.points(shifted, moved)

    assert_allclose(found.points[:, :2] - shift, points.points[:, :2], atol=1e-3)
    assert_allclose(found.iris - shift, points.iris, atol=1e-3)


@pytest.mark.parametrize("scale", [0.4, 2.0, 5.0])
def test_the_points_grow_with_the_picture(astronaut, finder, mesh, points, scale):
    sized = cv2.resize(astronaut, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else 1)
    found = mesh.points(sized, finder.find(sized)[0])
    expected = (points.points[:, :2] + 0.5) * scale - 0.5

    assert np.hypot(*(found.points[:, :2] - expected).T).mean() < 0.02 * FACE_HEIGHT * scale


@pytest.mark.parametrize("degrees", [-30, 15])
def test_the_points_turn_with_the_head(astronaut, finder, mesh, points, degrees):
    turn = cv2.getRotationMatrix2D((225, 120), degrees, 1.0)
    turned = cv2.warpAffine(astronaut, turn, (512, 512))
    found = mesh.points(turned, finder.find(turned)[0])
    expected = points.points[:, :2] @ turn[:, :2].T + turn[:, 2]

    assert np.hypot(*(found.points[:, :2] - expected).T).mean() < 0.02 * FACE_HEIGHT


def test_without_marks_the_points_are_the_same_within_a_pixel(astronaut, mesh, face, points):
    found = mesh.points(astronaut, dataclasses.replace(face, marks=None))

    assert np.hypot(*(found.points - points.points)[:, :2].T).mean() < 1


def test_each_iris_lies_between_the_lids_of_its_eye(points):
    for iris, eye in zip(points.iris, EYES, strict=True):
        outline = points.points[eye, :2].astype(np.float32)
        assert cv2.pointPolygonTest(outline, tuple(map(float, iris[0])), False) > 0


def test_the_iris_is_where_it_was_seen_in_the_portrait(points):
    assert_allclose(points.iris[:, 0], [[203.3, 100.7], [246.0, 103.0]], atol=1.0)


def test_the_rim_of_the_iris_runs_left_top_right_bottom_around_its_centre(points):
    for centre, left, top, right, bottom in points.iris:
        assert left[0] < centre[0] < right[0]
        assert top[1] < centre[1] < bottom[1]
        radii = [np.hypot(*(rim - centre)) for rim in (left, top, right, bottom)]
        assert max(radii) < 1.25 * min(radii)


def test_refining_from_last_frames_points_finds_the_same_points(astronaut, mesh, points):
    found = mesh.refine(astronaut, points.points + np.array([4, -3, 0]))

    assert np.hypot(*(found.points - points.points)[:, :2].T).mean() < 0.01 * FACE_HEIGHT
    assert found.trustworthy


def test_a_place_without_a_face_cannot_be_trusted(astronaut, mesh):
    assert not mesh.points(astronaut, FoundFace((20, 20, 80, 100), 1.0)).trustworthy


@pytest.mark.parametrize("box", [(-5000.0, 0.0, 90.0, 100.0), (0.0, 0.0, 1e7, 1e7)])
def test_a_box_beyond_the_picture_cannot_be_trusted(astronaut, mesh, box):
    assert not mesh.points(astronaut, FoundFace(box, 1.0)).trustworthy


@pytest.mark.parametrize("box", [(0, 0, 0, 10), (0, 0, 10, -1), (np.nan, 0, 10, 10), (0, 0, np.inf, 10)])
def test_a_box_that_no_face_can_have_is_refused(astronaut, mesh, box):
    with pytest.raises(BadInput, match="box"):
        mesh.points(astronaut, FoundFace(box, 1.0))


def test_refining_needs_all_points(astronaut, mesh, points):
    with pytest.raises(BadPoints, match="68"):
        mesh.refine(astronaut, points.points[:68])
    with pytest.raises(BadPoints, match="1402 of 1404"):
        mesh.refine(astronaut, np.where(np.arange(1404).reshape(468, 3) < 2, np.nan, points.points))


def test_what_is_no_picture_is_refused(mesh, face, points):
    with pytest.raises(BadPicture, match="float64"):
        mesh.points(np.zeros((9, 9, 3)), face)
    with pytest.raises(BadPicture, match="float64"):
        mesh.refine(np.zeros((9, 9, 3)), points.points)


@pytest.mark.parametrize("side", [40, 100, 700, 3000])
def test_a_square_cut_out_shows_what_lies_at_its_place(side):
    y, x = np.mgrid[0:1200, 0:1500]
    ramp = np.stack([x / 8, y / 8, np.full_like(x, 50)], -1).astype(np.uint8)
    place = place_square(np.array([700.0, 600.0]), side, 0.3, 64)
    square = cut_square(ramp, place, 64)
    at = np.array([[20, 20], [32, 32], [40, 25]])
    expected = at @ place[:, :2].T + place[:, 2]
    inside = ((expected > 30) & (expected < [1470, 1170])).all(1)

    assert_allclose(square[at[inside, 1], at[inside, 0], :2], expected[inside] / 8, atol=1.5)


def test_fine_stripes_are_averaged_not_skipped():
    stripes = np.zeros((800, 800, 3), np.uint8)
    stripes[:, ::2] = 255
    square = cut_square(stripes, place_square(np.array([400.0, 400.0]), 640, 0.1, 64), 64)

    assert_allclose(square, 127, atol=25)


def test_a_picture_wider_than_a_short_integer_is_cut_like_any_other(astronaut, mesh, face, points):
    wide = np.zeros((512, 40000, 3), np.uint8)
    wide[:, 39000:39512] = astronaut
    x, y, width, height = face.box
    moved = FoundFace((x + 39000, y, width, height), 1.0, face.marks + np.array([39000, 0]))

    assert_allclose(mesh.points(wide, moved).points - [39000, 0, 0], points.points, atol=1e-3)
