"""Dense features."""

import numpy as np
from numpy.testing import assert_allclose

from elsewho.aam.features import Features, extract


def ramp(angle, rows=40, columns=48):
    """A picture that brightens steadily in the direction `angle`, by 3 grey levels a pixel."""
    y, x = np.mgrid[0:rows, 0:columns]
    return (3 * (np.cos(angle) * x + np.sin(angle) * y)).astype(np.float32) + 10


def test_a_constant_patch_has_no_features():
    assert (extract(np.full((20, 24), 93, np.float32), Features()) == 0).all()


def test_each_direction_of_a_slope_has_its_own_bin():
    for k in range(8):
        middle = extract(ramp(2 * np.pi * k / 8), Features())[20, 24]

        assert middle.argmax() == k
        assert_allclose(np.delete(middle, k), 0, atol=3e-4)


def test_a_slope_between_two_directions_is_shared_between_their_bins():
    middle = extract(ramp(2 * np.pi * 2.5 / 8), Features())[20, 24]

    assert_allclose(middle[2], middle[3], rtol=1e-3)
    assert_allclose(np.delete(middle, [2, 3]), 0, atol=3e-4)


def test_light_falls_out():
    patch = (100 * np.random.default_rng(0).random((40, 48))).astype(np.float32)
    features = Features(floor=1e-6)

    bright = extract(2 * patch + 60, features)

    assert_allclose(bright, extract(patch, features), atol=1e-3)


def test_shrunk_features_are_those_of_the_full_size_seen_from_farther_away():
    rng = np.random.default_rng(1)
    patch = (200 * rng.random((5, 6))).repeat(16, axis=0).repeat(16, axis=1).astype(np.float32)

    full = extract(patch, Features(sigma=3.0))
    small = extract(patch, Features(sigma=3.0, shrink=2))

    assert small.shape == (40, 48, 8)
    assert_allclose(small[4:-4, 4:-4], full.reshape(40, 2, 48, 2, 8).mean(axis=(1, 3))[4:-4, 4:-4], atol=0.06)
