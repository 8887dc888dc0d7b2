"""Dense points on a face: MediaPipe's mesh of 468 points and its iris points."""

from __future__ import annotations

import numpy as np

from elsewho.errors import BadInput, BadPoints
from elsewho.find.networks import LiteNetwork
from elsewho.find.picture import check_picture, cut_square, place_square
from elsewho.find.topology import MIRROR, POINTS
from elsewho.types import Array, FacePoints, FoundFace

MESH_SIDE, IRIS_SIDE = 192, 64  # pixels of the squares that the networks see
FACE_ROOM = 1.5  # the square's side over the longer side of the face's box
EYE_ROOM = 2.3  # the square's side over the width of the eye
CORNERS = ((33, 133), (362, 263))  # of the eye on the picture's left, right; each from left to right
OUTER_CORNERS = [33, 263]
TOP_AND_CHIN = [10, 152]
IRIS_ORDER = [0, 3, 2, 1, 4]  # the network gives centre, right, top, left, bottom


class FaceMesh:
    """Finds the points of a face in two passes: the second looks where the first's points say.

    The distance between the passes tells a misfit, which the network's own score does not.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._mesh = LiteNetwork("face_landmark.tflite", threads)
        self._iris = LiteNetwork("iris_landmark.tflite", threads)

    def points(self, image: Array, face: FoundFace) -> FacePoints:
        """The points of a found face.

        image  (H, W, 3) uint8, RGB
        face   its box, and its marks if the finder has any: they level the eyes
        """
        x, y, width, height = face.box
        if not np.isfinite(face.box).all() or min(width, height) <= 0:
            raise BadInput(f"a face has a box x, y, width, height with room in it; found {face.box}. Leave it out.")
        angle = 0.0 if face.marks is None else _angle(*face.marks[:2])
        centre = np.array([x + (width - 1) / 2, y + (height - 1) / 2])
        place = place_square(centre, FACE_ROOM * max(width, height), angle, MESH_SIDE)
        image = check_picture(image)
        return self._second_pass(image, self._pass(image, place)[0])

    def refine(self, image: Array, previous: Array) -> FacePoints:
        """The points of a face from where they were in the frame before.

        image     (H, W, 3) uint8, RGB
        previous  (468, 2 or 3) x, y in pixels
        """
        previous = np.asarray(previous, float)
        if previous.ndim != 2 or len(previous) != POINTS or not np.isfinite(previous).all():
            raise BadPoints(
                f"refining needs {POINTS} finite points; found the shape {previous.shape}, "
                f"{int(np.isfinite(previous).sum())} of {previous.size} numbers finite. Find the face anew."
            )
        image = check_picture(image)
        return self._second_pass(image, self._pass(image, square_around(previous))[0])

    def _second_pass(self, image: Array, first: Array) -> FacePoints:
        second, presence = self._pass(image, square_around(first))
        apart = np.hypot(*(second - first)[:, :2].T).mean()
        height = np.hypot(*(second[TOP_AND_CHIN[1]] - second[TOP_AND_CHIN[0]])[:2])
        iris = np.stack([self._find_iris(image, second, eye) for eye in (0, 1)])
        return FacePoints(second, iris, presence, float(apart / max(height, 1e-9)))

    def _pass(self, image: Array, place: Array) -> tuple[Array, float]:
        """Points (468, 3) in pixels of the picture, and the score of presence, from one square."""
        square = cut_square(image, place, MESH_SIDE)
        numbers, score = sorted(self._mesh(square[None] / np.float32(255)), key=np.size, reverse=True)
        found = numbers.reshape(POINTS, 3).astype(float)
        return to_picture(found, place), float(1 / (1 + np.exp(-score.item())))

    def _find_iris(self, image: Array, points: Array, eye: int) -> Array:
        """(5, 2) centre, left, top, right and bottom of the iris on the picture's left (0) or right (1)."""
        left, right = points[list(CORNERS[eye]), :2]
        side = EYE_ROOM * float(np.hypot(*(right - left)))
        place = place_square((left + right) / 2, side, _angle(left, right), IRIS_SIDE)
        square = cut_square(image, place, IRIS_SIDE)
        if eye == 1:  # the network knows the other eye
            square = square[:, ::-1]
        numbers = min(self._iris(square[None] / np.float32(255)), key=np.size)
        found = numbers.reshape(5, 3).astype(float)
        if eye == 0:
            found = found[IRIS_ORDER]
        else:
            found[:, 0] = IRIS_SIDE - found[:, 0]
        return to_picture(found, place)[:, :2]


def square_around(points: Array) -> Array:
    """The square (2, 3) around points (468, 2 or 3), level with the outer corners of the eyes."""
    flat = points[:, :2]
    angle = _angle(*flat[OUTER_CORNERS])
    level = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turned = flat @ level
    low, high = turned.min(0), turned.max(0)
    return place_square(level @ (low + high) / 2, FACE_ROOM * float((high - low).max()), angle, MESH_SIDE)


def to_picture(found: Array, place: Array) -> Array:
    """Points (n, 3) from a network's square to pixels of the picture; z, in the same unit, grows alike.

    The networks count from the edge of the first pixel, we from its centre: so mirrored faces agree.
    """
    scale = np.hypot(place[0, 0], place[1, 0])
    return np.column_stack([(found[:, :2] - 0.5) @ place[:, :2].T + place[:, 2], found[:, 2] * scale])


def mirror_points(points: Array, width: int) -> Array:
    """The points (468, 2 or 3) as they lie in the mirrored picture of `width` pixels, in the mesh's order."""
    mirrored = np.array(points[MIRROR], float)
    mirrored[:, 0] = width - 1 - mirrored[:, 0]
    return mirrored


def _angle(left: Array, right: Array) -> float:
    """Radians by which the line from left to right, each (2,), is turned in the picture."""
    x, y = right[:2] - left[:2]
    return float(np.arctan2(y, x))
