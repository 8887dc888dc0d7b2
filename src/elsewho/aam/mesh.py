"""The mesh: triangles over the points, drawn once into the frame where textures live."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from elsewho.errors import BadPoints
from elsewho.types import Array


@dataclass(frozen=True)
class Mesh:
    """The mean shape drawn on a raster, and for each of its pixels the triangle it lies in."""

    points: Array  # (L, 2) the mean shape in frame pixels
    triangles: Array  # (T, 3) point numbers
    size: tuple[int, int]  # rows, columns of the frame

    @cached_property
    def pixels(self) -> Array:
        """(P, 2) x, y of the frame's pixels inside the face, row by row."""
        rows, columns = np.nonzero(self._triangle_of >= 0)
        return np.stack([columns, rows], axis=1)

    @cached_property
    def inside(self) -> Array:
        """(rows, columns) True inside the face."""
        return np.asarray(self._triangle_of >= 0)

    @cached_property
    def triangle(self) -> Array:
        """(P,) the triangle of each pixel."""
        return np.asarray(self._triangle_of[self.inside])

    @cached_property
    def corners(self) -> Array:
        """(P, 3) the three points of each pixel's triangle."""
        return np.ascontiguousarray(self.triangles[self.triangle])

    @cached_property
    def weights(self) -> Array:
        """(P, 3) float32: a pixel is the weighted sum of its corners."""
        a, b, c = (self.points[self.corners[:, i]] for i in range(3))
        d1, d2, d = b - a, c - a, self.pixels - a
        area = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
        w1 = (d[:, 0] * d2[:, 1] - d[:, 1] * d2[:, 0]) / area
        w2 = (d1[:, 0] * d[:, 1] - d1[:, 1] * d[:, 0]) / area
        return np.stack([1 - w1 - w2, w1, w2], axis=1).astype(np.float32)

    @cached_property
    def _by_corner(self) -> tuple[Array, Array]:
        return np.ascontiguousarray(self.corners.T), np.ascontiguousarray(self.weights.T)

    @cached_property
    def _triangle_of(self) -> Array:
        return rasterise(self.points, self.triangles, self.size)

    def place(self, points: Array) -> Array:
        """Where the pixels (P, 2) lie, float32, when the mesh stands at `points` (L, 2 or 3)."""
        # x and y of a point as one complex number: gathered at once, ten times as fast as rows of two.
        at = np.ascontiguousarray(points[:, :2], np.float32).view(np.complex64)[:, 0]
        (c0, c1, c2), (w0, w1, w2) = self._columns
        placed = at.take(c0)
        placed *= w0
        for corner, weight in ((c1, w1), (c2, w2)):
            part = at.take(corner)
            part *= weight
            placed += part
        return placed.view(np.float32).reshape(-1, 2)

    @cached_property
    def _columns(self) -> tuple[list[Array], list[Array]]:
        """The corners and the weights, one contiguous array (P,) for each of the three."""
        return (
            [np.ascontiguousarray(self.corners[:, i]) for i in range(3)],
            [np.ascontiguousarray(self.weights[:, i]) for i in range(3)],
        )

    @cached_property
    def places(self) -> Array:
        """(P,) the numbers of the face's pixels, counted along the rows of the frame."""
        return np.flatnonzero(self.inside)

    @cached_property
    def _nearest(self) -> Array:
        """(rows, columns) the number of the face's pixel nearest to each pixel of the frame."""
        outside = (~self.inside).astype(np.uint8)
        _, labels = cv2.distanceTransformWithLabels(outside, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
        number = np.zeros(labels.max() + 1, np.int32)
        number[labels[self.inside]] = np.arange(len(self.pixels))
        return np.asarray(number[labels])

    def fill(self, values: Array, empty: float = 0.0) -> Array:
        """A picture (rows, columns, ...) that holds `values` (P, ...) inside and `empty` outside."""
        picture = np.full((self.size[0] * self.size[1], *values.shape[1:]), empty, values.dtype)
        picture[self.places] = values
        return picture.reshape(*self.size, *values.shape[1:])

    def read(self, picture: Array) -> Array:
        """The values (P, ...) of a picture (rows, columns, ...) inside the face."""
        return picture.reshape(self.size[0] * self.size[1], *picture.shape[2:]).take(self.places, axis=0)

    def extend(self, values: Array) -> Array:
        """A picture (rows, columns, ...) that holds `values` (P, ...) inside and continues them outside.

        Whoever samples it between pixels at the outline gets no dark rim.
        """
        return np.asarray(values[self._nearest])


def make_mesh(shape: Array, triangles: Array, width: int, margin: int = 2) -> Mesh:
    """A frame in which the mean `shape` (L, 2 or 3) is `width` pixels wide, margins included."""
    low, extent = shape[:, :2].min(axis=0), np.ptp(shape[:, :2], axis=0)
    stretch = (width - 1 - 2 * margin) / extent[0]
    rows = int(np.ceil(extent[1] * stretch)) + 1 + 2 * margin
    points = (shape[:, :2] - low) * stretch + margin
    return Mesh(points, triangles, (rows, width))


def triangulate(points: Array) -> Array:
    """Delaunay triangles (T, 3) of points (L, 2), all turning the same way; collinear slivers left out."""
    from scipy.spatial import Delaunay, QhullError  # slow to import, needed in training only

    try:
        triangles = Delaunay(points).simplices
    except (QhullError, ValueError) as error:
        raise BadPoints(
            f"{len(points)} points span no area (collinear or coincident?): no mesh can be made. Check the annotation."
        ) from error
    area = signed_area(points, triangles)
    turned = np.where(area[:, None] < 0, triangles[:, ::-1], triangles)
    return np.asarray(turned[np.abs(area) > 1e-6 * np.abs(area).sum() / len(area)], np.int32)


def signed_area(points: Array, triangles: Array) -> Array:
    """Twice the area (T,) of each triangle; positive where it turns clockwise on the screen."""
    a, b, c = (points[triangles[:, i], :2] for i in range(3))
    d1, d2 = b - a, c - a
    return np.asarray(d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0])


def rasterise(points: Array, triangles: Array, size: tuple[int, int], depth: Array | None = None) -> Array:
    """The triangle (rows, columns) int32 that covers each pixel, -1 where there is none.

    points  (L, 2) in pixels of the raster
    depth   (L,) smaller is nearer: far triangles are drawn first; None: in their order
    """
    drawn = np.full(size, -1, np.int32)
    order = np.arange(len(triangles)) if depth is None else np.argsort(-depth[triangles].mean(axis=1))
    proper = np.abs(signed_area(points, triangles)) > 1e-6
    corners = np.round(points[triangles, :2] * 16).astype(np.int32)
    for i in order:
        if proper[i]:
            cv2.fillConvexPoly(drawn, corners[i], int(i), shift=4)
    return drawn
