"""Parts of the face as masks in the frame of a mesh model: skin, features, brows, forehead, outline."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from elsewho.aam.mesh import Mesh
from elsewho.find.topology import BROWS, EYES, LIPS_OUTER, NOSE
from elsewho.types import Array

OUTLINE = 0.03  # what lies this near the outline, in frame widths, counts as touching it
SKIN_DEPTH = 0.06  # cheeks, forehead and chin begin this far inside


@dataclass(frozen=True, slots=True)
class Regions:
    """Boolean masks (rows, columns) unless said otherwise; `depth` is the distance to the outline in frame widths."""

    inside: Array
    depth: Array  # float32
    features: Array  # eyes, nose, lips, with a margin
    brows: Array
    lips: Array
    forehead: Array
    upper: Array  # the upper part, where hair hangs
    skin: Array  # cheeks, forehead, chin: no features, no brows


def find_regions(mesh: Mesh) -> Regions:
    """The regions of a mesh over the 468 points."""
    rows, columns = mesh.size

    def area(*loops: Array, grow: float = 0.0) -> Array:
        mask = np.zeros(mesh.size, np.uint8)
        for loop in loops:
            cv2.fillPoly(mask, [cv2.convexHull(np.round(mesh.points[loop]).astype(np.int32))], 1)
        reach = 2 * round(grow * columns) + 1
        return cv2.dilate(mask, np.ones((reach, reach), np.uint8)).astype(bool)

    inside = mesh.inside
    padded = np.pad(inside.astype(np.uint8), 1)
    depth = cv2.distanceTransform(padded, cv2.DIST_L2, 5)[1:-1, 1:-1] / np.float32(columns)
    features = area(*EYES, LIPS_OUTER, NOSE, grow=0.03)
    brows = area(*BROWS, grow=0.03)
    line = np.arange(rows)[:, None]
    brow_top = mesh.points[np.concatenate(BROWS), 1].min()
    forehead = (line < brow_top - 0.025 * columns) & (depth > SKIN_DEPTH)
    upper = np.broadcast_to(line < 0.55 * rows, mesh.size) & inside
    skin = (depth > SKIN_DEPTH) & ~features & ~brows
    return Regions(inside, depth, features, brows, area(LIPS_OUTER), forehead, upper, skin)
