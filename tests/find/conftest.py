"""The portrait whose truth is known, the networks, and the data beside the checkout where it is there."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

import elsewho
from elsewho.find import FaceEmbedder, FaceMesh, RetinaFace

SHARED = Path(__file__).resolve().parents[3] / "shared"


def read(path):
    return np.ascontiguousarray(cv2.imread(str(path))[..., ::-1])


@pytest.fixture(scope="session")
def astronaut():
    """(512, 512, 3): one frontal face, its eyes near (203, 101) and (246, 103)."""
    picture = read(Path(elsewho.__file__).parent / "data" / "astronaut.jpg")
    picture.flags.writeable = False
    return picture


@pytest.fixture(scope="session")
def finder():
    return RetinaFace()


@pytest.fixture(scope="session")
def mesh():
    return FaceMesh()


@pytest.fixture(scope="session")
def embedder():
    return FaceEmbedder()


@pytest.fixture(scope="session")
def face(astronaut, finder):
    return finder.find(astronaut)[0]


@pytest.fixture(scope="session")
def points(astronaut, mesh, face):
    return mesh.points(astronaut, face)


@pytest.fixture(scope="session")
def london():
    """Neutral and smiling portraits, 102 of each, as paths in one order."""
    folder = SHARED / "data" / "london"
    if not folder.is_dir():
        pytest.skip("the London portraits are not beside this checkout (../shared/data/london)")
    return [sorted((folder / kind).glob("*.jpg")) for kind in ("neutral", "smiling")]


@pytest.fixture(scope="session")
def read_picture():
    return read
