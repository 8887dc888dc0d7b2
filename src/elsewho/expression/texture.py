"""Expression transfer between textures (paper 004, IV.D): skin tone matched, change added, light cloned.

Twice. On pixels, as printed: histograms are matched. On coefficients, a thousand times faster: the mean and the
spread of each channel are, and both can be had from coefficients alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewho.aam.texture import TextureModel
from elsewho.types import Array

LEVELS = 256  # quantiles of a histogram


# On pixels, as printed


def match_histogram(values: Array, target: Array) -> Array:
    """Values (P, C) changed, channel by channel, so that their histogram is that of `target` (P, C)."""
    matched = np.empty_like(values, dtype=np.float32)
    share = np.linspace(0, 1, LEVELS)
    for channel in range(values.shape[1]):
        have, wanted = (np.quantile(one[:, channel], share) for one in (values, target))
        have = have + np.arange(LEVELS) * 1e-9 * max(1.0, float(np.ptp(have)))  # flat histograms have no inverse
        matched[:, channel] = np.interp(values[:, channel], have, wanted)
    return matched


# On coefficients


@dataclass(frozen=True, slots=True)
class Channels:
    """What the mean, the spread and a change of contrast of each channel are, in coefficients (T,)."""

    level: Array  # (c, T) mean of the channel by coefficient
    level0: Array  # (c,) mean of the channel of the mean texture
    overlap: Array  # (c, T, T) products of the modes on the channel's entries
    cross: Array  # (c, T) products of modes and mean texture there
    square: Array  # (c,) square of the mean texture there
    flat: Array  # (c, T) coefficients of a channel that is 1 everywhere
    size: Array  # (c,) entries a channel has

    def moments(self, coefficients: Array) -> tuple[Array, Array]:
        """Mean (c,) and standard deviation (c,) of each channel over the face."""
        mean = self.level0 + self.level @ coefficients
        square = self.square + 2 * self.cross @ coefficients + self.overlap @ coefficients @ coefficients
        return mean, np.sqrt(np.maximum(square / self.size - mean**2, 1e-6))

    def match(self, coefficients: Array, target: Array) -> tuple[Array, Array]:
        """Gain (c,) and shift (c,) that give a texture (T,) the moments of another (T,)."""
        (mean, sd), (wanted, spread) = self.moments(coefficients), self.moments(target)
        gain = spread / sd
        return gain, wanted - gain * mean

    def apply(self, coefficients: Array, gain: Array, shift: Array) -> Array:
        """Coefficients (T,) of the texture whose channels are multiplied and shifted."""
        return np.asarray(
            coefficients + np.einsum("c,ct->t", gain - 1, self.overlap @ coefficients + self.cross) + shift @ self.flat
        )


def split_channels(texture: TextureModel) -> Channels:
    """The channels of a texture model: one of grey, three of colour."""
    modes, mean = texture.basis.modes, texture.basis.mean
    pixels = len(texture.mesh.pixels)
    entries: list[slice]
    if texture.space == "grey":
        entries = [slice(None)]
    elif texture.space == "rgb":
        entries = [slice(channel, None, 3) for channel in range(3)]
    else:
        cells = (len(mean) - pixels) // 2
        entries = [slice(0, pixels), slice(pixels, pixels + cells), slice(pixels + cells, None)]
    parts = [(modes[:, own], mean[own]) for own in entries]
    return Channels(
        level=np.stack([m.mean(axis=1) for m, _ in parts]).astype(np.float64),
        level0=np.array([float(v.mean()) for _, v in parts]),
        overlap=np.stack([m @ m.T for m, _ in parts]).astype(np.float64),
        cross=np.stack([m @ v for m, v in parts]).astype(np.float64),
        square=np.array([float((v.astype(np.float64) ** 2).sum()) for _, v in parts]),
        flat=np.stack([m.sum(axis=1) for m, _ in parts]).astype(np.float64),
        size=np.array([len(v) for _, v in parts], np.float64),
    )
