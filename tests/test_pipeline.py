"""The whole way on the packaged portrait; stages are replaced to see what becomes of a face when they fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import elsewho
from elsewho import find
from elsewho.aam.load import PACKAGED
from elsewho.errors import BadInput, BadPicture, MissingPart, PointsMismatch
from elsewho.pipeline import Deidentifier, deidentify

pytestmark = pytest.mark.skipif(not PACKAGED.is_file(), reason="the packaged face model is not built yet")
PORTRAIT = Path(elsewho.__file__).parent / "data" / "astronaut.jpg"


@pytest.fixture(scope="session")
def portrait():
    picture = np.ascontiguousarray(cv2.imread(str(PORTRAIT))[..., ::-1])
    picture.flags.writeable = False
    return picture


@pytest.fixture(scope="session")
def found(portrait):
    """The one face of the portrait and its points."""
    return find.find_faces(portrait)[0]


@pytest.fixture(scope="session")
def released(portrait):
    return deidentify(portrait, seed=1)


@pytest.fixture
def worker():
    return Deidentifier(seed=1)


def see(monkeypatch, *faces):
    """Let the finder see these faces."""
    monkeypatch.setattr(find, "find_faces", lambda image: list(faces))


def centre(image, face):
    """The inner half of a face's box."""
    x, y, width, height = (round(value) for value in face.box)
    return image[y + height // 4 : y + 3 * height // 4, x + width // 4 : x + 3 * width // 4]


def is_covered(image, original, face):
    """True where no detail of the face is left and hardly a pixel has its old value."""
    inner = centre(image, face)
    same = (inner == centre(original, face)).all(axis=2)
    return len(np.unique(inner.reshape(-1, 3), axis=0)) == 1 and same.mean() < 0.01


def test_the_face_is_replaced_and_the_input_is_left_alone(released, portrait, found):
    assert [face.outcome for face in released.faces] == ["replaced"]
    assert released.image.shape == portrait.shape
    assert released.image.dtype == np.uint8
    off = np.abs(centre(released.image, found[0]).astype(int) - centre(portrait, found[0]))
    assert off.mean() > 8


def test_away_from_the_face_every_pixel_is_the_photos_bit_for_bit(released, portrait, found):
    at = found[1].points
    low, high = np.floor(at[:, :2].min(axis=0)).astype(int) - 1, np.ceil(at[:, :2].max(axis=0)).astype(int) + 2
    away = np.ones(portrait.shape[:2], bool)
    away[low[1] : high[1], low[0] : high[0]] = False

    assert_array_equal(released.image[away], portrait[away])


def test_the_eyes_look_where_they_looked(released, portrait):
    found = find.find_faces(released.image)[0][1]
    before = find.find_faces(portrait)[0][1]

    def gaze(points):
        eyes = np.stack([points.points[[33, 133], :2].mean(axis=0), points.points[[362, 263], :2].mean(axis=0)])
        return points.iris[:, 0] - eyes

    assert np.abs(gaze(found) - gaze(before)).max() < 2.0


def test_a_smile_stays_a_smile(released, portrait):
    def width(points):
        at = points.points
        return np.hypot(*(at[291] - at[61])[:2]) / np.hypot(*(at[263] - at[33])[:2])

    after, before = find.find_faces(released.image)[0][1], find.find_faces(portrait)[0][1]

    assert width(after) == pytest.approx(width(before), rel=0.12)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_face(released, portrait, found):
    again, other = deidentify(portrait, seed=1), deidentify(portrait, seed=2)

    assert_array_equal(again.image, released.image)
    assert np.abs(centre(other.image, found[0]).astype(int) - centre(released.image, found[0])).mean() > 2


def test_a_path_gives_what_its_pixels_give(released):
    from_file = deidentify(PORTRAIT, seed=1)

    assert [face.outcome for face in from_file.faces] == ["replaced"]
    assert np.abs(from_file.image.astype(int) - released.image).mean() < 1  # two JPEG decoders at most


def test_two_faces_are_both_replaced_by_different_ones(portrait):
    head = portrait[20:220, 110:340]
    result = deidentify(np.hstack([head, head]), seed=1)

    assert [face.outcome for face in result.faces] == ["replaced", "replaced"]
    left, right = result.image[:, :230].astype(int), result.image[:, 230:]
    assert np.abs(left - right)[60:140, 70:150].mean() > 2


def test_a_picture_without_a_face_is_unchanged_and_says_so():
    flat = np.random.default_rng(0).integers(0, 256, (200, 200, 3), np.uint8)

    result = deidentify(flat)

    assert result.faces == ()
    assert_array_equal(result.image, flat)


def test_grey_and_rgba_pictures_are_taken(portrait):
    grey = cv2.cvtColor(portrait, cv2.COLOR_RGB2GRAY)

    result = deidentify(grey)

    assert [face.outcome for face in result.faces] == ["replaced"]
    assert np.ptp(result.image.astype(int), axis=2).max() <= 12  # no coloured face in a grey photo


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"presence": 0.2}, "cannot be trusted"),
        ({"disagreement": 0.3}, "cannot be trusted"),
    ],
)
def test_a_face_whose_points_are_not_sure_is_concealed(worker, portrait, found, monkeypatch, change, reason):
    face, points = found
    see(monkeypatch, (face, replace(points, **change)))

    result = worker.release(portrait)

    assert [one.outcome for one in result.faces] == ["concealed"]
    assert reason in result.faces[0].reason
    assert is_covered(result.image, portrait, face)


def test_a_small_face_is_concealed(worker, portrait):
    small = cv2.resize(portrait, (180, 180), interpolation=cv2.INTER_AREA)

    result = worker.release(small)

    assert [face.outcome for face in result.faces] == ["concealed"]
    assert "too small: 2" in result.faces[0].reason


def test_a_face_that_the_picture_cuts_in_half_is_concealed(worker, portrait, found, monkeypatch):
    face, points = found
    left = int(points.points[1, 0])
    cut = np.ascontiguousarray(portrait[:, left:])
    x, y, width, height = face.box
    see(
        monkeypatch,
        (replace(face, box=(x - left, y, width, height)), replace(points, points=points.points - [left, 0, 0])),
    )

    result = worker.release(cut)

    assert result.faces[0].outcome == "concealed"
    assert "lies in the picture" in result.faces[0].reason


def test_a_face_in_profile_is_concealed(worker, portrait, found, monkeypatch):
    face, points = found
    angle = np.radians(60)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    middle = points.points.mean(axis=0)
    see(monkeypatch, (face, replace(points, points=(points.points - middle) @ turn.T + middle)))

    result = worker.release(portrait)

    assert result.faces[0].outcome == "concealed"
    assert "turned away" in result.faces[0].reason


@pytest.mark.parametrize("stage", ["encode", "another_identity", "paint"])
def test_a_stage_that_refuses_a_face_leaves_it_concealed(portrait, found, monkeypatch, stage):
    def refuse(*_given):
        raise BadInput("no.")

    monkeypatch.setattr(Deidentifier, stage, refuse)

    result = deidentify(portrait)

    assert [(face.outcome, face.reason) for face in result.faces] == [("concealed", "no.")]
    assert is_covered(result.image, portrait, found[0])


@pytest.mark.parametrize("stage", ["find", "doubt", "encode", "another_identity", "paint"])
def test_a_stage_that_breaks_gives_no_picture_at_all(portrait, monkeypatch, stage):
    def fail(*_given):
        raise RuntimeError("broken")

    monkeypatch.setattr(Deidentifier, stage, fail)

    with pytest.raises(RuntimeError, match="broken"):
        deidentify(portrait)


def test_a_face_replaced_beside_a_concealed_one_does_not_uncover_it(worker, portrait, found, monkeypatch):
    face, points = found
    doubtful = replace(points, presence=0.0)
    see(monkeypatch, (face, doubtful), (face, points))

    result = worker.release(portrait)

    assert [one.outcome for one in result.faces] == ["concealed", "replaced"]
    assert is_covered(result.image, portrait, face)


def test_a_large_photo_is_painted_at_its_own_size(portrait):
    large = cv2.resize(portrait, None, fx=4, fy=4, interpolation=cv2.INTER_CUBIC)

    result = deidentify(large, seed=1)

    assert result.image.shape == large.shape
    assert [face.outcome for face in result.faces] == ["replaced"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "k-diff-drawn"}, "method='k-diff-drawn' is not available"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 0.5}, "seed=0.5"),
    ],
)
def test_settings_that_do_not_exist_are_refused_before_any_work(given, message):
    with pytest.raises(BadInput, match=message):
        Deidentifier(**given)


def test_what_is_no_picture_is_refused():
    with pytest.raises(BadPicture):
        deidentify(np.zeros((10, 10, 3)))
    with pytest.raises(BadPicture, match=r"nowhere\.jpg"):
        deidentify("nowhere.jpg")


def test_a_model_of_another_mark_up_is_refused_with_its_count(portrait):
    packaged = elsewho.load_model()
    shape = replace(packaged.shape, basis=packaged.shape.basis.first(1), weights=packaged.shape.weights[:58])

    with pytest.raises(PointsMismatch, match="58 points"):
        deidentify(portrait, model=replace(packaged, shape=shape))


def test_without_the_packaged_model_the_message_says_how_to_get_it(monkeypatch):
    from elsewho.aam import load

    monkeypatch.setattr(load, "PACKAGED", Path("nowhere.safetensors"))
    load._load_packaged.cache_clear()

    with pytest.raises(MissingPart, match="pip install"):
        elsewho.load_model()


def test_the_packaged_model_is_read_once():
    assert elsewho.load_model() is elsewho.load_model()
