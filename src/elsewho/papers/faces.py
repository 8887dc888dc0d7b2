"""The faces of a data set as the papers need them: checked, modelled, in numbers, and as pictures of the face alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from elsewho.aam.model import FaceModel
from elsewho.aam.train import train_model
from elsewho.aam.warp import FINER, paint_map, sample
from elsewho.errors import BadAnnotation, TooFewPeople
from elsewho.media.files import show_name
from elsewho.media.images import read_image
from elsewho.papers.datasets import Annotated, read_imm
from elsewho.papers.datasets.sets import IMM_EXPRESSIONS
from elsewho.types import Array

FRAME = 128  # pixels of the texture frame's width
CROP = 64  # pixels of the crops that the recogniser of pixels sees


@dataclass(frozen=True, slots=True)
class Photos:
    """Annotated photos, all of one mark-up."""

    name: str  # of the data set
    records: tuple[Annotated, ...]

    @property
    def people(self) -> list[str]:
        """An id a photo."""
        return [one.person for one in self.records]

    @property
    def kinds(self) -> Array:
        """The expression of each photo (n,) str."""
        return np.array([one.expression for one in self.records])

    def of(self, kind: str) -> Photos:
        """The photos of one expression."""
        return Photos(self.name, tuple(one for one in self.records if one.expression == kind))

    def shown(self) -> list[str]:
        """Everybody once, in the order in which they first appear."""
        return list(dict.fromkeys(self.people))


def find_set(data: Path, name: str) -> Path | None:
    """The folder of a data set: `data` itself under that name, in it, or beside it; None where it is not."""
    places = (data, data / name, data.parent / name)
    return next((one for one in places if one.name == name and one.is_dir()), None)


def find_imm(data: Path) -> Path:
    """The folder of IMM, or of photos laid out like it."""
    if not data.is_dir():
        raise BadAnnotation(f"the data folder {show_name(data)} is not there. Give the folder of IMM's files.")
    return data / "imm" if (data / "imm").is_dir() else data


def read_photos(data: Path, kinds: Sequence[str], people: int, paper: str) -> Photos:
    """IMM's photos of these kinds; refuses half a set: everybody must have each kind, and `people` are needed.

    Points are checked here, and that each picture can be opened; pictures are read later.
    """
    folder = find_imm(data)
    every = list(read_imm(folder))
    found = Photos("IMM", tuple(one for one in every if one.expression in kinds))
    everybody = list(dict.fromkeys(one.person for one in every))
    numbers = {name: number for number, name in IMM_EXPRESSIONS.items()}
    there = Counter((one.person, one.expression) for one in found.records)
    for person in everybody:
        lacking = [kind for kind in kinds if not there[person, kind]]
        if lacking:
            looked = ", ".join(f"{person}-{numbers[kind]}[mf].asf with its picture" for kind in lacking)
            raise BadAnnotation(
                f"{paper} needs the {', '.join(kinds)} pictures of everybody; in {show_name(folder)} person {person} "
                f"has no {' and no '.join(lacking)} picture. Looked for {looked}. Add them, or take the person out."
            )
    if len(everybody) < people:
        patterns = ", ".join(f"NN-{numbers[kind]}[mf].asf" for kind in kinds)
        raise TooFewPeople(
            f"{paper} needs {people} people with {', '.join(kinds)} pictures; {show_name(folder)} shows "
            f"{len(everybody)}. Looked for {patterns}. Add {people - len(everybody)} people."
        )
    return found


def model_faces(photos: Photos, *, shape_modes: int | float = 0.98, texture_modes: int | float = 0.98) -> FaceModel:
    """A face model of the photos, in grey (some of IMM's people are), for encoding and painting only."""
    most = len(photos.records) - 1
    shapes = min(shape_modes, most) if isinstance(shape_modes, int) else shape_modes
    textures = min(texture_modes, most) if isinstance(texture_modes, int) else texture_modes
    return train_model(
        [one.image for one in photos.records],
        points_of(photos),
        people=photos.people,
        marks=photos.records[0].marks,
        colour="grey",
        width=FRAME,
        shape_modes=shapes,
        texture_modes=textures,
        mirror=False,
        levels=False,
    )


def points_of(photos: Photos) -> list[Array]:
    """The points of each photo."""
    return [one.points for one in photos.records if one.points is not None]


def encode_faces(model: FaceModel, photos: Photos) -> Array:
    """Vectors (n, d) as FaceModel.to_vector gives them."""
    both = zip(photos.records, points_of(photos), strict=True)
    return np.stack([model.to_vector(model.encode(read_image(one.image), points)) for one, points in both])


def crop_faces(model: FaceModel, photos: Photos, width: int = CROP) -> Array:
    """The photos' own pixels inside the outline (n, rows, width, 3) uint8, grey, levelled and of one size."""
    pictures = []
    goal = model.portrait_pose(width)
    for one, points in zip(photos.records, points_of(photos), strict=True):
        _, pose = model.shape.encode(points)
        turn = goal.scale / pose.scale * goal.turn @ pose.turn.T
        move = goal.move - turn @ pose.move
        moved = points @ turn.T + move
        rows = portrait_rows(model, width)
        image, ratio = read_image(one.image), goal.scale / pose.scale
        if ratio < 1 / FINER:
            image = np.asarray(cv2.GaussianBlur(image, (0, 0), 0.4 / ratio))
        level = cv2.warpAffine(image, np.column_stack([turn, move]), (width, rows), flags=cv2.INTER_AREA)
        _, covered = paint_map(moved, model.texture.mesh, (rows, width))
        grey = np.where(covered, cv2.cvtColor(level, cv2.COLOR_RGB2GRAY), 128).astype(np.uint8)
        pictures.append(np.repeat(grey[..., None], 3, axis=2))
    return np.stack(pictures)


def sample_textures(model: FaceModel, photos: Photos) -> Array:
    """The photos' own pixels in the frame of the mean shape (n, p): what shape adds is taken away."""
    both = zip(photos.records, points_of(photos), strict=True)
    mesh = model.texture.mesh
    return np.stack([model.texture.pack(sample(read_image(one.image), points, mesh)[0]) for one, points in both])


def decode_textures(model: FaceModel, vectors: Array) -> Array:
    """The same of the faces that `vectors` (n, d) stand for."""
    return model.texture.basis.decode(vectors[:, len(model.shape.basis) :].astype(np.float32))


def paint_faces(model: FaceModel, vectors: Array, width: int = CROP) -> Array:
    """The faces that `vectors` (n, d) stand for (n, rows, width, 3) uint8; equal vectors are painted once."""
    distinct, back = np.unique(vectors, axis=0, return_inverse=True)
    painted = np.stack([model.portrait(model.from_vector(one), width) for one in distinct])
    return np.asarray(painted[back.ravel()])


def portrait_rows(model: FaceModel, width: int) -> int:
    """The height of a portrait `width` pixels wide."""
    pose = model.portrait_pose(width)
    return int(np.ceil(np.ptp(model.shape.mean[:, 1]) * pose.scale + 0.2 * width))


def as_rows(pictures: Array) -> Array:
    """Grey pixels (n, rows * columns) float32 of pictures (n, rows, columns, 3)."""
    return np.asarray(pictures[..., 0].reshape(len(pictures), -1).astype(np.float32))


def describe(model: FaceModel) -> str:
    """The model and the weight of shape against texture, for the reports."""
    return (
        f"{len(model.shape.basis)} shape and {len(model.texture.basis)} texture modes in grey, frame {FRAME} pixels; "
        f"shape coefficients times {model.shape_weight:.4g} = sqrt(texture variance / shape variance)"
    )
