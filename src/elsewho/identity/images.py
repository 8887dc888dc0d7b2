"""Methods on pictures: k-Same on aligned images (Newton, Sweeney, Malin 2005), and what people do without it.

They are here to be compared with. Means of pixels show ghosts where faces do not lie on one another, and blurred or
pixelated faces are still recognised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import cv2
import numpy as np

from elsewho.aam.basis import fit_basis
from elsewho.errors import BadInput, BadPicture
from elsewho.identity.release import Release, check_faces, check_k
from elsewho.identity.same import k_same_m
from elsewho.types import Array

Box = tuple[float, float, float, float]  # x, y, width, height in pixels


def k_same_pixel(images: Array, k: int, *, order: Sequence[int] | Array | None = None, seed: int = 0) -> Release:
    """k-Same-Pixel: each of k images alike becomes their mean.

    images  (n, h, w[, c]) of n people, eyes in the same place; any unit
    order, seed  as in k_same_m

    The release's faces have the shape of `images`, float64, not rounded.
    """
    pixels = _flatten(images, k, "k-same-pixel")
    return _as_images(k_same_m(pixels, k, order=order, seed=seed), "k-same-pixel", np.shape(images))


def k_same_eigen(
    images: Array, k: int, components: int, *, order: Sequence[int] | Array | None = None, seed: int = 0
) -> Release:
    """k-Same-Eigen: images become eigenface coefficients, which are compared, averaged and made images again.

    images      (n, h, w[, c]) of n people, eyes in the same place; any unit
    components  how many eigenfaces of these images, at most n - 1
    order, seed  as in k_same_m

    The release's faces have the shape of `images`, float64, not rounded; they can leave the range of the images.
    """
    pixels = _flatten(images, k, "k-same-eigen")
    if isinstance(components, bool) or int(components) != components or components < 1:
        raise BadInput(f"k-same-eigen needs a whole number of components of at least 1, found {components!r}.")
    eigenfaces = fit_basis(pixels, int(components))
    release = k_same_m(eigenfaces.encode(pixels), k, order=order, seed=seed)
    release = replace(release, faces=eigenfaces.decode(release.faces))
    return _as_images(release, "k-same-eigen", np.shape(images))


def blur(image: Array, box: Box, *, strength: float = 0.1) -> Array:
    """`image` (H, W[, C]) with a Gaussian blur inside the box; nothing outside it mixes in.

    strength  the blur's standard deviation over the width of the box
    """
    if not strength > 0:
        raise BadInput(f"strength={strength} must be above 0: with 0 nothing is blurred.")
    top, bottom, left, right = _region(image, box)
    covered = image.copy()
    face = np.ascontiguousarray(image[top:bottom, left:right])
    sigma = strength * box[2]
    covered[top:bottom, left:right] = cv2.GaussianBlur(face, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE).reshape(
        face.shape
    )
    return covered


def pixelate(image: Array, box: Box, *, blocks: int = 8) -> Array:
    """`image` (H, W[, C]) with the box cut into blocks, each of which shows its mean.

    blocks  across the box, square; at least two pixels wide
    """
    if isinstance(blocks, bool) or int(blocks) != blocks or blocks < 1:
        raise BadInput(f"blocks={blocks!r} must be a whole number of at least 1.")
    top, bottom, left, right = _region(image, box)
    covered = image.copy()
    edge = max(2.0, box[2] / blocks)  # a block of one pixel would hide nothing
    rows, columns = _cuts(box[1], top, bottom, edge), _cuts(box[0], left, right, edge)
    for r0, r1 in pairwise(rows):
        for c0, c1 in pairwise(columns):
            mean = image[r0:r1, c0:c1].mean(axis=(0, 1))
            covered[r0:r1, c0:c1] = np.round(mean) if image.dtype.kind in "iu" else mean
    return covered


def mask(image: Array, box: Box, *, value: float = 0) -> Array:
    """`image` (H, W[, C]) with the box filled with one value: the only one of the three that leaves nothing."""
    top, bottom, left, right = _region(image, box)
    covered = image.copy()
    covered[top:bottom, left:right] = value
    return covered


def _cuts(start: float, first: int, last: int, edge: float) -> Array:
    """Where blocks of `edge` pixels begin and end, from `start` on; `first` and `last` among them."""
    inner = np.round(np.arange(np.floor(start), last, edge)).astype(int)
    return np.concatenate([[first], inner[(inner > first) & (inner < last)], [last]])


def _flatten(images: Array, k: int, method: str) -> Array:
    """The images as vectors (n, h * w * c) float64; refuses what are no images of one size."""
    check_k(k, method)
    try:
        array = np.asarray(images)
    except ValueError:
        array = np.empty(0, object)
    if array.ndim not in (3, 4) or array.dtype.kind not in "fiu":
        raise BadPicture(
            f"{method} needs images of one size as an array (n, h, w) or (n, h, w, c); "
            f"found shape {array.shape} of {array.dtype}. Align the faces and crop them alike."
        )
    if not array.size:
        raise BadPicture(f"{method}: the images have no pixels, found shape {array.shape}.")
    return check_faces(array.reshape(len(array), -1), f"{method}'s images")


def _as_images(release: Release, method: str, shape: tuple[int, ...]) -> Release:
    bound = replace(release.bound, of="the images as they were given")
    return replace(release, method=method, faces=release.faces.reshape(shape), bound=bound)


def _region(image: Array, box: Box) -> tuple[int, int, int, int]:
    """First and last row and column of the box, whole pixels, inside the image."""
    if not isinstance(image, np.ndarray) or image.ndim not in (2, 3) or image.dtype.kind not in "fiu":
        raise BadPicture("an image must be an array (H, W) or (H, W, C) of numbers. Read it with read_image.")
    if len(box) != 4 or not np.isfinite(box).all() or min(box[2:]) <= 0:
        raise BadInput(f"a face region is a box x, y, width, height in pixels, found {box}.")
    x, y, width, height = box
    rows, columns = image.shape[:2]
    top, bottom = max(0, int(np.floor(y))), min(rows, int(np.ceil(y + height)))
    left, right = max(0, int(np.floor(x))), min(columns, int(np.ceil(x + width)))
    if top >= bottom or left >= right:
        raise BadInput(f"the box {box} lies outside the image of {columns} x {rows} pixels.")
    return top, bottom, left, right
