import numpy as np
import pytest
from forms import build, build_model, look
from numpy.testing import assert_allclose

from elsewho.expression import MARKS, MEASURES, measure
from elsewho.expression.measure import opening_of
from elsewho.expression.shape import (
    followers,
    keep_component,
    let_follow,
    level,
    scale_between,
    scale_change,
    transfer,
)

EVERY = pytest.mark.parametrize("marks", MARKS.values(), ids=MARKS)
INNER = pytest.mark.parametrize("marks", [m for m in MARKS.values() if m.mouth.rims], ids=lambda m: m.name)
REST = {"opening": 0.04, "width": 0.3, "eyes": 0.05}
MOVED = {"opening": 0.1, "width": 0.36, "eyes": 0.07, "smile": 0.03}
NEW = {"opening": 0.03, "width": 0.25, "eyes": 0.08, "thick": 0.03, "stretch": (0.9, 1.1)}


def turn(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, s], [-s, c]])


def opening(form, component):
    return opening_of(level(form, component).points, component)


@EVERY
def test_every_landmark_number_is_one_of_the_mark_up_and_pairs_lie_within_the_opening(marks):
    for component in (*marks.eyes, marks.mouth):
        assert component.points.max() < marks.count
        assert set(component.pairs.ravel()) <= set(component.opening.tolist())
        for rim, partner in component.rims:
            assert len(rim) == len(partner)
            assert set(partner.tolist()) <= set(component.opening.tolist())
    assert marks.roles.max() < marks.count


@EVERY
def test_what_was_built_is_what_is_measured(marks):
    form = build(marks, opening=0.05, width=0.3, eyes=0.06, brow=0.02)
    unit = 0.4  # between the eyes' middles
    thick = 0.0 if marks.mouth.rims else None

    found = dict(zip(MEASURES, measure(form, marks), strict=True))

    if thick is not None:
        assert found["mouth opening"] == pytest.approx(0.05 / unit)
    assert found["mouth width"] == pytest.approx(0.3 / unit)
    assert found["eye opening"] == pytest.approx(0.06 / unit)
    assert found["smile"] == pytest.approx(0, abs=1e-9)


@EVERY
def test_measures_do_not_change_with_the_pose(marks):
    form = build(marks, smile=0.02)

    assert_allclose(measure(3 * form @ turn(17) + [5, -2], marks), measure(form, marks), atol=1e-9)


@EVERY
def test_scales_are_those_the_face_was_stretched_by(marks):
    form = build(marks)

    assert_allclose(scale_between(form, form * [1.1, 0.9], marks), [1.1, 0.9])


def test_scaling_a_change_in_coefficients_is_scaling_it_in_space():
    model = build_model(MARKS["ibug68"])
    basis, rng = model.shape.basis, np.random.default_rng(0)
    change = rng.normal(size=len(basis)) * basis.sd
    scales = np.array([1.2, 0.8])

    moved = (change @ basis.modes).reshape(-1, 2) * scales

    assert_allclose(scale_change(basis, change, scales), basis.modes @ moved.ravel())
    assert_allclose(scale_change(basis, change, np.ones(2)), change, atol=1e-12)


def test_equation_1_is_the_same_in_coefficients_and_in_space():
    basis = build_model(MARKS["imm64"]).shape.basis
    a, b, c = np.random.default_rng(0).normal(size=(3, len(basis))) * basis.sd

    assert_allclose(basis.decode(transfer(a, b, c)), transfer(*(basis.decode(x) for x in (a, b, c))), atol=1e-12)


@EVERY
@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("degrees", [0, 20])
def test_eyes_and_mouth_open_by_the_ratio_of_equation_2_in_any_pose(marks, literal, degrees):
    expression, neutral, new = build(marks, **MOVED) @ turn(degrees), build(marks, **REST), build(marks, **NEW)
    form = new + 0.01

    for component in (*marks.eyes, marks.mouth):
        kept = keep_component(form, expression, neutral, new, component, literal=literal, closed=0.01)

        wanted = opening(expression, component) * opening(new, component) / opening(neutral, component)
        assert opening(kept, component) == pytest.approx(wanted, abs=1e-6)
        widths = [level(one, component).width for one in (expression, neutral, new, kept)]
        assert widths[3] == pytest.approx(widths[0] * widths[2] / widths[1], abs=1e-6)


@INNER
@pytest.mark.parametrize("literal", [False, True])
def test_lips_become_thicker_by_the_ratio_of_equation_2(marks, literal):
    faces = [build(marks, thick=t, **REST) for t in (0.06, 0.05, 0.03)]

    kept = keep_component(faces[2], *faces, marks.mouth, literal=literal)

    for (rim, partner), side in zip(marks.mouth.rims, (-1, 1), strict=True):
        assert (kept[rim, 1] - kept[partner, 1]).mean() == pytest.approx(side * 0.06 * 0.03 / 0.05, abs=1e-6)


@EVERY
def test_a_component_stays_where_equation_1_put_it_and_as_turned_as_it_was(marks):
    form = build(marks, **NEW) @ turn(9) + [0.1, 0.05]

    kept = keep_component(form, build(marks, **MOVED), build(marks, **REST), build(marks, **NEW), marks.mouth)

    before, after = form[marks.mouth.corners], kept[marks.mouth.corners]
    assert_allclose(after.mean(axis=0), before.mean(axis=0), atol=1e-12)
    across = [one[1] - one[0] for one in (before, after)]
    assert np.cross(*np.pad(across, ((0, 0), (0, 1))))[2] == pytest.approx(0, abs=1e-12)
    rest = np.setdiff1d(np.arange(marks.count), marks.mouth.points)
    assert_allclose(kept[rest], form[rest])


@INNER
@pytest.mark.parametrize("literal", [False, True])
def test_a_closed_mouth_opens_by_the_opening_scaled_with_its_width(marks, literal):
    closed = {"opening": 0.0, "eyes": 0.05}
    expression, neutral = build(marks, opening=0.08, width=0.3), build(marks, width=0.3, **closed)
    new = build(marks, width=0.24, **closed)

    kept = keep_component(new, expression, neutral, new, marks.mouth, literal=literal)

    assert opening(kept, marks.mouth) == pytest.approx(0.08 * 0.24 / 0.3, abs=1e-6)


@EVERY
def test_lips_that_the_expression_presses_together_do_not_cross(marks):
    pressed, neutral, new = (build(marks, opening=o, thick=0.05) for o in (0.0, 0.06, 0.002))

    kept = keep_component(new, pressed, neutral, new, marks.mouth)

    upper, lower = marks.mouth.pairs.T
    assert (kept[lower, 1] - kept[upper, 1]).min() >= -1e-12


@EVERY
def test_points_without_a_role_follow_the_nearest_of_a_component_and_others_stay(marks):
    form = build(marks)
    follow = followers(form, marks.mouth, marks)
    kept = form.copy()
    kept[marks.mouth.points] += [0.0, 0.1]

    moved = let_follow(kept, form, marks.mouth, follow) - kept

    assert_allclose(moved[marks.roles], 0)
    assert moved.min() >= 0
    assert moved.max() <= 0.1
    free = np.setdiff1d(np.arange(marks.count), marks.roles)
    away = np.linalg.norm(form[free, None] - form[None, marks.mouth.points], axis=2).min(axis=1)
    assert (moved[free[away < 0.05], 1] > 0.05).all()


def test_a_shape_in_three_dimensions_keeps_its_depth():
    marks = MARKS["mesh468"]
    flat = [build(marks, **one) for one in (MOVED, REST, NEW)]
    deep = [np.column_stack([one, np.linspace(0, 1, len(one))]) for one in flat]

    kept = keep_component(deep[2], *deep, marks.mouth)

    assert_allclose(kept[:, :2], keep_component(flat[2], *flat, marks.mouth))
    assert_allclose(kept[:, 2], deep[2][:, 2])


def test_encoded_and_transferred_to_itself_a_face_is_itself():
    marks = MARKS["imm64"]
    model = build_model(marks)
    moved, rest = look(model, build(marks, **MOVED)), look(model, build(marks, **REST))

    assert_allclose(transfer(moved.form, rest.form, rest.form), moved.form)
