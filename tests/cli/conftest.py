"""Folders of cartoon faces to train on, and the program, run in this process."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from elsewho.cli import main

SIZE = 96


def cartoon(rng):
    """A picture (SIZE, SIZE, 3) BGR of a round face and its 16 points (x, y)."""
    centre = np.array([48, 48]) + rng.uniform(-3, 3, 2)
    width, height = 26 + rng.uniform(-3, 3), 34 + rng.uniform(-3, 3)
    skin = rng.uniform([110, 140, 170], [150, 180, 230])
    picture = np.full((SIZE, SIZE, 3), rng.uniform(20, 60), np.uint8)
    angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    outline = centre + np.stack([width * np.cos(angles), height * np.sin(angles)], axis=1)
    cv2.ellipse(picture, (tuple(centre), (2 * width, 2 * height), 0), skin.tolist(), -1, cv2.LINE_AA)
    eyes = [centre + [side * 10 + rng.uniform(-1, 1), -10] for side in (-1, 1)]
    mouth = centre + [0, 15 + rng.uniform(-2, 2)]
    for eye in eyes:
        cv2.circle(picture, np.round(eye).astype(int).tolist(), 3, (40, 30, 30), -1, cv2.LINE_AA)
    cv2.ellipse(picture, (tuple(mouth), (20, 6 + rng.uniform(0, 4)), 0), (80, 60, 170), -1, cv2.LINE_AA)
    corners = [mouth + [-10, 0], mouth + [10, 0], mouth + [0, -4], mouth + [0, 4]]
    inner = [eye + [side * 3, 0] for eye in eyes for side in (-1, 1)]
    return cv2.GaussianBlur(picture, (0, 0), 0.8), np.array([*outline, *inner, *corners])


def write_pts(path, points):
    rows = "\n".join(f"{x + 1:.3f} {y + 1:.3f}" for x, y in points)
    path.write_text(f"version: 1\nn_points: {len(points)}\n{{\n{rows}\n}}\n")


@pytest.fixture
def faces(tmp_path):
    """A folder `photos` of 12 cartoon faces and a folder `points` beside it; returns the folder of both."""
    rng = np.random.default_rng(0)
    for name in ("photos", "points"):
        (tmp_path / name).mkdir()
    for number in range(12):
        picture, points = cartoon(rng)
        cv2.imwrite(str(tmp_path / "photos" / f"face{number:02}.png"), picture)
        write_pts(tmp_path / "points" / f"face{number:02}.pts", points)
    return tmp_path


@pytest.fixture
def run(capfd):
    """Run the program with these words; returns its exit code, standard output and standard error."""

    def call(*words):
        code = main([str(word) for word in words])
        said = capfd.readouterr()
        return code, said.out, said.err

    return call
