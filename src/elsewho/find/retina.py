"""Faces in a picture, by RetinaFace with a quarter-width MobileNet."""

from __future__ import annotations

import cv2
import numpy as np

from elsewho.errors import BadInput
from elsewho.find.networks import OnnxNetwork
from elsewho.find.picture import check_picture
from elsewho.types import Array, FoundFace

ANCHORS = {8: (16, 32), 16: (64, 128), 32: (256, 512)}  # step of the grid: sides of its squares, pixels
CENTRE_UNIT, SIZE_UNIT = 0.1, 0.2  # the network's units of offsets and of log sizes
MEAN_BGR = np.array([104, 117, 127], np.float32)
PLACES = np.r_[0:4, 5:15]  # columns of a row that are x, y: the corners of the box, five marks
# A second look, at this size and with so much room around, finds faces that fill a noisy or badly compressed
# picture: of 42 such faces the first look alone found none, the two found all.
TINY, TINY_BORDER = 0.25, 0.25
LARGEST_OVERLAP = 0.4  # two boxes of one face overlap by more
LEAST_DISTANCE = 0.25  # or their marks lie nearer than this, as a part of the larger box's width


class RetinaFace:
    """Finds faces of about 12 pixels and more at the size at which it looks.

    side       pixels of the picture's longer side when it is looked at: larger finds smaller faces and takes
               longer; smaller pictures are not enlarged
    threshold  the lowest score that counts as a face, 0..1
    """

    def __init__(self, side: int = 640, threshold: float = 0.6, *, threads: int = 1) -> None:
        if side < 64 or not 0 < threshold < 1:
            raise BadInput(
                f"RetinaFace needs side >= 64 and 0 < threshold < 1; found side={side}, "
                f"threshold={threshold}. Leave them out for 640 and 0.6."
            )
        self.side, self.threshold = side, threshold
        self._network = OnnxNetwork("retinaface.onnx", threads)

    def find(self, image: Array) -> list[FoundFace]:
        """The faces in `image`, the surest first.

        image  (H, W, 3) uint8, RGB
        """
        image = check_picture(image)
        small = shrink(image, self._scale_for(*image.shape[:2]))
        tiny = shrink(small, TINY)
        looks = [(small, 0), (tiny, round(TINY_BORDER * max(tiny.shape[:2])))]
        rows = [to_size(self._look(ground, border), ground, image) for ground, border in looks]
        return [_face_of(row) for row in keep_apart(np.concatenate(rows))]

    def _scale_for(self, height: int, width: int) -> float:
        """How much to shrink: strips of more than 2:1 are looked at more finely, as far as time allows."""
        short, long = sorted((height, width))
        scale = self.side / min(long, 2 * short)
        return float(min(1.0, scale, 2 * self.side / np.sqrt(max(short, 32) * long)))

    def _look(self, image: Array, border: int) -> Array:
        """Rows (n, 15) of what the network sees: x, y, x, y, score and five marks, pixels of `image`.

        border  pixels of empty ground on each side
        """
        height, width = image.shape[:2]
        grid_h, grid_w = (-(-(side + 2 * border) // 32) * 32 for side in (height, width))
        ground = np.zeros((3, grid_h, grid_w), np.float32)
        inside = ground[:, border : border + height, border : border + width]
        np.subtract(image.transpose(2, 0, 1)[::-1], MEAN_BGR[:, None, None], out=inside)
        offsets, scores, marks = self._network(ground[None])
        rows = decode(offsets[0], scores[0, :, 1], marks[0], (grid_h, grid_w), self.threshold)
        rows[:, PLACES] -= border
        return rows


def shrink(image: Array, scale: float) -> Array:
    """The picture at `scale` of its size, at least one pixel each way."""
    height, width = image.shape[:2]
    to = max(1, round(width * scale)), max(1, round(height * scale))
    return image if to == (width, height) else cv2.resize(image, to, interpolation=cv2.INTER_AREA)


def to_size(rows: Array, small: Array, image: Array) -> Array:
    """The rows (n, 15), seen in `small`, in pixels of `image`."""
    stretch = np.tile(np.array(image.shape[1::-1]) / np.array(small.shape[1::-1]), 7)
    moved = rows.copy()
    moved[:, PLACES] = (rows[:, PLACES] + 0.5) * stretch - 0.5
    return moved


def make_anchors(height: int, width: int) -> Array:
    """(A, 3) centre x, y and side of each anchor on a picture whose sides are multiples of 32, pixels."""
    rows = []
    for step, sides in ANCHORS.items():
        y, x = np.mgrid[0 : height // step, 0 : width // step]
        centres = (np.stack([x, y], -1).reshape(-1, 2) + 0.5) * step
        rows.append(np.column_stack([np.repeat(centres, len(sides), 0), np.tile(sides, len(centres))]))
    return np.concatenate(rows).astype(np.float32)


def decode(offsets: Array, scores: Array, marks: Array, size: tuple[int, int], threshold: float) -> Array:
    """Boxes and marks in pixels from what the network says of each anchor.

    offsets, scores, marks  (A, 4), (A,), (A, 10)
    size                    height, width of the network's picture
    returns                 (n, 15) x, y, x, y, score, five marks x, y
    """
    sure = scores > threshold
    anchors = make_anchors(*size)[sure]
    centre, side = anchors[:, :2], anchors[:, 2:]
    middle = centre + offsets[sure, :2] * CENTRE_UNIT * side - 0.5  # pixel centres are whole numbers
    half = side * np.exp(offsets[sure, 2:] * SIZE_UNIT) / 2
    points = centre[:, None] + marks[sure].reshape(-1, 5, 2) * CENTRE_UNIT * side[:, None] - 0.5
    rows = np.column_stack([middle - half, middle + half, scores[sure], points.reshape(-1, 10)])
    return rows.astype(np.float64)


def keep_apart(rows: Array) -> Array:
    """The rows (n, 15) without those of a face that a surer row has already, the surest first."""
    rows = rows[np.argsort(-rows[:, 4], kind="stable")]
    kept: list[Array] = []
    for row in rows:
        if not any(same_face(row, other) for other in kept):
            kept.append(row)
    return np.array(kept).reshape(-1, 15)


def same_face(a: Array, b: Array) -> bool:
    """Whether two rows stand for one face: their boxes overlap, or, where it fills the frame, their marks."""
    apart = np.hypot(*(a[5:] - b[5:]).reshape(5, 2).T).mean()
    return overlap(a, b) > LARGEST_OVERLAP or bool(apart < LEAST_DISTANCE * max(a[2] - a[0], b[2] - b[0]))


def overlap(a: Array, b: Array) -> float:
    """Intersection over union of two boxes x, y, x, y."""
    inside = np.prod(np.maximum(0, np.minimum(a[2:4], b[2:4]) - np.maximum(a[:2], b[:2])))
    return float(inside / max(1e-9, np.prod(a[2:4] - a[:2]) + np.prod(b[2:4] - b[:2]) - inside))


def _face_of(row: Array) -> FoundFace:
    x, y, right, bottom, score = (float(number) for number in row[:5])
    return FoundFace((x, y, right - x, bottom - y), score, row[5:].reshape(5, 2).copy())
