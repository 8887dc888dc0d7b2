"""Galleries: the faces that new identities come from, by class and in clusters of faces alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from elsewho.aam.store import read, write
from elsewho.errors import BadInput, MissingPart, TooFewFaces
from elsewho.types import Array

DEFAULT = Path(__file__).parents[1] / "data" / "gallery.safetensors"


@dataclass(frozen=True, slots=True)
class Gallery:
    """Faces as vectors of FaceModel.to_vector, each in one class and one cluster of its class."""

    vectors: Array  # (n, d)
    classes: tuple[str, ...]  # the names of the classes
    class_of: Array  # (n,) the number of each face's class
    cluster_of: Array  # (n,) the number of each face's cluster; clusters never cross classes
    model: str  # sha256 of the face model whose vectors these are
    card: Mapping[str, Any] = field(default_factory=dict)  # where the faces come from, how they were screened

    def of_class(self, name: str) -> Array:
        """The vectors (m, d) of one class."""
        if name not in self.classes:
            raise BadInput(f"the gallery has no class {name!r}; it has {', '.join(self.classes)}.")
        return np.asarray(self.vectors[self.class_of == self.classes.index(name)])

    def save(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write the gallery; vectors are kept as float16."""
        write(path, self, "gallery", small=True, overwrite=overwrite)


def load_gallery(path: Path | str | None = None) -> Gallery:
    """The gallery at `path`; None: the one that ships, sampled faces of nobody."""
    if path is None and not DEFAULT.exists():
        raise MissingPart(
            "the default gallery is not installed. Reinstall elsewho: pip install --force-reinstall elsewho"
        )
    return read(DEFAULT if path is None else path, "gallery", Gallery)


def cluster_alike(vectors: Array, k: int, rng: np.random.Generator) -> Array:
    """Cluster numbers (n,) of groups of `k` faces alike; -1 for the fewer than k that are left over.

    Again and again, one of the faces left, drawn by `rng`, takes the k - 1 nearest of the others.
    """
    if len(vectors) < k:
        raise TooFewFaces(f"clusters of {k} faces were asked of {len(vectors)}; ask for fewer, or sample more faces.")
    numbers = np.full(len(vectors), -1)
    left = np.arange(len(vectors))
    for number in range(len(vectors) // k):
        first = left[rng.integers(len(left))]
        away = ((vectors[left] - vectors[first]) ** 2).sum(axis=1)
        chosen = left[np.argsort(away, kind="stable")[:k]]
        numbers[chosen] = number
        left = np.setdiff1d(left, chosen, assume_unique=True)
    return numbers
