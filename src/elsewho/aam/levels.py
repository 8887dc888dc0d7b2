"""A level: what the model knows about appearance at one scale, trained once, used by every fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import cv2
import numpy as np
from scipy.optimize import linear_sum_assignment

from elsewho.aam.basis import Basis, fit_basis
from elsewho.aam.explain import Appearance, Linear, linearise
from elsewho.aam.features import Features
from elsewho.aam.jacobian import Neighbours, Steering, find_neighbours, steer
from elsewho.aam.mesh import Mesh, triangulate
from elsewho.aam.patch import Patch, cut_patch, to_grey
from elsewho.aam.procrustes import similarity
from elsewho.aam.shape import ShapeModel
from elsewho.aam.view import View, flat_similarity, look
from elsewho.types import Array


@dataclass(frozen=True, slots=True)
class Recipe:
    """What one level is made of and how it moves."""

    diagonal: float  # of the mean face in the patch, pixels
    step: float  # patch pixels between the pixels of the mesh
    margin: float  # of the patch around the mean face, in diagonals
    shapes: int  # shape modes
    textures: int  # appearance modes, at most
    features: Features
    ring: float  # how far outside the outline its virtual points lie, in distances from the middle
    repeat: float  # how many features say the same thing: what the residual's variance is multiplied by
    blend: float  # share of the picture in the template whose slopes are followed
    steps: int  # Gauss-Newton steps, at most
    reach: float = 0.0  # of the start search, in diagonals; 0: none
    spacing: float = 0.0  # of its grid, in diagonals
    turns: tuple[float, ...] = (0.0,)  # it tries, in degrees
    candidates: int = 1  # it hands on


@dataclass(frozen=True)
class Level:
    """Appearance at one scale."""

    recipe: Recipe
    view: View  # the shape modes that this level moves along, seen from the front
    mesh: Mesh  # where features are compared: the face and a ring around it; one pixel is `step` patch pixels
    ring: Array  # (V, L) each row makes one virtual point out of the points
    basis: Basis  # of the features, laid flat (P * bins)
    doubt: float  # variance along a direction that the basis leaves out
    usual: float  # misfit of a face outside the training pictures at its true points: median
    worst: float  # the same, the largest that is still plausible

    @cached_property
    def size(self) -> tuple[int, int]:
        """Rows, columns of the patch."""
        extent = np.ptp(self.view.mean, axis=0) + 2 * self.recipe.margin
        unit = self.recipe.features.shrink
        columns, rows = (int(np.ceil(e * self.recipe.diagonal / unit)) * unit for e in extent)
        return rows, columns

    @cached_property
    def spread(self) -> Array:
        """(P, L) float32: the pixels of the mesh as weighted sums of the points."""
        every = np.zeros((len(self.mesh.pixels), len(self.mesh.points)), np.float32)
        np.put_along_axis(every, self.mesh.corners, self.mesh.weights, axis=1)
        extend = np.vstack([np.eye(self.ring.shape[1]), self.ring]).astype(np.float32)
        return every @ extend

    @cached_property
    def neighbours(self) -> Neighbours:
        """Neighbours on the mesh."""
        return find_neighbours(self.mesh, self.recipe.step)

    @cached_property
    def appearance(self) -> Appearance:
        """The basis as a Gaussian of features."""
        variance = np.asarray(self.basis.variance, np.float64)
        modes = np.asarray(self.basis.modes, np.float32)
        return Appearance(self.basis.mean, modes, variance / (variance + self.doubt), self.doubt)

    @cached_property
    def noise(self) -> float:
        """Variance of a feature's residual, as it counts against the shape's prior."""
        return self.recipe.repeat * self.basis.rest / len(self.basis.mean)

    @cached_property
    def steering(self) -> Steering:
        """Of the view from the front."""
        return steer(self.view, self.spread, self.recipe.diagonal)

    @cached_property
    def constant(self) -> Linear:
        """How features change around the mean face, seen from the front."""
        return linearise(self.appearance, self.basis.mean, self.neighbours, self.steering)

    def per_feature(self, pixels: Array) -> Array:
        """Values (P,) of the mesh's pixels, for each of their features (P * bins,)."""
        return np.repeat(pixels, self.recipe.features.bins)

    def place(self, view: View) -> Array:
        """(L, 2) where the mean of a view stands in the patch."""
        low = self.view.mean.min(axis=0) - self.recipe.margin
        return np.asarray((view.mean - low) * self.recipe.diagonal)

    def cut(self, grey: Array, points: Array, view: View | None = None) -> Patch:
        """The patch around the face that stands at `points` (L, 2) of a grey picture (H, W)."""
        view = view or self.view
        pose = flat_similarity(self.place(view), points, view.weights)
        return cut_patch(grey, pose, self.size, self.recipe.features)

    def where(self, points: Array) -> Array:
        """(P, 2) float32: where the pixels of the mesh lie when the face stands at `points` (L, 2) of the patch."""
        return self.mesh.place(np.concatenate([points, self.ring @ points]))


_SEARCH = Recipe(
    diagonal=28,
    step=1.5,
    margin=0.45,
    shapes=2,
    textures=30,
    features=Features(sigma=1.5),
    ring=0.1,
    repeat=300,
    blend=0.5,
    steps=0,
    reach=0.28,
    spacing=0.08,
    turns=(-8.0, 0.0, 8.0),
    candidates=2,
)
_MIDDLE = Recipe(
    diagonal=40,
    step=1,
    margin=0.2,
    shapes=6,
    textures=40,
    features=Features(sigma=1.5),
    ring=0.1,
    repeat=300,
    blend=0.5,
    steps=6,
)
_FINE = Recipe(
    diagonal=220,
    step=4,
    margin=0.12,
    shapes=40,
    textures=100,
    features=Features(sigma=2.0, floor=0.1, shrink=2),
    ring=0.1,
    repeat=200,
    blend=0.0,
    steps=8,
)
RECIPES = (_SEARCH, _MIDDLE, _FINE)
FULLEST = 0.45  # share of the directions that a basis keeps at most: the rest must tell how large the noise is
FOLDS = 4  # parts of the training pictures, each held out once, to learn how well unknown faces are explained
ENOUGH = 1000  # rows of which the folds are made, at most: eigenvectors of thousands take minutes
CLEAN = 0.002  # a misfit under it is plausible however clean the training pictures were; a photo's is about .006
OUTLINE = 0.02  # points this near the convex hull of the face, in diagonals, are its outline


def train_levels(
    images: Iterable[Array],
    points: Array,
    shape: ShapeModel,
    *,
    mirror: Array | None = None,
    recipes: Sequence[Recipe] = RECIPES,
) -> tuple[Level, ...]:
    """The levels of a face model, coarse to fine.

    images   (H, W[, 3]) uint8 each, RGB or grey; read once, one after the other
    points   (n, L, 2 or 3) in pixels
    shape    the shape model of the same mark-up
    mirror   (L,) the number of each point in the mirrored face (mirror_map finds it), by which each picture is used
             flipped as well; None: pictures are not flipped
    """
    plans = [_plan(shape, recipe) for recipe in recipes]
    rows: list[list[Array]] = [[] for _ in recipes]
    for image, marks in zip(images, points, strict=True):
        grey, flat = to_grey(image), np.asarray(marks[:, :2], np.float64)
        faces = [(grey, flat)]
        if mirror is not None:
            flipped = np.column_stack([grey.shape[1] - 1 - flat[:, 0], flat[:, 1]])[mirror]
            faces.append((np.ascontiguousarray(grey[:, ::-1]), flipped))
        for picture, at in faces:
            for plan, row in zip(plans, rows, strict=True):
                patch = plan.cut(picture, at)
                row.append(patch.sample(plan.where(patch.pose.undo(at))).ravel())
    copies = 1 if mirror is None else 2
    return tuple(_learn(plan, np.stack(row), copies) for plan, row in zip(plans, rows, strict=True))


def _plan(shape: ShapeModel, recipe: Recipe) -> Level:
    """A level that knows its frame, and nothing of appearance yet."""
    view = look(shape, recipe.shapes)
    ring = _ring(view.mean, recipe.ring)
    every = np.vstack([view.mean, ring @ view.mean]) * (recipe.diagonal / recipe.step)
    at = every - every.min(axis=0) + 1
    columns, rows = np.ceil(at.max(axis=0)).astype(int) + 2
    mesh = Mesh(at, triangulate(at), (int(rows), int(columns)))
    nothing = Basis(np.zeros(0, np.float32), np.zeros((0, 0), np.float32), np.zeros(0), 0.0)
    return Level(recipe, view, mesh, ring, nothing, 0.0, 0.0, 0.0)


def _learn(plan: Level, vectors: Array, copies: int) -> Level:
    """The level with the appearance of `vectors` (n, P * C); `copies` rows in a row show one picture."""
    centred = vectors - vectors.mean(axis=0)
    gram = (centred @ centred.T).astype(np.float64)
    del centred
    varied = int((np.linalg.eigvalsh(gram) > 1e-6 * np.trace(gram) / len(gram)).sum())
    count = max(1, min(plan.recipe.textures, int(FULLEST * varied)))
    basis = fit_basis(vectors, count, in_place=True)
    doubt = basis.rest / max(1, len(vectors) - 1 - count)
    usual, worst = _held_out(gram, count, doubt, copies) / vectors.shape[1]
    return replace(plan, basis=basis, doubt=doubt, usual=float(usual), worst=max(float(worst), CLEAN))


def _held_out(gram: Array, count: int, doubt: float, copies: int) -> Array:
    """Misfits (median, largest but one percent) of faces by bases that do not know them, from scalar products alone.

    gram   (n, n) scalar products of the centred vectors
    """
    thin = np.arange(len(gram)) // copies % -(-len(gram) // ENOUGH) == 0
    gram = gram[np.ix_(thin, thin)]
    n = len(gram)
    parts = np.arange(n) // copies * FOLDS // max(1, n // copies)
    misfits = []
    for part in range(FOLDS):
        known, new = np.nonzero(parts != part)[0], np.nonzero(parts == part)[0]
        if len(known) < 3 or not len(new):
            continue
        inner = gram[np.ix_(known, known)]
        middle = inner.mean(axis=0)
        energy, turn = np.linalg.eigh(inner - middle - middle[:, None] + middle.mean())
        energy, turn = energy[::-1][:count], turn[:, ::-1][:, :count]
        real = energy > 1e-9 * energy[0]
        energy, turn = energy[real], turn[:, real]
        across = gram[np.ix_(new, known)]
        length = gram[new, new] - 2 * across.mean(axis=1) + middle.mean()
        along = (across - middle) @ turn  # the part of the mean falls out: columns of `turn` sum to zero
        variance = energy / (len(known) - 1)
        misfits.append(length - (along**2 / energy * (variance / (variance + doubt))).sum(axis=1))
    every = np.concatenate(misfits) if misfits else np.array([np.trace(gram) / n])
    return np.array([np.median(every), np.percentile(every, 99)])


def _ring(mean: Array, beyond: float) -> Array:
    """(V, L) virtual points around the face: each outline point, moved away from the middle by `beyond` of the way."""
    hull = cv2.convexHull(mean.astype(np.float32))
    outline = [i for i, p in enumerate(mean.astype(float)) if cv2.pointPolygonTest(hull, tuple(p), True) < OUTLINE]
    own = np.eye(len(mean))[outline]
    return np.asarray(own + beyond * (own - 1 / len(mean)))


def mirror_map(mean: Array) -> Array | None:
    """(L,) the number of each point in the mirrored face, by the best assignment; None where the mark-up has no mirror.

    mean   (L, 2 or 3) the mean shape, upright, with a diagonal of 1
    """
    flat = mean[:, :2] - mean[:, :2].mean(axis=0)
    mirrored = flat * [-1, 1]
    for _ in range(3):  # a mean that hangs a little to one side is levelled by what was found
        apart = np.linalg.norm(mirrored[:, None] - flat[None], axis=2)
        found = linear_sum_assignment(apart**2)[1]
        mirrored = similarity(mirrored, flat[found]).apply(mirrored)
    apart = np.linalg.norm(mirrored - flat[found], axis=1)
    if (found[found] != np.arange(len(flat))).any() or apart.mean() > 0.02:
        return None
    return np.asarray(found)
