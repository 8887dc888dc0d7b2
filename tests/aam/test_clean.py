"""What in a texture is not the face, and light."""

import cv2
import numpy as np
import pytest
from numpy.testing import assert_allclose

from elsewho.aam.clean import bare_face, fit_light, glasses_scores, hides_face, light_gain, light_terms
from elsewho.aam.load import PACKAGED, load_model
from elsewho.aam.regions import find_regions

pytestmark = pytest.mark.skipif(not PACKAGED.exists(), reason="the packaged face model is not built")


@pytest.fixture(scope="module")
def model():
    return load_model()


@pytest.fixture(scope="module")
def mesh(model):
    return model.texture.mesh


@pytest.fixture(scope="module")
def regions(mesh):
    return find_regions(mesh)


@pytest.fixture(scope="module")
def mean(model, mesh):
    return mesh.fill(np.clip(model.texture.unpack(model.texture.basis.mean), 0, 255))


@pytest.fixture(scope="module")
def faces(model, mesh):
    return [mesh.fill(model.texture.decode(face.texture)) for face in model.sample(6, seed=4)]


def test_the_light_that_was_put_on_a_face_is_found(mean, regions):
    truth = np.array([[-0.4, -0.45, -0.5], [0.2, 0.2, 0.2], [0, 0, 0], [-0.3, -0.25, -0.2], [0, 0, 0], [0.1, 0, 0]])
    lit = np.clip((mean + 4) * light_gain(truth, mean.shape[:2]) - 4, 0, 255)

    found = light_terms(lit, mean, regions.skin)

    assert_allclose(found, truth, atol=0.01)


def test_moles_and_strands_do_not_count_as_light(mean, regions):
    spotted = mean.copy()
    spotted[120:150, 40:60] = 20

    assert_allclose(fit_light(spotted, mean, regions.skin)[regions.inside], 1, atol=0.02)


def test_a_dark_fringe_is_found_and_painted_over(faces, mean, regions):
    for face in faces:
        fringed = face.copy()
        fringed[:45][regions.inside[:45]] = [45, 35, 30]

        hidden = hides_face(fringed, mean, regions)
        bare = bare_face(fringed, mean, regions)

        band = regions.inside[:40]
        assert hidden[:40][band].mean() > 0.9
        before = np.abs(fringed - face)[:40][band].mean()
        assert np.abs(bare - face)[:40][band].mean() < 0.5 * before


def test_features_are_never_taken_for_hair(faces, mean, regions):
    for face in faces:
        assert hides_face(face, mean, regions)[regions.lips].max() < 0.5


def test_blue_ground_at_the_cheek_is_not_skin(faces, mean, regions):
    rim = (regions.depth < 0.05) & regions.inside
    rim[:, 60:] = False
    rim[:150] = False
    for face in faces:
        spoiled = face.copy()
        spoiled[rim] = [90, 120, 150]

        assert hides_face(spoiled, mean, regions)[rim].mean() > 0.6


def test_frames_drawn_round_the_eyes_raise_the_score_of_glasses(faces, mesh):
    grey = [face.mean(axis=-1) for face in faces] * 2
    framed = []
    for picture in grey[len(faces) :]:
        drawn = picture.astype(np.float32, copy=True)
        for eye in (mesh.points[[33, 133]], mesh.points[[362, 263]]):
            at = tuple(int(v) for v in eye.mean(axis=0) + [0, 4])
            cv2.ellipse(drawn, at, (38, 28), 0, 0, 360, 30.0, 3)
        left, right = (int(mesh.points[i, 0]) for i in (133, 362))
        cv2.line(drawn, (left, int(mesh.points[133, 1]) - 6), (right, int(mesh.points[362, 1]) - 6), 30.0, 3)
        framed.append(drawn)
    plain = grey[: len(faces)] * 3

    scores = glasses_scores(np.stack([*plain, *framed]), mesh.points)

    assert scores[len(plain) :].min() > scores[: len(plain)].max()


def test_the_regions_of_a_face_do_not_overlap_where_they_must_not(regions):
    assert not (regions.skin & regions.features).any()
    assert not (regions.skin & regions.brows).any()
    assert (regions.forehead <= regions.inside).all()
    assert 0.2 < regions.skin.sum() / regions.inside.sum() < 0.8
