from dataclasses import replace

import numpy as np
import pytest
from forms import build_model, within
from numpy.testing import assert_allclose

from elsewho.expression import MARKS, Steps, prepare
from elsewho.expression.texture import match_histogram, split_channels

NONE = Steps(scale=False, limit=False, eyes=False, mouth=False, tone=False, light=False)


@pytest.fixture(scope="module", params=["grey", "rgb", "ycc"])
def model(request):
    return build_model(MARKS["imm64"], request.param)


def channels_of(model, coefficients):
    """The packed values of each channel, decoded in full."""
    vector, space = model.texture.basis.decode(coefficients), model.texture.space
    if space == "grey":
        return [vector]
    if space == "rgb":
        return [vector[i::3] for i in range(3)]
    pixels = len(model.texture.mesh.pixels)
    return [vector[:pixels], *np.split(vector[pixels:], 2)]


def test_a_matched_histogram_has_the_targets_quantiles():
    rng = np.random.default_rng(0)
    dark, bright = rng.normal(80, 10, (4000, 3)), rng.normal(160, 30, (4000, 3))

    matched = match_histogram(dark, bright)

    share = np.linspace(0.05, 0.95, 50)
    assert_allclose(np.quantile(matched, share, axis=0), np.quantile(bright, share, axis=0), atol=1)
    assert (np.argsort(matched[:, 0]) == np.argsort(dark[:, 0])).mean() > 0.95


def test_a_histogram_matched_to_itself_changes_nothing():
    values = np.random.default_rng(0).uniform(0, 255, (2000, 3))

    assert_allclose(match_histogram(values, values), values, atol=1e-3)


def test_a_flat_histogram_is_moved_to_the_target_without_a_fault():
    assert np.isfinite(match_histogram(np.full((50, 1), 7.0), np.linspace(0, 255, 50)[:, None])).all()


def test_moments_from_coefficients_are_those_of_the_decoded_texture(model):
    face = within(model, np.random.default_rng(1)).texture

    mean, sd = split_channels(model.texture).moments(face)

    for found, spread, values in zip(mean, sd, channels_of(model, face), strict=True):
        assert found == pytest.approx(values.mean(), abs=1e-3)
        assert spread == pytest.approx(values.std(), rel=1e-3)


def test_contrast_changed_in_coefficients_is_contrast_changed_in_pixels(model):
    channels, face = split_channels(model.texture), within(model, np.random.default_rng(2)).texture
    gain, shift = np.linspace(0.8, 1.1, len(channels.size)), np.linspace(-4, 9, len(channels.size))

    found = channels.apply(face, gain, shift)

    wanted = [g * v + s for g, v, s in zip(gain, channels_of(model, face), shift, strict=True)]
    vector = np.empty_like(model.texture.basis.mean)
    for place, values in zip(channels_of_places(model), wanted, strict=True):
        vector[place] = values
    assert_allclose(found, model.texture.basis.encode(vector), atol=0.05)


def channels_of_places(model):
    count, space = len(model.texture.basis.mean), model.texture.space
    if space == "grey":
        return [np.arange(count)]
    if space == "rgb":
        return [np.arange(i, count, 3) for i in range(3)]
    pixels = len(model.texture.mesh.pixels)
    return [np.arange(pixels), *np.split(np.arange(pixels, count), 2)]


def test_a_darker_original_gives_the_same_result_once_its_tone_is_matched():
    model = build_model(MARKS["imm64"])
    transfer, rng = prepare(model), np.random.default_rng(3)
    moved, rest, new = (within(model, rng, 0.3).texture for _ in range(3))
    flat = transfer.channels.flat[0]
    steps = replace(NONE, tone=True)

    dark = transfer.texture(moved - 20 * flat, rest - 20 * flat, new, steps)

    assert_allclose(dark, transfer.texture(moved, rest, new, steps), atol=0.05 * model.texture.basis.sd[0])


def test_a_light_turned_up_on_the_original_is_turned_up_on_the_result():
    model = build_model(MARKS["imm64"])
    transfer, rng = prepare(model), np.random.default_rng(4)
    rest, new = within(model, rng, 0.3).texture, within(model, rng, 0.3).texture
    lit = rest + 15 * transfer.channels.flat[0]  # brighter by 15 grey levels, as far as the model can

    result = transfer.texture(lit, rest, new, replace(NONE, tone=True, light=True))

    gained = [transfer.channels.moments(one)[0][0] for one in (result, new, lit, rest)]
    assert gained[0] - gained[1] == pytest.approx(gained[2] - gained[3], abs=0.5)


def test_histograms_and_moments_agree_where_histograms_have_one_form():
    model = build_model(MARKS["imm64"])
    transfer, rng = prepare(model), np.random.default_rng(5)
    faces = [within(model, rng, 0.2).texture for _ in range(3)]

    exact = transfer.texture_by_histograms(*faces)

    fast = model.texture.decode(transfer.texture(*faces))
    assert np.abs(exact - fast).mean() < 4
    assert np.abs(exact - model.texture.decode(faces[2])).mean() > 1
