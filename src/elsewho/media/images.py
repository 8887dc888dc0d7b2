"""Pictures in and out: bytes to upright RGB pixels, and bare pixels to bytes.

Nothing but pixels is kept, so no EXIF, thumbnail, comment or profile of an input can reach an output.
"""

from __future__ import annotations

import os
from pathlib import Path

import cv2
import numpy as np

from elsewho.errors import BadInput, BadPicture
from elsewho.media import tiff
from elsewho.media.files import show_name, write_atomically
from elsewho.media.headers import Header, check_whole, read_header
from elsewho.types import Array

MAX_BYTES = 1 << 30  # of a picture file; checked before it is read

_DECODE = cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION
_ENCODE: dict[str, tuple[str, list[int]]] = {
    ".jpg": (".jpg", [cv2.IMWRITE_JPEG_QUALITY, 95]),
    ".jpeg": (".jpg", [cv2.IMWRITE_JPEG_QUALITY, 95]),
    ".png": (".png", []),
    ".tif": (".tif", []),
    ".tiff": (".tif", []),
    ".bmp": (".bmp", []),
    ".webp": (".webp", [cv2.IMWRITE_WEBP_QUALITY, 95]),
}
SUFFIXES = frozenset(_ENCODE)


def read_image(path: str | os.PathLike[str]) -> Array:
    """Read a picture file as (H, W, 3) uint8 RGB, upright; its content decides, not its extension."""
    return decode_image(_read_bytes(Path(path)), show_name(path))


def read_size(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Width and height in pixels that `read_image` would give, without decoding."""
    return read_header(_read_bytes(Path(path)), show_name(path)).upright_size


def decode_image(data: bytes, name: str) -> Array:
    """Decode a whole picture file to (H, W, 3) uint8 RGB, upright.

    name  what messages call the picture

    Alpha is dropped, not composited: a face that lies under alpha 0 is still in the file, so it has to be
    found and replaced like any other. 16-bit samples are scaled so that 65535 becomes 255.
    """
    header = read_header(data, name)
    check_whole(data, header, name)
    plain = tiff.make_plain(data, header.tags) if header.kind == "TIFF" else data
    try:
        pixels = cv2.imdecode(np.frombuffer(plain, np.uint8), _DECODE)
    except cv2.error:
        pixels = None
    if pixels is None or pixels.dtype not in (np.uint8, np.uint16):
        raise BadPicture(f"{name}: the {header.kind} is damaged or of a rare kind. Save it again as JPEG or PNG.")
    if pixels.shape[:2] != (header.height, header.width):
        raise BadPicture(
            f"{name}: its header says {header.width} x {header.height} pixels, "
            f"{pixels.shape[1]} x {pixels.shape[0]} came out. Save it again as JPEG or PNG."
        )
    rgb = cv2.cvtColor(_to_8_bit(pixels), cv2.COLOR_BGR2RGB)
    if pixels.dtype == np.uint16 and _white_is_zero(header):
        rgb = 255 - rgb  # OpenCV inverts these at 8 bits only
    return np.ascontiguousarray(_turn_upright(rgb, header.orientation))


def write_image(path: str | os.PathLike[str], image: Array, *, overwrite: bool = False) -> None:
    """Write pixels, and nothing else, to a file that appears whole or not at all.

    path   its extension names the format: .jpg, .jpeg, .png, .tif, .tiff, .bmp, .webp
    image  (H, W, 3) uint8 RGB, or what `to_rgb` takes
    """
    write_atomically(path, encode_image(image, Path(path).suffix, show_name(path)), overwrite=overwrite)


def encode_image(image: Array, suffix: str, name: str = "image") -> bytes:
    """Encode pixels (H, W, 3) uint8 RGB in the format that `suffix` names, such as ".png"."""
    if suffix.lower() not in _ENCODE:
        raise BadInput(f"{name}: no picture is written as '{suffix}'. End the name with {', '.join(sorted(SUFFIXES))}.")
    kind, options = _ENCODE[suffix.lower()]
    rgb = to_rgb(image, name)
    try:
        done, data = cv2.imencode(kind, cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), options)
    except cv2.error:
        done = False
    if not done:
        raise BadPicture(f"{name}: {rgb.shape[1]} x {rgb.shape[0]} pixels do not fit into a {kind} file. Write a .png.")
    return data.tobytes()


def to_rgb(array: Array, name: str = "image") -> Array:
    """Turn an array that a caller passes into (H, W, 3) uint8 RGB, contiguous; the input is not modified.

    array  (H, W), (H, W, 1), (H, W, 3) RGB or (H, W, 4) RGBA, whose alpha is dropped; uint8, or uint16 scaled
    """
    array = np.asarray(array)
    if array.dtype not in (np.uint8, np.uint16):
        raise BadPicture(
            f"{name}: needs uint8 or uint16 samples, got {array.dtype}. Scale white to 255 and call .astype('uint8')."
        )
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3, 4)):
        raise BadPicture(
            f"{name}: needs the shape (H, W), (H, W, 1), (H, W, 3) or (H, W, 4), got {array.shape}. "
            "Pass one picture, channels last."
        )
    if array.size == 0:
        raise BadPicture(f"{name}: the array has no pixels, its shape is {array.shape}. Pass a picture.")
    colours = array[..., :3] if array.ndim == 3 else array[..., None]
    rgb = np.broadcast_to(_to_8_bit(colours), (*array.shape[:2], 3))
    return np.ascontiguousarray(rgb)


def _read_bytes(path: Path) -> bytes:
    """Read a regular file whole, or say why not; a pipe or device is never opened."""
    name = show_name(path)
    try:
        if not path.is_file():
            what = "not a regular file" if path.exists() else "no such file"
            raise BadPicture(f"{name}: {what}. Give the name of a picture.")
        with path.open("rb") as file:
            before = os.fstat(file.fileno())
            if before.st_size > MAX_BYTES:
                raise BadPicture(
                    f"{name}: {before.st_size >> 20} MB; at most {MAX_BYTES >> 20} are read. Make it smaller."
                )
            data = file.read()
            after = os.fstat(file.fileno())
    except OSError as error:
        raise BadPicture(f"{name}: cannot be read ({error.strerror}). Check its permissions.") from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(data) != before.st_size:
        raise BadPicture(f"{name}: changed while it was read. Run again when it is complete.")
    return data


def _to_8_bit(samples: Array) -> Array:
    """Scale uint16 to uint8, rounded, 65535 to 255; uint8 passes."""
    if samples.dtype == np.uint8:
        return samples
    scaled = cv2.convertScaleAbs(np.ascontiguousarray(samples), alpha=1 / 257)
    return np.asarray(scaled).reshape(samples.shape)


def _white_is_zero(header: Header) -> bool:
    return header.kind == "TIFF" and tiff.first(header.tags, tiff.PHOTOMETRIC, 1) == 0


def _turn_upright(image: Array, orientation: int) -> Array:
    """Undo the EXIF orientation 1 to 8 of an image (H, W, 3)."""
    across = image.transpose(1, 0, 2)
    return {
        1: image,
        2: image[:, ::-1],
        3: image[::-1, ::-1],
        4: image[::-1],
        5: across,
        6: across[:, ::-1],
        7: across[::-1, ::-1],
        8: across[::-1],
    }[orientation]
