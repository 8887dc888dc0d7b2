"""Files of points become pixels, and a bad one is refused by file and line."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from elsewho.errors import BadAnnotation
from elsewho.papers.datasets import read_points

SIZE = (200, 100)
ASF = """# an IMM file

3

0 4 0.0 0.0 0 0 1
0\t4\t0.5\t0.5\t1\t0\t2
1 0 0.25 1.0 2 1 0 7 8 9

picture.jpg
"""
PTS = "version: 1\nn_points:  3\n{\n1.0 1.0\n100.5 50.5\n51.0 100\n}\n"
TEM = "3\n0\t0\n99.5\t49.5\n50 99\n1\n0\n2\n0 1\n"
CSV = "x,y\n0.00,0.00\n99.50,49.50\n50,99\n"
GOOD = {".asf": ASF, ".pts": PTS, ".tem": TEM, ".csv": CSV}


def write(folder, suffix, text):
    path = folder / f"face{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [
        (".asf", [(-0.5, -0.5), (99.5, 49.5), (49.5, 99.5)]),
        (".pts", [(0.0, 0.0), (99.5, 49.5), (50.0, 99.0)]),
        (".tem", [(0.0, 0.0), (99.5, 49.5), (50.0, 99.0)]),
        (".csv", [(0.0, 0.0), (99.5, 49.5), (50.0, 99.0)]),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_every_kind_counts_from_the_centre_of_the_first_pixel(tmp_path, suffix, expected, line_end):
    points = read_points(write(tmp_path, suffix, GOOD[suffix].replace("\n", line_end)), SIZE)

    assert points.dtype == np.float64
    assert_allclose(points, expected, atol=1e-12)


def test_the_extension_may_be_in_capitals_and_the_text_may_have_a_byte_order_mark(tmp_path):
    assert read_points(write(tmp_path, ".CSV", b"\xef\xbb\xbf" + CSV.encode()), SIZE).shape == (3, 2)


def test_points_just_outside_the_picture_are_kept(tmp_path):
    points = read_points(write(tmp_path, ".csv", "x,y\n-99,-49\n299,149\n"), SIZE)

    assert points.tolist() == [[-99.0, -49.0], [299.0, 149.0]]


@pytest.mark.parametrize(
    ("suffix", "text", "line", "found"),
    [
        (".asf", ASF.replace("3\n", "4\n", 1), 3, "4 points were announced, 3 rows follow"),
        (".asf", ASF.replace("3\n", "2\n", 1), 3, "2 points were announced, 3 rows follow"),
        (".asf", ASF.replace("0.25", "nan"), 7, "'nan'"),
        (".asf", ASF.replace("0.25", "2.5"), 7, "x = 499.5 is far outside the picture"),
        (".asf", ASF.replace("\t2\n", "\n"), 6, "7 or 10 columns was expected, this has 6"),
        (".asf", ASF.replace("\t1\t0\t2", "\t2\t0\t2"), 6, "point 1 was expected, this is point 2"),
        (".asf", ASF[:45], 3, "3 points were announced"),
        (".asf", "# only a comment\n", 1, "the number of points was expected"),
        (".asf", ASF.replace("3\n", "three\n", 1), 3, "found 'three'"),
        (".pts", PTS.replace("version", "vision"), 1, "'version:' was expected, found 'vision: 1'"),
        (".pts", PTS.replace("  3", "  4"), 2, "4 points were announced, 3 rows follow"),
        (".pts", PTS.replace("  3", "  2"), 2, "2 points were announced, 3 rows follow"),
        (".pts", PTS.replace("50.5\n", "inf\n"), 5, "a number was expected, found 'inf'"),
        (".pts", PTS.replace("50.5\n", "50.5 1\n"), 5, "x and y were expected"),
        (".pts", PTS.replace("100.5", "1_0"), 5, "found '1_0'"),
        (".pts", PTS.removesuffix("}\n"), 6, "closing brace is missing"),
        (".pts", PTS[:30], 4, "closing brace is missing"),
        (".pts", "version: 1\n", 1, "closing brace is missing"),
        (".pts", PTS.replace("n_points:  3", "n_points: -3"), 2, "found '-3'"),
        (".tem", TEM.replace("3\n", "900\n", 1), 1, "900 points were announced, 7 rows follow"),
        (".tem", TEM.replace("99.5\t49.5", "99.5"), 3, "x and y were expected, found '99.5'"),
        (
            ".tem",
            TEM.replace("50 99", "50 -99"),
            4,
            "y = -99.0 is far outside the picture (200 x 100 pixels)",
        ),
        (".csv", CSV.replace("x,y", "1,2"), 1, "the header 'x,y' was expected, found '1,2'"),
        (".csv", CSV.replace("99.50,", "99.50;"), 3, "x and y were expected"),
        (".csv", CSV.replace("99.50,", ","), 3, "a number was expected, found ''"),
        (".csv", "x,y\n", 1, "the file holds no points"),
    ],
)
def test_a_bad_file_is_refused_with_its_line_and_what_was_found(tmp_path, suffix, text, line, found):
    path = write(tmp_path, suffix, text)
    with pytest.raises(BadAnnotation) as caught:
        read_points(path, SIZE)

    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert found in str(caught.value)


@pytest.mark.parametrize("suffix", GOOD)
def test_an_empty_file_is_refused(tmp_path, suffix):
    for text in ("", " \n\n"):
        with pytest.raises(BadAnnotation, match=rf"face\{suffix}:1: the file is empty"):
            read_points(write(tmp_path, suffix, text), SIZE)


@pytest.mark.parametrize("suffix", GOOD)
def test_text_in_another_encoding_is_refused_with_its_line(tmp_path, suffix):
    for text, line in (
        (GOOD[suffix].encode("utf-16"), 1),
        (GOOD[suffix].encode("utf-16-le"), 1),
        (GOOD[suffix].encode() + "\nNordstrøm".encode("latin-1"), GOOD[suffix].count("\n") + 2),
    ):
        with pytest.raises(BadAnnotation, match=rf"face\{suffix}:{line}: .*UTF-8"):
            read_points(write(tmp_path, suffix, text), SIZE)


def test_a_file_that_is_missing_or_of_another_kind_is_refused_by_name(tmp_path):
    with pytest.raises(BadAnnotation, match=r"gone\.pts:1: cannot be read \(No such file"):
        read_points(tmp_path / "gone.pts", SIZE)
    with pytest.raises(BadAnnotation, match=r"face\.json:1: points are not read from '\.json'"):
        read_points(tmp_path / "face.json", SIZE)


def test_a_file_of_megabytes_is_refused_unread(tmp_path):
    with pytest.raises(BadAnnotation, match="over 1 MB"):
        read_points(write(tmp_path, ".csv", b"x,y\n" + b"1,1\n" * 300_000), SIZE)


@pytest.mark.parametrize("suffix", GOOD)
@given(data=st.data())
def test_any_cut_or_changed_file_gives_finite_points_or_a_refusal_with_a_line(tmp_path_factory, suffix, data):
    text = bytearray(GOOD[suffix].encode())
    at = data.draw(st.integers(0, len(text) - 1))
    text[at : data.draw(st.sampled_from([at + 1, len(text)]))] = data.draw(st.binary(max_size=3))
    path = write(tmp_path_factory.getbasetemp(), suffix, bytes(text))
    try:
        points = read_points(path, SIZE)
    except BadAnnotation as error:
        assert re.match(rf"{re.escape(str(path))}:\d+: ", str(error))  # noqa: PT017
    else:
        assert np.isfinite(points).all()
        assert points.shape[1] == 2
