"""The stages in order: this is the table of contents of the package.

    find -> points -> encode -> another identity -> paint;  a face that cannot be replaced is concealed

Today the other identity is a plain sample of the face model, drawn by seed. It is NOT chosen to protect anybody:
no guarantee holds, nothing checks that the new face is far from the old one, and eyes, teeth, outline and hair stay
the photo's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from elsewho import find, paint
from elsewho.aam.clean import bare_face, fit_light, hides_face
from elsewho.aam.load import load_model
from elsewho.aam.model import Coefficients, FaceModel
from elsewho.aam.warp import look_up, sample
from elsewho.errors import BadInput, ElsewhoError
from elsewho.expression.neutral import NeutralEstimator, fingerprint, load_neutral
from elsewho.media.images import read_image, to_rgb
from elsewho.paint.masks import Masks
from elsewho.types import Array, FacePoints, FoundFace

METHODS = ("sample",)
SMALLEST = 24.0  # pixels between the outer corners of the eyes; below, points and texture are guesses
OUTER_CORNERS = (33, 263)
LEAST_INSIDE = 0.9  # share of the points that must lie in the picture
MOST_TURNED = 35.0  # degrees; beyond, light and far cheek are extrapolated
SPREAD = 0.67  # how far a sample lies from the mean, people being 1: the mean of five and half an offset
ALIKE = 0.2  # difference in the reading of gender, whose labels are -1 and 1, up to which a sample is taken
TRIES = 64  # samples drawn until one is


@dataclass(frozen=True, slots=True)
class ReleasedFace:
    """What was done to one face."""

    box: tuple[float, float, float, float]  # x, y, width, height in pixels
    outcome: Literal["replaced", "concealed"]
    reason: str = ""  # why it was concealed


@dataclass(frozen=True, slots=True)
class Result:
    """A picture without its faces."""

    image: Array  # (H, W, 3) uint8 RGB
    faces: tuple[ReleasedFace, ...]  # surest first; empty: no face was found, the picture is as it was


@dataclass(frozen=True)
class Deidentifier:
    """Replaces the faces of many pictures.

    seed    of the new identities: the same picture and seed give the same bytes
    model   None: the packaged one
    method  "sample": any face of the model. It protects nobody yet
    """

    seed: int = 0
    model: FaceModel | None = None
    method: str = "sample"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise BadInput(f"method={self.method!r} is not available; this version has {', '.join(METHODS)}.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise BadInput(f"seed={self.seed!r} must be a whole number of 0 or more.")

    def release(self, image: Array) -> Result:
        """The picture (H, W[, C]) with every face that is found replaced or concealed."""
        frame = to_rgb(image)
        released = frame.copy()
        done: list[ReleasedFace] = []
        for number, (face, points) in enumerate(self.find(frame)):
            why = self.doubt(frame, points)
            if not why:
                try:
                    own = self.encode(frame, points)
                    new = self.another_identity(own, np.random.default_rng([self.seed, number]))
                    released = self.paint(released, frame, points, own, new)
                except ElsewhoError as error:
                    why = str(error)
            done.append(ReleasedFace(face.box, "concealed" if why else "replaced", why))
        for one in done:  # last, so that no face painted later uncovers one
            if one.outcome == "concealed":
                released = paint.conceal(released, one.box)
        return Result(released, tuple(done))

    # The stages

    def find(self, frame: Array) -> Iterator[tuple[FoundFace, FacePoints]]:
        """The faces of a frame and their points."""
        yield from find.find_faces(frame)

    def doubt(self, frame: Array, points: FacePoints) -> str:
        """Why a face must not be replaced by what its points say; "" where nothing speaks against it."""
        if not points.trustworthy:
            return "its points cannot be trusted"
        at = points.points
        eyes = float(np.hypot(*(at[OUTER_CORNERS[1]] - at[OUTER_CORNERS[0]])[:2]))
        if eyes < SMALLEST:
            return f"too small: {eyes:.0f} pixels between the eyes, {SMALLEST:.0f} are needed"
        inside = ((at[:, :2] >= 0) & (at[:, :2] <= np.array(frame.shape[1::-1]) - 1)).all(axis=1)
        if inside.mean() < LEAST_INSIDE:
            return f"only {inside.mean():.0%} of it lies in the picture"
        turn = self.face_model.shape.encode(at)[1].turn
        degrees = float(np.degrees(np.arccos(np.clip(turn[2, 2], -1, 1)))) if turn.shape == (3, 3) else 0.0
        if degrees > MOST_TURNED:
            return f"turned away by {degrees:.0f} degrees, at most {MOST_TURNED:.0f} can be painted"
        return ""

    def encode(self, frame: Array, points: FacePoints) -> Coefficients:
        """The face as the model sees it; what hair hides is filled with the mean face."""
        model = self.face_model
        shape, pose = model.shape.encode(model.shape.check(points.points))
        values, seen = sample(frame, points.points, model.texture.mesh)
        face = bare_face(model.texture.mesh.fill(values), self._mean, self._masks.regions)
        return Coefficients(shape, model.texture.encode(face[model.texture.mesh.inside], seen), pose)

    def another_identity(self, own: Coefficients, rng: np.random.Generator) -> Coefficients:
        """A neutral face of nobody; about as male or female as the person looks, where the model can tell."""
        model = self.face_model
        vector = model.people_statistics().sample(1, rng, SPREAD)[0]
        if model.traits is not None:
            aim = np.clip(model.traits.gender.of(self._in_even_light(own)), -0.7, 0.7)
            for _ in range(TRIES):
                if abs(model.traits.gender.of(vector) - aim) < ALIKE:
                    break
                vector = model.people_statistics().sample(1, rng, SPREAD)[0]
        return model.from_vector(vector, own.pose)

    def _in_even_light(self, own: Coefficients) -> Array:
        """The face's vector in the light of the mean face: readings are learned there."""
        model = self.face_model
        seen = model.decode(own).texture
        even = np.clip(seen * fit_light(self._mean, seen, self._masks.regions.skin, degree=2), 0, 255)
        texture = model.texture.encode(even[model.texture.mesh.inside])
        return model.to_vector(Coefficients(own.shape, texture, own.pose))

    def without_expression(self, own: Coefficients) -> Array:
        """The vector of the person's face at rest.

        As learned from pairs of smiling and neutral photos; with a model of the user's own, as far as variances tell:
        along each direction, the share of what faces vary that neutral faces vary too is kept.
        """
        model = self.face_model
        shape, texture = model.shape.basis, model.texture.basis
        limited = Coefficients(shape.limit(own.shape), texture.limit(own.texture), own.pose)
        vector = model.to_vector(limited)
        if self._estimator is not None:
            return np.asarray(self._estimator.neutral(vector[None])[0])
        directions, kept, sd = self._rest
        mean = model.people_statistics().mean
        off = (vector - mean) / sd
        return np.asarray(mean + sd * (directions @ (kept * (directions.T @ off))))

    def paint(self, ground: Array, frame: Array, points: FacePoints, own: Coefficients, new: Coefficients) -> Array:
        """`ground` (H, W, 3) with the new identity drawn over the face that the frame shows at `points`."""
        model, masks, at = self.face_model, self._masks, points.points
        mesh, rest = model.texture.mesh, model.from_vector(self.without_expression(own), own.pose)

        values, seen = sample(frame, at, mesh)
        photo = mesh.fill(values)
        hair = np.clip(hides_face(photo, self._mean, masks.regions), 0, 1)
        if hair[masks.regions.brows].mean() < 0.5:  # brows can be seen: none of the person's may stay
            hair *= 1 - masks.brows
        skin = masks.regions.skin & (hair < 0.05) & mesh.fill(seen)
        if skin.sum() < 0.2 * masks.regions.skin.sum():
            raise BadInput("too little of its skin can be seen to match the light")
        free = 1 - look_up(hair, mesh.points)
        target = paint.carry_shape(
            at, own.pose, model.shape.decode(rest.shape), model.shape.decode(new.shape), masks, free
        )

        texture = model.decode(new).texture
        texture = paint.match_tone(texture, photo, skin)
        texture = paint.match_light(texture, photo, skin)
        as_seen, at_rest = model.decode(own).texture, model.decode(rest).texture
        at_rest = paint.match_light(at_rest, as_seen, skin)
        bare = mesh.inside & ~masks.regions.brows & (hair < 0.05)
        texture = paint.carry_expression(texture, as_seen, at_rest, bare, masks.hairy)
        texture = paint.limit_colour(texture, photo, skin, masks.lips)

        window = paint.open_window(frame, at, target, mesh)
        below = paint.pull(ground, window)
        layer = paint.draw(texture, window)
        even = paint.draw(skin.astype(np.float32), window) > 0.9
        grain = paint.draw(masks.grain, window)
        layer = paint.add_grain(layer, below, even, grain, np.ptp(at[:, 0]), np.random.default_rng(self.seed))
        layer = paint.keep_own(layer, below, paint.draw(masks.eyes + masks.mouth, window))
        edge = paint.draw(masks.edge * (1 - hair), window) * window.rim
        painted = ground.copy()
        painted[window.rows, window.columns] = paint.blend(below, layer, edge)
        return painted

    @cached_property
    def face_model(self) -> FaceModel:
        """The model in use."""
        return load_model() if self.model is None else self.model

    @cached_property
    def _estimator(self) -> NeutralEstimator | None:
        """What takes an expression away; None where the model is not the one that it was made for."""
        packaged = load_neutral()
        return packaged if packaged.model == fingerprint(self.face_model) else None

    @cached_property
    def _rest(self) -> tuple[Array, Array, Array]:
        """Directions (d, r) in units of the spread sd (d,) of all faces, and the share (r,) that neutral ones have."""
        model = self.face_model
        shape, texture = model.shape.basis.sd * model.shape_weight, model.texture.basis.sd
        sd = np.concatenate([shape, texture])
        directions, spread, _ = np.linalg.svd(model.people_statistics().factor / sd[:, None], full_matrices=False)
        return directions, np.minimum(spread**2, 1.0), sd

    @cached_property
    def _masks(self) -> Masks:
        return paint.make_masks(self.face_model.texture.mesh)

    @cached_property
    def _mean(self) -> Array:
        texture = self.face_model.texture
        return texture.mesh.fill(np.clip(texture.unpack(texture.basis.mean), 0, 255))


def deidentify(
    image: Array | str | os.PathLike[str], *, seed: int = 0, model: FaceModel | None = None, method: str = "sample"
) -> Result:
    """One picture, an array (H, W[, C]) or a file, with every face replaced or concealed; see Deidentifier.

    The new faces are samples of the model: they are labelled, honestly, as protecting nobody yet.
    """
    if isinstance(image, str | os.PathLike):
        image = read_image(image)
    return Deidentifier(seed, model, method).release(image)
