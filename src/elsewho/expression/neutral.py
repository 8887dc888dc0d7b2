"""The neutral face of a person: given, found in a gallery, or estimated from the face as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from elsewho.aam import store
from elsewho.aam.basis import fit_basis
from elsewho.aam.model import FaceModel
from elsewho.aam.traits import fit_reading
from elsewho.errors import BadInput, MissingPart, TooFewPeople
from elsewho.expression.transfer import Look
from elsewho.identity.release import check_faces
from elsewho.types import Array

DIRECTIONS = 16  # in which faces are taken to move
FEWEST = 8  # people from whom it can be learned at all
PACKAGED = Path(__file__).parents[1] / "data" / "neutral.safetensors"


@dataclass(frozen=True, slots=True)
class NeutralEstimator:
    """Says how far a face has moved from rest, along the directions in which faces do."""

    directions: Array  # (r, d) orthonormal, of FaceModel.to_vector
    weights: Array  # (r, d) what is read from a face along each
    offsets: Array  # (r,)
    model: str  # the fingerprint of the face model whose vectors these are; "" for vectors of no model

    def change(self, vectors: Array) -> Array:
        """What faces (..., d) have beyond their rest (..., d)."""
        return np.asarray((vectors @ self.weights.T + self.offsets) @ self.directions)

    def neutral(self, vectors: Array) -> Array:
        """Faces (n, d) at rest (n, d)."""
        faces = check_faces(vectors, "vectors")
        if faces.shape[1] != self.directions.shape[1]:
            raise BadInput(
                f"the estimator was fitted on vectors of {self.directions.shape[1]} values, found {faces.shape[1]}. "
                "Use it with the face model that it was made for."
            )
        return np.asarray(faces - self.change(faces))

    def rest(self, model: FaceModel, look: Look) -> Look:
        """The look of the same person at rest; what the model leaves out of its form stays as it is."""
        if self.model and self.model != fingerprint(model):
            raise BadInput("the estimator was made for another face model; fit one with fit_neutral on this one.")
        weight, count = model.shape_weight, len(look.shape)
        change = self.change(np.concatenate([look.shape * weight, look.texture]).astype(np.float64))
        moved = change[:count] / weight
        form = look.form - (moved @ model.shape.basis.modes).reshape(look.form.shape)
        return Look(look.shape - moved, look.texture - change[count:], form)


def fit_neutral(
    expression_vectors: Array,
    neutral_vectors: Array,
    people: Sequence[str],
    *,
    model: str = "",
    directions: int = DIRECTIONS,
) -> NeutralEstimator:
    """Learn from pairs of faces what a face has beyond its rest.

    expression_vectors  (n, d) as FaceModel.to_vector gives them
    neutral_vectors     (n, d) of the same people, row by row
    people              (n,) who: the penalty of the ridge regression is chosen by folds over people
    model               fingerprint(model), so that the estimator is not used with another one

    The *change* is predicted, not the neutral face: what cannot be told stays as it is, and only what can goes.
    Neutral faces are shown too, so that they are left alone.
    """
    moved, calm = check_faces(expression_vectors, "expression_vectors"), check_faces(neutral_vectors, "neutral_vectors")
    if moved.shape != calm.shape or len(people) != len(moved):
        raise BadInput(
            f"pairs are needed: found expressions {moved.shape}, neutral faces {calm.shape} and {len(people)} people. "
            "Give one row of each, and one id, for each pair."
        )
    if len(set(people)) < FEWEST:
        raise TooFewPeople(
            f"the neutral face is learned from at least {FEWEST} people, found {len(set(people))}. "
            "Add pairs of other people."
        )
    change = moved - calm
    axes = np.linalg.svd(change, full_matrices=False)[2][: min(directions, len(change))]
    faces = np.concatenate([moved, calm])
    ids = np.concatenate([np.asarray(people), np.asarray(people)])
    truth = np.concatenate([change @ axes.T, np.zeros((len(calm), len(axes)))])
    readings = [fit_reading(faces, along, ids) for along in truth.T]
    return NeutralEstimator(
        axes, np.stack([reading.weights for reading in readings]), np.array([r.offset for r in readings]), model
    )


def retrieve_neutral(faces: Array, gallery: Array, train: Array | None = None, keep: float = 0.98) -> Array:
    """For each of `faces` (n, d) the number (n,) of the neutral face in `gallery` (m, d) that Eigenfaces take it for.

    train  (t, d) the faces that the Eigenfaces are made of; None: the gallery. AAM-based: all are model vectors.
    keep   the share of their variance that the Eigenfaces explain
    """
    faces, gallery = check_faces(faces), check_faces(gallery, "gallery")
    if not len(gallery):
        raise BadInput("the gallery holds no neutral face to find a person's in; add neutral faces, or estimate them.")
    basis = fit_basis(gallery if train is None else check_faces(train, "train"), keep)
    probes, known = basis.encode(faces), basis.encode(gallery)
    away = ((probes[:, None] - known[None]) ** 2).sum(axis=2)
    return np.asarray(away.argmin(axis=1))


def fingerprint(model: FaceModel) -> str:
    """A short name for the coefficients of a face model: two models of one fingerprint have the same."""
    digest = hashlib.sha256(model.marks.encode())
    for basis in (model.shape.basis, model.texture.basis):
        digest.update(np.ascontiguousarray(basis.variance, np.float64).tobytes())
    return digest.hexdigest()[:16]


def load_neutral() -> NeutralEstimator:
    """The packaged estimator, for the packaged face model."""
    return _load_packaged()


@cache
def _load_packaged() -> NeutralEstimator:
    if not PACKAGED.is_file():
        raise MissingPart(
            f"the packaged estimator of neutral faces is not there ({PACKAGED.name}). "
            "Run: pip install --force-reinstall --no-deps elsewho, or fit one with fit_neutral."
        )
    return store.read(PACKAGED, "neutral", NeutralEstimator)
