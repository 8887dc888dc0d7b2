"""elsewho gives every face another identity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elsewho.lazily import open_when_used

if TYPE_CHECKING:
    from elsewho.aam.load import load_model
    from elsewho.aam.model import Coefficients, FaceModel, Fit
    from elsewho.aam.train import train_model
    from elsewho.errors import ElsewhoError
    from elsewho.pipeline import Deidentifier, Result, deidentify

__version__ = "0.1.0"

__all__ = [
    "Coefficients",
    "Deidentifier",
    "ElsewhoError",
    "FaceModel",
    "Fit",
    "Result",
    "__version__",
    "deidentify",
    "load_model",
    "train_model",
]

_WHERE = {
    "Coefficients": "elsewho.aam.model",
    "Deidentifier": "elsewho.pipeline",
    "ElsewhoError": "elsewho.errors",
    "FaceModel": "elsewho.aam.model",
    "Fit": "elsewho.aam.model",
    "Result": "elsewho.pipeline",
    "deidentify": "elsewho.pipeline",
    "load_model": "elsewho.aam.load",
    "train_model": "elsewho.aam.train",
}


__getattr__ = open_when_used(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted(__all__)
