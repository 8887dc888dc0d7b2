"""Faces without a picture around them, drawn by a model: what may be shown and what recognisers are given."""

from __future__ import annotations

import numpy as np

from elsewho.aam.model import FaceModel
from elsewho.aam.warp import paint_map, pick
from elsewho.expression import Look
from elsewho.types import Array

GROUND = 128


def paint_look(model: FaceModel, look: Look, width: int = 160, *, values: Array | None = None) -> tuple[Array, Array]:
    """A face levelled on plain ground (rows, width, 3) uint8 RGB, and where its landmarks (L, D) stand there.

    values  (P, 3) what to draw instead of the look's texture
    """
    mesh = model.texture.mesh
    pose = model.portrait_pose(width)
    rows = int(np.ceil(np.ptp(model.shape.mean[:, 1]) * pose.scale + 0.2 * width))
    points = pose.apply(look.form)
    points[:, 1] += 0.5 * rows - points[:, 1].mean()
    drawn = mesh.extend(model.texture.decode(look.texture) if values is None else values)
    place, covered = paint_map(points, mesh, (rows, width))
    picture = np.full((rows, width, 3), GROUND, np.uint8)
    picture[covered] = np.round(np.clip(pick(np.asarray(drawn, np.float32), place), 0, 255)[covered]).astype(np.uint8)
    return picture, points
