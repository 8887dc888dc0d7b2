"""Training: annotated pictures in, a FaceModel out; and how well such a model serves people it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elsewho.aam.basis import fit_basis
from elsewho.aam.levels import mirror_map, train_levels
from elsewho.aam.mesh import Mesh, make_mesh, triangulate
from elsewho.aam.model import CombinedModel, FaceModel
from elsewho.aam.population import fit_population
from elsewho.aam.shape import ShapeModel, check_points, fit_shapes
from elsewho.aam.texture import Space, TextureModel, make_cells, pack
from elsewho.aam.warp import sample
from elsewho.errors import BadInput, PointsMismatch, TooFewFaces
from elsewho.media.images import read_image, to_rgb
from elsewho.types import Array

Picture = Array | Path | str
Progress = Callable[[str, int, int], None]  # what is being done, how much is done, of how much


def _quiet(_what: str, _done: int, _of: int) -> None:
    """No progress is shown."""


def train_model(
    pictures: Sequence[Picture],
    points: Sequence[Array] | Array,
    *,
    people: Sequence[str] | None = None,
    marks: str = "",
    colour: Literal["auto", "grey", "rgb", "ycc"] = "auto",
    width: int = 256,
    shape_modes: int | float = 0.98,
    texture_modes: int | float = 0.98,
    triangles: Array | None = None,
    weights: Array | None = None,
    mirror: bool | Array = True,
    levels: bool = True,
    card: dict[str, Any] | None = None,
    progress: Progress = _quiet,
) -> FaceModel:
    """An active appearance model of annotated faces.

    pictures       arrays (H, W[, C]) or paths; read again when needed, so that thousands fit in memory
    points         (n, L, 2 or 3) x, y (and z) in pixels
    people         an id a picture; None: every picture its own person
    colour         "ycc" is colour at a third of the cost of "rgb"; "auto": grey if all pictures are, else ycc
    width          of the texture frame in pixels
    *_modes        a whole number of modes, or the share of variance that they must explain
    triangles      (T, 3); None: Delaunay of the mean shape
    weights        (L,) how much each point counts for the pose; None: all alike
    mirror         True: each picture serves flipped too, if left and right can be told from the mean shape;
                   or the mirror partner (L,) of each point
    levels         False: no fitting, only encoding; trains faster and is smaller
    """
    shapes = check_training(pictures, points)
    ids = list(people) if people is not None else [str(i) for i in range(len(shapes))]
    if len(ids) != len(shapes):
        raise BadInput(f"{len(shapes)} pictures and {len(ids)} people were given; give one id a picture.")
    if len(set(ids)) < 2:
        raise TooFewFaces("all pictures show one person; a model of faces needs at least 2 people. Add people.")
    partner = find_mirror(shapes, mirror)
    shape = fit_shapes(both_ways(shapes, partner), shape_modes, weights)
    if triangles is None:
        triangles = triangulate(shape.mean[:, :2])
    mesh = make_mesh(shape.mean, np.asarray(triangles, np.int32), width)
    space = choose_space(pictures) if colour == "auto" else colour
    vectors = collect_textures(pictures, shapes, mesh, space, partner, progress)
    progress("principal components of texture", 0, 1)
    basis = fit_basis(vectors, texture_modes, in_place=True)
    progress("principal components of texture", 1, 1)
    texture = TextureModel(mesh, space, basis)
    model = FaceModel(marks or f"points{shape.count}", shape, texture)
    looks = vectors[: len(shapes)] @ basis.modes.T  # in_place has left the vectors centred
    del vectors
    population = fit_population(person_means(model, shapes, looks, ids))
    trained: tuple[Any, ...] = ()
    if levels:
        progress("levels for fitting", 0, 1)
        trained = train_levels(_Again(pictures), shapes, shape, mirror=partner)
        progress("levels for fitting", 1, 1)
    facts = {"pictures": len(shapes), "people": len(set(ids)), "mirrored": partner is not None, **(card or {})}
    return FaceModel(model.marks, shape, texture, trained, population, None, facts)


def combine(model: FaceModel, vectors: Array, keep: int | float) -> CombinedModel:
    """The combined model over `vectors` (n, S + T) made by FaceModel.to_vector."""
    return CombinedModel(model, fit_basis(vectors, keep))


def check_training(pictures: Sequence[Picture], points: Sequence[Array] | Array) -> Array:
    """The points as one array (n, L, D); refuses what cannot be trained on, naming the picture."""
    if len(pictures) != len(points):
        raise BadInput(f"{len(pictures)} pictures and points for {len(points)} were given; give one set a picture.")
    if len(pictures) < 2:
        raise TooFewFaces(f"a model needs at least 2 pictures, found {len(pictures)}. Add annotated pictures.")
    arrays = [np.asarray(one, np.float64) for one in points]
    for picture, array in zip(pictures, arrays, strict=True):
        if array.ndim != 2 or array.shape != arrays[0].shape:
            raise PointsMismatch(
                f"{_name(picture)} has points of shape {array.shape}, the first picture {arrays[0].shape}. "
                "All pictures of a model need the same points."
            )
        if array.shape[1] not in (2, 3) or array.shape[0] < 3:
            raise PointsMismatch(f"{_name(picture)}: points must be (L, 2) or (L, 3) with L >= 3, not {array.shape}.")
        check_points(array, name=_name(picture))
    return np.stack(arrays)


def find_mirror(shapes: Array, mirror: bool | Array) -> Array | None:
    """The mirror partner (L,) of each point, or None where pictures are not to be flipped."""
    if isinstance(mirror, np.ndarray):
        return mirror
    return mirror_map(fit_shapes(shapes, 1).mean) if mirror and len(shapes) > 1 else None


def both_ways(shapes: Array, partner: Array | None) -> Array:
    """Shapes (n or 2n, L, D), followed by the same flipped where there are mirror partners."""
    if partner is None:
        return shapes
    return np.concatenate([shapes, flip_points(shapes, 0, partner)])


def flip_points(points: Array, width: int, partner: Array) -> Array:
    """Points (..., L, D) of a picture `width` pixels wide, in that picture flipped."""
    flipped = points[..., partner, :].copy()
    flipped[..., 0] = width - 1 - flipped[..., 0]
    return flipped


def collect_textures(
    pictures: Sequence[Picture],
    shapes: Array,
    mesh: Mesh,
    space: Space,
    partner: Array | None,
    progress: Progress = _quiet,
) -> Array:
    """Texture vectors (n or 2n, d) float32: first all pictures, then all of them flipped."""
    cells = make_cells(mesh) if space == "ycc" else None
    rows: Array | None = None
    n = len(shapes)
    for i, (picture, points) in enumerate(zip(pictures, shapes, strict=True)):
        image = load_picture(picture)
        ways = [(image, points)]
        if partner is not None:
            ways.append((np.ascontiguousarray(image[:, ::-1]), flip_points(points, image.shape[1], partner)))
        for way, (view, at) in enumerate(ways):
            values, seen = sample(view, at, mesh)
            if not seen.any():
                raise BadInput(f"{_name(picture)}: the points lie outside the picture. Check the annotation.")
            vector = pack(values, mesh, space, cells)
            if rows is None:
                rows = np.empty((n * len(ways), len(vector)), np.float32)
            rows[way * n + i] = vector
        progress("textures", i + 1, n)
    assert rows is not None  # noqa: S101  check_training has refused empty lists
    return rows


def person_means(model: FaceModel, shapes: Array, looks: Array, people: Sequence[str]) -> Array:
    """One vector (people, S + T) a person: the mean over the person's shapes (n, L, D) and looks (n, T)."""
    forms = np.stack([model.shape.encode(points)[0] for points in shapes]) * model.shape_weight
    every, ids = np.concatenate([forms, looks], axis=1), np.asarray(people)
    return np.stack([every[ids == person].mean(axis=0) for person in dict.fromkeys(people)])


def choose_space(pictures: Sequence[Picture]) -> Space:
    """ "grey" where every picture (of the first 50) is grey, else "ycc"."""
    for picture in pictures[:50]:
        image = load_picture(picture)
        if (image[..., 0] != image[..., 1]).any() or (image[..., 1] != image[..., 2]).any():
            return "ycc"
    return "grey"


def load_picture(picture: Picture) -> Array:
    """The picture as (H, W, 3) uint8 RGB."""
    if isinstance(picture, np.ndarray):
        return to_rgb(picture)
    return read_image(picture)


class _Again(Sequence[Array]):
    """The pictures, read once more when asked for: they are never all in memory."""

    def __init__(self, pictures: Sequence[Picture]) -> None:
        self.pictures = pictures

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, i: Any) -> Any:
        return load_picture(self.pictures[i])


def _name(picture: Picture) -> str:
    return "a picture" if isinstance(picture, np.ndarray) else str(picture)


# How well people are described whom the model has not seen


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Errors of people whom a model has not seen, from folds by person."""

    counts: Array  # (c,) numbers of modes
    error: Array  # (c, n) root mean square over the entries of each left-out vector


def cross_validate(
    vectors: Array, people: Sequence[str], counts: Sequence[int], folds: int = 5, seed: int = 0
) -> HeldOut:
    """Reconstruction error of each row by principal components trained without its person.

    All from the n x n inner products: no modes of a fold are ever formed. A row that is a mirror image belongs to
    its person.
    """
    ids = np.asarray(people)
    names = np.array(list(dict.fromkeys(people)))
    folds = min(folds, len(names))
    if folds < 2:
        raise TooFewFaces("cross-validation by person needs at least 2 people. Add people.")
    fold_of = dict(zip(np.random.default_rng(seed).permutation(names), np.arange(len(names)) % folds, strict=True))
    fold = np.array([fold_of[person] for person in ids])
    gram = (vectors @ vectors.T).astype(np.float64)
    error = np.empty((len(counts), len(vectors)))
    for f in range(folds):
        train, test = np.nonzero(fold != f)[0], np.nonzero(fold == f)[0]
        inner = gram[np.ix_(train, train)]
        row_mean, whole = inner.mean(axis=0), inner.mean()
        energy, directions = np.linalg.eigh(inner - row_mean - row_mean[:, None] + whole)
        energy, directions = energy[::-1], directions[:, ::-1]
        usable = energy > 1e-9 * energy[0]
        cross = gram[np.ix_(test, train)]
        test_mean = cross.mean(axis=1, keepdims=True)
        coefficients = (cross - test_mean - row_mean + whole) @ directions[:, usable] / np.sqrt(energy[usable])
        length = gram[test, test] - 2 * test_mean[:, 0] + whole
        explained = np.cumsum(coefficients**2, axis=1)
        for c, count in enumerate(counts):
            kept = explained[:, min(count, explained.shape[1]) - 1] if count else 0.0
            error[c, test] = np.sqrt(np.maximum(length - kept, 0) / vectors.shape[1])
    return HeldOut(np.asarray(counts), error)


def shape_vectors(shape: ShapeModel, shapes: Array) -> Array:
    """Aligned shapes (n, L * D) of points in pixels, in the model's unit."""
    return np.stack([shape.encode(points)[1].undo(points).ravel() for points in shapes])
