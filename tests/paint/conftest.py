"""A small mesh model of the 468 points, made without photographs: a plain round face."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

import elsewho
from elsewho.aam.mesh import make_mesh
from elsewho.find import topology
from elsewho.find.mesh import FaceMesh
from elsewho.find.retina import RetinaFace
from elsewho.paint import make_masks


@pytest.fixture(scope="session")
def portrait():
    path = Path(elsewho.__file__).parent / "data" / "astronaut.jpg"
    picture = np.ascontiguousarray(cv2.imread(str(path))[..., ::-1])
    picture.flags.writeable = False
    return picture


@pytest.fixture(scope="session")
def points(portrait):
    """(468, 3) of the portrait's face."""
    return FaceMesh().points(portrait, RetinaFace().find(portrait)[0]).points


@pytest.fixture(scope="session")
def mesh(points):
    return make_mesh(points, np.asarray(topology.TRIANGLES, np.int32), 160)


@pytest.fixture(scope="session")
def masks(mesh):
    return make_masks(mesh)
