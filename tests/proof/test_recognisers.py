"""Eigenfaces, Fisherfaces and networks of one's own turn faces into vectors as they say."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from elsewho.errors import BadInput, TooFewFaces, TooFewPeople
from elsewho.find.embedder import CHIP_PLACES
from elsewho.find.networks import find_weights
from elsewho.proof.recognisers import Eigenfaces, Fisherfaces, OnnxRecogniser, distances, rank1
from elsewho.proof.recognisers.onnx import EXAMPLE, MARKS, cut_aligned, read_settings


def crowd(rng, people=12, each=6, d=8):
    """Faces of people who differ along few directions and vary along others."""
    spread = np.r_[np.full(3, 0.2), np.full(d - 3, 3.0)]
    centres = rng.normal(size=(people, d)) * np.r_[np.full(3, 4.0), np.full(d - 3, 0.1)]
    faces = np.repeat(centres, each, axis=0) + rng.normal(size=(people * each, d)) * spread
    return faces, [f"p{i}" for i in range(people) for _ in range(each)]


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def test_eigenfaces_with_all_components_keep_all_distances(rng):
    faces = rng.normal(size=(30, 6))
    seen = Eigenfaces.train(faces, components=6).embed(faces)

    assert_allclose(distances(seen, seen), distances(faces, faces), atol=1e-9)


def test_whitened_eigenfaces_vary_by_one_in_every_direction(rng):
    faces = rng.normal(size=(200, 4)) * [1, 10, 100, 1000]
    seen = Eigenfaces.train(faces, components=4, whiten=True).embed(faces)

    assert_allclose(np.cov(seen.T), np.eye(4), atol=1e-9)


def test_one_face_is_too_few_for_eigenfaces():
    with pytest.raises(TooFewFaces, match="found 1"):
        Eigenfaces.train(np.ones((1, 4)))


def test_fisherfaces_see_what_euclidean_distance_does_not(rng):
    faces, people = crowd(rng)
    probes, _ = faces[::6], people
    seen = Fisherfaces.train(faces, people)
    rest = np.setdiff1d(np.arange(len(faces)), np.arange(0, len(faces), 6))
    names = [people[i] for i in rest]

    plain = rank1(distances(probes, faces[rest]), people[::6], names)
    fisher = rank1(distances(seen.embed(probes), seen.embed(faces[rest])), people[::6], names)

    assert fisher == 1
    assert plain < 0.7


def test_fisherfaces_are_those_of_scikit_learn(rng):
    faces, people = crowd(rng)
    theirs = LinearDiscriminantAnalysis(solver="svd").fit(faces, people)
    ours = Fisherfaces.train(faces, people, shrinkage=0.0)

    assert_allclose(
        distances(ours.embed(faces), ours.embed(faces)),
        distances(theirs.transform(faces), theirs.transform(faces)),
        rtol=1e-6,
        atol=1e-6,
    )
    assert (ours.classify(faces) == theirs.predict(faces)).all()


def test_features_that_never_vary_tell_nobody_apart(rng):
    faces, people = crowd(rng)
    with_still = np.column_stack([faces, np.full(len(faces), 7.0)])

    assert not Fisherfaces.train(with_still, people).axes[:, -1].any()
    assert Fisherfaces.train(np.ones_like(faces), people).embed(faces).shape == (len(faces), 0)


def test_people_who_never_vary_are_told_apart_all_the_same(rng):
    faces = np.repeat(rng.normal(size=(6, 4)), 3, axis=0)
    people = [f"p{i}" for i in range(6) for _ in range(3)]
    seen = Fisherfaces.train(faces, people, shrinkage=1e-6).embed(faces)

    assert np.isfinite(seen).all()
    assert rank1(distances(seen, seen), people, people, strict=True) == 1


def test_fisherfaces_need_people_and_several_faces_of_them(rng):
    with pytest.raises(TooFewPeople, match="found 1"):
        Fisherfaces.train(rng.normal(size=(4, 3)), ["a"] * 4)
    with pytest.raises(TooFewFaces, match="one face"):
        Fisherfaces.train(rng.normal(size=(4, 3)), list("abcd"))


def put_network(folder, **said):
    """The embedded network, which takes 150 x 150 RGB pixels as NCHW, as if it were one's own."""
    path = folder / "net.onnx"
    if not path.exists():
        path.symlink_to(find_weights("dlib_face.onnx"))
    settings = {"size": 150, "channels": "RGB", "layout": "NCHW", "output": "", "align": CHIP_PLACES[:5].tolist()}
    path.with_suffix(".json").write_text(json.dumps(json.loads(EXAMPLE.read_text()) | settings | said))
    return path


def marks_at(places):
    points = np.zeros((468, 2))
    for mark, place in zip(MARKS, places, strict=True):
        points[list(mark)] = place
    return points


def test_a_network_of_ones_own_sees_the_face_in_its_own_channel_order(tmp_path, rng):
    image = rng.integers(0, 255, (200, 200, 3)).astype(np.uint8)
    as_rgb = OnnxRecogniser(put_network(tmp_path, mean=[90, 100, 110]))
    as_bgr = OnnxRecogniser(put_network(tmp_path, mean=[110, 100, 90], channels="BGR"))
    points = marks_at(as_rgb.settings.align)

    seen = as_rgb.embed(image, points)

    assert_allclose(np.linalg.norm(seen), 1, atol=1e-6)
    assert_allclose(as_bgr.embed(image[..., ::-1], points), seen, atol=1e-6)
    assert np.abs(as_bgr.embed(image, points) - seen).max() > 1e-4


def test_an_output_that_the_network_lacks_is_named(tmp_path):
    with pytest.raises(BadInput, match="not elsewhere"):
        OnnxRecogniser(put_network(tmp_path, output="elsewhere"))


def test_a_face_is_cut_out_upright_whatever_its_turn():
    align = np.array([[8.0, 10], [24, 10], [16, 18], [10, 24], [22, 24]])
    image = np.zeros((100, 100, 3), np.uint8)
    turned = np.array([[0.0, -1], [1, 0]])
    places = (align - 16) @ turned.T * 2 + 50
    x, y = np.round(places[0]).astype(int)
    image[y - 2 : y + 3, x - 2 : x + 3] = 255

    cut = cut_aligned(image, marks_at(places), align, 32)

    assert cut[10, 8].min() > 200
    assert cut[24, 22].max() == 0


def test_the_settings_of_the_example_can_be_read():
    assert read_settings(EXAMPLE).size == 224


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"channels": "GBR"}, "channels must be RGB or BGR"),
        ({"align": [[1, 2]]}, "align five pairs"),
        ({"mean": "x"}, "could not convert"),
    ],
)
def test_settings_that_cannot_be_are_refused(tmp_path, change, said):
    path = tmp_path / "net.json"
    path.write_text(json.dumps(json.loads(EXAMPLE.read_text()) | change))

    with pytest.raises(BadInput, match=said):
        read_settings(path)


def test_missing_and_broken_files_are_named(tmp_path):
    with pytest.raises(BadInput, match=r"nothing\.onnx is not there"):
        OnnxRecogniser(tmp_path / "nothing.onnx")
    (tmp_path / "net.onnx").write_bytes(b"no network")
    with pytest.raises(BadInput, match=r"net\.json is not there"):
        OnnxRecogniser(tmp_path / "net.onnx")
    (tmp_path / "net.json").write_text("{}")
    with pytest.raises(BadInput, match="it lacks size, channels"):
        OnnxRecogniser(tmp_path / "net.onnx")
    (tmp_path / "net.json").write_text(EXAMPLE.read_text())
    with pytest.raises(BadInput, match="cannot be loaded"):
        OnnxRecogniser(tmp_path / "net.onnx")
