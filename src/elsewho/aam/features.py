"""Dense features: what the model compares instead of grey levels.

At every pixel, how strong the gradient is in each of some directions, smoothed over a neighbourhood and divided by
its length: light and skin fall out, edges of lids, lips and jaw stay, and they pull from several pixels away.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from elsewho.types import Array


@dataclass(frozen=True, slots=True)
class Features:
    """Which features, and how coarse."""

    bins: int = 8  # directions of the gradient
    sigma: float = 2.0  # of the smoothing, in pixels of the patch
    floor: float = 0.06  # gradients far under it count as noise; grey levels 0..1 a pixel, Sobel's factor of 8 in it
    shrink: int = 1  # the features have one pixel for so many of the patch, each way


def extract(patch: Array, features: Features) -> Array:
    """Features (rows, columns, bins) float32 of a grey `patch` (H, W) float32, 0..255; rows = H / shrink."""
    x = cv2.Sobel(patch, cv2.CV_32F, 1, 0, scale=1 / 255)
    y = cv2.Sobel(patch, cv2.CV_32F, 0, 1, scale=1 / 255)
    strength, angle = cv2.cartToPolar(x, y)
    angle *= features.bins / (2 * np.pi)
    shrink = features.shrink
    size = (patch.shape[1] // shrink, patch.shape[0] // shrink)
    planes = []
    for k in range(features.bins):
        off = np.abs(angle - k)
        if k == 0:
            off = np.minimum(off, features.bins - off)
        share = np.maximum(1 - off, 0, out=off)
        share *= strength
        planes.append(cv2.resize(share, size, interpolation=cv2.INTER_AREA) if shrink > 1 else share)
    sigma = features.sigma / shrink
    reach = 2 * max(1, round(3 * sigma)) + 1
    maps = cv2.GaussianBlur(cv2.merge(planes), (reach, reach), sigma)
    length = np.sqrt(np.einsum("ijk,ijk->ij", maps, maps))
    length += features.floor
    maps /= length[..., None]
    return np.asarray(maps)
