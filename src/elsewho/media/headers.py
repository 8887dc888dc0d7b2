"""What a picture file says about itself before a pixel is decoded, and whether all of it is there.

Five formats are read, told apart by their first bytes: JPEG, PNG, TIFF, BMP, WebP.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from elsewho.errors import BadPicture
from elsewho.media import tiff

MAX_PIXELS = 200_000_000  # 600 MB once decoded; the largest cameras of today stay below
MAX_TEXT = 8 << 20  # bytes a compressed comment or profile may grow to

_NEXT_MARKER = re.compile(rb"\xff+([^\x00\xd0-\xd7\xff])", re.DOTALL)  # skips stuffed bytes and restarts
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # markers of JPEG frames, which hold the size
_FOREIGN = (
    (re.compile(rb"GIF8[79]a"), "GIF"),
    (re.compile(rb".{4}ftyp(hei|hev|mif|msf|avi)", re.DOTALL), "HEIC or AVIF"),
    (re.compile(rb".{4}ftyp", re.DOTALL), "video"),
    (re.compile(rb"(.{4}jP  |\xff\x4f\xff\x51)", re.DOTALL), "JPEG 2000"),
    (re.compile(rb"(\x00\x00\x00\x0c|\xff\x0a)"), "JPEG XL"),
    (re.compile(rb"(II\x2b\x00|MM\x00\x2b)"), "BigTIFF"),
    (re.compile(rb"%PDF"), "PDF"),
    (re.compile(rb"(%!PS|\xc5\xd0\xd3\xc6)"), "EPS"),
    (re.compile(rb"SIMPLE  ="), "FITS"),
    (re.compile(rb"\s*(<\?xml|<svg)"), "SVG or XML"),
    (re.compile(rb"PK\x03\x04"), "ZIP"),
)


@dataclass(frozen=True, slots=True)
class Header:
    """A picture before decoding."""

    kind: str  # JPEG, PNG, TIFF, BMP or WebP
    width: int  # pixels as stored, before the orientation is applied
    height: int
    orientation: int = 1  # EXIF, 1 to 8
    tags: tiff.Tags = field(default_factory=dict)  # TIFF only

    @property
    def upright_size(self) -> tuple[int, int]:
        """Width and height in pixels once the orientation is applied."""
        return (self.height, self.width) if self.orientation >= 5 else (self.width, self.height)


def read_header(data: bytes, name: str) -> Header:
    """Read kind, size and orientation; refuse other formats, several frames and absurd sizes."""
    with _named(name):
        if not data:
            raise BadPicture("the file is empty. Copy it again from its source.")
        for magic, read in _READERS.items():
            if re.match(magic, data, re.DOTALL):
                header = read(data)
                _check_size(header)
                return header
        raise BadPicture(f"{_guess_kind(data)}; pictures are JPEG, PNG, TIFF, BMP or WebP. Convert it to one of these.")


def check_whole(data: bytes, header: Header, name: str) -> None:
    """Refuse a file that ends early or whose checksums fail; decoders would paint the rest grey."""
    with _named(name):
        _CHECKS[header.kind](data, header)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Say in every error which picture it is about; a field past the end means that the file is cut."""
    try:
        yield
    except (struct.error, IndexError):
        raise BadPicture(f"{name}: the picture is cut short or damaged. Copy it again from its source.") from None
    except BadPicture as error:
        raise BadPicture(f"{name}: {error}") from None


def _guess_kind(data: bytes) -> str:
    for pattern, kind in _FOREIGN:
        if pattern.match(data):
            return f"a {kind} file"
    return "a text file" if re.fullmatch(rb"[\t\n\r -~]+", data[:512]) else "a file of no known kind"


def _check_size(header: Header) -> None:
    width, height = header.width, header.height
    if width <= 0 or height <= 0:
        raise BadPicture(f"the picture is {width} x {height} pixels. Copy it again from its source.")
    if width * height > MAX_PIXELS:
        raise BadPicture(
            f"{width} x {height} pixels; at most {MAX_PIXELS // 1_000_000} million are read. Make it smaller first."
        )


def _read_exif(block: bytes) -> int:
    """The orientation in an EXIF block; 1 where the block is damaged, as every viewer does."""
    block = block.removeprefix(b"Exif\0\0")
    if block[:4] not in (b"II*\0", b"MM\0*"):
        return 1
    try:
        return tiff.read_orientation(tiff.read_tags(block)[0])
    except struct.error:
        return 1


# JPEG


def _walk_jpeg(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Each marker with the bounds of its segment; ends with end-of-image or raises struct.error."""
    at = 2
    while True:
        found = _NEXT_MARKER.search(data, at)
        if found is None:
            raise struct.error("no end-of-image marker")
        marker, start = found[1][0], found.end()
        if marker == 0xD9:
            yield marker, start, start
            return
        (length,) = struct.unpack_from(">H", data, start)
        if length < 2 or start + length > len(data):
            raise struct.error("segment past the end")
        yield marker, start + 2, start + length
        at = start + length


def _read_jpeg(data: bytes) -> Header:
    orientation, adobe = 0, False
    for marker, start, end in _walk_jpeg(data):
        if marker == 0xE1 and not orientation and data[start : start + 6] == b"Exif\0\0":
            orientation = _read_exif(data[start:end])
        elif marker == 0xEE and data[start : start + 5] == b"Adobe":
            adobe = True
        elif marker in _FRAMES:
            height, width, channels = struct.unpack_from(">HHB", data, start + 1)
            # A later APP1 or APP14 may still come before the scan, but no writer puts one there.
            if channels == 4 and not adobe:
                raise BadPicture("a CMYK JPEG without Adobe's marker, so 0 may be full ink or none. Save it as RGB.")
            return Header("JPEG", width, height, orientation or 1)
    raise struct.error("no frame")


def _check_jpeg(data: bytes, _header: Header) -> None:
    for _ in _walk_jpeg(data):
        pass  # raises if the end is missing


# PNG


def _walk_png(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Each chunk's type and the bounds of its content; ends with IEND or raises struct.error."""
    at = 8
    while True:
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 8 + length
        if end + 4 > len(data):
            raise struct.error("chunk past the end")
        yield kind, at + 8, end
        if kind == b"IEND":
            return
        at = end + 4


def _read_png(data: bytes) -> Header:
    kind, width, height = struct.unpack_from(">4sII", data, 12)
    if kind != b"IHDR":
        raise struct.error("no IHDR")
    _check_size(Header("PNG", width, height))
    orientation = 1
    for kind, start, end in _walk_png(data):
        if kind == b"acTL":
            raise BadPicture("an animated PNG, of which only the first frame would be seen. Split it.")
        if kind == b"eXIf":
            orientation = _read_exif(data[start:end])
    return Header("PNG", width, height, orientation)


def _check_png(data: bytes, _header: Header) -> None:
    for kind, start, end in _walk_png(data):
        if zlib.crc32(data[start - 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            raise BadPicture(f"wrong checksum in PNG chunk {kind!r}. Copy it again from its source.")
        if kind in (b"zTXt", b"iCCP", b"iTXt"):
            _check_text(data[start:end], kind)


def _check_text(chunk: bytes, kind: bytes) -> None:
    """Refuse a compressed comment that would fill the memory."""
    packed = chunk.partition(b"\0")[2][1:]
    if kind == b"iTXt":
        packed = packed[1:].partition(b"\0")[2].partition(b"\0")[2]
    unpacker = zlib.decompressobj()
    try:
        unpacker.decompress(packed, MAX_TEXT)
    except zlib.error:
        return  # plain or damaged text; it is dropped anyway
    if unpacker.unconsumed_tail:
        raise BadPicture(f"a PNG text that unpacks to over {MAX_TEXT >> 20} MB. Save it without comments.")


# TIFF, BMP, WebP


def _read_tiff(data: bytes) -> Header:
    tags, following = tiff.read_tags(data)
    width, height = tiff.first(tags, tiff.WIDTH, 0), tiff.first(tags, tiff.HEIGHT, 0)
    tiff.check_kind(tags, following)
    return Header("TIFF", width, height, tiff.read_orientation(tags), tags)


def _check_tiff(data: bytes, header: Header) -> None:
    if not tiff.is_whole(header.tags, len(data)):
        raise struct.error("strips past the end")


def _read_bmp(data: bytes) -> Header:
    (size,) = struct.unpack_from("<I", data, 14)
    width, height = struct.unpack_from("<HH" if size == 12 else "<ii", data, 18)
    return Header("BMP", width, abs(height))


def _check_bmp(data: bytes, header: Header) -> None:
    """Uncompressed rows must all be there; run-length rows say themselves where they end."""
    pixels, size = struct.unpack_from("<II", data, 10)
    bits, packing = struct.unpack_from("<HI", data, 28) if size != 12 else (data[24], 0)
    row = (header.width * bits + 31) // 32 * 4
    if packing not in (1, 2) and pixels + row * header.height > len(data):
        raise struct.error("rows missing")


def _walk_webp(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Each chunk's type and the bounds of its content, to the end that the file's header states."""
    stop = 8 + int(struct.unpack_from("<I", data, 4)[0])
    if stop > len(data):
        raise struct.error("shorter than stated")
    at = 12
    while at + 8 <= stop:
        kind, length = struct.unpack_from("<4sI", data, at)
        if at + 8 + length > stop:
            raise struct.error("chunk past the end")
        yield kind, at + 8, at + 8 + length
        at += 8 + length + length % 2


def _read_webp(data: bytes) -> Header:
    size, orientation = (0, 0), 1
    for kind, start, end in _walk_webp(data):
        if kind in (b"ANIM", b"ANMF"):
            raise BadPicture("an animated WebP, of which only the first frame would be seen. Split it.")
        if kind == b"EXIF":
            orientation = _read_exif(data[start:end])
        elif kind == b"VP8 ":
            width, height = struct.unpack_from("<HH", data, start + 6)
            size = width & 0x3FFF, height & 0x3FFF
        elif kind == b"VP8L":
            (packed,) = struct.unpack_from("<I", data, start + 1)
            size = (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    return Header("WebP", *size, orientation)


def _check_webp(_data: bytes, _header: Header) -> None:
    """Nothing is left to check: reading the header walked to the stated end, the decoder checks the rest."""


_READERS: dict[bytes, Callable[[bytes], Header]] = {
    rb"\xff\xd8\xff": _read_jpeg,
    rb"\x89PNG\r\n\x1a\n": _read_png,
    rb"II\*\x00|MM\x00\*": _read_tiff,
    rb"BM.{12}[\x0c-\x7c]\x00\x00\x00": _read_bmp,
    rb"RIFF.{4}WEBP": _read_webp,
}
_CHECKS: dict[str, Callable[[bytes, Header], None]] = {
    "JPEG": _check_jpeg,
    "PNG": _check_png,
    "TIFF": _check_tiff,
    "BMP": _check_bmp,
    "WebP": _check_webp,
}
