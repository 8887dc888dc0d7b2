"""The seam: the painted face goes over into the photo with its depth from the outline."""

from __future__ import annotations

import numpy as np

from elsewho.types import Array


def keep_own(layer: Array, own: Array, share: Array) -> Array:
    """The layer (rows, columns, 3) with the photo's `own` pixels where `share` (rows, columns) says, 0..1."""
    return np.asarray(layer + np.clip(share, 0, 1)[..., None] * (own - layer))


def blend(ground: Array, layer: Array, edge: Array) -> Array:
    """`layer` over `ground`, both (rows, columns, 3) 0..255, by `edge` (rows, columns) 0..1; uint8."""
    mixed = ground + np.clip(edge, 0, 1)[..., None] * (layer - ground)
    return np.asarray(np.clip(np.round(mixed), 0, 255), np.uint8)
