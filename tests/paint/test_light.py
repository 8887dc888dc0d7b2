from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.testing import assert_allclose

from elsewho.paint import add_grain, carry_expression, limit_colour, match_light, match_tone

SIZE = 80
ALL = np.ones((SIZE, SIZE), bool)
NONE = np.zeros((SIZE, SIZE), np.float32)


@pytest.fixture
def skin():
    """A texture (SIZE, SIZE, 3) of skin with soft shadows."""
    rng = np.random.default_rng(1)
    shade = cv2.GaussianBlur(rng.standard_normal((SIZE, SIZE)).astype(np.float32), (0, 0), 6)
    return (np.array([190, 150, 130]) * (1 + 0.8 * shade[..., None])).astype(np.float32)


def lab(texture):
    return cv2.cvtColor(np.clip(texture, 0, 255).astype(np.float32) / np.float32(255), cv2.COLOR_RGB2LAB)


def test_the_tone_of_the_photo_is_taken_over(skin):
    photo = skin * np.float32([0.6, 0.5, 0.45])

    matched = match_tone(skin, photo, ALL)

    assert_allclose(np.median(lab(matched), axis=(0, 1)), np.median(lab(photo), axis=(0, 1)), atol=0.5)


def test_a_texture_that_has_the_photos_tone_already_stays_as_it_is(skin):
    assert_allclose(match_tone(skin, skin, ALL), skin, atol=0.5)


def test_light_from_the_side_falls_on_the_new_face_too(skin):
    slope = np.linspace(0.5, 1.3, SIZE, dtype=np.float32)[None, :, None]

    lit = match_light(skin, skin * slope, ALL)

    assert_allclose(lit[:, 4:-4], (skin * slope)[:, 4:-4], rtol=0.06)


def test_a_mole_does_not_change_the_light(skin):
    photo = skin.copy()
    photo[30:36, 30:36] = 20

    assert_allclose(match_light(skin, photo, ALL), skin, rtol=0.02)


def test_grey_photos_stay_grey(skin):
    grey = np.repeat(skin.mean(axis=2, keepdims=True), 3, axis=2)

    assert np.ptp(limit_colour(skin, grey, ALL, NONE), axis=2).max() < 2


def test_a_red_nose_is_calmed(skin):
    red = skin.copy()
    red[30:50, 30:50] = [230, 90, 80]

    off = np.abs(lab(limit_colour(red, skin, ALL, NONE)) - np.median(lab(skin), axis=(0, 1)))[..., 1:]

    assert off.max() < 6.5


def test_no_change_of_expression_leaves_the_texture_as_it_is(skin):
    assert_allclose(carry_expression(skin, skin, skin, ALL, NONE), skin, rtol=1e-4)


def test_a_crease_of_the_smile_is_carried_and_its_colour_is_not(skin):
    smile = skin.copy()
    smile[:, 20:32] *= np.float32([0.8, 0.75, 0.7])

    carried = carry_expression(skin, smile, skin, ALL, NONE)

    ratio = carried[:, 26] / skin[:, 26]
    assert_allclose(ratio, 0.76, atol=0.03)
    assert_allclose(np.ptp(ratio, axis=1), 0, atol=1e-3)


def test_where_it_is_to_be_kept_the_texture_takes_no_expression(skin):
    assert_allclose(carry_expression(skin, 0.5 * skin, skin, ALL, NONE + 1), skin)


def test_a_smooth_face_in_a_grainy_photo_becomes_as_grainy():
    smooth = np.full((SIZE, SIZE, 3), 128, np.float32)
    rng = np.random.default_rng(2)
    grainy = smooth + rng.normal(0, 6, (SIZE, SIZE, 1)).astype(np.float32)

    grained = add_grain(smooth, grainy, ALL, NONE + 1, 300.0, np.random.default_rng(3))

    def fine(picture):
        return float((picture - cv2.GaussianBlur(picture, (0, 0), 2)).mean(axis=2).std())

    assert fine(grained) == pytest.approx(fine(grainy), rel=0.15)
    assert np.ptp(grained - smooth, axis=2).max() < 1e-3


def test_a_photo_without_grain_gets_none():
    smooth = np.full((SIZE, SIZE, 3), 128, np.float32)

    assert_allclose(add_grain(smooth, smooth, ALL, NONE + 1, 300.0, np.random.default_rng(3)), smooth)
