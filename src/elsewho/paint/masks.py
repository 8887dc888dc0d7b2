"""Where in the texture frame what is painted: made once for a model."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from elsewho.aam.mesh import Mesh
from elsewho.aam.regions import Regions, find_regions
from elsewho.errors import PointsMismatch
from elsewho.find.topology import EYES, LIPS_INNER, LIPS_OUTER, OVAL, POINTS
from elsewho.types import Array

MARGIN, FEATHER = 0.02, 0.06  # of the frame's width: the photo alone at the rim, then so wide a transition
STILL = 0.13  # points nearer to the outline than this move less, those on it not at all
SOFT = 1.5 / 320  # of the edges of eyes and mouth


@dataclass(frozen=True, slots=True)
class Masks:
    """Masks (rows, columns) float32 0..1 in the frame, and what the points of the mesh do."""

    regions: Regions
    edge: Array  # 0 at the outline, 1 within
    eyes: Array  # the eyeballs: they stay the photo's own
    mouth: Array  # teeth and tongue: they too
    lips: Array
    brows: Array
    hairy: Array  # brows, lids and lashes: their strength is the new person's
    grain: Array  # where skin has grain: not on eyes, brows, lips
    give: Array  # (468,) how far a point may move: 0 on the outline, 1 within
    lip_points: Array  # (n,) numbers of the points of the lips


def make_masks(mesh: Mesh) -> Masks:
    """The masks of a mesh over the 468 points."""
    if len(mesh.points) != POINTS:
        raise PointsMismatch(
            f"painting needs a model of the {POINTS} mesh points, this one has {len(mesh.points)}. "
            "Train it without --points, or use the packaged model."
        )
    columns = mesh.size[1]
    regions = find_regions(mesh)

    def area(*loops: Array, grow: float = 0.0, soft: float = SOFT) -> Array:
        mask = np.zeros(mesh.size, np.uint8)
        for loop in loops:
            cv2.fillPoly(mask, [np.round(mesh.points[loop] * 16).astype(np.int32)], 1, shift=4)
        reach = 2 * round(grow * columns) + 1
        grown = cv2.dilate(mask, np.ones((reach, reach), np.uint8)).astype(np.float32)
        return np.asarray(cv2.GaussianBlur(grown, (0, 0), soft * columns))

    edge = smoothstep((regions.depth - MARGIN) / FEATHER)
    brows = cv2.GaussianBlur(regions.brows.astype(np.float32), (0, 0), 0.015 * columns)
    hairy = np.maximum(brows, area(*EYES, grow=0.02, soft=0.015))
    quiet = np.maximum(hairy, area(LIPS_OUTER, grow=0.016, soft=0.01))
    outline = mesh.points[OVAL]
    far = np.linalg.norm(mesh.points[:, None] - outline[None], axis=2).min(axis=1) / columns
    lip_loop = mesh.points[LIPS_OUTER].astype(np.float32)
    lip_points = [
        i for i, point in enumerate(mesh.points.tolist()) if cv2.pointPolygonTest(lip_loop, point, False) >= 0
    ]
    return Masks(
        regions,
        edge,
        area(*EYES, grow=0.004),
        area(LIPS_INNER),
        area(LIPS_OUTER, grow=0.006, soft=0.01),
        brows,
        hairy,
        (1 - quiet) * edge,
        smoothstep(far / STILL),
        np.array(lip_points),
    )


def smoothstep(x: Array) -> Array:
    """From 0 to 1 without a kink, float32."""
    x = np.clip(x, 0, 1)
    return np.asarray(x * x * (3 - 2 * x), np.float32)
