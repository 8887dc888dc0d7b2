"""FaceModel: photo and points in, coefficients out, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from elsewho.aam.basis import Basis
from elsewho.aam.levels import Level
from elsewho.aam.population import PLAUSIBLE, Population
from elsewho.aam.procrustes import Similarity
from elsewho.aam.shape import ShapeModel
from elsewho.aam.texture import TextureModel
from elsewho.aam.traits import Traits
from elsewho.aam.warp import paint_map, pick, sample
from elsewho.errors import BadInput
from elsewho.media.images import to_rgb
from elsewho.types import Array

Solver = Literal["project-out", "simultaneous", "wiberg"]


@dataclass(frozen=True, slots=True)
class Coefficients:
    """A face as the model sees it: form and look, and where it stood in the picture."""

    shape: Array  # (S,) in units of the mean face's diagonal
    texture: Array  # (T,) grey levels
    pose: Similarity  # model space to pixels


@dataclass(frozen=True, slots=True)
class Fit:
    """Where the model came to rest on one face."""

    points: Array  # (L, 2) x, y in pixels
    shape: Array  # (S,) coefficients
    texture: Array  # (T,) coefficients
    pose: Similarity
    rms: float  # texture error, grey levels
    stopped: Literal["converged", "limit", "diverged"]
    steps: int  # Gauss-Newton steps, all levels together

    @property
    def trustworthy(self) -> bool:
        """False for a fit that diverged: such a face must be concealed."""
        return self.stopped != "diverged"

    @property
    def coefficients(self) -> Coefficients:
        """The fit as coefficients."""
        return Coefficients(self.shape, self.texture, self.pose)


@dataclass(frozen=True, slots=True)
class Appearance:
    """A decoded face: where its points stand and how it looks in the model's frame."""

    points: Array  # (L, D) in pixels
    texture: Array  # (rows, columns, 3) RGB float32, 0..255; continued outside the face


@dataclass(frozen=True)
class FaceModel:
    """An active appearance model of faces. Immutable; `elsewho.train_model` makes one, `load_model` reads one."""

    marks: str  # the mark-up of the points: "mesh468", "imm58", ...
    shape: ShapeModel
    texture: TextureModel
    levels: tuple[Level, ...] = ()  # for fitting, coarse to fine; empty: the model only encodes
    population: Population | None = None  # how neutral faces vary, shape and texture together
    traits: Traits | None = None  # what can be read from the coefficients
    card: Mapping[str, Any] = field(default_factory=dict)  # training data, licence, held-out figures

    def encode(self, image: Array, points: Array) -> Coefficients:
        """Shape and texture of the face in `image` (H, W[, C]) at `points` (L, D) in pixels."""
        image = to_rgb(image)
        points = self.shape.check(points)
        shape, pose = self.shape.encode(points)
        values, seen = sample(image, points, self.texture.mesh)
        return Coefficients(shape, self.texture.encode(values, seen), pose)

    def decode(self, coefficients: Coefficients) -> Appearance:
        """The face that the coefficients stand for, at their pose."""
        self._check(coefficients)
        points = coefficients.pose.apply(self.shape.decode(coefficients.shape))
        return Appearance(points, self.texture.mesh.extend(self.texture.decode(coefficients.texture)))

    def fit(self, image: Array, start: Array, *, solver: Solver = "wiberg") -> Fit:
        """Move the model from `start` onto the face in `image`.

        image    (H, W[, C]) uint8 or uint16
        start    (L, 2 or D) rough points in pixels, or a box (4,) x, y, width, height about the face
        solver   "wiberg" (the default), "simultaneous" (an independent check, slow), "project-out" (fastest)
        """
        from elsewho.aam.fit import fit_face  # the solver is needed by few who load a model

        return fit_face(self, to_rgb(image), start, solver)

    def sample(self, n: int, seed: int = 0, *, spread: float = PLAUSIBLE) -> list[Coefficients]:
        """`n` new, neutral, plausible faces of nobody, levelled, one unit to a pixel.

        spread  how far from the mean face they lie, where people lie at 1
        """
        if n < 0:
            raise BadInput(f"n={n} faces were asked; ask for 0 or more.")
        vectors = self.people_statistics().sample(n, np.random.default_rng(seed), spread)
        return [self.from_vector(vector) for vector in vectors]

    def people_statistics(self) -> Population:
        """How faces vary; from the variances of the modes alone where the model was trained without more."""
        if self.population is not None:
            return self.population
        return Population.independent(np.concatenate([self.shape.basis.sd, self.texture.basis.sd]))

    # Identity methods work on plain vectors: shape, weighted to count as texture does, then texture.

    @property
    def shape_weight(self) -> float:
        """What shape coefficients are multiplied by: sqrt(texture variance / shape variance), as Cootes does."""
        shape, texture = self.shape.basis.variance.sum(), self.texture.basis.variance.sum()
        return float(np.sqrt(texture / shape))

    def to_vector(self, coefficients: Coefficients) -> Array:
        """The vector (S + T,) float64 in which identities are compared and exchanged."""
        self._check(coefficients)
        return np.concatenate([coefficients.shape * self.shape_weight, coefficients.texture]).astype(np.float64)

    def from_vector(self, vector: Array, pose: Similarity | None = None) -> Coefficients:
        """The coefficients of a vector (S + T,), at `pose` (None: the model's own)."""
        shapes, textures = len(self.shape.basis), len(self.texture.basis)
        if vector.shape != (shapes + textures,):
            raise BadInput(
                f"the model's vectors have {shapes} + {textures} values, found an array of shape {vector.shape}. "
                "Use vectors made by to_vector of the same model."
            )
        d = self.shape.dimensions
        pose = pose or Similarity(1.0, np.eye(d), np.zeros(d))
        return Coefficients(vector[:shapes] / self.shape_weight, vector[shapes:].astype(np.float32), pose)

    def without_brightness(self, vectors: Array) -> Array:
        """Vectors (..., S + T) without how bright the picture is, so that distances do not count it.

        What is taken out is the model's measured direction of brightness, which leaves skin tone where it is. A model
        without readings has none: its first texture mode is zeroed, as paper 000 does (IV.A), whatever that mode is.
        """
        if self.traits is not None:
            direction = self.traits.brightness
        else:
            direction = np.zeros(len(self.shape.basis) + len(self.texture.basis))
            direction[len(self.shape.basis)] = 1
        return np.asarray(vectors - (vectors @ direction)[..., None] * direction)

    def portrait(self, coefficients: Coefficients, width: int = 256, ground: int = 128) -> Array:
        """The face alone (rows, width, 3) uint8, levelled and frontal, on plain ground."""
        pose = self.portrait_pose(width)
        rows = int(np.ceil(np.ptp(self.shape.mean[:, 1]) * pose.scale + 0.2 * width))
        picture = np.full((rows, width, 3), ground, np.uint8)
        return self.paint(picture, Coefficients(coefficients.shape, coefficients.texture, pose))

    def portrait_pose(self, width: int = 256) -> Similarity:
        """The pose at which the mean face stands in the middle of a portrait `width` pixels wide."""
        mean = self.shape.mean
        scale = 0.8 * width / float(np.ptp(mean[:, 0]))
        move = np.zeros(self.shape.dimensions)
        move[:2] = 0.1 * width - scale * mean[:, :2].min(axis=0)
        return Similarity(scale, np.eye(self.shape.dimensions), move)

    def paint(self, picture: Array, coefficients: Coefficients) -> Array:
        """`picture` (H, W, 3) uint8 with the face drawn over it, hard edges, no blending."""
        appearance = self.decode(coefficients)
        place, covered = paint_map(appearance.points, self.texture.mesh, picture.shape[:2])
        drawn = pick(appearance.texture, place)
        painted = picture.copy()
        painted[covered] = np.round(drawn[covered]).astype(np.uint8)
        return painted

    def _check(self, coefficients: Coefficients) -> None:
        asked = len(coefficients.shape), len(coefficients.texture)
        own = len(self.shape.basis), len(self.texture.basis)
        if asked != own:
            raise BadInput(
                f"the model has {own[0]} shape and {own[1]} texture modes, the coefficients {asked[0]} and {asked[1]}. "
                "Encode the face with this model."
            )
        if not (np.isfinite(coefficients.shape).all() and np.isfinite(coefficients.texture).all()):
            raise BadInput("the coefficients hold NaN or infinity; encode the face again.")


@dataclass(frozen=True)
class CombinedModel:
    """Shape and texture in one vector (Edwards, Cootes): correlated change becomes one mode."""

    model: FaceModel
    basis: Basis  # of FaceModel.to_vector

    def encode(self, coefficients: Coefficients) -> Array:
        """Combined coefficients (C,)."""
        return self.basis.encode(self.model.to_vector(coefficients))

    def decode(self, combined: Array, pose: Similarity | None = None) -> Coefficients:
        """Shape and texture coefficients of combined ones (C,)."""
        return self.model.from_vector(self.basis.decode(combined), pose)
