"""Where the new face stands in the photo, and its texture drawn there."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from elsewho.aam.mesh import Mesh
from elsewho.aam.procrustes import Similarity
from elsewho.aam.warp import facing, paint_map, pick
from elsewho.find.topology import EYES
from elsewho.paint.masks import FEATHER, MARGIN, Masks, smoothstep
from elsewho.types import Array

WIDER = 0.08  # the mouth may become so much wider or narrower; more would change the smile
BORDER = 8  # pixels around the points


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a picture in which a face is painted, and the maps that lead there."""

    rows: slice
    columns: slice
    to_frame: Array  # (rows, columns, 2) float32: the place of each pixel in the texture frame
    to_photo: Array  # (rows, columns, 2) float32: where the photo shows the same spot of the face
    rim: Array  # (rows, columns) float32: 0 where the face ends as it is seen, turned heads too, 1 within
    finer: float  # frame pixels for one pixel of the picture


def carry_shape(points: Array, pose: Similarity, own: Array, new: Array, masks: Masks, free: Array) -> Array:
    """Where the new face's points stand: pose, gaze and expression are those of the photo, the outline is held.

    points   (468, 3) of the face in the photo, pixels
    pose     model space to pixels
    own      (468, 3) the person's shape without expression, model space
    new      (468, 3) the new identity's
    free     (468,) 0..1; 0 where hair hides the face: hair does not move
    returns  (468, 3) pixels
    """
    change = np.array(new - own)
    for eye in EYES:  # an eye moves as a whole: lids and gaze stay as they are
        change[eye] = change[eye].mean(axis=0)
    lips = masks.lip_points
    form = pose.undo(points)[lips]
    wider = np.clip(np.ptp(new[lips, 0]) / np.ptp(own[lips, 0]) - 1, -WIDER, WIDER)
    change[lips] = change[lips].mean(axis=0) + (form - form.mean(axis=0)) * [wider, 0, 0]
    return np.asarray(points + pose.scale * (change * (masks.give * free)[:, None]) @ pose.turn.T)


def open_window(picture: Array, points: Array, target: Array, mesh: Mesh) -> Window:
    """The window of a `picture` (H, W, 3) in which the face at `points` (468, 3) is to stand at `target` (468, 3)."""
    height, width = picture.shape[:2]
    low = np.clip(np.floor(target[:, :2].min(axis=0)).astype(int) - BORDER, 0, [width - 1, height - 1])
    high = np.clip(np.ceil(target[:, :2].max(axis=0)).astype(int) + BORDER + 1, low + 1, [width, height])
    size = int(high[1] - low[1]), int(high[0] - low[0])
    moved = target - [*low, 0]
    to_frame, covered = _map(moved, mesh, mesh, size)
    own = Mesh(points[:, :2] - low, mesh.triangles, size)
    to_photo, _ = _map(moved, own, mesh, size)
    home = np.stack(np.meshgrid(np.arange(size[1]), np.arange(size[0])), axis=-1).astype(np.float32)
    pull = np.where(covered[..., None], to_photo - home, 0).astype(np.float32)
    to_photo = home + np.stack([cv2.medianBlur(np.ascontiguousarray(pull[..., i]), 5) for i in (0, 1)], axis=-1)
    finer = float(np.hypot(*np.ptp(mesh.points, axis=0)) / np.hypot(*np.ptp(target[:, :2], axis=0)))
    depth = cv2.distanceTransform(covered.astype(np.uint8), cv2.DIST_L2, 5) * finer / mesh.size[1]
    rim = smoothstep((depth - MARGIN / 2) / FEATHER)
    return Window(slice(low[1], high[1]), slice(low[0], high[0]), to_frame, to_photo, rim, finer)


def _map(at: Array, there: Mesh, mesh: Mesh, size: tuple[int, int]) -> tuple[Array, Array]:
    """Places (rows, columns, 2) in `there`, and the face (rows, columns) bool as it is seen: holes are closed.

    What is turned away from the camera shows only through holes, such as a lid that is folded over.
    """
    whole, _ = paint_map(at, there, size)
    front, seen = paint_map(at, Mesh(there.points, there.triangles[facing(at, mesh)], there.size), size)
    outline, _ = cv2.findContours(seen.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros(size, np.uint8)
    cv2.drawContours(filled, outline, -1, 1, thickness=-1)
    return np.where(seen[..., None], front, whole), filled.astype(bool)


def draw(texture: Array, window: Window) -> Array:
    """`texture` or mask (rows, columns[, C]) of the frame as it stands in the window, float32."""
    texture = texture.astype(np.float32)
    if window.finer > 1.2:  # else the frame's pixels would be skipped
        texture = cv2.GaussianBlur(texture, (0, 0), 0.4 * window.finer)
    return np.asarray(pick(texture, window.to_frame))


def pull(picture: Array, window: Window) -> Array:
    """The picture in the window, float32, its face pulled into the new shape; outside the face as it is."""
    part = np.ascontiguousarray(picture[window.rows, window.columns]).astype(np.float32)
    pulled = pick(part, window.to_photo)
    return np.where(window.rim[..., None] > 0, pulled, part)
