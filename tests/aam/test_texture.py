"""The texture model and its colour spaces."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from elsewho.aam.basis import fit_basis
from elsewho.aam.mesh import make_mesh, triangulate
from elsewho.aam.texture import CELL, TextureModel, make_cells, pack, unpack
from elsewho.errors import BadInput

MODES = 6  # grey looks have no more


@pytest.fixture(scope="module")
def mesh():
    """A face-like oval."""
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    rim = np.stack([np.cos(angle), 1.25 * np.sin(angle)], axis=1)
    points = np.concatenate([rim, 0.5 * rim, [[0.0, 0.0]]])
    return make_mesh(points, triangulate(points), 61)


def looks(mesh, n=30, seed=0):
    """Smooth coloured faces (n, P, 3)."""
    rng = np.random.default_rng(seed)
    x, y = (mesh.pixels / 60.0).T
    waves = np.stack([np.ones_like(x), x, y, np.sin(5 * x), np.cos(4 * y), np.sin(9 * x * y)], axis=1)
    colour = rng.standard_normal((n, 6, 3)) * 9
    return (np.einsum("pw,nwc->npc", waves, colour) + [150, 120, 100]).astype(np.float32)


@pytest.mark.parametrize("space", ["rgb", "ycc"])
def test_colours_survive_packing(mesh, space):
    values = looks(mesh, 1)[0]

    back = unpack(pack(values, mesh, space), mesh, space)

    tolerance = 1e-3 if space == "rgb" else 4.0  # chroma is coarser, luma is not
    assert np.abs(back - values).mean() < tolerance
    luma = np.array([0.299, 0.587, 0.114])
    assert_allclose(back @ luma, values @ luma, atol=0.05)


def test_grey_packs_luma(mesh):
    values = np.tile(np.float32([200, 100, 50]), (len(mesh.pixels), 1))

    assert_allclose(pack(values, mesh, "grey"), 0.299 * 200 + 0.587 * 100 + 0.114 * 50, rtol=1e-5)


def test_a_plain_colour_is_exact_in_every_space(mesh):
    values = np.tile(np.float32([210, 140, 120]), (len(mesh.pixels), 1))

    assert_allclose(unpack(pack(values, mesh, "ycc"), mesh, "ycc"), values, atol=0.01)


def test_a_distance_counts_every_pixel_of_chroma(mesh):
    """Two plain colours of one luma are as far apart, a pixel, as their chroma."""
    first, second = (np.tile(np.float32(c), (len(mesh.pixels), 1)) for c in ([150, 120, 100], [150, 119.5, 102.576]))

    away = pack(first, mesh, "ycc") - pack(second, mesh, "ycc")

    cells = make_cells(mesh)
    chroma = (first - second)[0] @ np.array([[-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]]).T
    assert away @ away == pytest.approx(CELL**2 * cells.used.sum() * (chroma @ chroma), rel=0.01)


@pytest.fixture(scope="module", params=["grey", "rgb", "ycc"])
def model(request, mesh):
    vectors = np.stack([pack(values, mesh, request.param) for values in looks(mesh)])
    return TextureModel(mesh, request.param, fit_basis(vectors, MODES))


def test_a_decoded_texture_is_encoded_to_the_coefficients_it_came_from(model):
    truth = (model.basis.sd * np.random.default_rng(2).uniform(-1, 1, MODES)).astype(np.float32)

    found = model.encode(model.unpack(model.basis.decode(truth)))

    assert_allclose(found, truth, atol=0.02 * model.basis.sd[0])


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7])
def test_what_is_hidden_is_found_from_what_is_seen(model, share):
    truth = (model.basis.sd * np.random.default_rng(3).uniform(-1, 1, MODES)).astype(np.float32)
    values = model.unpack(model.basis.decode(truth))
    seen = model.mesh.pixels[:, 1] >= share * model.mesh.size[0]
    ruined = np.where(seen[:, None], values, 0).astype(np.float32)

    found = model.unpack(model.basis.decode(model.encode(ruined, seen)))

    assert np.abs(found - values)[seen].mean() < 1.5
    assert np.abs(found - values)[~seen].mean() < 0.2 * np.abs(ruined - values)[~seen].mean()


def test_a_face_hardly_seen_is_refused(model):
    seen = np.zeros(len(model.mesh.pixels), bool)
    seen[:50] = True

    with pytest.raises(BadInput, match="can be seen"):
        model.encode(looks(model.mesh, 1)[0], seen)


def test_decoded_values_are_grey_levels(model):
    values = model.decode((model.basis.sd * 50).astype(np.float32))

    assert values.min() >= 0
    assert values.max() <= 255


def test_a_grey_picture_serves_a_colour_model(model):
    assert model.encode(looks(model.mesh, 1)[0][:, 0]).shape == (MODES,)
