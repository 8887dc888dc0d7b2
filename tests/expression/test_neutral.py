from pathlib import Path

import numpy as np
import pytest
from forms import build, build_model, look
from numpy.testing import assert_allclose

from elsewho.aam import store
from elsewho.aam.load import load_model
from elsewho.errors import BadInput, TooFewPeople
from elsewho.expression import MARKS, MEASURES, NeutralEstimator, fit_neutral, load_neutral, measure, retrieve_neutral
from elsewho.expression.neutral import fingerprint
from elsewho.expression.transfer import look_of, to_vector

LONDON = Path(__file__).parents[2] / ".." / "shared" / "data" / "london"


@pytest.fixture(scope="module")
def pairs():
    """60 people of 20 numbers; a smile moves them along one direction that identity hardly varies in."""
    rng = np.random.default_rng(0)
    smile = np.linalg.qr(rng.normal(size=(20, 20)))[0][0]
    calm = rng.normal(size=(60, 20))
    calm -= 0.95 * np.outer(calm @ smile, smile)
    return calm + rng.uniform(1, 4, 60)[:, None] * smile, calm, [str(i) for i in range(60)]


def test_a_smile_is_taken_away_from_people_it_was_not_learned_on(pairs):
    moved, calm, people = pairs
    estimator = fit_neutral(moved[:50], calm[:50], people[:50])

    rest = estimator.neutral(moved[50:])

    before, after = (np.linalg.norm(one - calm[50:], axis=1) for one in (moved[50:], rest))
    assert after.max() < 0.25 * before.min()


def test_a_neutral_face_is_left_nearly_as_it_is(pairs):
    moved, calm, people = pairs
    estimator = fit_neutral(moved[:50], calm[:50], people[:50])

    assert np.linalg.norm(estimator.change(calm[50:]), axis=1).max() < 0.4


def test_what_no_smile_moves_is_not_changed(pairs):
    moved, calm, people = pairs
    estimator = fit_neutral(moved, calm, people, directions=1)
    change = estimator.change(moved)

    assert np.linalg.matrix_rank(change) == 1


def test_the_estimator_is_written_and_read_back_the_same(pairs, tmp_path):
    estimator = fit_neutral(*pairs, model="abc")
    store.write(tmp_path / "n.safetensors", estimator, "neutral")

    again = store.read(tmp_path / "n.safetensors", "neutral", NeutralEstimator)

    assert again.model == "abc"
    assert (again.neutral(pairs[0]) == estimator.neutral(pairs[0])).all()


def test_pairs_that_do_not_fit_together_are_refused(pairs):
    moved, calm, people = pairs

    with pytest.raises(BadInput, match="found expressions"):
        fit_neutral(moved[:30], calm, people)
    with pytest.raises(BadInput, match="pairs are needed"):
        fit_neutral(moved, calm, people[:-1])
    with pytest.raises(TooFewPeople, match="at least 8 people, found 3"):
        fit_neutral(moved[:3], calm[:3], people[:3])
    with pytest.raises(BadInput, match="row 4 holds NaN"):
        fit_neutral(np.where(np.arange(60)[:, None] == 4, np.nan, moved), calm, people)


def test_vectors_of_another_length_and_another_model_are_refused(pairs):
    estimator = fit_neutral(*pairs, model="abc")
    model = build_model(MARKS["imm58"])

    with pytest.raises(BadInput, match="fitted on vectors of 20 values, found 7"):
        estimator.neutral(np.zeros((2, 7)))
    with pytest.raises(BadInput, match="for another face model"):
        estimator.rest(model, look(model, build(MARKS["imm58"])))


def test_the_estimated_form_keeps_what_the_model_leaves_out():
    marks = MARKS["imm64"]
    model, rng = build_model(marks), np.random.default_rng(0)
    widths = rng.uniform(0.26, 0.32, 30)
    rest = [look(model, build(marks, width=w)) for w in widths]
    moved = [look(model, build(marks, width=w + 0.05, opening=0.08)) for w in widths]
    vectors = [np.stack([to_vector(model, one) for one in faces]) for faces in (moved, rest)]
    estimator = fit_neutral(*vectors, [str(i) for i in range(30)], model=fingerprint(model))

    found = estimator.rest(model, moved[0])

    assert_allclose(found.form - moved[0].form, look_of(model, to_vector(model, found)).form
                    - look_of(model, to_vector(model, moved[0])).form, atol=1e-9)  # fmt: skip
    assert measure(found.form, marks)[0] == pytest.approx(measure(rest[0].form, marks)[0], abs=0.02)


def test_the_neutral_face_of_a_person_is_found_in_a_gallery(pairs):
    moved, calm, _ = pairs
    slightly = calm + 0.2 * (moved - calm)

    assert (retrieve_neutral(slightly, calm) == np.arange(60)).all()
    assert (retrieve_neutral(slightly, calm, np.concatenate([moved, calm])) == np.arange(60)).all()


def test_an_empty_gallery_is_refused():
    with pytest.raises(BadInput, match="holds no neutral face"):
        retrieve_neutral(np.zeros((1, 4)), np.zeros((0, 4)))


def test_the_packaged_estimator_is_for_the_packaged_model():
    assert load_neutral().model == fingerprint(load_model())


def test_a_smile_of_a_person_in_no_shipped_model_is_taken_away():
    if not LONDON.is_dir():
        pytest.skip("the London pictures are not here")
    from elsewho.find import find_faces
    from elsewho.media.images import read_image
    from elsewho.pipeline import Deidentifier

    model, estimator, marks = load_model(), load_neutral(), MARKS["mesh468"]
    stage, width = Deidentifier(), MEASURES.index("mouth width")
    off, smile = [], []
    for person in ("005", "006", "014", "019"):
        read = {}
        for kind in ("smiling", "neutral"):
            image = read_image(LONDON / kind / f"{person}.jpg")
            own = stage.encode(image, find_faces(image)[0][1])
            read[kind] = look_of(model, model.to_vector(own))
        rest = estimator.rest(model, read["smiling"])
        widths = [measure(one.form, marks)[width] for one in (read["smiling"], rest, read["neutral"])]
        off.append(widths[1] / widths[2] - 1)
        smile.append(widths[0] / widths[2] - 1)

    assert np.mean(smile) > 0.08
    assert np.abs(np.mean(off)) < 0.04
    assert np.abs(off).mean() < 0.06
