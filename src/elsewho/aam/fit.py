"""Fitting: from a rough start to the face, coarse to fine; says so when it did not find it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from elsewho.aam.descent import LEAST, SOLVERS, Rest, descend, misfit_at
from elsewho.aam.levels import Level
from elsewho.aam.patch import to_grey
from elsewho.aam.procrustes import diagonal
from elsewho.aam.search import search
from elsewho.aam.shape import ShapeModel, check_points
from elsewho.aam.view import View, lift, look
from elsewho.aam.warp import sample
from elsewho.errors import BadInput
from elsewho.types import Array

if TYPE_CHECKING:
    from elsewho.aam.model import FaceModel, Fit, Solver

Stopped = Literal["converged", "limit", "diverged"]

# Scale and angle (degrees) from which the face is approached. The first does for a start within a quarter of the
# face; the others are tried only where the first found nothing plausible.
ATTEMPTS = ((1.0, 0.0), (0.72, 0.0), (1.4, 0.0), (1.0, -25.0), (1.0, 25.0))
LOOKS = 3  # times that a head model, which must guess how the head is turned, descends the finest level
# Misfit, over the largest plausible one, from which a fit has diverged. Chosen on IMM's people 01-28, in folds by
# person. On people 29-40 (benchmarks/fit_imm.py: far, wrong and turned starts, upside-down faces, walls, noise) it
# flags 1 of 322 fits with an error under .03, and misses none of 356 over .05 or without a face.
PLAUSIBLE = 1.1
SMALLEST = 4.0  # diagonal in pixels under which a face has collapsed


@dataclass(frozen=True, slots=True)
class Track:
    """A face on its way: where it stands, how its head is turned, and what it took to come here."""

    points: Array  # (L, 2) in pixels
    turn: Array | None  # (3, 3) of a head model; None: the model is flat
    misfit: float = np.inf  # mean square of the features that are not explained, at the level just left
    steps: int = 0
    still: bool = False  # the last step was small

    def follow(self, rest: Rest, shape: ShapeModel) -> Track:
        """The track after one descent."""
        turn = self.turn
        if turn is not None and np.isfinite(rest.misfit):
            turn = lift(shape, rest.points)[1].turn
        return Track(rest.points, turn, rest.misfit, self.steps + rest.steps, rest.still)

    def spun(self, scale: float, angle: float) -> Track:
        """The track with its points scaled, and turned by `angle` degrees, about their middle."""
        middle = self.points.mean(axis=0)
        cos, sin = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
        spin = scale * np.array([[cos, -sin], [sin, cos]])
        return replace(self, points=(self.points - middle) @ spin.T + middle)


def fit_face(model: FaceModel, image: Array, start: Array, solver: Solver = "wiberg") -> Fit:
    """Move the model from `start` onto the face in `image` (H, W, 3) uint8; see FaceModel.fit."""
    if solver not in SOLVERS:
        raise BadInput(f"solver={solver!r} is unknown; use one of {', '.join(SOLVERS)}.")
    if not model.levels:
        raise BadInput("the model was trained without levels, so it cannot fit. Train it with levels=True.")
    grey = to_grey(image)
    begun = begin(model.shape, start)
    track = approach(model, grey, begun, solver)
    finest = model.levels[-1]
    for _ in range(1 if track.turn is None else LOOKS):
        view = see(model.shape, finest, track.turn)
        track = track.follow(descend(finest, grey, track.points, view, solver), model.shape)
    if lost(model, grey, track):
        return finish(model, image, track if usable(track) else begun, "diverged", track.steps)
    return finish(model, image, track, "converged" if track.still else "limit", track.steps)


def begin(shape: ShapeModel, start: Array) -> Track:
    """The track at `start`: points (L, 2 or D), or a box (4,)."""
    start = np.asarray(start, np.float64)
    head = shape.dimensions == 3
    if start.shape == (4,):
        return Track(from_box(shape, start), np.eye(3) if head else None)
    if head and start.shape == (shape.count, 2):
        check_points(start, shape.mean[:, :2], "the start")
        return Track(start, lift(shape, start)[1].turn)
    start = shape.check(start)
    return Track(start[:, :2], shape.encode(start)[1].turn if head else None)


def from_box(shape: ShapeModel, box: Array) -> Array:
    """The mean face (L, 2), put in the middle of a box (4,) x, y, width, height and as large as the box."""
    if not (np.isfinite(box).all() and (box[2:] >= 1).all()):
        raise BadInput(f"the box {box.tolist()} has no area; pass x, y, width, height in pixels, at least 1 each.")
    mean = shape.mean[:, :2]
    scale = np.sqrt(np.prod(box[2:] / np.ptp(mean, axis=0)))
    middle = (mean.min(axis=0) + mean.max(axis=0)) / 2
    return np.asarray((mean - middle) * scale + box[:2] + box[2:] / 2)


def see(shape: ShapeModel, level: Level, turn: Array | None) -> View:
    """The view in which a level sees the face."""
    return level.view if turn is None else look(shape, level.recipe.shapes, turn)


def approach(model: FaceModel, grey: Array, begun: Track, solver: Solver) -> Track:
    """Come near the face by all levels but the finest; once more from farther away where that fails."""
    if len(model.levels) == 1:
        return begun
    plausible = model.levels[-2].worst
    best, steps = begun, 0
    for scale, angle in ATTEMPTS:
        track = come_near(model, grey, begun.spun(scale, angle), solver)
        steps += track.steps
        if track.misfit < best.misfit:
            best = track
        if best.misfit <= plausible:
            break
    return replace(best, steps=steps)


def come_near(model: FaceModel, grey: Array, begun: Track, solver: Solver) -> Track:
    """One attempt: of the places that the search finds, the one where the model fits best in the end."""
    tracks = [begun]
    for level in model.levels[:-1]:
        view = see(model.shape, level, begun.turn)
        if level.recipe.reach:
            tracks = [replace(one, points=at) for one in tracks for at in search(level, grey, one.points, view)]
        else:
            tracks = [one.follow(descend(level, grey, one.points, view, solver), model.shape) for one in tracks]
    best = min(tracks, key=lambda one: one.misfit)
    return replace(best, steps=sum(one.steps for one in tracks))


def lost(model: FaceModel, grey: Array, track: Track) -> bool:
    """True where the track did not end on a face.

    Every level is asked, at the final points: a smooth wall leaves little to explain at the finest, and much at a
    coarse one where a face would have eyes.
    """
    if not usable(track):
        return True
    for level in model.levels:
        if not level.recipe.reach:
            misfit = misfit_at(level, grey, track.points, see(model.shape, level, track.turn))
            if not misfit <= PLAUSIBLE * level.worst:
                return True
    return False


def usable(track: Track) -> bool:
    """True where the points are finite and span a face."""
    return bool(np.isfinite(track.points).all() and diagonal(track.points) >= SMALLEST)


def finish(model: FaceModel, image: Array, track: Track, stopped: Stopped, steps: int) -> Fit:
    """The fit at its final points, with shape and texture as the whole model sees them there."""
    from elsewho.aam.model import Fit  # model.py needs this module's levels

    solid = points = track.points
    if model.shape.dimensions == 2:
        shape, pose = model.shape.encode(points)
        shape = model.shape.basis.limit(shape)
    else:
        shape, pose = lift(model.shape, points)
        solid = np.column_stack([points, pose.apply(model.shape.decode(shape))[:, 2]])
    picture = to_grey(image) if model.texture.space == "grey" else image
    values, seen = sample(picture, solid, model.texture.mesh)
    if seen.mean() < LEAST:  # nothing to encode: the fit has diverged out of the picture
        nothing = np.zeros(len(model.texture.basis), np.float32)
        return Fit(points, shape, nothing, pose, float("inf"), "diverged", steps)
    texture = model.texture.encode(values, seen)
    painted = model.texture.basis.decode(texture)
    off = (painted if values.ndim == 1 else model.texture.unpack(painted))[seen] - values[seen]
    return Fit(points, shape, texture, pose, float(np.sqrt(np.mean(off**2))), stopped, steps)
