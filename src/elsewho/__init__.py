"""elsewho gives every face another identity."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used, so that `import elsewho` takes milliseconds."""
    if name not in _WHERE:
        raise AttributeError(f"module 'elsewho' has no attribute {name!r}")
    found = getattr(import_module(_WHERE[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
