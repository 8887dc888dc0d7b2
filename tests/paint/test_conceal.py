from __future__ import annotations

import numpy as np
import pytest

from elsewho.paint import conceal


@pytest.fixture
def noise():
    return np.random.default_rng(0).integers(0, 256, (120, 160, 3), np.uint8)


def test_inside_the_ellipse_one_colour_is_left(noise):
    covered = conceal(noise, (40, 20, 60, 80))

    assert len(np.unique(covered[30:90, 50:90].reshape(-1, 3), axis=0)) == 1


def test_nothing_of_the_box_is_left(noise):
    covered = conceal(noise, (40, 20, 60, 80))

    assert len(np.unique(covered[20:100, 40:100].reshape(-1, 3), axis=0)) == 1


def test_far_from_the_face_nothing_changes_and_the_original_is_left_alone(noise):
    before = noise.copy()

    covered = conceal(noise, (40, 20, 60, 80))

    assert (covered[:, 115:] == noise[:, 115:]).all()
    assert (noise == before).all()


@pytest.mark.parametrize("box", [(-30, -30, 60, 60), (140, 100, 60, 60), (0, 0, 1, 1), (10.4, 3.7, 0.2, 0.2)])
def test_boxes_at_the_border_and_tiny_ones_are_covered(noise, box):
    covered = conceal(noise, box)

    x, y = (int(np.clip(box[i] + box[i + 2] / 2, 0, (159, 119)[i])) for i in (0, 1))
    assert (covered != noise).any()
    assert len(np.unique(covered[max(y - 1, 0) : y + 1, max(x - 1, 0) : x + 1].reshape(-1, 3), axis=0)) <= 3


def test_the_colour_is_the_tone_of_the_face():
    picture = np.full((100, 100, 3), 30, np.uint8)
    picture[30:70, 30:70] = [200, 150, 120]

    assert (conceal(picture, (30, 30, 40, 40))[50, 50] == [200, 150, 120]).all()
