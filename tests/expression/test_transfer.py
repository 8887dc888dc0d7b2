from dataclasses import replace

import numpy as np
import pytest
from forms import build, build_model, look, within
from numpy.testing import assert_allclose

from elsewho.errors import BadInput, ElsewhoError
from elsewho.expression import MARKS, Steps, look_at, look_of, prepare, to_vector

NONE = Steps(scale=False, limit=False, eyes=False, mouth=False, tone=False, light=False)
EVERY = pytest.mark.parametrize("marks", MARKS.values(), ids=MARKS)


@pytest.fixture(scope="module", params=MARKS)
def model(request):
    return build_model(MARKS[request.param])


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("steps", [Steps(), NONE, Steps(literal=True), replace(Steps(), eyes=False)])
def test_an_expression_transferred_to_the_same_identity_is_the_original(model, rng, steps):
    moved, rest = within(model, rng), within(model, rng)

    result = prepare(model)(moved, rest, rest, steps)

    assert_allclose(result.form, moved.form, atol=1e-9)
    assert_allclose(result.shape, moved.shape, atol=1e-9)
    assert_allclose(result.texture, moved.texture, atol=1e-6 * np.abs(moved.texture).max())


@pytest.mark.parametrize("steps", [Steps(), NONE])
def test_without_an_expression_nothing_changes(model, rng, steps):
    rest, new = within(model, rng), within(model, rng)

    result = prepare(model)(rest, rest, new, steps)

    assert_allclose(result.form, new.form, atol=1e-9)
    assert_allclose(result.texture, new.texture, atol=1e-6 * np.abs(new.texture).max())


def test_equation_1_alone_is_the_same_in_space(model, rng):
    moved, rest, new = (within(model, rng) for _ in range(3))

    result = prepare(model)(moved, rest, new, NONE)

    assert_allclose(result.form, new.form + moved.form - rest.form, atol=1e-9)


def test_the_limit_holds_every_coefficient_within_three_standard_deviations(model):
    shape, texture = model.shape.basis.sd * 2.9, model.texture.basis.sd * 2.9
    far = look_of(model, np.concatenate([shape * model.shape_weight, texture]))
    near = look_of(model, -np.concatenate([shape * model.shape_weight, texture]))

    result = prepare(model)(far, near, far, replace(NONE, limit=True))

    assert (np.abs(result.shape) <= 3 * model.shape.basis.sd * (1 + 1e-9)).all()
    assert (np.abs(result.texture) <= 3 * model.texture.basis.sd * (1 + 1e-6)).all()


def test_the_input_is_left_as_it_was(model, rng):
    faces = [within(model, rng) for _ in range(3)]
    before = [(face.shape.copy(), face.texture.copy(), face.form.copy()) for face in faces]

    prepare(model)(*faces)

    for face, (shape, texture, form) in zip(faces, before, strict=True):
        assert_allclose(face.shape, shape)
        assert_allclose(face.texture, texture)
        assert_allclose(face.form, form)


def test_half_a_smile_becomes_half_a_smile():
    marks = MARKS["imm64"]
    model = build_model(marks)
    transfer, new = prepare(model), look(model, build(marks, width=0.26, stretch=(1.05, 0.95)))
    rest = look(model, build(marks))

    gained = []
    for share in (0.5, 1.0):
        moved = look(model, build(marks, width=0.3 + 0.06 * share))
        result = transfer(moved, rest, new, replace(Steps(), limit=False)).form
        gained.append(np.ptp(result[marks.mouth.corners, 0]) - np.ptp(new.form[marks.mouth.corners, 0]))

    assert gained[0] > 0.005
    assert gained[0] == pytest.approx(gained[1] / 2, rel=0.05)


def test_points_keep_the_form_exact_where_coefficients_would_smooth_it():
    marks = MARKS["ibug68"]
    model = build_model(marks)
    points = 100 * build(marks) + np.random.default_rng(0).normal(size=(68, 2))
    mesh = model.texture.mesh
    face = model.encode(np.full((300, 300, 3), 128, np.uint8), points + 150)

    exact = look_at(model, face, points + 150)

    assert_allclose(face.pose.apply(exact.form), points + 150, atol=1e-9)
    assert mesh.points.shape == (68, 2)
    assert np.abs(look_at(model, face).form - exact.form).max() > 1e-4


def test_a_look_goes_to_a_vector_and_back(model, rng):
    one = within(model, rng)

    assert_allclose(look_of(model, to_vector(model, one)).form, one.form, atol=1e-9)


def test_a_mark_up_whose_landmarks_are_unknown_is_refused():
    model = build_model(MARKS["imm58"])

    with pytest.raises(BadInput, match="mark-up 'points58' is not among imm58, imm64, ibug68, mesh468"):
        prepare(replace(model, marks="points58"))
    with pytest.raises(BadInput, match="'ibug68' has 68 landmarks, the model 58"):
        prepare(replace(model, marks="ibug68"))


def test_a_face_of_another_model_or_one_with_nan_is_refused_by_name(rng):
    model, other = build_model(MARKS["imm58"]), build_model(MARKS["imm64"])
    faces = [within(model, rng) for _ in range(3)]
    broken = replace(faces[1], form=np.full_like(faces[1].form, np.nan))

    with pytest.raises(BadInput, match="new has 8 shape and 8 texture coefficients and landmarks"):
        prepare(model)(faces[0], faces[1], within(other, rng))
    with pytest.raises(ElsewhoError, match="neutral holds NaN"):
        prepare(model)(faces[0], broken, faces[2])
