"""The mesh and the warp, both ways."""

import cv2
import numpy as np
import pytest
from numpy.testing import assert_allclose

from elsewho.aam.mesh import make_mesh, rasterise, signed_area, triangulate
from elsewho.aam.warp import look_up, paint_map, sample
from elsewho.errors import BadPoints


@pytest.fixture(scope="module")
def grid():
    """A mesh over a 5 x 5 grid of points, jittered inside."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0:5, 0:5]
    points = np.stack([x.ravel(), y.ravel()], axis=1).astype(float)
    inner = (points > 0).all(axis=1) & (points < 4).all(axis=1)
    points[inner] += rng.uniform(-0.25, 0.25, (inner.sum(), 2))
    return make_mesh(points, triangulate(points), 65)


def ramp(height=120, width=140):
    """A picture whose values are its coordinates: what is sampled tells where."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    return np.stack([x, y, x + y], axis=-1)


def test_every_pixel_is_the_weighted_sum_of_its_corners(grid):
    assert_allclose(grid.weights.sum(axis=1), 1, atol=1e-5)
    assert_allclose(grid.place(grid.points), grid.pixels, atol=1e-3)


def test_the_mesh_covers_the_whole_square_between_its_outer_points(grid):
    x, y = grid.pixels.T

    assert len(grid.pixels) == (x.max() - x.min() + 1) * (y.max() - y.min() + 1)


def test_sampling_a_shifted_and_stretched_mesh_reads_the_affine_places(grid):
    placed = grid.points * [1.3, 1.2] + [20, 15]

    values, seen = sample(ramp(), placed, grid)

    assert seen.all()
    assert_allclose(values[:, :2], grid.pixels * [1.3, 1.2] + [20, 15], atol=0.05)


def test_what_is_painted_from_a_picture_is_that_picture_again(grid):
    smooth = cv2.GaussianBlur(np.random.default_rng(1).uniform(0, 255, (120, 140, 3)).astype(np.float32), (0, 0), 4)
    rng = np.random.default_rng(2)
    placed = grid.points + 30 + rng.uniform(-2, 2, grid.points.shape)

    values, _ = sample(smooth, placed, grid)
    place, covered = paint_map(placed, grid, smooth.shape[:2])
    painted = cv2.remap(grid.extend(values), place, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)

    core = cv2.erode(covered.astype(np.uint8), np.ones((5, 5))).astype(bool)
    assert core.sum() > 3000
    assert_allclose(painted[core], smooth[core], atol=1.0)


def test_pixels_outside_the_picture_are_not_seen(grid):
    placed = grid.points + [-20, 10]

    _, seen = sample(ramp(), placed, grid)

    assert_allclose(seen, grid.place(placed)[:, 0] >= -0.5)
    assert 0.2 < seen.mean() < 0.8


def test_a_face_outside_the_picture_is_not_seen_at_all(grid):
    assert not sample(ramp(), grid.points + 1000, grid)[1].any()


def test_triangles_turned_away_are_not_seen(grid):
    depth = np.zeros(len(grid.points))
    folded = np.column_stack([grid.points + 20, depth])
    folded[:, 0] = np.where(folded[:, 0] > 60, 120 - folded[:, 0], folded[:, 0])  # the right part folds back

    seen = sample(ramp(), folded, grid)[1]

    assert seen[grid.pixels[:, 0] < 30].all()
    assert not seen[grid.pixels[:, 0] > 55].any()


def test_the_nearer_triangle_hides_the_farther():
    points = np.array([[0, 0], [20, 0], [0, 20], [0, 0], [20, 0], [0, 20]], float)
    triangles = np.array([[0, 1, 2], [3, 4, 5]])

    near_last = rasterise(points, triangles, (21, 21), np.array([5, 5, 5, 1, 1, 1.0]))
    near_first = rasterise(points, triangles, (21, 21), np.array([1, 1, 1, 5, 5, 5.0]))

    assert near_last[3, 3] == 1
    assert near_first[3, 3] == 0


def test_a_face_finer_than_the_frame_is_smoothed_before_it_is_sampled(grid):
    stripes = np.zeros((700, 700), np.float32)
    stripes[:, ::2] = 255

    values, _ = sample(stripes, grid.points * 10 + 20, grid)

    assert_allclose(values, 127.5, atol=3)


def test_look_up_reads_more_places_than_opencv_takes_at_once():
    places = np.tile([[3.5, 2.0]], (70_000, 1))

    assert_allclose(look_up(ramp(), places), np.tile([3.5, 2.0, 5.5], (70_000, 1)), atol=1e-4)


def test_all_triangles_turn_the_same_way():
    points = np.random.default_rng(3).uniform(0, 100, (40, 2))

    assert (signed_area(points, triangulate(points)) > 0).all()


@pytest.mark.parametrize("points", [np.stack([np.arange(9.0), np.arange(9.0)], axis=1), np.ones((9, 2))])
def test_points_that_span_no_area_make_no_mesh(points):
    with pytest.raises(BadPoints, match="span no area"):
        triangulate(points)
