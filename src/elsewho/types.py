"""The few dataclasses that travel between the stages, and the array type they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class FoundFace:
    """One face as a finder reports it."""

    box: tuple[float, float, float, float]  # x, y, width, height in pixels
    score: float  # 0..1
    marks: Array | None = None  # (5, 2) eyes, nose, mouth corners as seen left to right; None if the finder has none


@dataclass(frozen=True, slots=True)
class FacePoints:
    """Dense points on one face, and how far they can be trusted."""

    points: Array  # (468, 3) x, y in pixels, z in the same unit, smaller is nearer
    iris: Array  # (2, 5, 2) centre and four rim points of the iris on the picture's left, then right
    presence: float  # 0..1, a face from no face; does not tell a misfit
    disagreement: float  # mean distance of first and second pass over the height of the face

    @property
    def trustworthy(self) -> bool:
        """False where a misfit is likely: nine of ten bad fits fail this, measured in docs/measured.md."""
        return bool(self.presence >= 0.5 and self.disagreement <= 0.04 and np.isfinite(self.points).all())
