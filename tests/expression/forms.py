"""Faces built from the tables of the mark-ups: every opening, width and thickness is known; nobody is shown."""

from __future__ import annotations

import numpy as np

from elsewho.aam.basis import fit_basis
from elsewho.aam.mesh import make_mesh, triangulate
from elsewho.aam.model import FaceModel
from elsewho.aam.shape import fit_shapes
from elsewho.aam.texture import TextureModel
from elsewho.expression import Look


def build(
    marks, *, opening=0.05, width=0.3, eyes=0.06, brow=0.0, smile=0.0, thick=0.05, stretch=(1.0, 1.0), seed=0
) -> np.ndarray:
    """One face (L, 2) about the origin, about one unit high."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, marks.count)
    form = 0.42 * np.sqrt(rng.uniform(0.3, 1, marks.count))[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    form[marks.rigid] = 0.46 * np.stack([np.cos(angle), np.sin(angle)], 1)[marks.rigid]
    for side, points, brow_points in zip((-1, 1), marks.wide, marks.brows, strict=True):
        form[points] = np.stack([side * (0.5 - 0.004 * np.arange(len(points))), 0.05 * np.arange(len(points))], 1)
        x = np.linspace(-0.1, 0.1, len(brow_points))
        form[brow_points] = np.stack([side * 0.2 + x, -0.22 - brow - 2 * (0.01 - x**2)], 1)
    form[marks.tall[1]] = np.stack([np.linspace(-0.05, 0.05, len(marks.tall[1])), np.full(len(marks.tall[1]), 0.5)], 1)
    for side, eye in zip((-1, 1), marks.eyes, strict=True):
        place(form, eye, (side * 0.2, -0.1), 0.14, eyes)
    place(form, marks.mouth, (0, 0.25), width, opening, thick)
    form[marks.mouth.points, 1] -= smile * (np.abs(form[marks.mouth.points, 0]) / (width / 2)) ** 2
    return form * stretch


def place(form, component, at, width, opening, thick=0.0):
    """A component about `at`, its lids or lips as arcs `opening` apart on average."""
    form[component.corners] = np.array([[-width / 2, 0], [width / 2, 0]]) + at
    upper, lower = component.pairs.T
    x = np.linspace(-0.4, 0.4, len(upper)) * width
    arc = 1 - (2 * x / width) ** 2
    arc *= opening / arc.mean() / 2
    loose = np.setdiff1d(component.opening, component.pairs)
    form[loose] = np.stack([np.linspace(-0.45, 0.45, len(loose)) * width, np.zeros(len(loose))], 1) + at
    form[upper], form[lower] = np.stack([x, -arc], 1) + at, np.stack([x, arc], 1) + at
    for side, (rim, partner) in zip((-1, 1), component.rims, strict=False):
        form[rim] = form[partner] + np.array([0, side * thick])


def crowd(marks, n=80, seed=0) -> np.ndarray:
    """Faces (n, L, 2) that differ in all that `build` can vary."""
    rng = np.random.default_rng(seed)
    return np.stack(
        [
            build(
                marks,
                opening=rng.uniform(0.02, 0.12),
                width=rng.uniform(0.24, 0.38),
                eyes=rng.uniform(0.03, 0.09),
                brow=rng.uniform(-0.02, 0.03),
                smile=rng.uniform(-0.01, 0.04),
                thick=rng.uniform(0.03, 0.07),
                stretch=rng.uniform(0.9, 1.1, 2),
            )
            for _ in range(n)
        ]
    )


def build_model(marks, space="grey", seed=0) -> FaceModel:
    """A face model of the crowd with textures of smooth noise."""
    rng = np.random.default_rng(seed)
    shape = fit_shapes(crowd(marks), 8)
    mesh = make_mesh(shape.mean, triangulate(shape.mean), 40)
    model = TextureModel(mesh, space, None)
    x, y = (mesh.pixels / mesh.size[::-1]).T
    waves = np.stack([np.cos(np.pi * (a * x + b * y)) for a in range(3) for b in range(3)])
    pictures = 130 + np.einsum("nwc,wp->npc", rng.normal(size=(60, 9, 3)) * 12, waves)
    vectors = np.stack([model.pack(one) for one in pictures])
    return FaceModel(marks.name, shape, TextureModel(mesh, space, fit_basis(vectors, 8)))


def look(model, form, texture=None) -> Look:
    """The look of a face (L, 2), its texture the mean one unless given."""
    shape, pose = model.shape.encode(form)
    return Look(shape, np.zeros(len(model.texture.basis)) if texture is None else texture, pose.undo(form))


def within(model, rng, share=1.0) -> Look:
    """A random look that no limit touches, its form exactly what its coefficients say."""
    shape = rng.uniform(-1, 1, len(model.shape.basis)) * model.shape.basis.sd * share
    texture = rng.uniform(-1, 1, len(model.texture.basis)) * model.texture.basis.sd * share
    return Look(shape, texture, model.shape.decode(shape))
