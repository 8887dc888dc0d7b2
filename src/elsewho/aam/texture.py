"""The texture model: what a face looks like, apart from where it is and how it is shaped."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import cv2
import numpy as np

from elsewho.aam.basis import Basis
from elsewho.aam.mesh import Mesh
from elsewho.errors import BadInput
from elsewho.types import Array

Space = Literal["grey", "rgb", "ycc"]
LEAST_SEEN = 0.2  # share of the face that a picture must show
FEW = 0.01  # share of the face that may be hidden and counts as the mean
CELL = 4  # edge of a chroma cell in frame pixels ("ycc")
_GREY = np.array([0.299, 0.587, 0.114], np.float32)
_TO_YCC = np.array(
    [[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]], np.float32
)  # ITU-R BT.601, full range, zero-centred chroma
_FROM_YCC = np.linalg.inv(_TO_YCC.astype(np.float64)).astype(np.float32)


@dataclass(frozen=True)
class TextureModel:
    """Mean and modes of textures, grey levels 0..255.

    space "grey": one value a pixel; "rgb": three, pixel by pixel; "ycc": luma for every pixel, chroma for cells of
    CELL x CELL pixels, as the eye sees colour more coarsely than light. That makes the model 2.7 times smaller
    and faster; chroma is multiplied by CELL, so that distances still count every pixel.
    """

    mesh: Mesh
    space: Space
    basis: Basis

    def pack(self, values: Array) -> Array:
        """The vector (d,) of pixel values (P, 3) RGB, or (P,) grey."""
        return pack(values, self.mesh, self.space, self._cells)

    def unpack(self, vector: Array) -> Array:
        """Pixel values (P, 3) RGB float32 of a vector (d,)."""
        return unpack(vector, self.mesh, self.space, self._cells)

    def encode(self, values: Array, seen: Array | None = None) -> Array:
        """Coefficients (T,) of pixel values (P, 3); what is not `seen` (P,) is left to the model: the most likely."""
        if seen is None or seen.all():
            return self.basis.encode(self.pack(values))
        if seen.mean() < LEAST_SEEN:
            raise BadInput(
                f"only {seen.mean():.0%} of the face can be seen in the picture; encoding needs {LEAST_SEEN:.0%}. "
                "Check the points, or use a picture that shows the face."
            )
        if seen.mean() > 1 - FEW:  # the outline turns away: too little to be worth solving for
            values = values.copy() if values.ndim == 2 else np.repeat(values[:, None], 3, axis=1)
            values[~seen] = self._mean_values[~seen]
            return self.basis.encode(self.pack(values))
        gone = self._entries_of(~seen)
        off = self.pack(values) - self.basis.mean
        off[gone] = 0
        modes = self.basis.modes
        lost = modes[:, gone] if gone.mean() < 0.5 else modes[:, ~gone]
        overlap = (lost @ lost.T).astype(np.float64)  # of the modes with each other, on what is seen
        if gone.mean() < 0.5:
            overlap = np.eye(len(overlap)) - overlap
        noise = self.basis.rest / max(1, len(off) - len(modes))
        overlap += np.diag(noise / self.basis.variance)  # what is not seen is as likely as people make it
        return np.asarray(np.linalg.solve(overlap, modes @ off), modes.dtype)

    def _entries_of(self, pixels: Array) -> Array:
        """(d,) True for the entries of a vector that any of the `pixels` (P,) bool counts in."""
        if self.space == "grey":
            return pixels
        if self.space == "rgb":
            return np.repeat(pixels, 3)
        cells = self._cells or make_cells(self.mesh)
        touched = _shrink(self.mesh.fill(pixels.astype(np.float32)))[cells.used] > 0
        return np.concatenate([pixels, touched, touched])

    def decode(self, coefficients: Array) -> Array:
        """Pixel values (P, 3) RGB float32, 0..255, of coefficients (T,)."""
        return np.clip(self.unpack(self.basis.decode(coefficients)), 0, 255)

    @cached_property
    def _mean_values(self) -> Array:
        return self.unpack(self.basis.mean)

    @cached_property
    def _cells(self) -> Cells | None:
        return make_cells(self.mesh) if self.space == "ycc" else None


@dataclass(frozen=True, slots=True)
class Cells:
    """Where chroma lives: the coarse raster over a mesh's frame."""

    used: Array  # (rows, columns) bool, cells with a pixel of the face in them
    coverage: Array  # (rows, columns) float32, the share of the cell inside the face
    nearest: Array  # (rows, columns) for each cell, the number of the used cell nearest to it


def make_cells(mesh: Mesh) -> Cells:
    """The chroma cells of a mesh."""
    coverage = _shrink(mesh.inside.astype(np.float32))
    used = coverage > 0
    _, labels = cv2.distanceTransformWithLabels(
        (~used).astype(np.uint8), cv2.DIST_L2, 3, labelType=cv2.DIST_LABEL_PIXEL
    )
    number = np.zeros(labels.max() + 1, np.int64)
    number[labels[used]] = np.arange(used.sum())
    return Cells(used, coverage, number[labels])


def pack(values: Array, mesh: Mesh, space: Space, cells: Cells | None = None) -> Array:
    """The vector (d,) float32 of pixel values (P,) or (P, 3)."""
    values = values.astype(np.float32, copy=False)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if space == "grey":
        return values if values.ndim == 1 else np.asarray(values @ _GREY)
    if values.ndim == 1:
        values = np.repeat(values[:, None], 3, axis=1)
    if space == "rgb":
        return values.ravel()
    cells = cells or make_cells(mesh)
    ycc = cv2.transform(values[None], _TO_YCC)[0]
    coarse = _shrink(mesh.fill(ycc[:, 1:]))[cells.used]
    coarse *= CELL / cells.coverage[cells.used][:, None]
    return np.concatenate([ycc[:, 0], coarse[:, 0], coarse[:, 1]])


def unpack(vector: Array, mesh: Mesh, space: Space, cells: Cells | None = None) -> Array:
    """Pixel values (P, 3) float32 of a vector (d,)."""
    if space == "grey":
        return np.repeat(vector[:, None], 3, axis=1)
    if space == "rgb":
        return vector.reshape(-1, 3)
    cells = cells or make_cells(mesh)
    pixels, used = len(mesh.pixels), int(cells.used.sum())
    coarse = vector[pixels:].reshape(2, used)[:, cells.nearest] / CELL
    rows, columns = mesh.size
    full = cv2.resize(
        np.ascontiguousarray(coarse.transpose(1, 2, 0)),
        (cells.used.shape[1] * CELL, cells.used.shape[0] * CELL),
        interpolation=cv2.INTER_LINEAR,
    )[:rows, :columns]
    ycc = np.empty((pixels, 3), np.float32)
    ycc[:, 0] = vector[:pixels]
    ycc[:, 1:] = mesh.read(full)
    return np.asarray(cv2.transform(ycc[None], _FROM_YCC)[0])


def _shrink(picture: Array) -> Array:
    """Means over cells of CELL x CELL; the raster is extended with zeros to whole cells."""
    rows, columns = -(-picture.shape[0] // CELL), -(-picture.shape[1] // CELL)
    whole = np.zeros((rows * CELL, columns * CELL, *picture.shape[2:]), np.float32)
    whole[: picture.shape[0], : picture.shape[1]] = picture
    return cv2.resize(whole, (columns, rows), interpolation=cv2.INTER_AREA)
