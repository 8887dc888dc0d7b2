"""Who is it: dlib's face network, for people, tracks and guards. It never judges what a release hides."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from elsewho.errors import BadPoints
from elsewho.find.networks import OnnxNetwork
from elsewho.find.picture import check_picture, cut_square
from elsewho.types import Array, FacePoints

CHIP_SIDE = 150  # pixels of the square that the network sees
CHIP_POINTS = [263, 362, 33, 133, 2]  # corners of both eyes, and where the nose meets the lip
CHIP_PLACES = np.array([[113.1, 46.5], [89.3, 47.7], [36.0, 46.5], [59.5, 47.7], [74.0, 85.8]])
# where these points lie in dlib's own chips: the mean over 224 portraits, pixels


class FaceEmbedder:
    """Turns a face into 128 numbers of unit length: the nearer two faces, the likelier one person.

    Compare two by their distance |a - b| (L2, 0..2).  For unit vectors it says the same as their cosine:
    |a - b|**2 = 2 - 2 * (a @ b).  dlib itself compares vectors of about length 1.4 before normalising, so its
    well-known threshold of 0.6 does not hold here.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._network = OnnxNetwork("dlib_face.onnx", threads)

    def embed(self, image: Array, points: FacePoints | Array) -> Array:
        """(128,) float32 of unit length for one face.

        image   (H, W, 3) uint8, RGB
        points  (468, 2 or 3) x, y in pixels, or the FacePoints that hold them
        """
        row: Array = self.embed_many([(image, points)])[0]
        return row

    def embed_many(self, faces: Sequence[tuple[Array, FacePoints | Array]]) -> Array:
        """(n, 128) float32 of unit length, a row for each picture with its points; faster than one by one."""
        if not faces:
            return np.zeros((0, 128), np.float32)
        chips = np.stack([cut_chip(image, points) for image, points in faces])
        vectors = self._network(chips.transpose(0, 3, 1, 2))[0]
        unit: Array = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


def cut_chip(image: Array, points: FacePoints | Array) -> Array:
    """The face in `image`, (150, 150, 3) uint8, laid out as dlib lays it out.

    points  (468, 2 or 3) x, y in pixels, or the FacePoints that hold them
    """
    image = check_picture(image)
    dense = np.asarray(points.points if isinstance(points, FacePoints) else points, float)
    if dense.ndim != 2 or dense.shape[0] != 468 or dense.shape[1] not in (2, 3):
        raise BadPoints(f"a chip needs the 468 points of the mesh; found the shape {dense.shape}. Find them first.")
    return cut_square(image, cv2.invertAffineTransform(fit_similarity(dense[CHIP_POINTS, :2])), CHIP_SIDE)


def fit_similarity(marks: Array) -> Array:
    """The similarity (2, 3) that brings five marks (5, 2), pixels, nearest to their places in the chip."""
    a, b = marks - marks.mean(0), CHIP_PLACES - CHIP_PLACES.mean(0)
    spread = float((a * a).sum())
    if not np.isfinite(spread) or spread < 1e-3:
        raise BadPoints(f"a chip needs five distinct marks; found {marks.tolist()}. Find the points anew.")
    cos = (a * b).sum() / spread
    sin = (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum() / spread
    turn = np.array([[cos, -sin], [sin, cos]])
    return np.column_stack([turn, CHIP_PLACES.mean(0) - turn @ marks.mean(0)])
