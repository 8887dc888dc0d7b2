"""Faces in a picture, their points, and who they are.

    for face, points in find_faces(image):
        ...

Every function takes pictures as (H, W, 3) uint8 in RGB order and raises BadPicture for anything else.
"""

from __future__ import annotations

import functools
import threading

from elsewho.find.embedder import FaceEmbedder
from elsewho.find.mesh import FaceMesh
from elsewho.find.retina import RetinaFace
from elsewho.types import Array, FacePoints, FoundFace

__all__ = ["FaceEmbedder", "FaceMesh", "RetinaFace", "embed_face", "find_faces"]

_loading = threading.Lock()


def find_faces(image: Array) -> list[tuple[FoundFace, FacePoints]]:
    """The faces in `image`, (H, W, 3) uint8 RGB, with their points, the surest first."""
    finder, mesh, _ = _networks()
    return [(face, mesh.points(image, face)) for face in finder.find(image)]


def embed_face(image: Array, points: FacePoints | Array) -> Array:
    """(128,) float32 of unit length: the nearer two by L2, the likelier one person. See FaceEmbedder."""
    return _networks()[2].embed(image, points)


def _networks() -> tuple[RetinaFace, FaceMesh, FaceEmbedder]:
    with _loading:  # two threads must not load them twice
        return _load()


@functools.cache
def _load() -> tuple[RetinaFace, FaceMesh, FaceEmbedder]:
    return RetinaFace(), FaceMesh(), FaceEmbedder()
