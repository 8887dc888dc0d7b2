"""Pictures of every kind come in as the same upright RGB pixels, and go out as pixels alone."""

import io
import os

import cv2
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from elsewho.errors import BadInput, BadPicture
from elsewho.media.images import decode_image, encode_image, read_image, read_size, to_rgb, write_image

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
TURNS = {  # how a viewer turns a stored picture, after the EXIF standard
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def four_corners(height=32, width=48):
    """Four plain quarters, so that a turn, a mirror or swapped channels show."""
    image = np.empty((height, width, 3), np.uint8)
    image[: height // 2, : width // 2] = RED
    image[: height // 2, width // 2 :] = GREEN
    image[height // 2 :, : width // 2] = BLUE
    image[height // 2 :, width // 2 :] = WHITE
    return image


def save(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def save_with_orientation(orientation, kind):
    exif = Image.Exif()
    exif[274] = orientation
    exact = {"WEBP": {"lossless": True}, "JPEG": {"quality": 100, "subsampling": 0}}.get(kind, {})
    return save(Image.fromarray(four_corners()), kind, exif=exif, **exact)


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "BMP", "WEBP"])
def test_a_lossless_picture_is_read_exactly(kind):
    data = save(Image.fromarray(four_corners()), kind, **({"lossless": True} if kind == "WEBP" else {}))

    image = decode_image(data, "p")

    assert_array_equal(image, four_corners())
    assert image.flags.c_contiguous


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
@pytest.mark.parametrize("orientation", TURNS)
def test_every_orientation_is_turned_upright_once(kind, orientation, tmp_path):
    data = save_with_orientation(orientation, kind)
    (tmp_path / "p").write_bytes(data)
    turn = TURNS[orientation]
    stored = Image.fromarray(four_corners())
    upright = np.asarray(stored if turn is None else stored.transpose(turn))

    image = read_image(tmp_path / "p")

    assert image.shape == upright.shape
    assert np.abs(image.astype(int) - upright).max() <= 3
    assert read_size(tmp_path / "p") == (image.shape[1], image.shape[0])


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_orientation_9_is_ignored(kind):
    image = decode_image(save_with_orientation(9, kind), "p")

    assert np.abs(image.astype(int) - four_corners()).max() <= 3


def test_the_content_decides_and_not_the_extension(tmp_path):
    (tmp_path / "p.jpg").write_bytes(save(Image.fromarray(four_corners()), "PNG"))

    assert_array_equal(read_image(tmp_path / "p.jpg"), four_corners())


@pytest.mark.parametrize("kind", [".png", ".tif"])
def test_16_bit_grey_levels_are_scaled_and_rounded(kind):
    levels = np.array([[0, 128, 129, 257, 30000, 65406, 65407, 65535]], np.uint16)
    data = cv2.imencode(kind, levels)[1].tobytes()

    assert decode_image(data, "p")[0, :, 0].tolist() == [0, 0, 1, 1, 117, 254, 255, 255]


@pytest.mark.parametrize("kind", [".png", ".tif"])
def test_16_bit_colours_keep_their_order(kind):
    data = cv2.imencode(kind, four_corners()[..., ::-1].astype(np.uint16) * 257)[1].tobytes()

    assert_array_equal(decode_image(data, "p"), four_corners())


@pytest.mark.parametrize("mode", ["L", "LA", "P", "1"])
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_grey_palette_and_bilevel_pictures_become_rgb(mode, kind):
    picture = Image.fromarray(four_corners()).convert(mode)

    assert_array_equal(decode_image(save(picture, kind), "p"), np.asarray(picture.convert("RGB")))


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP", "BMP"])
@pytest.mark.parametrize("alpha", [0, 100])
def test_what_lies_under_alpha_is_seen(kind, alpha):
    rgba = np.dstack([four_corners(), np.full((32, 48), alpha, np.uint8)])
    exact = {"lossless": True, "exact": True} if kind == "WEBP" else {}

    assert_array_equal(decode_image(save(Image.fromarray(rgba), kind, **exact), "p"), four_corners())


def test_a_cmyk_jpeg_has_the_colours_it_was_made_of():
    data = save(Image.fromarray(four_corners()).convert("CMYK"), "JPEG", quality=100, subsampling=0)

    assert np.abs(decode_image(data, "p").astype(int) - four_corners()).max() <= 3


def test_a_ycck_jpeg_has_the_colours_it_was_made_of():
    inks = Image.fromarray(255 - four_corners()).convert("YCbCr")  # Adobe stores ink as its inverse
    black = Image.new("L", inks.size, 0)
    stored = Image.merge("CMYK", [*(Image.eval(band, lambda v: 255 - v) for band in inks.split()), black])
    data = save(stored, "JPEG", quality=100, subsampling=0)
    tag = data.index(b"Adobe")
    ycck = data[: tag + 11] + b"\x02" + data[tag + 12 :]

    assert np.abs(decode_image(ycck, "p").astype(int) - four_corners()).max() <= 4


def test_a_cmyk_jpeg_that_does_not_say_what_0_means_is_refused():
    data = save(Image.fromarray(four_corners()).convert("CMYK"), "JPEG")
    start = data.index(b"\xff\xee")
    length = int.from_bytes(data[start + 2 : start + 4], "big")

    with pytest.raises(BadPicture, match="without Adobe's marker"):
        decode_image(data[:start] + data[start + 2 + length :], "p")


def test_one_pixel_is_a_picture():
    assert decode_image(save(Image.new("RGB", (1, 1), RED), "PNG"), "p").tolist() == [[[255, 0, 0]]]


def test_a_name_outside_ascii_or_utf_8_is_read(tmp_path):
    for name in ("żółć 顔.png", os.fsdecode(b"\xff\xfe.png")):
        write_image(tmp_path / name, four_corners())

        assert_array_equal(read_image(tmp_path / name), four_corners())


@pytest.mark.parametrize("suffix", [".png", ".tif", ".TIFF", ".bmp"])
def test_what_is_written_without_loss_is_read_back(tmp_path, suffix):
    write_image(tmp_path / f"p{suffix}", four_corners())

    assert_array_equal(read_image(tmp_path / f"p{suffix}"), four_corners())


@pytest.mark.parametrize("suffix", [".jpg", ".jpeg", ".webp"])
def test_what_is_written_with_loss_is_read_back_nearly(tmp_path, suffix):
    smooth = np.linspace(0, 255, 64 * 64, dtype=np.uint8).reshape(64, 64, 1).repeat(3, axis=2)

    write_image(tmp_path / f"p{suffix}", smooth)

    assert np.abs(read_image(tmp_path / f"p{suffix}").astype(int) - smooth).mean() < 3


def test_no_metadata_of_the_input_reaches_the_output(tmp_path):
    exif = Image.Exif()
    exif[270] = "CANARY"
    data = save(Image.fromarray(four_corners()), "JPEG", exif=exif, comment=b"CANARY", icc_profile=b"CANARY" * 40)
    (tmp_path / "in.jpg").write_bytes(data + b"CANARY")
    assert data.count(b"CANARY") > 40

    for suffix in (".jpg", ".png", ".tif", ".bmp", ".webp"):
        write_image(tmp_path / f"out{suffix}", read_image(tmp_path / "in.jpg"))

        assert b"CANARY" not in (tmp_path / f"out{suffix}").read_bytes()
        with Image.open(tmp_path / f"out{suffix}") as out:
            assert not out.info.keys() & {"exif", "icc_profile", "comment", "xmp"}


def test_a_format_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"p\.gif: no picture is written as '\.gif'"):
        write_image(tmp_path / "p.gif", four_corners())


def test_a_picture_too_wide_for_its_format_is_refused_and_leaves_nothing(tmp_path):
    with pytest.raises(BadPicture, match=r"20000 x 1 pixels do not fit into a \.webp file"):
        write_image(tmp_path / "p.webp", np.zeros((1, 20000, 3), np.uint8))

    assert list(tmp_path.iterdir()) == []


def test_arrays_of_every_allowed_shape_become_the_same_rgb():
    grey = np.arange(12, dtype=np.uint8).reshape(3, 4)
    expected = np.repeat(grey[..., None], 3, axis=2)

    for array in (
        grey,
        grey[..., None],
        expected,
        np.dstack([expected, grey]),
        grey.astype(np.uint16) * 257,
        np.asfortranarray(expected),
        np.dstack([expected, grey]).astype(np.uint16) * 257,
    ):
        rgb = to_rgb(array)

        assert_array_equal(rgb, expected)
        assert rgb.dtype == np.uint8
        assert rgb.flags.c_contiguous


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((4, 4, 3)), "face: needs uint8 or uint16 samples, got float64. Scale"),
        (np.zeros((4, 4), bool), "got bool"),
        (np.zeros((4, 4, 3), np.int16), "got int16"),
        (np.zeros((4, 4, 5), np.uint8), r"face: needs the shape .* got \(4, 4, 5\)"),
        (np.zeros((4, 4, 2), np.uint8), r"got \(4, 4, 2\)"),
        (np.zeros((2, 4, 4, 3), np.uint8), r"got \(2, 4, 4, 3\)"),
        (np.zeros(4, np.uint8), r"got \(4,\)"),
        (np.zeros((0, 4, 3), np.uint8), r"no pixels, its shape is \(0, 4, 3\)"),
    ],
)
def test_an_array_that_is_no_picture_is_refused_with_what_was_found(array, message):
    with pytest.raises(BadPicture, match=message):
        to_rgb(array, "face")


def test_an_array_is_checked_before_it_is_encoded():
    with pytest.raises(BadPicture, match="got float64"):
        encode_image(np.zeros((4, 4, 3)), ".png")
