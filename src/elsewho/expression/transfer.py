"""Expression transfer (paper 004): what the original's face does beyond its neutral, done by another identity.

    transfer = prepare(model)
    new_look = transfer(expression, neutral, new)

Every step can be left out (`Steps`), and each is a function of its own in shape.py and texture.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewho.aam.model import Coefficients, FaceModel
from elsewho.errors import BadInput
from elsewho.expression import shape as shapes
from elsewho.expression.marks import Component, Marks, find_marks
from elsewho.expression.texture import Channels, match_histogram, split_channels
from elsewho.types import Array


@dataclass(frozen=True, slots=True)
class Look:
    """A face without its place in a picture."""

    shape: Array  # (S,) coefficients
    texture: Array  # (T,) coefficients
    form: Array  # (L, D) its landmarks in the model's pose and unit: finer than the coefficients


@dataclass(frozen=True, slots=True)
class Steps:
    """What is done; all True is the whole transfer, all False is equation 1 alone."""

    scale: bool = True  # the change of shape is stretched to the new identity's proportions
    limit: bool = True  # coefficients stay within 3 standard deviations
    eyes: bool = True  # equation 2
    mouth: bool = True  # equation 2
    literal: bool = False  # equation 2 as printed, see shape.keep_component
    closed: float = shapes.CLOSED  # share of its width under which an eye or a mouth at rest counts as closed
    tone: bool = True  # the original's textures get the new identity's skin tone before the change is taken
    light: bool = True  # what the light does to the original is done to the result


ALL = Steps()


def look_at(model: FaceModel, face: Coefficients, points: Array | None = None) -> Look:
    """The look of an encoded face; `points` (L, D) in pixels, those it was encoded from, keep its form exact."""
    form = model.shape.decode(face.shape) if points is None else face.pose.undo(model.shape.check(points))
    return Look(face.shape, face.texture, form)


def look_of(model: FaceModel, vector: Array) -> Look:
    """The look of a vector (S + T,), as FaceModel.to_vector and the identity methods give it."""
    return look_at(model, model.from_vector(vector))


def to_vector(model: FaceModel, look: Look) -> Array:
    """The vector (S + T,) of a look."""
    return np.concatenate([look.shape * model.shape_weight, look.texture]).astype(np.float64)


@dataclass(frozen=True)
class ExpressionTransfer:
    """What of a model can be computed once; calling it transfers one expression."""

    model: FaceModel
    marks: Marks
    channels: Channels
    follow: tuple[Array, ...]  # (L, n) for left eye, right eye, mouth: see shape.followers

    def __call__(self, expression: Look, neutral: Look, new: Look, steps: Steps = ALL) -> Look:
        """The new identity with the original's expression.

        expression, neutral  the original;  new  the other identity, neutral
        """
        for name, look in (("expression", expression), ("neutral", neutral), ("new", new)):
            self._check(name, look)
        form = self.form(expression, neutral, new, steps)
        texture = self.texture(expression.texture, neutral.texture, new.texture, steps)
        return Look(self.model.shape.basis.encode(form.ravel()), texture, form)

    def form(self, expression: Look, neutral: Look, new: Look, steps: Steps = ALL) -> Array:
        """The landmarks (L, D) of the result."""
        basis = self.model.shape.basis
        change = shapes.transfer(expression.shape, neutral.shape, np.zeros_like(new.shape))
        if steps.scale:
            change = shapes.scale_change(basis, change, shapes.scale_between(neutral.form, new.form, self.marks))
        moved = new.shape + change
        if steps.limit:
            moved = basis.limit(moved)
        form = new.form + self._decode_change(moved - new.shape)
        asked = (steps.eyes, steps.eyes, steps.mouth)
        for component, follow, wanted in zip(_components(self.marks), self.follow, asked, strict=True):
            if wanted:
                kept = shapes.keep_component(
                    form,
                    expression.form,
                    neutral.form,
                    new.form,
                    component,
                    literal=steps.literal,
                    closed=steps.closed,
                )
                form = shapes.let_follow(kept, form, component, follow)
        return form

    def texture(self, expression: Array, neutral: Array, new: Array, steps: Steps = ALL) -> Array:
        """The texture (T,) of the result, by the moments of the channels."""
        match, apply = self.channels.match, self.channels.apply
        own = [expression, neutral]
        if steps.tone:
            own = [apply(one, *match(one, new)) for one in own]
        moved = shapes.transfer(own[0], own[1], new)
        if steps.limit:
            moved = self.model.texture.basis.limit(moved)
        if steps.light:
            moved = moved + expression - apply(expression, *match(expression, neutral))
        return np.asarray(moved, self.model.texture.basis.modes.dtype)

    def texture_by_histograms(self, expression: Array, neutral: Array, new: Array, steps: Steps = ALL) -> Array:
        """The texture (P, 3) RGB float32 of the result by matching of histograms, as printed: slow, not for video."""
        model = self.model.texture
        own = [model.decode(one) for one in (expression, neutral)]
        target = model.decode(new)
        tones = [match_histogram(one, target) for one in own] if steps.tone else own
        encoded = [model.encode(one) for one in tones]
        moved = shapes.transfer(encoded[0], encoded[1], new)
        if steps.limit:
            moved = model.basis.limit(moved)
        values = model.decode(moved)
        if steps.light:
            values = values + own[0] - match_histogram(own[0], own[1])
        return np.clip(values, 0, 255)

    def _decode_change(self, change: Array) -> Array:
        basis = self.model.shape.basis
        return np.asarray((change @ basis.modes).reshape(-1, self.model.shape.dimensions))

    def _check(self, name: str, look: Look) -> None:
        own = len(self.model.shape.basis), len(self.model.texture.basis), (*self.model.shape.mean.shape,)
        found = len(look.shape), len(look.texture), look.form.shape
        if found != own:
            raise BadInput(
                f"{name} has {found[0]} shape and {found[1]} texture coefficients and landmarks {found[2]}; "
                f"this transfer's model has {own[0]}, {own[1]} and {own[2]}. Encode all faces with this model."
            )
        if not all(np.isfinite(part).all() for part in (look.shape, look.texture, look.form)):
            raise BadInput(f"{name} holds NaN or infinity; encode the face again.")


def prepare(model: FaceModel) -> ExpressionTransfer:
    """The transfer between faces of `model`; its mark-up must be one whose landmarks are known (marks.py)."""
    marks = find_marks(model.marks, model.shape.count)
    follow = tuple(shapes.followers(model.shape.mean, component, marks) for component in _components(marks))
    return ExpressionTransfer(model, marks, split_channels(model.texture), follow)


def _components(marks: Marks) -> tuple[Component, ...]:
    return (*marks.eyes, marks.mouth)
