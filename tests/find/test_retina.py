import cv2
import numpy as np
import pytest
from numpy.testing import assert_allclose

from elsewho.errors import BadInput, BadPicture
from elsewho.find import RetinaFace
from elsewho.find.retina import decode, keep_apart, make_anchors, overlap


def corners(box):
    x, y, width, height = box
    return np.array([x, y, x + width, y + height])


def only(faces):
    assert len(faces) == 1, f"{len(faces)} faces instead of one"
    return faces[0]


def test_the_portrait_holds_one_face_between_hair_and_chin(astronaut, finder):
    found = only(finder.find(astronaut))

    assert overlap(corners(found.box), np.array([178, 62, 272, 178])) > 0.8
    assert found.score > 0.95
    assert_allclose(found.marks[0], [203.3, 100.7], atol=4)
    assert_allclose(found.marks[1], [246.0, 103.0], atol=4)


def test_marks_run_from_left_to_right(face):
    eye, other_eye, nose, mouth, other_mouth = face.marks

    assert eye[0] < nose[0] < other_eye[0]
    assert mouth[0] < other_mouth[0]
    assert eye[1] < nose[1] < mouth[1]


def test_at_half_size_the_box_is_half_as_large(astronaut, finder, face):
    small = cv2.resize(astronaut, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)

    assert overlap(corners(only(finder.find(small)).box) * 2, corners(face.box)) > 0.8


def test_ground_around_the_picture_moves_the_box(astronaut, finder, face):
    padded = np.pad(astronaut, ((37, 90), (141, 15), (0, 0)))
    found = only(finder.find(padded))

    assert overlap(corners(found.box) - [141, 37, 141, 37], corners(face.box)) > 0.8


def test_in_a_mirrored_picture_box_and_marks_are_mirrored(astronaut, finder, face):
    found = only(finder.find(np.ascontiguousarray(astronaut[:, ::-1])))
    x, y, right, bottom = corners(found.box)

    assert overlap(np.array([511 - right, y, 511 - x, bottom]), corners(face.box)) > 0.85
    assert_allclose(511 - found.marks[[1, 0, 2, 4, 3], 0], face.marks[:, 0], atol=4)


@pytest.mark.parametrize("degrees", [-15, 15])
def test_a_tilted_face_is_found_where_it_was_turned_to(astronaut, finder, face, degrees):
    turn = cv2.getRotationMatrix2D((225, 120), degrees, 1.0)
    found = only(finder.find(cv2.warpAffine(astronaut, turn, (512, 512))))

    assert_allclose(found.marks, face.marks @ turn[:, :2].T + turn[:, 2], atol=6)


@pytest.mark.parametrize("room", [1.2, 0.8, 0.6])
@pytest.mark.parametrize("side", [48, 640])
def test_a_face_that_fills_the_picture_is_found_once(astronaut, finder, face, room, side):
    x, y, width, height = face.box
    left, top = max(0, x + width / 2 * (1 - room)), max(0, y + height / 2 * (1 - room))
    cut = astronaut[int(top) : int(top + height * room), int(left) : int(left + width * room)]
    scale = side / max(cut.shape[:2])

    only(finder.find(cv2.resize(cut, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)))


def test_in_a_long_strip_the_face_is_still_found(astronaut, finder):
    strip = np.full((512, 6000, 3), 90, np.uint8)
    strip[:, 4100:4612] = astronaut

    assert_allclose(only(finder.find(strip)).marks[0], [4303, 101], atol=6)


@pytest.mark.parametrize("shape", [(1, 1), (1, 400), (400, 1), (31, 33), (64, 5000)])
def test_odd_sizes_without_a_face_give_none(finder, shape):
    assert finder.find(np.full((*shape, 3), 127, np.uint8)) == []


def test_what_is_not_contiguous_gives_the_same_faces(astronaut, finder, face):
    padded = np.zeros((512, 512, 6), np.uint8)
    padded[..., ::2] = astronaut

    assert only(finder.find(padded[..., ::2])).box == face.box


def test_the_picture_is_not_changed(astronaut, finder):
    copy = astronaut.copy()
    finder.find(copy)

    assert np.array_equal(copy, astronaut)


@pytest.mark.parametrize(
    ("picture", "found"),
    [
        (np.zeros((5, 5), np.uint8), r"\(5, 5\)"),
        (np.zeros((5, 5, 4), np.uint8), r"\(5, 5, 4\)"),
        (np.zeros((0, 5, 3), np.uint8), r"\(0, 5, 3\)"),
        (np.zeros((5, 5, 3), np.float32), "float32"),
        ([[1]], "list"),
        (None, "NoneType"),
    ],
)
def test_what_is_no_picture_is_refused_with_what_was_found(finder, picture, found):
    with pytest.raises(BadPicture, match=found):
        finder.find(picture)


@pytest.mark.parametrize("options", [{"side": 10}, {"threshold": 0}, {"threshold": 1.5}])
def test_settings_without_sense_are_refused(options):
    with pytest.raises(BadInput, match=str(next(iter(options.values())))):
        RetinaFace(**options)


def test_no_offset_means_the_anchor_itself():
    anchors = make_anchors(64, 96)
    count = len(anchors)
    scores = np.zeros(count)
    scores[5] = 0.9
    (row,) = decode(np.zeros((count, 4)), scores, np.zeros((count, 10)), (64, 96), 0.5)
    x, y, side = anchors[5]

    assert count == 2 * (8 * 12 + 4 * 6 + 2 * 3)
    assert_allclose(row[:4], [x - side / 2 - 0.5, y - side / 2 - 0.5, x + side / 2 - 0.5, y + side / 2 - 0.5])
    assert_allclose(row[5:].reshape(5, 2), np.tile([x - 0.5, y - 0.5], (5, 1)))


def row_at(x, y, size, score):
    marks = np.array([[0.3, 0.4], [0.7, 0.4], [0.5, 0.6], [0.35, 0.8], [0.65, 0.8]]) * size + [x, y]
    return np.r_[x, y, x + size, y + size, score, marks.ravel()]


def test_of_two_boxes_on_one_face_the_surer_stays_and_neighbours_stay_both():
    rows = np.stack([row_at(0, 0, 100, 0.8), row_at(5, 5, 100, 0.9), row_at(80, 0, 100, 0.7)])
    kept = keep_apart(rows)

    assert kept[:, 4].tolist() == [0.9, 0.7]


def test_a_small_face_in_front_of_a_large_one_stays():
    kept = keep_apart(np.stack([row_at(0, 0, 200, 0.9), row_at(130, 120, 60, 0.8)]))

    assert len(kept) == 2
