"""What in a texture is not the face: hair that hangs into it, and glasses. And light, to be told from skin."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from elsewho.aam.regions import OUTLINE, Regions
from elsewho.types import Array

DARK = 0.72  # hair is darker than this share of a mean face under the same light
FOREIGN = 16.0  # distance in Lab's a and b beyond which a colour is not that of this person's skin
RIM = 0.14  # background shows at most this far inside the outline, in frame widths
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)


def fit_light(texture: Array, reference: Array, where: Array, degree: int = 1) -> Array:
    """The smooth gain (rows, columns, C) that lights `reference` like `texture`, both (rows, columns, C) 0..255."""
    return light_gain(light_terms(texture, reference, where, degree), where.shape)


def light_terms(texture: Array, reference: Array, where: Array, degree: int = 2) -> Array:
    """The log of that gain as a polynomial (terms, C), in the order of `light_basis`.

    Fitted on the pixels `where` (rows, columns) three times, each time without the outliers: six numbers a channel
    at degree 2, so it carries light and tone but next to nothing of the person.
    """
    basis = light_basis(where.shape, degree)
    log = [np.log(np.clip(one, 0, 255).astype(np.float32) + 4) for one in (texture, reference)]
    ratio = log[0][where] - log[1][where]
    at, keep = basis[where], np.ones(len(ratio), bool)
    terms = np.zeros((basis.shape[-1], ratio.shape[-1]), np.float32)
    for _ in range(3):
        inner, right = at[keep].T @ at[keep], at[keep].T @ ratio[keep]
        terms = np.linalg.solve(inner, right)
        off = np.abs(ratio - at @ terms).max(axis=1)
        keep = off <= 2.5 * np.median(off)
    return np.asarray(terms)


def light_gain(terms: Array, size: tuple[int, ...]) -> Array:
    """The gain (rows, columns, C) of a polynomial (terms, C); never more than 4.5-fold either way."""
    degree = {1: 0, 3: 1, 6: 2}[len(terms)]
    return np.asarray(np.exp(np.clip(light_basis(size, degree) @ terms, -1.5, 1.5)))


@cache
def light_basis(size: tuple[int, ...], degree: int) -> Array:
    """(rows, columns, terms): 1, y, y^2, x, xy, x^2 for degree 2; x and y run from -1 to 1."""
    y, x = np.mgrid[-1 : 1 : size[0] * 1j, -1 : 1 : size[1] * 1j].astype(np.float32)
    basis = np.stack([x**i * y**j for i in range(degree + 1) for j in range(degree + 1 - i)], axis=-1)
    basis.flags.writeable = False
    return basis


def hides_face(texture: Array, mean: Array, regions: Regions) -> Array:
    """Where hair or background hides the face: (rows, columns) float32, 1 = hidden.

    Hair: much darker than the mean face under this light, in the upper half. Background: near the outline, of a
    colour that skin has not. Both only where joined to the outline. Misses blond and grey hair by construction.
    """
    steady = regions.skin & ~regions.forehead
    lit = np.clip(mean * fit_light(texture, mean, steady), 0, 255)
    smooth = [cv2.GaussianBlur(one.astype(np.float32), (0, 0), 1.5) for one in (texture, lit)]
    luma = [one @ _LUMA for one in smooth]
    dark = (luma[0] < DARK * luma[1]) & regions.upper & ~regions.features
    if dark[regions.forehead].mean() < 0.5:  # no full fringe: what is dark at the brows are the brows
        dark &= ~regions.brows
    lab = [cv2.cvtColor(one / np.float32(255), cv2.COLOR_RGB2LAB) for one in smooth]
    foreign = (np.hypot(*np.moveaxis((lab[0] - lab[1])[..., 1:], -1, 0)) > FOREIGN) & (regions.depth < RIM)
    foreign &= regions.inside & ~regions.features
    _, labels = cv2.connectedComponents((dark | foreign).astype(np.uint8))
    touching = np.setdiff1d(np.unique(labels[regions.inside & (regions.depth < OUTLINE)]), 0)
    reach = 2 * round(0.014 * texture.shape[1]) + 1
    grown = cv2.dilate(np.isin(labels, touching).astype(np.float32), np.ones((reach, reach)))
    return np.asarray(cv2.GaussianBlur(grown, (0, 0), 2), np.float32)


def bare_face(texture: Array, mean: Array, regions: Regions) -> Array:
    """The texture with the mean face, lit and toned like it, where it is hidden (rows, columns, 3) float32."""
    hidden = hides_face(texture, mean, regions)[..., None]
    if not hidden.any():
        return texture.astype(np.float32)
    bare = regions.skin & (hidden[..., 0] < 0.05)
    if bare.sum() < 0.2 * regions.skin.sum():
        bare = regions.skin
    hidden_forehead = bool(bare[regions.forehead].mean() < 0.5)  # then a curved light would be extrapolated there
    filled = np.clip(mean * fit_light(texture, mean, bare, degree=1 if hidden_forehead else 2), 0, 255)
    return np.asarray(texture + hidden * (filled - texture), np.float32)


def glasses_scores(textures: Array, mesh_points: Array) -> Array:
    """How much each of many grey textures (n, rows, columns) looks like wearing glasses (n,); above about 8 it does.

    Frames draw lines across the bridge of the nose and under both eyes: the vertical gradient there, in units of the
    spread over all faces. A comparison within a set, not a detector for a single picture.
    """
    left_eye, right_eye = mesh_points[[33, 133]], mesh_points[[362, 263]]
    width = float(left_eye[1, 0] - left_eye[0, 0])
    line = float(mesh_points[[133, 362], 1].mean())
    lid = float(mesh_points[[145, 374], 1].mean())
    gap = right_eye[0, 0] - left_eye[1, 0]
    bridge = (
        slice(int(line - 0.45 * width), int(line + 0.25 * width)),
        slice(int(left_eye[1, 0] + 0.12 * gap), int(right_eye[0, 0] - 0.12 * gap)),
    )
    under = [
        (
            slice(int(lid + 0.28 * width), int(lid + 0.95 * width)),
            slice(int(eye[0, 0] - 0.1 * width), int(eye[1, 0] + 0.1 * width)),
        )
        for eye in (left_eye, right_eye)
    ]
    zones = [bridge, *under]
    lines: list[list[Array]] = [[], [], []]
    for texture in textures:
        level = texture.astype(np.float32) / (texture[texture > 0].mean() + 1e-3)
        steep = np.abs(cv2.Sobel(cv2.GaussianBlur(level, (0, 0), 1.2), cv2.CV_32F, 0, 1))
        for kept, zone in zip(lines, zones, strict=True):
            kept.append(steep[zone])
    marks = []
    for kept in lines:
        steep = np.stack(kept)
        middle = np.median(steep, axis=0)
        spread = np.median(np.abs(steep - middle), axis=0) + 0.003
        high = np.clip((steep - middle) / spread, 0, 8)
        marks.append(np.percentile(high.reshape(len(high), -1), 85, axis=1))
    return np.asarray(marks[0] + np.minimum(marks[1], marks[2]))
