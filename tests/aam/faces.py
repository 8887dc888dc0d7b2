"""Cartoon faces drawn by code: every point is known, no person is shown."""

from __future__ import annotations

import cv2
import numpy as np

from elsewho.aam.model import FaceModel
from elsewho.aam.train import train_model

SIDE = 160  # pixels of a picture
GROUND = 128


def _mean() -> np.ndarray:
    """(31, 3) outline 12, left eye 4, right eye 4, brows 2 + 2, nose 3, mouth 4; x, y, z about the middle."""
    angle = np.linspace(-0.15, np.pi + 0.15, 12)[::-1]
    outline = np.column_stack([0.36 * np.cos(angle), 0.1 + 0.44 * np.sin(angle), np.zeros(12)])
    eye = np.array([[-0.07, 0, 0], [0, -0.035, 0], [0.07, 0, 0], [0, 0.035, 0]])
    left, right = eye + [-0.16, 0.0, -0.2], eye + [0.16, 0.0, -0.2]
    brows = np.array([[-0.26, -0.11, -0.18], [-0.08, -0.13, -0.22], [0.08, -0.13, -0.22], [0.26, -0.11, -0.18]])
    nose = np.array([[0, 0.05, -0.3], [-0.06, 0.19, -0.28], [0.06, 0.19, -0.28]])
    mouth = np.array([[-0.12, 0.34, -0.18], [0, 0.31, -0.24], [0.12, 0.34, -0.18], [0, 0.38, -0.23]])
    return np.concatenate([outline, left, right, brows, nose, mouth])


MEAN = _mean()
OUTLINE, LEFT, RIGHT = slice(0, 12), slice(12, 16), slice(16, 20)
BROWS, NOSE, MOUTH = slice(20, 24), slice(24, 27), slice(27, 31)


def shapes(n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, 31, 3) faces that differ in width, jaw, eyes and mouth."""
    draws = rng.normal(size=(n, 6)).clip(-2, 2)
    every = np.repeat(MEAN[None], n, axis=0)
    for face, (width, jaw, eyes, mouth, smile, brow) in zip(every, draws, strict=True):
        face[:, 0] *= 1 + 0.05 * width
        face[OUTLINE, 1] += 0.05 * jaw * np.clip(face[OUTLINE, 1], 0, None)
        face[LEFT, 0] -= 0.012 * eyes
        face[RIGHT, 0] += 0.012 * eyes
        face[MOUTH, 0] *= 1 + 0.12 * mouth
        face[[27, 29], 1] -= 0.02 * smile
        face[BROWS, 1] -= 0.012 * brow
    return every


def draw(
    points: np.ndarray, light: np.ndarray, ground: int = GROUND, side: int = SIDE, grain: int | None = None
) -> np.ndarray:
    """A picture (side, side, 3) uint8 of the face at points (31, 2) in pixels.

    light (3,): skin, lips, side light, in standard deviations; grain: the seed of its blotches and noise
    """
    fine = 4  # drawn larger and shrunk: edges become smooth
    at = np.round((points[:, :2] * fine + (fine - 1) / 2) * 16).astype(np.int32)
    picture = np.full((side * fine, side * fine), ground, np.float32)
    skin = 175 + 20 * light[0]

    def fill(part: np.ndarray, grey: float) -> None:
        cv2.fillPoly(picture, [part.reshape(1, -1, 2)[0]], float(grey), shift=4)

    fill(cv2.convexHull(np.concatenate([at[OUTLINE], at[BROWS]])), skin)
    for eye in (LEFT, RIGHT):
        fill(at[eye], 40)
    fill(at[NOSE], skin - 25)
    fill(at[MOUTH], 90 + 15 * light[1])
    for a, b in ((20, 21), (22, 23)):
        cv2.line(picture, at[a].tolist(), at[b].tolist(), 60.0, 3 * fine, cv2.LINE_8, 4)
    picture = cv2.resize(picture, (side, side), interpolation=cv2.INTER_AREA)
    across = np.linspace(-1, 1, side, dtype=np.float32)
    lit = cv2.GaussianBlur(picture, (0, 0), 1.0) * (1 + 0.12 * light[2] * across)
    if grain is not None:
        rng = np.random.default_rng(grain)
        blotches = cv2.resize(rng.normal(size=(12, 12)).astype(np.float32), (side, side), interpolation=cv2.INTER_CUBIC)
        lit = lit + 6 * blotches + rng.normal(scale=2, size=lit.shape)
    return np.repeat(lit[..., None].clip(0, 255).astype(np.uint8), 3, axis=2)


def make_faces(n: int, seed: int = 0, head: bool = False) -> tuple[list[np.ndarray], np.ndarray]:
    """`n` pictures and their points (n, 31, 2), or (n, 31, 3) of turned heads, in pixels."""
    rng = np.random.default_rng(seed)
    pictures, points = [], []
    for shape in shapes(n, rng):
        yaw, roll = (0.25 * rng.normal() if head else 0.0), 0.06 * rng.normal()
        turned = shape @ turn(yaw, roll).T * rng.uniform(85, 100) + [SIDE / 2, SIDE / 2 - 8, 0]
        turned[:, :2] += rng.uniform(-5, 5, 2)
        at = turned if head else turned[:, :2]
        pictures.append(draw(at, rng.normal(size=3).clip(-2, 2), grain=int(rng.integers(1 << 30))))
        points.append(at)
    return pictures, np.stack(points)


def turn(yaw: float, roll: float) -> np.ndarray:
    """(3, 3) the rotation of a head by yaw, then roll, in radians."""
    c, s = np.cos(yaw), np.sin(yaw)
    about_y = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    c, s = np.cos(roll), np.sin(roll)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ about_y


def make_model(n: int = 60, seed: int = 0, head: bool = False) -> FaceModel:
    """A small face model, trained on cartoon faces."""
    pictures, points = make_faces(n, seed, head)
    return train_model(pictures, points, width=96, shape_modes=6, texture_modes=20)
