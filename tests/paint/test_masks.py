from __future__ import annotations

import numpy as np
import pytest

from elsewho.aam.mesh import make_mesh, triangulate
from elsewho.errors import PointsMismatch
from elsewho.find import topology
from elsewho.paint import make_masks


def test_the_outline_stays_where_it_is_and_the_nose_may_move(masks):
    assert (masks.give[topology.OVAL] == 0).all()
    assert masks.give[1] == 1


def test_the_edge_is_nothing_at_the_outline_and_all_on_the_nose(masks, mesh):
    x, y = np.round(mesh.points[1]).astype(int)

    assert masks.edge[y, x] == 1
    assert masks.edge[~mesh.inside].max() == 0


def test_eyes_and_mouth_are_where_their_points_are(masks, mesh):
    left, right = (mesh.points[eye].mean(axis=0).round().astype(int) for eye in topology.EYES)
    mouth = mesh.points[topology.LIPS_INNER].mean(axis=0).round().astype(int)

    assert min(masks.eyes[y, x] for x, y in (left, right)) > 0.5
    assert masks.mouth[mouth[1], mouth[0]] > 0.5
    assert masks.eyes[mouth[1], mouth[0]] == 0


def test_a_model_of_another_mark_up_is_refused_with_both_counts():
    shape = np.random.default_rng(0).random((58, 2))

    with pytest.raises(PointsMismatch, match="468 mesh points, this one has 58"):
        make_masks(make_mesh(shape, triangulate(shape), 64))
