from collections import Counter

import numpy as np
import pytest

from elsewho.find import topology
from elsewho.find.topology import (
    BROWS,
    EYE,
    EYES,
    FACE,
    KIND,
    LIPS_INNER,
    LIPS_OUTER,
    MIRROR,
    MOUTH,
    NOSE,
    OVAL,
    RIGID,
    TRIANGLES,
)

LOOPS = {
    "lips outer": LIPS_OUTER,
    "lips inner": LIPS_INNER,
    "left eye": EYES[0],
    "right eye": EYES[1],
    "left brow": BROWS[0],
    "right brow": BROWS[1],
    "oval": OVAL,
}


def edges_of(triangles):
    return Counter((int(t[i]), int(t[(i + 1) % 3])) for t in triangles for i in range(3))


def test_the_mesh_has_852_triangles_of_the_face_28_in_the_eyes_and_18_in_the_mouth():
    assert [int((kind == KIND).sum()) for kind in (FACE, EYE, MOUTH)] == [852, 28, 18]
    assert TRIANGLES.shape == (898, 3)
    assert len({frozenset(t) for t in TRIANGLES.tolist()}) == 898
    assert sorted(set(TRIANGLES.ravel().tolist())) == list(range(468))


def test_all_triangles_turn_the_same_way_so_no_edge_runs_twice_in_one_sense():
    assert max(edges_of(TRIANGLES).values()) == 1


def test_the_only_border_is_the_outline_of_the_face():
    edges = edges_of(TRIANGLES)
    border = {point for a, b in edges if (b, a) not in edges for point in (a, b)}

    assert border == set(OVAL.tolist())


def test_the_closing_triangles_use_no_point_but_those_of_their_loops():
    assert set(TRIANGLES[KIND == EYE].ravel().tolist()) == {*EYES[0].tolist(), *EYES[1].tolist()}
    assert set(TRIANGLES[KIND == MOUTH].ravel().tolist()) == set(LIPS_INNER.tolist())


def test_the_partner_of_the_partner_is_the_point_itself():
    assert np.array_equal(MIRROR[MIRROR], np.arange(468))


def test_the_midline_is_its_own_partner_and_nothing_else_is():
    for point in (10, 151, 9, 8, 168, 6, 197, 195, 5, 4, 1, 2, 164, 0, 13, 14, 17, 152):
        assert MIRROR[point] == point
    assert (np.arange(468) == MIRROR).sum() == 28


def test_corners_of_eyes_and_mouth_are_partners():
    assert MIRROR[[33, 133, 159, 145, 61, 78]].tolist() == [263, 362, 386, 374, 291, 308]


def test_a_mirrored_triangle_is_a_triangle_that_turns_the_other_way():
    triangles = {tuple(np.roll(t, -int(np.argmin(t))).tolist()) for t in TRIANGLES}
    for triangle in TRIANGLES:
        mirrored = MIRROR[triangle][::-1]
        assert tuple(np.roll(mirrored, -int(np.argmin(mirrored))).tolist()) in triangles


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_follows_edges_and_visits_no_point_twice(name):
    loop = LOOPS[name].tolist()
    edges = edges_of(TRIANGLES)
    steps = list(zip(loop, loop[1:] + loop[:1], strict=True))

    assert len(set(loop)) == len(loop)
    missing = [step for step in steps if step not in edges and step[::-1] not in edges]
    assert len(missing) <= (0 if "brow" not in name else 2), missing


@pytest.mark.parametrize("pair", [EYES, BROWS], ids=["eyes", "brows"])
def test_the_right_loop_mirrors_the_left_one(pair):
    assert np.array_equal(MIRROR[pair[0]], pair[1])


@pytest.mark.parametrize("points", [LIPS_OUTER, LIPS_INNER, OVAL, NOSE, RIGID])
def test_sets_on_the_midline_are_their_own_mirror_image(points):
    assert set(MIRROR[points].tolist()) == set(points.tolist())


def test_the_tables_cannot_be_changed_by_mistake():
    with pytest.raises(ValueError, match="read-only"):
        topology.TRIANGLES[0, 0] = 1


def test_triangles_of_a_real_frontal_face_turn_one_way_in_the_picture(points):
    corners = points.points[TRIANGLES[KIND == FACE], :2]
    (ax, ay), (bx, by) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    area = ax * by - ay * bx

    assert max((area > 0).mean(), (area < 0).mean()) > 0.93  # nostrils and lips fold


def test_partners_lie_opposite_each_other_on_a_real_frontal_face(points):
    level = points.points[:, :2]
    left, right = level[33], level[263]
    across = (right - left) / np.hypot(*(right - left))
    middle = level[[10, 151, 9, 8, 168]].mean(0)
    side = (level - middle) @ across
    width = np.ptp(side)

    assert np.abs(side + side[MIRROR]).mean() < 0.08 * width
    assert (np.sign(side) != np.sign(side[MIRROR]))[np.arange(468) != MIRROR].mean() > 0.95
