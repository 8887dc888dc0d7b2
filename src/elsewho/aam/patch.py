"""A patch: the part of a picture around a face, levelled and brought to a level's scale, as features."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from elsewho.aam.features import Features, extract
from elsewho.aam.procrustes import Similarity
from elsewho.aam.warp import look_up
from elsewho.types import Array

HALVE = 1.7  # a picture this much finer than the patch is halved before it is sampled


@dataclass(frozen=True, slots=True)
class Patch:
    """Features on a raster, and where they come from."""

    maps: Array  # (rows, columns, C) float32; one pixel stands for `shrink` of the patch, each way
    shrink: int
    pose: Similarity  # patch pixels to picture pixels
    picture: tuple[int, int]  # rows, columns of the picture
    whole: bool  # the picture covers the patch

    def sample(self, places: Array) -> Array:
        """Features (P, C) at places (P, 2) in patch pixels."""
        return look_up(self.maps, (places - (self.shrink - 1) / 2) / self.shrink)

    def seen(self, places: Array) -> Array:
        """(P,) True where the places (P, 2) in patch pixels lie in the picture."""
        if self.whole:
            return np.ones(len(places), bool)
        at = self.pose.apply(places)
        rows, columns = self.picture
        return np.asarray((at >= -0.5).all(axis=1) & (at[:, 0] <= columns - 0.5) & (at[:, 1] <= rows - 0.5))


def to_grey(image: Array) -> Array:
    """A grey picture (H, W) uint8 of (H, W) or (H, W, 3) RGB uint8."""
    return image if image.ndim == 2 else np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))


def cut_patch(grey: Array, pose: Similarity, size: tuple[int, int], features: Features) -> Patch:
    """The patch of `size` rows, columns out of a grey picture (H, W) uint8; `pose`: patch pixels to picture pixels.

    Only the part of the picture under the patch is touched, so the cost does not grow with the picture.
    """
    height, width = grey.shape
    rows, columns = size
    corners = pose.apply(np.array([[0, 0], [columns, 0], [0, rows], [columns, rows]], float))
    whole = bool((corners >= 0).all() and (corners <= [width - 1, height - 1]).all())
    halvings = max(0, int(np.ceil(np.log2(max(pose.scale, 1e-6) / HALVE))))
    fold = 2**halvings
    border = 2 * fold
    last = np.array([width, height])
    low = np.clip(np.floor(corners.min(axis=0)).astype(int) - border, 0, last - 1)
    high = np.clip(np.ceil(corners.max(axis=0)).astype(int) + border + 1, low + 1, last)
    part = grey[low[1] : high[1], low[0] : high[0]]
    if fold > 1:
        small = (max(1, part.shape[1] // fold), max(1, part.shape[0] // fold))
        if part.shape[0] >= fold and part.shape[1] >= fold:
            part = part[: small[1] * fold, : small[0] * fold]
        stretch = np.array(small[0:2]) / part.shape[1::-1]
        part = cv2.resize(part, small, interpolation=cv2.INTER_AREA)
    else:
        stretch = np.ones(2)
    # Pixel centres: x of the part becomes stretch * (x + 1/2) - 1/2.
    linear = pose.scale * pose.turn * stretch[:, None]
    shift = (pose.move - low + 0.5) * stretch - 0.5
    levelled = cv2.warpAffine(
        part.astype(np.float32),
        np.column_stack([linear, shift]),
        (columns, rows),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return Patch(extract(levelled, features), features.shrink, pose, (height, width), whole)
