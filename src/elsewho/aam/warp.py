"""The one piecewise-affine warp, used both ways: picture to frame, and frame to picture."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from elsewho.aam.mesh import Mesh, rasterise, signed_area
from elsewho.types import Array

FINER = 1.3  # a picture this much finer than the frame is smoothed before it is sampled


def sample(image: Array, points: Array, mesh: Mesh) -> tuple[Array, Array]:
    """The face in `image` on the pixels of the mesh.

    image    (H, W) or (H, W, C), uint8 or float32
    points   (L, 2 or 3) x, y in pixels; with a third column, what the face itself hides is not seen
    returns  values (P,) or (P, C) float32, and seen (P,): False where the picture ends or the face hides itself
    """
    height, width = image.shape[:2]
    finer = _scale(points, mesh)
    if finer > FINER:
        image, points = _smooth_around(image, points, 0.4 * finer)
        at = mesh.place(points)
        here_height, here_width = image.shape[:2]
    else:
        at = mesh.place(points)
        here_height, here_width = height, width
    x, y = at[:, 0], at[:, 1]
    seen = (x >= -0.5) & (y >= -0.5) & (x <= here_width - 0.5) & (y <= here_height - 0.5)
    values = look_up(image, at)
    if points.shape[1] == 3:
        seen &= facing(points, mesh)[mesh.triangle]
    return values, seen


def look_up(image: Array, at: Array) -> Array:
    """Bilinear values (P,) or (P, C) float32 of `image` at places (P, 2); the border is repeated outside."""
    at = np.ascontiguousarray(at, np.float32)[:, None]
    columns = 16384  # remap takes at most 32,767 rows
    parts = [pick(image, at[i : i + columns])[:, 0] for i in range(0, len(at), columns)]
    return np.concatenate(parts).astype(np.float32, copy=False)


def pick(picture: Array, place: Array) -> Array:
    """`picture` (H, W[, C]) at each of the places (rows, columns, 2) float32, bilinear, the border repeated."""
    no_second_map: Any = None  # OpenCV's stubs want one, OpenCV does not
    return cv2.remap(picture, place, no_second_map, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def paint_map(points: Array, mesh: Mesh, size: tuple[int, int]) -> tuple[Array, Array]:
    """For each pixel of a picture in which the mesh stands at `points`: its place in the frame.

    points   (L, 2 or 3) in pixels of the picture
    returns  place (rows, columns, 2) float32 for cv2.remap, and covered (rows, columns) bool
    """
    depth = points[:, 2] if points.shape[1] == 3 else None
    which = rasterise(points, mesh.triangles, size, depth)
    corners = np.concatenate([points[:, :2], np.ones((len(points), 1))], axis=1)[mesh.triangles]
    proper = np.abs(signed_area(points, mesh.triangles)) > 1e-6
    affine = np.zeros((len(mesh.triangles), 3, 2))
    affine[proper] = np.linalg.solve(corners[proper], mesh.points[mesh.triangles[proper]])
    covered = which >= 0
    rows, columns = np.nonzero(covered)
    at = np.stack([columns, rows, np.ones_like(rows)], axis=1)
    place = np.full((*size, 2), -1.0, np.float32)
    found = np.einsum("nk,nkd->nd", at, affine[which[covered]])
    there = mesh.points[mesh.triangles]  # a triangle seen edge-on would be extrapolated: hold its pixels within it
    low, high = there.min(axis=1) - 1, there.max(axis=1) + 1
    place[covered] = np.clip(found, low[which[covered]], high[which[covered]])
    return place, covered


def facing(points: Array, mesh: Mesh) -> Array:
    """(T,) True for the triangles whose outside is turned to the camera: those that turn as they do in the frame."""
    here, there = (signed_area(at, mesh.triangles) for at in (points, mesh.points))
    return np.asarray(here * there > 0)


def _scale(points: Array, mesh: Mesh) -> float:
    """Picture pixels for one frame pixel."""
    a, b = np.ptp(points[:, :2], axis=0), np.ptp(mesh.points, axis=0)
    return float(np.hypot(*a) / np.hypot(*b))


def _smooth_around(image: Array, points: Array, sigma: float) -> tuple[Array, Array]:
    """The part of the image around the points, smoothed; and the points in that part."""
    border = int(np.ceil(3 * sigma)) + 2
    low = np.floor(points[:, :2].min(axis=0)).astype(int) - border
    high = np.ceil(points[:, :2].max(axis=0)).astype(int) + border + 1
    low, high = np.maximum(low, 0), np.minimum(high, image.shape[1::-1])
    if (high - low < 1).any():  # the face lies outside the picture
        return image, points
    part = cv2.GaussianBlur(image[low[1] : high[1], low[0] : high[0]], (0, 0), sigma)
    moved = points.astype(np.float64, copy=True)
    moved[:, :2] -= low
    return part, moved
