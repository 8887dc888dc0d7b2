"""Tone and light of the photo on the new texture. All textures (rows, columns, 3) float32 RGB, 0..255."""

from __future__ import annotations

import itertools

import cv2
import numpy as np

from elsewho.aam.clean import fit_light
from elsewho.types import Array

COLOUR = 6.0  # a and b of the skin differ softly by at most this from the photo's; a red nose is nobody's
EXPRESSION = 6 / 320  # what is coarser than this, in frame widths, is expression: creases and the shadows of a smile
MOST_CHANGE = 1.35  # by expression, either way
BANDS = (0.7, 1.4, 2.8)  # pixels of the picture: the photo's grain is matched between each two
COARSEST = 0.0125  # of the face's width: coarser than this are blotches and shadows, not grain


def match_tone(texture: Array, photo: Array, skin: Array) -> Array:
    """The texture with the photo's middle and spread of Lab on `skin` (rows, columns) bool; chroma never gains."""
    new, own = _to_lab(texture), _to_lab(photo)
    for channel in range(3):
        x, y = new[..., channel][skin], own[..., channel][skin]
        wide, aim = (np.subtract(*np.percentile(v, (84, 16))) for v in (x, y))  # moles and stubble do not count
        gain = np.clip(aim / max(float(wide), 1e-3), 0.7, 1.3 if channel == 0 else 1.0)
        middle, target = np.median(x), np.median(y)
        if channel == 0 and target < middle:  # a darker skin has less contrast, or lids and brows would be black
            gain = min(gain, np.sqrt(target / middle))
        new[..., channel] = (new[..., channel] - middle) * gain + target
    return _to_rgb(new)


def match_light(texture: Array, photo: Array, skin: Array) -> Array:
    """The texture under the photo's light: a smooth gain, six numbers a channel."""
    return np.asarray(texture * _hold_outside(fit_light(photo, texture, skin, degree=2), skin), np.float32)


def _hold_outside(gain: Array, skin: Array) -> Array:
    """The gain kept within what it is on skin: a curve that is extrapolated runs away."""
    low, high = np.percentile(gain[skin], (1, 99), axis=0)
    return np.clip(gain, low, high)


def limit_colour(texture: Array, photo: Array, skin: Array, lips: Array) -> Array:
    """The texture with chroma near the photo's skin; `lips` (rows, columns) 0..1 have the photo's; grey stays grey."""
    new, own = _to_lab(texture), _to_lab(photo)
    middle = np.median(own[skin], axis=0)[1:]
    spread = np.percentile(np.abs(own[skin][:, 1:] - middle), 90, axis=0).max()
    limit = np.clip(2 * spread, 0.2, COLOUR) * (1 + lips[..., None])
    new[..., 1:] = middle + limit * np.tanh((new[..., 1:] - middle) / limit)
    red = lips > 0.9
    if red.any():
        new[..., 1:] += lips[..., None] * (np.median(own[red], axis=0) - np.median(new[red], axis=0))[1:]
    return _to_rgb(new)


def carry_expression(texture: Array, expressive: Array, neutral: Array, skin: Array, keep: Array) -> Array:
    """The texture with the coarse change of light from `neutral` to `expressive`: a smile's creases and shadows.

    All (rows, columns, 3). Grey alone, with a median of 1, so that it changes neither tone nor colour.

    skin  (rows, columns) bool: where the change is seen, without brows and hair, which are the person's
    keep  (rows, columns) 0..1: where the texture stays as it is
    """
    sigma = EXPRESSION * texture.shape[1]
    grey = [one.mean(axis=2, keepdims=True) + 8 for one in (expressive, neutral)]
    ratio = _smooth(grey[0], sigma, skin) / _smooth(grey[1], sigma, skin)
    ratio /= np.median(ratio[skin])
    change = np.clip(ratio, 1 / MOST_CHANGE, MOST_CHANGE) ** (1 - keep[..., None])
    return np.asarray(texture * change, np.float32)


def add_grain(layer: Array, photo: Array, skin: Array, where: Array, width: float, rng: np.random.Generator) -> Array:
    """The layer with grey noise, as strong on `skin` as the photo's own grain, band by band.

    layer, photo  (rows, columns, 3) of the picture, float32
    skin          (rows, columns) bool;  where (rows, columns) 0..1, how much of the noise is added
    width         of the face, pixels
    """
    if skin.sum() < 50:
        return layer
    noise = rng.standard_normal(layer.shape[:2]).astype(np.float32)
    grain = np.zeros_like(noise)
    coarsest = max(COARSEST * width, BANDS[0])
    limits = [0.0, *(band for band in BANDS if band < 0.9 * coarsest), coarsest]
    for fine, coarse in itertools.pairwise(limits):
        own, new, drawn = (_band(one, fine, coarse) for one in (photo.mean(axis=2), layer.mean(axis=2), noise))
        lack = np.sqrt(max(_spread(own[skin]) ** 2 - _spread(new[skin]) ** 2, 0.0))
        grain += drawn * (lack / max(_spread(drawn[skin]), 1e-6))
    return np.asarray(layer + (where * grain)[..., None], np.float32)


def _band(picture: Array, fine: float, coarse: float) -> Array:
    smooth = cv2.GaussianBlur(picture, (0, 0), fine) if fine else picture
    return smooth - cv2.GaussianBlur(picture, (0, 0), coarse)


def _spread(values: Array) -> float:
    """Standard deviation, from the median: moles and hairs do not count."""
    return float(np.median(np.abs(values)) / 0.6745)


def _smooth(texture: Array, sigma: float, inside: Array) -> Array:
    """Low pass that takes nothing in from outside."""
    mask = inside.astype(np.float32)[..., None]
    top = cv2.GaussianBlur(np.asarray(texture * mask, np.float32), (0, 0), sigma)
    top = top.reshape(texture.shape)
    return np.asarray((top + 1e-3) / (cv2.GaussianBlur(mask, (0, 0), sigma)[..., None] + 1e-3))


def _to_lab(texture: Array) -> Array:
    scaled = np.clip(texture, 0, 255).astype(np.float32) / np.float32(255)
    return np.asarray(cv2.cvtColor(scaled, cv2.COLOR_RGB2LAB))


def _to_rgb(lab: Array) -> Array:
    return np.asarray(cv2.cvtColor(lab, cv2.COLOR_LAB2RGB) * np.float32(255))
