"""Expression transfer between shapes (paper 004, IV.C): scaled, added, limited; then eyes and mouth by equation 2.

Shapes are (L, D) in the model's own pose and unit. Only x and y of eyes and mouth are set; depth follows equation 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elsewho.aam.basis import Basis
from elsewho.expression.marks import Component, Marks
from elsewho.expression.measure import opening_of, upright
from elsewho.types import Array

CLOSED = 0.1  # of the width: what is less open at rest gives no ratio to open by; eyes are about 0.3, mouths 0.03
THIN = 0.01  # the same for the thickness of a lip
REACH = 0.6  # of a component's width: points without a role that lie nearer follow it


def scale_between(original: Array, new: Array, marks: Marks) -> Array:
    """Horizontal and vertical scale (D,) from the neutral shape of the original (L, D) to that of the new identity.

    Of the widest and of the highest and lowest landmarks (IV.C.2). Depth is scaled as width is.
    """
    (left, right), (top, bottom) = marks.wide, marks.tall
    width, height = (
        [shape[b, axis].mean() - shape[a, axis].mean() for shape in (new, original)]
        for axis, (a, b) in enumerate(((left, right), (top, bottom)))
    )
    scales = np.full(new.shape[1], width[0] / width[1])
    scales[1] = height[0] / height[1]
    return scales


def transfer(expression: Array, neutral: Array, new: Array) -> Array:
    """Equation 1: the new identity's neutral and what the original's expression adds to its own neutral.

    Shapes or coefficients, alike: all three in one space, of one form.
    """
    return np.asarray(new + (expression - neutral))


def scale_change(basis: Basis, change: Array, scales: Array) -> Array:
    """Coefficients (S,) of a change of shape whose coefficients were `change` (S,), stretched by `scales` (D,)."""
    moved = (change @ basis.modes).reshape(-1, len(scales)) * scales
    return np.asarray(basis.modes @ moved.ravel())


@dataclass(frozen=True, slots=True)
class Levelled:
    """A component with the midpoint of its corners at the origin and its corners on a horizontal line."""

    points: Array  # (L, 2) of the whole face
    middle: Array  # (2,) where the midpoint was
    across: Array  # (2,) from the left to the right corner, as it was
    width: float

    def back(self, points: Array) -> Array:
        """Levelled points (n, 2) at the place and in the turn that the component had."""
        return upright(points, self.across * [1, -1]) + self.middle


def level(form: Array, component: Component) -> Levelled:
    """The face (L, D) as its component sees it."""
    left, right = form[component.corners, :2]
    middle, across = (left + right) / 2, right - left
    return Levelled(upright(form[:, :2] - middle, across), middle, across, float(np.hypot(*across)))


def keep_component(
    form: Array,
    expression: Array,
    neutral: Array,
    new: Array,
    component: Component,
    *,
    literal: bool = False,
    closed: float = CLOSED,
) -> Array:
    """`form` (L, D), made by equation 1, with the opening, width and lip thickness that equation 2 asks for.

    expression, neutral  (L, D) of the original;  new (L, D) the new identity's neutral
    literal  True: equation 2 as printed: the original's own outline, scaled, takes the place of the new identity's.
             False: only its *change* from neutral is scaled and added. Width, opening and thickness are the same to
             the last digit, but a face without expression stays as it is, and the form of lips and lids is not the
             original's.
    closed   share of the width under which an opening at rest counts as closed: then the opening itself is scaled, as
             the width is, and not its ratio to the one at rest
    """
    now, before, rest = (level(shape, component) for shape in (expression, neutral, new))
    stretch = rest.width / before.width

    def ratio(of_new: float, of_original: float, least: float) -> float:
        """By what heights grow; the width's where either is so small at rest that it gives none."""
        usable = of_new >= least * rest.width and of_original >= least * before.width
        return of_new / of_original if usable else stretch

    def carry(values: Sequence[Array], by: float) -> Array:
        x_now, x_before, x_rest = values
        return np.asarray(x_now * by if literal else x_rest + (x_now - x_before) * by)

    x = carry([one.points[:, 0] for one in (now, before, rest)], stretch)
    heights = [one.points[:, 1] for one in (now, before, rest)]
    y = rest.points[:, 1].copy()
    y[component.corners] = 0
    inside = component.opening
    by = ratio(opening_of(rest.points, component), opening_of(before.points, component), closed)
    y[inside] = carry([height[inside] for height in heights], by)
    upper, lower = component.pairs.T
    gaps = [0.0, *(height[upper] - height[lower] for height in heights)]  # annotated lips cross by a hair's breadth
    crossed = np.maximum(y[upper] - y[lower] - np.maximum.reduce(np.broadcast_arrays(*gaps)), 0)
    y[upper] -= crossed / 2
    y[lower] += crossed / 2
    for rim, partner in component.rims:
        thick = [height[rim] - height[partner] for height in heights]
        by = ratio(abs(float(thick[2].mean())), abs(float(thick[1].mean())), THIN)
        y[rim] = y[partner] + carry(thick, by)
    kept = form.copy()
    own = component.points
    kept[own, :2] = level(form, component).back(np.stack([x, y], axis=1)[own])
    return kept


def followers(mean: Array, component: Component, marks: Marks) -> Array:
    """How much (L, n) each landmark follows each of the component's points: 0 for those that have a role.

    mean  (L, D) the mean shape. Followers are the points of cheeks, chin and lids that a dense mark-up has.
    """
    own = component.points
    reach = REACH * float(np.hypot(*np.ptp(mean[component.corners, :2], axis=0)))
    away = np.linalg.norm(mean[:, None, :2] - mean[None, own, :2], axis=2)
    near = np.exp(-0.5 * (away / (0.25 * reach)) ** 2)
    share = near / np.maximum(near.sum(axis=1, keepdims=True), 1e-12)
    follow = share * np.clip(1 - away.min(axis=1, keepdims=True) / reach, 0, 1)
    follow[marks.roles] = 0
    return np.asarray(follow)


def let_follow(kept: Array, form: Array, component: Component, follow: Array) -> Array:
    """`kept` (L, D) with its neighbours moved along with the component, as `followers` (L, n) says."""
    own = component.points
    return np.asarray(kept + follow @ (kept[own] - form[own]))
