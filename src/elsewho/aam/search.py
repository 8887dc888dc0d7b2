"""The start search: where in a wide neighbourhood the model's own cost is lowest, at the coarsest scale."""

from __future__ import annotations

import numpy as np

from elsewho.aam.levels import Level
from elsewho.aam.view import View
from elsewho.types import Array

APART = 0.13  # diagonals between the candidates that are handed on


def search(level: Level, grey: Array, points: Array, view: View) -> list[Array]:
    """The best few places for the mean face near `points` (L, 2), as points (L, 2) each, best first."""
    patch = level.cut(grey, points, view)
    home = level.place(view)
    turns, shifts = _grid(level)
    middle = home.mean(axis=0)
    base = level.where(home - middle).T  # (2, P)
    turned = np.einsum("tij,jp->tpi", turns.astype(np.float32), base)
    places = turned[:, None] + (shifts + middle).astype(np.float32)[None, :, None]
    values = patch.sample(places.reshape(-1, 2)).reshape(len(turns) * len(shifts), -1)
    order = np.argsort(level.appearance.misfit(values))
    chosen: list[int] = []
    for i in order:
        apart = [np.linalg.norm(shifts[i % len(shifts)] - shifts[j % len(shifts)]) for j in chosen]
        if not apart or min(apart) > APART * level.recipe.diagonal:
            chosen.append(int(i))
        if len(chosen) == level.recipe.candidates:
            break
    return [
        patch.pose.apply((home - middle) @ turns[i // len(shifts)].T + middle + shifts[i % len(shifts)]) for i in chosen
    ]


def _grid(level: Level) -> tuple[Array, Array]:
    """Turns (t, 2, 2) and shifts (s, 2) in patch pixels that are tried."""
    recipe = level.recipe
    reach, spacing = recipe.reach * recipe.diagonal, recipe.spacing * recipe.diagonal
    one_way = np.arange(-int(reach / spacing + 0.01), int(reach / spacing + 0.01) + 1) * spacing
    shifts = np.stack(np.meshgrid(one_way, one_way), axis=-1).reshape(-1, 2)
    shifts = shifts[np.hypot(shifts[:, 0], shifts[:, 1]) <= 1.05 * reach]
    angles = np.deg2rad(recipe.turns)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.stack([np.stack([cos, -sin], axis=1), np.stack([sin, cos], axis=1)], axis=1), shifts
