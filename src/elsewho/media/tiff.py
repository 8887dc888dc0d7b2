"""Tags of TIFF files, and of EXIF blocks, which are small TIFF files."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from elsewho.errors import BadPicture

SUBFILE, WIDTH, HEIGHT, BITS, PHOTOMETRIC = 254, 256, 257, 258, 262
ORIENTATION, SAMPLES, PLANAR, EXTRA, FORMAT = 274, 277, 284, 338, 339
STORED = ((273, 279), (324, 325))  # offsets and byte counts: strips, tiles
RAW = {50706: "DNG", 33421: "camera raw", 50752: "Canon raw"}

_CODES = {1: "B", 3: "H", 4: "I"}  # BYTE, SHORT, LONG; the other types say nothing about pixels
_COLOURS = {0: "white is zero", 1: "black is zero", 2: "RGB", 3: "palette", 5: "CMYK", 6: "YCbCr"}


@dataclass(frozen=True, slots=True)
class Tag:
    """One entry of a directory."""

    values: tuple[int, ...]
    at: int  # where the values lie, bytes from the start of the block
    code: str  # struct code of one value, byte order first


Tags = dict[int, Tag]


def read_tags(data: bytes) -> tuple[Tags, int]:
    """Read the first directory of a TIFF or EXIF block; also where the next directory lies, 0 if none.

    Raises struct.error where the block ends too early.
    """
    order = "<" if data[:2] == b"II" else ">"
    (start,) = struct.unpack_from(order + "I", data, 4)
    (count,) = struct.unpack_from(order + "H", data, start)
    tags: Tags = {}
    for entry in range(start + 2, start + 2 + 12 * count, 12):
        number, kind, length = struct.unpack_from(order + "HHI", data, entry)
        if kind not in _CODES:
            tags.setdefault(number, Tag((), entry + 8, ""))
            continue
        size = struct.calcsize(_CODES[kind]) * length
        at = entry + 8 if size <= 4 else struct.unpack_from(order + "I", data, entry + 8)[0]
        if at + size > len(data):
            raise struct.error("values lie past the end")
        values = struct.unpack_from(f"{order}{length}{_CODES[kind]}", data, at)
        tags.setdefault(number, Tag(values, at, order + _CODES[kind]))
    (following,) = struct.unpack_from(order + "I", data, start + 2 + 12 * count)
    return tags, following


def read_orientation(tags: Tags) -> int:
    """The EXIF orientation, 1 to 8; anything else counts as upright."""
    value = first(tags, ORIENTATION, 1)
    return value if 1 <= value <= 8 else 1


def first(tags: Tags, number: int, default: int) -> int:
    """The first value of a tag, or `default` where the tag is missing or empty."""
    values = tags[number].values if number in tags else ()
    return values[0] if values else default


def check_kind(tags: Tags, following: int) -> None:
    """Refuse what OpenCV would read in part, in wrong colours or not at all."""
    convert = "Save it as 8- or 16-bit RGB or grey, one page."
    for number, what in RAW.items():
        if number in tags:
            raise BadPicture(f"a {what} file, of which only a preview could be read. Develop it to JPEG.")
    if following:
        raise BadPicture("a TIFF of several pages, of which only the first would be seen. Split it.")
    if first(tags, SUBFILE, 0) & 1:
        raise BadPicture("the TIFF's only page is a reduced preview. Export the full picture.")
    if any(f != 1 for f in (tags[FORMAT].values if FORMAT in tags else ())):
        raise BadPicture(f"a TIFF of signed or floating-point samples, whose white is unknown. {convert}")
    bits = tags[BITS].values if BITS in tags else (1,)
    if len(set(bits)) != 1 or bits[0] not in (1, 2, 4, 8, 16):
        raise BadPicture(f"a TIFF with {'/'.join(map(str, bits))} bits a sample. {convert}")
    colours = first(tags, PHOTOMETRIC, -1)
    planes = first(tags, PLANAR, 1) == 2 and first(tags, SAMPLES, 1) > 1
    if colours not in _COLOURS or (bits[0] == 16 and (planes or colours not in (0, 1, 2))):
        what = _COLOURS.get(colours, f"photometric {colours}") + (", planes apart" if planes else "")
        raise BadPicture(f"a {bits[0]}-bit TIFF ({what}) cannot be read. {convert}")


def is_whole(tags: Tags, length: int) -> bool:
    """Whether every strip and tile lies inside the file of `length` bytes."""
    for offsets, counts in STORED:
        if offsets in tags and counts in tags:
            pairs = list(zip(tags[offsets].values, tags[counts].values, strict=False))
            return bool(pairs) and all(offset + count <= length for offset, count in pairs)
    return False


def make_plain(data: bytes, tags: Tags) -> bytes:
    """Copy the file as if upright and without alpha.

    libtiff turns some pictures and not others, and multiplies colours by alpha, which would hide a face.
    """
    plain = bytearray(data)
    for number, value in ((ORIENTATION, 1), (EXTRA, 0)):
        if number in tags and tags[number].values:
            tag = tags[number]
            count = len(tag.values)
            struct.pack_into(f"{tag.code[0]}{count}{tag.code[1]}", plain, tag.at, *[value] * count)
    return bytes(plain)
