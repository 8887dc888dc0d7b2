"""Reading a face model: the packaged one, or a file of one's own."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from elsewho.aam import store
from elsewho.aam.model import FaceModel
from elsewho.errors import MissingPart

PACKAGED = Path(__file__).parents[1] / "data" / "face-model.safetensors"


def load_model(path: str | os.PathLike[str] | None = None) -> FaceModel:
    """The face model in the file `path`; None: the packaged one, which is read once and kept."""
    return _load_packaged() if path is None else store.read(Path(path), "model", FaceModel)


@cache
def _load_packaged() -> FaceModel:
    if not PACKAGED.is_file():
        raise MissingPart(
            f"the packaged face model is not there ({PACKAGED.name}). "
            "Run: pip install --force-reinstall --no-deps elsewho, or name a model of your own."
        )
    return store.read(PACKAGED, "model", FaceModel)
