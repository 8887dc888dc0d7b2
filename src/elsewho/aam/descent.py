"""The Gauss-Newton loop: one loop for three solvers, at one level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elsewho.aam.explain import Appearance, eliminate, linearise, solve_jointly
from elsewho.aam.jacobian import steer
from elsewho.aam.levels import Level
from elsewho.aam.mesh import signed_area
from elsewho.aam.patch import Patch
from elsewho.aam.view import View, flat_similarity
from elsewho.types import Array

if TYPE_CHECKING:
    from elsewho.aam.model import Solver

SOLVERS = ("wiberg", "simultaneous", "project-out")
FRESH = 2  # steps of a level that follow the slopes of the face; later ones keep them: they change little
STILL = 5e-4  # a step that moves the points by less than this, in diagonals on average, is the last
LEAST = 0.3  # share of the face that must lie in the picture


@dataclass(frozen=True, slots=True)
class Rest:
    """Where one descent came to rest."""

    points: Array  # (L, 2) in pixels of the picture
    misfit: float  # mean square of the features that the model leaves unexplained; inf: out of the picture
    steps: int
    still: bool  # the last step was small


def descend(level: Level, grey: Array, points: Array, view: View, solver: Solver) -> Rest:
    """Gauss-Newton steps at one level, from `points` (L, 2) of a grey picture (H, W) uint8.

    Each step asks by which small move of the *mean* frame the features there would look like the model, and then
    moves the face the opposite way (inverse composition: Baker and Matthews 2004), so that slopes are taken of a
    template without noise. The solvers differ in the template and in how they treat the appearance:

    project-out    the mean face, linearised once for all; what the modes explain is projected out
    wiberg         the face as the modes explain it at each step; projected out as well
    simultaneous   the face of the last step's joint solution for move and appearance
    """
    from_front = view is level.view
    steering = level.steering if from_front else steer(view, level.spread, level.recipe.diagonal)
    patch = level.cut(grey, points, view)
    home = level.place(view)
    coefficients, points = settle(view, patch.pose.undo(points))
    seen = in_sight(level, patch, points, from_front)
    if not seen.mean() >= LEAST:
        return Rest(patch.pose.apply(points), np.inf, 0, False)
    appearance = level.appearance if seen.all() else level.appearance.hide(level.per_feature(seen))
    prior = level.noise * steering.prior
    linear = level.constant if solver == "project-out" and from_front and seen.all() else None
    explained: Array | None = None
    moved, step = np.inf, 0
    while step < level.recipe.steps and moved > STILL:
        values = patch.sample(level.where(points)).ravel()
        rest = appearance.rest(values)
        if linear is None or (solver != "project-out" and step < FRESH):
            template = appearance.mean
            if solver != "project-out":
                if solver == "wiberg" or explained is None:
                    explained = appearance.encode(rest)
                template = template + explained @ appearance.modes
                template += level.recipe.blend * (values - template)
            linear = linearise(appearance, template, level.neighbours, steering)
        solve = solve_jointly if solver == "simultaneous" else eliminate
        delta, explained = solve(appearance, linear, rest, prior, coefficients)
        pose = flat_similarity(home, points, view.weights)
        before = points
        points = points - pose.scale * (steering.points @ delta).reshape(-1, 2) @ pose.turn.T
        coefficients, points = settle(view, points)
        moved = float(np.linalg.norm(points - before, axis=1).mean()) / level.recipe.diagonal
        step += 1
    values = patch.sample(level.where(points)).ravel()
    return Rest(patch.pose.apply(points), float(appearance.misfit(values)), step, moved <= STILL)


def settle(view: View, points: Array) -> tuple[Array, Array]:
    """The shape of the view nearest to points (L, 2), within its limits: coefficients (S,) and points (L, 2)."""
    coefficients, pose = view.encode(points)
    return coefficients, pose.apply(view.decode(coefficients))


def in_sight(level: Level, patch: Patch, points: Array, from_front: bool) -> Array:
    """(P,) True for the pixels of the mesh that lie in the picture and, on a turned head, face the camera."""
    seen = patch.seen(level.where(points))
    if not from_front:
        every = np.vstack([points, level.ring @ points])
        seen &= (signed_area(every, level.mesh.triangles) > 0)[level.mesh.triangle]
    return seen


def misfit_at(level: Level, grey: Array, points: Array, view: View) -> float:
    """What a level leaves unexplained of the face at `points` (L, 2) of the picture; inf where it cannot be seen."""
    patch = level.cut(grey, points, view)
    points = patch.pose.undo(points)
    seen = in_sight(level, patch, points, view is level.view)
    if not seen.mean() >= LEAST:
        return np.inf
    appearance: Appearance = level.appearance
    if not seen.all():
        appearance = appearance.hide(level.per_feature(seen))
    return float(appearance.misfit(patch.sample(level.where(points)).ravel()))
