from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from elsewho.paint import blend, keep_own

BLACK, WHITE = np.zeros((4, 4, 3), np.float32), np.full((4, 4, 3), 255, np.float32)


def test_where_the_edge_is_nothing_the_ground_stays_and_where_it_is_one_it_is_gone():
    edge = np.zeros((4, 4), np.float32)
    edge[:, 2:] = 1

    mixed = blend(BLACK, WHITE, edge)

    assert mixed.dtype == np.uint8
    assert (mixed[:, :2] == 0).all()
    assert (mixed[:, 2:] == 255).all()


def test_half_an_edge_gives_half_of_each():
    assert (blend(BLACK, WHITE, np.full((4, 4), 0.5)) == 128).all()


def test_colours_beyond_white_are_white():
    assert (blend(BLACK, 3 * WHITE, np.ones((4, 4))) == 255).all()


def test_own_eyes_stay_own():
    share = np.zeros((4, 4))
    share[1, 1] = 2.0  # masks that overlap add up to more than one

    kept = keep_own(WHITE, BLACK, share)

    assert_array_equal(kept[1, 1], 0)
    assert (kept[0] == 255).all()
