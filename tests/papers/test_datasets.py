"""Every data set is read as the same records: picture, points, person, expression."""

from pathlib import Path

import numpy as np
import pytest

from elsewho.errors import BadAnnotation, BadPicture
from elsewho.media.images import read_size, write_image
from elsewho.papers.datasets import (
    LondonPerson,
    read_300w,
    read_folder,
    read_imm,
    read_jaffe,
    read_london,
    read_london_info,
)

SHARED = Path(__file__).parents[3] / "shared" / "data"


def find_shared(name):
    if not (SHARED / name).is_dir():
        pytest.skip(f"the data set '{name}' is not beside the repository")
    return SHARED / name


def paint(path, width=64, height=48):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_image(path, np.full((height, width, 3), 128, np.uint8))
    return path


def write_asf(path, count=58):
    rows = "".join(f"0 4 0.25 0.75 {i} 0 0\n" for i in range(count))
    path.write_text(f"# made by a test\n{count}\n{rows}{path.stem}.jpg\n")


def write_pts(path, count=68):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"version: 1\nn_points: {count}\n{{\n" + "9.0 5.0\n" * count + "}\n")


def test_an_imm_name_tells_person_and_expression(tmp_path):
    for name in ("07-1f", "07-3f", "12-2m"):
        paint(tmp_path / f"{name}.jpg")
        write_asf(tmp_path / f"{name}.asf")

    records = list(read_imm(tmp_path))

    assert [(r.person, r.expression, r.marks) for r in records] == [
        ("07", "neutral", "imm58"),
        ("07", "right turn", "imm58"),
        ("12", "happy", "imm58"),
    ]
    assert records[0].image == tmp_path / "07-1f.jpg"
    assert records[0].points.tolist() == [[15.5, 35.5]] * 58


def test_an_imm_file_of_another_count_is_refused(tmp_path):
    paint(tmp_path / "07-1f.jpg")
    write_asf(tmp_path / "07-1f.asf", 57)

    with pytest.raises(BadAnnotation, match=r"07-1f\.asf:1: this mark-up has 58 points, the file 57"):
        list(read_imm(tmp_path))


def test_an_imm_file_of_another_name_is_refused(tmp_path):
    paint(tmp_path / "anna.jpg")
    write_asf(tmp_path / "anna.asf")

    with pytest.raises(BadAnnotation, match=r"anna\.asf:1: IMM files are named like"):
        list(read_imm(tmp_path))


def test_points_without_their_picture_are_refused(tmp_path):
    write_asf(tmp_path / "07-1f.asf")
    write_pts(tmp_path / "image_0001.pts")

    with pytest.raises(BadAnnotation, match=r"07-1f\.asf:1: no picture of this name"):
        list(read_imm(tmp_path))
    with pytest.raises(BadAnnotation, match=r"image_0001\.pts:1: no picture of this name"):
        list(read_300w(tmp_path))


def test_a_broken_picture_beside_good_points_is_named(tmp_path):
    (tmp_path / "07-1f.jpg").write_bytes(b"")
    write_asf(tmp_path / "07-1f.asf")

    with pytest.raises(BadPicture, match=r"07-1f\.jpg: the file is empty"):
        list(read_imm(tmp_path))


def test_300w_layouts_are_read_with_pictures_of_any_extension(tmp_path):
    for name in ("lfpw/testset/image_0001.png", "lfpw/trainset/image_0001.PNG", "helen/12_1.jpg"):
        write_pts(paint(tmp_path / name).with_suffix(".pts"))

    records = list(read_300w(tmp_path))

    assert [r.person for r in records] == [
        "helen/12_1",
        "lfpw/testset/image_0001",
        "lfpw/trainset/image_0001",
    ]
    assert {r.marks for r in records} == {"ibug68"}
    assert records[0].points[0].tolist() == [8.0, 4.0]


def test_london_points_are_read_from_either_format_and_smiling_faces_have_none(tmp_path):
    for name in ("neutral/001.jpg", "neutral/002.jpg", "smiling/001.jpg"):
        paint(tmp_path / name)
    (tmp_path / "neutral/001.csv").write_text("x,y\n" + "5.5,6\n" * 189)
    (tmp_path / "neutral/002.tem").write_text("189\n" + "5.5\t6\n" * 189 + "0\n")

    records = list(read_london(tmp_path))

    assert [(r.person, r.expression, r.marks) for r in records] == [
        ("001", "neutral", "london189"),
        ("002", "neutral", "london189"),
        ("001", "smiling", ""),
    ]
    assert records[0].points.tolist() == records[1].points.tolist() == [[5.5, 6.0]] * 189
    assert records[2].points is None


def test_london_info_tells_what_is_known_of_a_person(tmp_path):
    (tmp_path / "info.csv").write_text(
        "face_id,face_age,face_gender,face_eth\n001,24,female,white\n031,NA,male,black\n"
    )

    assert read_london_info(tmp_path) == {
        "001": LondonPerson(24, "female", "white"),
        "031": LondonPerson(None, "male", "black"),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,age\n1,2\n", r"info\.csv:1: the columns face_id"),
        (
            "face_id,face_age,face_gender,face_eth\n001,24,female\n",
            r"info\.csv:2: 4 cells were expected, found 3",
        ),
    ],
)
def test_london_info_of_another_form_is_refused(tmp_path, text, message):
    (tmp_path / "info.csv").write_text(text)

    with pytest.raises(BadAnnotation, match=message):
        read_london_info(tmp_path)


def test_a_jaffe_name_tells_person_and_expression(tmp_path):
    for name in ("KL.AN1.39.tiff", "YM.SU3.60.tiff"):
        paint(tmp_path / name)

    records = list(read_jaffe(tmp_path))

    assert [(r.person, r.expression, r.points) for r in records] == [
        ("KL", "angry", None),
        ("YM", "surprised", None),
    ]


def test_a_jaffe_name_that_tells_nothing_is_refused(tmp_path):
    paint(tmp_path / "KL.XX1.39.tiff")

    with pytest.raises(BadAnnotation, match="JAFFE files are named like"):
        list(read_jaffe(tmp_path))


def test_a_folder_names_people_by_mapping_subfolder_or_file(tmp_path):
    for name in ("b.png", "a.jpg", "anna/1.jpg", "anna/2.jpg", ".hidden/3.jpg"):
        paint(tmp_path / name)
    write_pts(tmp_path / "anna/1.pts", 21)

    records = list(read_folder(tmp_path, persons={"b.png": "bo"}))

    assert [(r.image.name, r.person, r.marks) for r in records] == [
        ("a.jpg", "a", ""),
        ("1.jpg", "anna", "pts21"),
        ("2.jpg", "anna", ""),
        ("b.png", "bo", ""),
    ]


def test_points_may_lie_in_a_folder_of_their_own(tmp_path):
    paint(tmp_path / "photos/anna/1.jpg")
    write_pts(tmp_path / "points/anna/1.pts")

    (record,) = read_folder(tmp_path / "photos", tmp_path / "points")

    assert record.marks == "ibug68"
    assert not record.points.flags.writeable


@pytest.mark.parametrize(
    ("pictures", "points", "message"),
    [
        (["a.jpg"], ["b.pts"], r"b\.pts:1: no picture has this name"),
        (["a.jpg", "a.png"], ["a.pts"], r"a\.pts:1: two pictures have this name"),
        (["a.jpg"], ["a.pts", "a.asf"], r"a\.asf:1: one picture has several files of points: a\.asf, a\.pts"),
    ],
)
def test_points_that_belong_to_no_one_picture_are_refused(tmp_path, pictures, points, message):
    for name in pictures:
        paint(tmp_path / name)
    for name in points:
        write_pts(tmp_path / name)

    with pytest.raises(BadAnnotation, match=message):
        list(read_folder(tmp_path))


@pytest.mark.parametrize("read", [read_imm, read_300w, read_london, read_jaffe, read_folder])
def test_a_folder_that_is_empty_or_missing_is_an_error_and_not_an_empty_set(tmp_path, read):
    (tmp_path / "neutral").mkdir()

    with pytest.raises(BadAnnotation, match=r"no .* files \("):
        list(read(tmp_path))
    with pytest.raises(BadAnnotation, match="not a folder"):
        list(read(tmp_path / "gone"))


def is_inside(record):
    width, height = read_size(record.image)
    return bool(((record.points >= 0) & (record.points <= (width - 1, height - 1))).all())


def test_the_whole_imm_base_is_read():
    records = list(read_imm(find_shared("imm")))

    assert len(records) == 240
    assert {r.points.shape for r in records} == {(58, 2)}
    assert len({r.person for r in records}) == 40
    assert all(is_inside(r) for r in records)


def test_imm_faces_turn_to_the_side_that_their_expression_says():
    records = {(r.person, r.expression): r.points for r in read_imm(find_shared("imm"))}

    for person in {person for person, _ in records}:
        right, left = records[person, "right turn"], records[person, "left turn"]
        # the nose tip (mark 52) against the middle of the jaw's ends (marks 0 and 12)
        assert right[52, 0] - right[[0, 12], 0].mean() < left[52, 0] - left[[0, 12], 0].mean()


def test_the_whole_london_set_is_read():
    folder = find_shared("london")
    records = list(read_london(folder))
    neutral = [r for r in records if r.expression == "neutral"]

    assert len(neutral) == 102
    assert {r.points.shape for r in neutral} == {(189, 2)}
    assert all(is_inside(r) for r in neutral)
    assert {r.person for r in records} == set(read_london_info(folder))
