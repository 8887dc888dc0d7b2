"""What skipped draws tell the attacker who knows everything but the key."""

import numpy as np
import pytest

from elsewho.identity import skips
from elsewho.identity.skips import guess_from_skips


@pytest.mark.parametrize("people", [2, 5, 20])
def test_nothing_skipped_tells_nothing(people):
    guess = guess_from_skips(np.ones((people, people), bool))

    assert guess.worst == pytest.approx(1 / people)


def test_in_a_class_of_two_one_skip_can_reveal_both():
    guess = guess_from_skips(np.array([[True, False], [True, True]]))

    assert guess.mean == guess.worst == 1


def test_in_a_class_of_three_it_reveals_less():
    guess = guess_from_skips(np.array([[True, False, True], [True] * 3, [True] * 3]))

    assert guess.mean == guess.worst == pytest.approx(1 / 2)


def test_scaling_is_near_the_truth(monkeypatch):
    allowed = np.random.default_rng(0).random((7, 7)) > 0.15
    np.fill_diagonal(allowed, True)
    exact = guess_from_skips(allowed)

    monkeypatch.setattr(skips, "EXACT", 1)
    scaled = guess_from_skips(allowed)

    assert scaled.mean == pytest.approx(exact.mean, abs=0.02)
    assert scaled.worst == pytest.approx(exact.worst, abs=0.05)
