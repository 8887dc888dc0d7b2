"""The search must give what comparing everything gives, whatever was taken before."""

import numpy as np
import pytest
from crowds import KINDS, make_crowd
from hypothesis import given, settings
from hypothesis import strategies as st

from elsewho.errors import BadInput
from elsewho.identity import search
from elsewho.identity.search import Remaining, Surroundings


def by_hand(points, left, centre, sign):
    squares = ((points[left] - centre) ** 2).sum(axis=1)
    return left[np.argsort(sign * squares, kind="stable")]


@pytest.mark.parametrize("few", [0, 10**9])
@settings(deadline=None, max_examples=150)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(2, 120),
    d=st.sampled_from([1, 2, 5, 30, 59, 90]),
    scale=st.sampled_from([1.0, 1e-160, 1e-30, 1e20, 1e130]),
    seed=st.integers(0, 2**32 - 1),
)
def test_nearest_and_furthest_are_those_of_comparing_everything(few, kind, n, d, scale, seed):
    rng = np.random.default_rng(seed)
    points = make_crowd(kind, n, d, seed) * scale
    left, alive = Remaining(points), np.arange(n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "FEW", few)
        around = Surroundings(left)
        while len(alive) > 1:
            taken = rng.choice(alive, rng.integers(1, len(alive)), replace=False)
            left.take(taken.tolist())
            alive = np.setdiff1d(alive, taken)
            centre = points[rng.integers(n, size=rng.integers(1, 4))].mean(axis=0)
            count = int(rng.integers(1, 12))
            close, wide = by_hand(points, alive, centre, 1), by_hand(points, alive, centre, -1)

            assert left.all().tolist() == alive.tolist()
            assert left.nearest(centre, count).tolist() == close[:count].tolist()
            assert left.furthest(centre, count).tolist() == wide[:count].tolist()
            assert around.nearest_and_furthest(centre) == (close[0], wide[0])
            for step in (0.0, 0.01, 0.3, 3.0):
                moved = centre + step * (points[close[0]] - centre)
                assert around.nearest(moved) == by_hand(points, alive, moved, 1)[0]


def test_most_of_the_work_is_left_out_where_faces_vary_along_few_directions():
    points = np.random.default_rng(0).standard_normal((3000, 59)) * 0.8 ** np.arange(59)

    left = Remaining(points)

    assert len(left.table) < 20


def test_who_is_taken_can_be_put_back():
    points = np.arange(6.0)[:, None]
    left = Remaining(points)
    left.take([4, 1])

    left.put_back(1)

    assert left.all().tolist() == [0, 1, 2, 3, 5]
    assert left.nearest(np.array([1.2]), 5).tolist() == [1, 2, 0, 3, 5]


def test_values_whose_squares_are_no_numbers_are_refused():
    with pytest.raises(BadInput, match="1e\\+200"):
        Remaining(np.array([[1e200], [0.0]]))
