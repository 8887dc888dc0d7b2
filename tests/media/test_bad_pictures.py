"""Every damaged, foreign or hostile picture is refused by name, with what was found and what to do."""

import io
import os
import struct
import zlib

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from elsewho.errors import BadPicture
from elsewho.media import headers, images
from elsewho.media.images import decode_image, read_image, read_size

NOISE = np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)
KINDS = ("JPEG", "PNG", "TIFF", "BMP", "WEBP")


def save(picture, kind, **options):
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


WHOLE = {kind: save(Image.fromarray(NOISE), kind) for kind in KINDS}
WHOLE["progressive"] = save(Image.fromarray(NOISE), "JPEG", progressive=True)
WHOLE["lossless"] = save(Image.fromarray(NOISE), "WEBP", lossless=True)


def chunk(kind, content=b""):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width, height, *chunks):
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + chunk(b"IEND")


def tiff(**changes):
    """A 2 x 2 grey TIFF with some of its tags changed; every tag is one LONG."""
    tags = {254: 0, 256: 2, 257: 2, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: 2, 279: 4, 339: 1}
    tags |= {int(number[1:]): value for number, value in changes.items()}
    entries = b"".join(struct.pack("<HHII", number, 4, 1, tags[number]) for number in sorted(tags))
    return b"II*\0" + struct.pack("<I", 12) + b"\1\2\3\4" + struct.pack("<H", len(tags)) + entries + bytes(4)


def fail_to_decode(*arguments):
    raise AssertionError("decoded")


def test_the_builders_make_good_pictures():
    row = b"\0" + bytes(6)

    assert decode_image(png(2, 2, chunk(b"IDAT", zlib.compress(row * 2))), "p").shape == (2, 2, 3)
    assert decode_image(tiff(), "p")[..., 0].tolist() == [[1, 2], [3, 4]]
    for data in WHOLE.values():
        assert decode_image(data, "p").shape == (24, 32, 3)


@pytest.mark.parametrize("kind", WHOLE)
def test_a_picture_that_ends_too_early_is_refused_before_it_is_decoded(kind, monkeypatch):
    monkeypatch.setattr(cv2, "imdecode", fail_to_decode)

    for length in range(1, len(WHOLE[kind])):
        with pytest.raises(BadPicture, match=r"^cut: "):
            decode_image(WHOLE[kind][:length], "cut")


@pytest.mark.parametrize("kind", WHOLE)
@given(data=st.data())
def test_a_changed_byte_gives_pixels_or_a_named_refusal_and_nothing_else(kind, data):
    changed = bytearray(WHOLE[kind])
    changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    try:
        image = decode_image(bytes(changed), "changed")
    except BadPicture as error:
        assert str(error).startswith("changed: ")  # noqa: PT017
    else:
        assert image.dtype == np.uint8
        assert image.ndim == 3


@given(st.sampled_from([whole[:16] for whole in WHOLE.values()]), st.binary(max_size=200))
def test_garbage_after_a_good_beginning_is_refused(beginning, rest):
    with pytest.raises(BadPicture, match=r"^garbage: "):
        decode_image(beginning + rest, "garbage")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"hello, this is no picture\n" * 40, "a text file; pictures are JPEG"),
        (b"\0" * 100, "a file of no known kind"),
        (save(Image.new("RGB", (4, 4)), "GIF"), "a GIF file"),
        (b"%PDF-1.7\n", "a PDF file"),
        (b"%!PS-Adobe-3.0 EPSF", "an? EPS file"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "a SVG or XML file"),
        (b"SIMPLE  =                    T", "a FITS file"),
        (b"\0\0\0\x18ftypheic\0\0\0\0", "a HEIC or AVIF file"),
        (b"\0\0\0\x18ftypisom\0\0\0\0", "a video file"),
        (b"II\x2b\0\x08\0\0\0", "a BigTIFF file"),
    ],
)
def test_a_file_of_another_kind_is_called_by_its_name(data, message):
    with pytest.raises(BadPicture, match=f"^holiday: {message}"):
        decode_image(data, "holiday")


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP"])
def test_a_file_of_several_frames_is_refused_not_read_in_part(kind):
    frames = [Image.fromarray(NOISE), Image.fromarray(255 - NOISE)]
    data = save(frames[0], kind, save_all=True, append_images=frames[1:])

    with pytest.raises(BadPicture, match=r"of which only the first (frame )?would be seen"):
        decode_image(data, "p")


def test_a_png_of_50000_by_50000_is_refused_before_it_is_decoded(monkeypatch):
    monkeypatch.setattr(cv2, "imdecode", fail_to_decode)

    with pytest.raises(BadPicture, match="p: 50000 x 50000 pixels; at most 200 million"):
        decode_image(png(50_000, 50_000, chunk(b"IDAT", zlib.compress(bytes(1000)))), "p")


@pytest.mark.parametrize("size", [(0, 5), (5, 0)])
def test_a_picture_without_width_or_height_is_refused(size):
    with pytest.raises(BadPicture, match=f"p: the picture is {size[0]} x {size[1]} pixels"):
        decode_image(png(*size, chunk(b"IDAT", zlib.compress(b""))), "p")


def test_a_wrong_checksum_names_the_chunk():
    data = bytearray(WHOLE["PNG"])
    data[data.index(b"IDAT") + 20] ^= 1

    with pytest.raises(BadPicture, match="p: wrong checksum in PNG chunk b'IDAT'"):
        decode_image(bytes(data), "p")


@pytest.mark.parametrize(
    ("kind", "before"), [(b"zTXt", b"note\0\0"), (b"iTXt", b"note\0\1\0en\0note\0"), (b"iCCP", b"note\0\0")]
)
def test_a_text_that_unpacks_to_very_much_is_refused(kind, before):
    bomb = chunk(kind, before + zlib.compress(bytes(headers.MAX_TEXT + 1)))
    good = chunk(kind, before + zlib.compress(bytes(1000)))
    pixels = chunk(b"IDAT", zlib.compress(b"\0" + bytes(3)))

    assert decode_image(png(1, 1, good, pixels), "p").shape == (1, 1, 3)
    with pytest.raises(BadPicture, match="p: a PNG text that unpacks to over 8 MB"):
        decode_image(png(1, 1, bomb, pixels), "p")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t339": 3, "t258": 32}, "signed or floating-point samples"),
        ({"t339": 2}, "signed or floating-point samples"),
        ({"t258": 32}, "32 bits a sample"),
        ({"t262": 32803}, "photometric 32803"),
        ({"t262": 5, "t258": 16}, "16-bit TIFF .CMYK."),
        ({"t254": 1}, "reduced preview"),
        ({"t50706": 0x01040000}, "a DNG file"),
        ({"t279": 4000}, "cut short or damaged"),
        ({"t257": 0}, "2 x 0 pixels"),
        ({"t256": 1 << 20, "t257": 1 << 20}, "at most 200 million"),
    ],
)
def test_a_tiff_that_would_be_read_wrongly_is_refused(changes, message):
    with pytest.raises(BadPicture, match=f"^p: .*{message}"):
        decode_image(tiff(**changes), "p")


def test_16_bit_grey_whose_zero_is_white_is_not_read_as_a_negative():
    levels = np.array([[0, 65535]], "<u2").tobytes()
    data = tiff(t262=0, t258=16, t256=2, t257=1, t278=1).replace(b"\1\2\3\4", levels)

    assert decode_image(data, "p")[..., 0].tolist() == [[255, 0]]


def test_a_picture_that_is_not_there_or_no_file_is_refused_by_name(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")

    for name, found in (
        ("gone.jpg", "no such file"),
        ("pipe.jpg", "not a regular file"),
        ("", "not a regular"),
    ):
        with pytest.raises(BadPicture, match=f"{name}: {found}"):
            read_image(tmp_path / name)


def test_a_line_break_in_a_name_stays_out_of_the_message(tmp_path):
    (tmp_path / "a\nb.jpg").write_bytes(b"")

    with pytest.raises(BadPicture, match=r"a\\nb\.jpg: the file is empty") as caught:
        read_image(tmp_path / "a\nb.jpg")

    assert "\n" not in str(caught.value)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(images, "MAX_BYTES", 10)
    (tmp_path / "p.png").write_bytes(WHOLE["PNG"])

    with pytest.raises(BadPicture, match="at most 0 are read"):
        read_size(tmp_path / "p.png")


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "p.png"
    path.write_bytes(WHOLE["PNG"])
    look = os.fstat

    def look_and_append(handle):
        found = look(handle)
        with path.open("ab") as file:
            file.write(b"x")
        return found

    monkeypatch.setattr(images.os, "fstat", look_and_append)

    with pytest.raises(BadPicture, match="changed while it was read"):
        read_image(path)
