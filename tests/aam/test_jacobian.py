"""How features change when the points move, and what one step makes of it."""

import numpy as np
import pytest
from faces import make_faces
from numpy.testing import assert_allclose

from elsewho.aam.descent import SOLVERS
from elsewho.aam.explain import Appearance, Linear, eliminate, linearise, solve_jointly
from elsewho.aam.jacobian import POSE, find_neighbours, jacobian, steer
from elsewho.aam.levels import RECIPES, mirror_map, train_levels
from elsewho.aam.mesh import Mesh, triangulate
from elsewho.aam.shape import fit_shapes
from elsewho.aam.view import look


@pytest.fixture(scope="module")
def level():
    """A middle level of cartoon faces, and one face's features with their remainder."""
    pictures, points = make_faces(24, seed=3)
    return train_levels(pictures, points, fit_shapes(points, 5), recipes=RECIPES[1:2])[0]


@pytest.fixture(scope="module")
def rest(level):
    """(d,) features that differ from the mean by some modes and by noise."""
    rng = np.random.default_rng(4)
    coefficients = rng.normal(size=len(level.basis)) * level.basis.sd
    return (coefficients @ level.basis.modes + 0.05 * rng.normal(size=len(level.basis.mean))).astype(np.float32)


def field(at):
    """Two smooth features (P, 2) at places (P, 2), whose slopes are known everywhere."""
    x, y = at[:, 0], at[:, 1]
    return np.stack([0.01 * x * x + 0.02 * x * y, 0.03 * y * y - 0.01 * x], axis=1)


def test_the_analytic_jacobian_agrees_with_moving_the_points():
    _, points = make_faces(12, seed=1)
    shape = fit_shapes(points, 4)
    view = look(shape, 4)
    home = (view.mean - view.mean.min(axis=0)) * 60 + 3
    columns, rows = np.ceil(home.max(axis=0)).astype(int) + 3
    mesh = Mesh(home, triangulate(home), (int(rows), int(columns)))
    spread = np.zeros((len(mesh.pixels), len(home)), np.float32)
    np.put_along_axis(spread, mesh.corners, mesh.weights, axis=1)
    steering = steer(view, spread, 60)
    neighbours = find_neighbours(mesh, 1)
    inner = np.all([n != np.arange(len(spread)) for n in (neighbours.left, neighbours.right)], axis=0)
    inner &= np.all([n != np.arange(len(spread)) for n in (neighbours.above, neighbours.below)], axis=0)

    analytic = jacobian(field(mesh.pixels.astype(float)), neighbours, steering).reshape(len(spread), 2, -1)

    for k in range(POSE + 4):
        step = np.zeros(POSE + 4)
        step[k] = 1e-3
        moved = [spread @ (home + sign * (steering.points @ step).reshape(-1, 2)) for sign in (1, -1)]
        numeric = (field(moved[0]) - field(moved[1])) / 2e-3
        assert_allclose(analytic[inner, :, k], numeric[inner], rtol=0.01, atol=0.01 * np.abs(numeric).max())


def test_scale_turn_and_shift_move_the_points_as_their_names_say():
    _, points = make_faces(12, seed=1)
    view = look(fit_shapes(points, 4), 4)

    scale, turned, right, down = steer(view, np.eye(len(view.mean), dtype=np.float32), 1.0).points.T[:POSE]

    assert_allclose(scale.reshape(-1, 2), view.mean - view.mean.mean(axis=0), atol=1e-9)
    assert_allclose((scale * turned).reshape(-1, 2).sum(axis=1), 0, atol=1e-9)
    assert_allclose(right.reshape(-1, 2), np.tile([1, 0], (len(view.mean), 1)))
    assert_allclose(down.reshape(-1, 2), np.tile([0, 1], (len(view.mean), 1)))


def test_simultaneous_and_wiberg_take_the_same_step(level, rest):
    template = level.basis.mean + level.appearance.encode(rest) @ level.basis.modes
    linear = linearise(level.appearance, template, level.neighbours, level.steering)
    prior = level.noise * level.steering.prior
    coefficients = 0.5 * np.sqrt(level.view.variance)

    short, _ = eliminate(level.appearance, linear, rest, prior, coefficients)
    full, after = solve_jointly(level.appearance, linear, rest, prior, coefficients)

    assert_allclose(short, full, rtol=2e-3, atol=2e-4 * np.abs(full).max())
    expected = level.appearance.encode(rest - linear.change @ full)  # the likeliest appearance after that move
    assert_allclose(after, expected, atol=2e-3 * np.abs(expected).max())


def test_the_joint_step_is_the_minimum_of_what_all_solvers_minimise():
    rng = np.random.default_rng(0)
    d, m, k = 40, 3, POSE + 2
    modes = np.linalg.qr(rng.normal(size=(d, m)))[0].T
    shares, prior = np.array([0.9, 0.7, 0.4]), np.array([0.0, 0, 0, 0, 0.5, 0.8])
    change, rest, b = rng.normal(size=(d, k)), rng.normal(size=d), rng.normal(size=2)
    appearance = Appearance(np.zeros(d), modes, shares, 1.0)
    inside = modes @ change
    linear = Linear(change, inside, change.T @ change - inside.T @ (shares[:, None] * inside))

    def cost(move, c):
        off = rest - c @ modes - change @ move
        drift = np.concatenate([np.zeros(POSE), b]) - move
        return off @ off + c @ ((1 / shares - 1) * c) + drift @ (prior * drift)

    move, c = solve_jointly(appearance, linear, rest, prior, b)
    short, _ = eliminate(appearance, linear, rest, prior, b)

    assert_allclose(short, move, rtol=1e-5, atol=1e-6)
    for _ in range(20):
        assert cost(move, c) <= cost(move + 1e-3 * rng.normal(size=k), c + 1e-3 * rng.normal(size=m))


def test_project_out_is_wibergs_first_step_where_the_face_looks_like_the_mean(level, rest):
    outside = rest - (rest @ level.basis.modes.T) @ level.basis.modes
    explained = level.appearance.encode(outside)
    template = level.basis.mean + explained @ level.basis.modes
    wiberg = linearise(level.appearance, template, level.neighbours, level.steering)
    prior = level.noise * level.steering.prior
    none = np.zeros(len(level.view.variance))

    first, _ = eliminate(level.appearance, wiberg, outside, prior, none)
    constant, _ = eliminate(level.appearance, level.constant, outside, prior, none)

    assert_allclose(first, constant, rtol=1e-3, atol=1e-5)


def test_hiding_features_leaves_the_same_gaussian_of_the_others(level, rest):
    seen = np.arange(len(rest)) % 3 > 0
    hidden = level.appearance.hide(seen)
    spread = level.basis.variance

    before = (level.basis.modes[:, seen].T * spread) @ level.basis.modes[:, seen]
    energy = hidden.doubt * hidden.shares / (1 - hidden.shares)
    after = (hidden.modes[:, seen].T * energy) @ hidden.modes[:, seen]

    assert_allclose(after, before, atol=1e-4 * np.abs(before).max())
    assert (hidden.modes[:, ~seen] == 0).all()
    assert (hidden.rest(rest + hidden.mean)[~seen] == 0).all()


def test_left_and_right_are_found_in_the_mean_face():
    _, points = make_faces(40, seed=2)
    mirror = mirror_map(fit_shapes(points, 3).mean)

    expected = [*range(11, -1, -1), 18, 17, 16, 19, 14, 13, 12, 15, 23, 22, 21, 20, 24, 26, 25, 29, 28, 27, 30]
    assert mirror is not None
    assert mirror.tolist() == expected


def test_a_mark_up_without_symmetry_has_no_mirror():
    assert mirror_map(np.random.default_rng(0).normal(size=(30, 2))) is None


def test_there_are_three_solvers():
    assert SOLVERS == ("wiberg", "simultaneous", "project-out")
