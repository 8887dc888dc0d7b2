"""Cartoon people in IMM's layout: pictures and .asf files of 58 points, made by code."""

import cv2
import numpy as np
from faces import BROWS, LEFT, MOUTH, NOSE, OUTLINE, RIGHT, SIDE, draw, shapes

KINDS = "123456"


def along(points, count, closed=False):
    """`count` points evenly along a line through `points`."""
    line = np.vstack([points, points[:1]]) if closed else points
    length = np.r_[0, np.cumsum(np.hypot(*np.diff(line, axis=0).T))]
    at = np.linspace(0, length[-1], count, endpoint=not closed)
    return np.stack([np.interp(at, length, line[:, i]) for i in (0, 1)], axis=1)


def as_imm(points):
    """The 58 points of IMM's mark-up, in its order, of a cartoon's 31."""
    brows = points[BROWS]
    return np.concatenate(
        [
            along(points[OUTLINE], 13),
            along(points[LEFT], 8, closed=True),
            along(points[RIGHT], 8, closed=True),
            along(brows[:2], 5),
            along(brows[2:], 5),
            along(points[MOUTH], 8, closed=True),
            along(points[NOSE], 11, closed=True),
        ]
    )


def write_asf(path, points):
    """Points (58, 2) in pixels of a picture SIDE wide and high."""
    rows = "".join(f"0 4 {x / SIDE:.6f} {y / SIDE:.6f} {i} 0 0\n" for i, (x, y) in enumerate(points))
    path.write_text(f"# made by a test\n{len(points)}\n{rows}{path.stem}.jpg\n")


def write_imm(folder, people=20, kinds=KINDS, seed=0):
    """Pictures of `people` in each of `kinds`: a person keeps form and complexion, mouth and light change."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for number, form in enumerate(shapes(people, rng), 1):
        light = rng.normal(size=3).clip(-2, 2)
        for kind in kinds:
            own = form + 0.004 * rng.normal(size=form.shape)
            own[MOUTH, 0] *= 1 + 0.05 * (kind == "2")
            own[[27, 29], 1] -= 0.04 * (kind == "2") - 0.03 * (kind == "6")
            points = own[:, :2] * rng.uniform(90, 100) + [SIDE / 2, SIDE / 2 - 8] + rng.uniform(-4, 4, 2)
            stem = folder / f"{number:02}-{kind}m"
            lit = light + [0, 0, 2.0 * (kind == "5")]
            cv2.imwrite(f"{stem}.jpg", draw(points, lit, grain=int(rng.integers(1 << 30))))
            write_asf(stem.with_suffix(".asf"), as_imm(points))
    return folder
