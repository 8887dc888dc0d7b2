"""What all finders do with a picture: check it once at the door, and cut small squares out of it."""

from __future__ import annotations

import cv2
import numpy as np

from elsewho.errors import BadPicture
from elsewho.types import Array


def check_picture(image: object) -> Array:
    """The picture itself, if it is (H, W, 3) uint8 and not empty; else BadPicture says what was found."""
    asked = "a picture is an array (H, W, 3) of uint8 in RGB order"
    if not isinstance(image, np.ndarray):
        raise BadPicture(f"{asked}; found {type(image).__name__}. Read files with elsewho.media.")
    if image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        raise BadPicture(f"{asked}; found the shape {image.shape}. Drop alpha, repeat grey three times.")
    if image.dtype != np.uint8:
        raise BadPicture(f"{asked}; found {image.dtype}. Scale to 0..255 and convert.")
    return image


def place_square(centre: Array, side: float, angle: float, size: int) -> Array:
    """Where the pixels of a turned square lie in the picture.

    centre  (2,) x, y in pixels of the picture
    side    of the square, in pixels of the picture
    angle   radians; what points along it in the picture is level in the square
    size    pixels of the square's side once cut out
    returns (2, 3) affine, from pixels of the square to pixels of the picture
    """
    cos, sin = np.cos(angle) * side / size, np.sin(angle) * side / size
    turn = np.array([[cos, -sin], [sin, cos]])
    middle = np.full(2, (size - 1) / 2)
    return np.column_stack([turn, np.asarray(centre) - turn @ middle])


def cut_square(image: Array, place: Array, size: int) -> Array:
    """Sample the square that `place` says, averaging first where the picture is finer than the square.

    image    (H, W, 3) uint8
    place    (2, 3) affine, from pixels of the square to pixels of the picture
    returns  (size, size, 3) uint8, black where the picture ends
    """
    scale = float(np.hypot(place[0, 0], place[1, 0]))
    part, place = _take_part(image, place, size, scale)
    if scale > 1.5:  # bilinear sampling alone would skip pixels
        part, place = _shrink(part, place, 1.25 / scale)
    return cv2.warpAffine(part, place, (size, size), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)


def _take_part(image: Array, place: Array, size: int, scale: float) -> tuple[Array, Array]:
    """The part of the picture under the square, and the place in that part."""
    corners = np.array([[0, 0], [size, 0], [0, size], [size, size]]) @ place[:, :2].T + place[:, 2]
    edge = np.array(image.shape[1::-1])
    low = np.clip(np.floor(corners.min(0) - scale - 1), 0, edge - 1).astype(int)
    high = np.clip(np.ceil(corners.max(0) + scale + 1), low + 1, edge).astype(int)
    return image[low[1] : high[1], low[0] : high[0]], np.column_stack([place[:, :2], place[:, 2] - low])


def _shrink(part: Array, place: Array, ratio: float) -> tuple[Array, Array]:
    """The part at about `ratio` of its size, each pixel the mean of those it covers, and the place in it."""
    was = np.array(part.shape[1::-1])
    now = np.maximum(1, np.round(was * ratio)).astype(int)
    moved = place.copy()
    moved[:, 2] += 0.5
    moved *= (now / was)[:, None]
    moved[:, 2] -= 0.5
    return cv2.resize(part, (int(now[0]), int(now[1])), interpolation=cv2.INTER_AREA), moved
