"""The 468 points of the face mesh as a surface: triangles, loops of points, and which point mirrors which.

The connections are facts of MediaPipe's Face Mesh (Apache-2.0, the MediaPipe authors), kept in topology.json.
The eyes and the inner mouth, which MediaPipe leaves open, are closed by triangles of our own, and three quads
whose diagonals MediaPipe draws differently left and right are drawn as on the left, so that the mesh is its
own mirror image.  tools/make_topology.py writes the file.  Left and right are those of the picture, never the
person's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from elsewho.types import Array

_TABLES: dict[str, Any] = json.loads(Path(__file__).with_name("topology.json").read_text(encoding="utf-8"))


def _fixed(numbers: Any) -> Array:
    """The numbers as an array that nobody can change by mistake."""
    array = np.array(numbers, dtype=np.intp)
    array.flags.writeable = False
    return array


POINTS = 468
FACE, EYE, MOUTH = 0, 1, 2

TRIANGLES = _fixed(_TABLES["triangles"])  # (898, 3) points, all turning the same way
KIND = _fixed(np.repeat([FACE, EYE, MOUTH], _TABLES["counts"]))  # (898,) FACE, EYE or MOUTH
MIRROR = _fixed(_TABLES["mirror"])  # (468,) the partner of each point; those of the midline are their own

# Closed loops: lips from the left corner along the lower lip, eyes from the outer corner along the lower lid.
LIPS_OUTER = _fixed(_TABLES["lips_outer"])  # (20,)
LIPS_INNER = _fixed(_TABLES["lips_inner"])  # (20,)
EYES = tuple(_fixed(eye) for eye in _TABLES["eyes"])  # two of (16,): left, right
BROWS = tuple(_fixed(brow) for brow in _TABLES["brows"])  # two of (10,): left, right
OVAL = _fixed(_TABLES["oval"])  # (36,) the outline of the face
NOSE = _fixed(_TABLES["nose"])  # (24,) its points, no loop
RIGID = _fixed(_TABLES["rigid"])  # (25,) points that no expression moves


def _pose_weights() -> Array:
    weights = np.full(POINTS, 0.05)
    weights[RIGID] = 1
    weights[LIPS_OUTER] = weights[LIPS_INNER] = 0
    weights.flags.writeable = False
    return weights


POSE_WEIGHTS = _pose_weights()  # (468,) how much each point counts for the pose of a head
