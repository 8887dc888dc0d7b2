"""Which landmark does what: one table a mark-up, so that no algorithm needs to know how a face was annotated.

Left and right are those of the picture. Numbers count from 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from elsewho.errors import BadInput
from elsewho.find import topology
from elsewho.types import Array


def _numbers(of: Sequence[int] | Sequence[tuple[int, int]] | Array) -> Array:
    array = np.array(of, dtype=np.intp)
    array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """An eye or the mouth: what opens, and what lies around the opening."""

    corners: Array  # (2,) left, right
    opening: Array  # (n,) points whose height is that of the opening: lids, inner lips
    pairs: Array  # (p, 2) upper and lower point, one above the other; all among `opening`
    rims: tuple[tuple[Array, Array], ...] = ()  # upper and lower lip: its outer points, and the inner one of each

    @property
    def points(self) -> Array:
        """Every point of the component, its corners first."""
        outer = [rim for rim, _ in self.rims]
        return np.array(list(dict.fromkeys(np.concatenate([self.corners, self.opening, *outer]).tolist())), np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """The roles of the landmarks of one mark-up."""

    name: str
    count: int  # landmarks a face has
    eyes: tuple[Component, Component]  # left, right
    mouth: Component
    lips: Array  # the middle of the outer lips, upper and lower points alternating
    brows: tuple[Array, Array]  # left, right
    wide: tuple[Array, Array]  # the widest points of the face, left and right (paper 004, IV.C.2)
    tall: tuple[Array, Array]  # its highest and its lowest
    rigid: Array  # what hardly moves with an expression

    @property
    def roles(self) -> Array:
        """Every point that has a role; the others follow their neighbours."""
        parts = [c.points for c in (*self.eyes, self.mouth)]
        parts += [*self.brows, *self.wide, *self.tall, self.rigid]
        return np.unique(np.concatenate(parts))


def _eye(corners: Sequence[int], upper: Sequence[int], lower: Sequence[int]) -> Component:
    """An eye; `upper` and `lower` lid in the same direction, so that each lies above its partner."""
    return Component(_numbers(corners), _numbers([*upper, *lower]), _numbers(list(zip(upper, lower, strict=True))))


def _marks(
    name: str,
    count: int,
    eyes: tuple[Component, Component],
    mouth: Component,
    lips: Sequence[int],
    brows: tuple[Sequence[int], Sequence[int]],
    wide: tuple[Sequence[int], Sequence[int]],
    tall: tuple[Sequence[int], Sequence[int]],
    rigid: Sequence[int],
) -> Marks:
    def both(pair: tuple[Sequence[int], Sequence[int]]) -> tuple[Array, Array]:
        return _numbers(pair[0]), _numbers(pair[1])

    return Marks(name, count, eyes, mouth, _numbers(lips), both(brows), both(wide), both(tall), _numbers(rigid))


def _imm(name: str, mouth: Component, nose: int, count: int) -> Marks:
    """IMM: outline 0-12 from the left, eyes 13-20 (right) and 21-28 (left), brows 29-38, outer lips 39-46, nose."""
    return _marks(
        name,
        count,
        eyes=(_eye((21, 25), (22, 23, 24), (28, 27, 26)), _eye((17, 13), (16, 15, 14), (18, 19, 20))),
        mouth=mouth,
        lips=(41, 45),
        brows=(range(34, 39), range(29, 34)),
        wide=((0, 1), (11, 12)),
        tall=((30, 31, 32, 35, 36, 37), (5, 6, 7)),
        rigid=[*range(13), 21, 25, 17, 13, *range(nose, nose + 11)],
    )


IMM58 = _imm(
    "imm58",  # no inner lips: what opens are the outer ones
    Component(_numbers((39, 43)), _numbers((40, 41, 42, 44, 45, 46)), _numbers(((40, 46), (41, 45), (42, 44)))),
    nose=47,
    count=58,
)
IMM64 = _imm(
    "imm64",  # paper 004, figure 1: six points of the inner lips between outer lips and nose
    Component(
        corners=_numbers((39, 43)),
        opening=_numbers(range(47, 53)),
        pairs=_numbers(((47, 52), (48, 51), (49, 50))),
        rims=(
            (_numbers((40, 41, 42)), _numbers((47, 48, 49))),
            (_numbers((44, 45, 46)), _numbers((50, 51, 52))),
        ),
    ),
    nose=53,
    count=64,
)
IBUG68 = _marks(
    "ibug68",
    68,
    eyes=(_eye((36, 39), (37, 38), (41, 40)), _eye((42, 45), (43, 44), (47, 46))),
    mouth=Component(
        corners=_numbers((48, 54)),
        opening=_numbers(range(60, 68)),
        pairs=_numbers(((61, 67), (62, 66), (63, 65))),
        rims=(
            (_numbers((49, 50, 51, 52, 53)), _numbers((60, 61, 62, 63, 64))),
            (_numbers((55, 56, 57, 58, 59)), _numbers((64, 65, 66, 67, 60))),
        ),
    ),
    lips=(51, 57),
    brows=(range(17, 22), range(22, 27)),
    wide=((0, 1), (15, 16)),
    tall=((18, 19, 20, 23, 24, 25), (7, 8, 9)),
    rigid=[*range(17), 36, 39, 42, 45, *range(27, 36)],
)


def _mesh468() -> Marks:
    """The finder's mesh: the loops of lips and eyes run along the lower side first, from a corner to the other."""
    outer, inner = topology.LIPS_OUTER.tolist(), topology.LIPS_INNER.tolist()
    mouth = Component(
        corners=_numbers((outer[0], outer[10])),
        opening=_numbers(inner),
        pairs=_numbers([(inner[20 - i], inner[i]) for i in range(1, 10)]),
        rims=(
            (_numbers(outer[11:]), _numbers(inner[11:])),
            (_numbers(outer[1:10]), _numbers(inner[1:10])),
        ),
    )
    left, right = (eye.tolist() for eye in topology.EYES)
    oval, nose = topology.OVAL.tolist(), topology.NOSE.tolist()
    return _marks(
        "mesh468",
        topology.POINTS,
        eyes=(
            _eye((left[0], left[8]), left[:8:-1], left[1:8]),
            _eye((right[8], right[0]), right[:8:-1], right[1:8]),
        ),
        mouth=mouth,
        lips=(0, 17),
        brows=(topology.BROWS[0].tolist(), topology.BROWS[1].tolist()),
        wide=((127, 234), (356, 454)),
        tall=((107, 66, 105, 336, 296, 334), (148, 152, 377)),
        rigid=[*topology.RIGID.tolist(), *oval, *nose],
    )


MESH468 = _mesh468()
MARKS: Mapping[str, Marks] = {marks.name: marks for marks in (IMM58, IMM64, IBUG68, MESH468)}


def find_marks(name: str, count: int) -> Marks:
    """The table of a mark-up called `name` with `count` landmarks."""
    marks = MARKS.get(name)
    if marks is None:
        raise BadInput(
            f"expressions need to know which landmark does what; mark-up {name!r} is not among {', '.join(MARKS)}. "
            "Train the model with one of these as `marks`."
        )
    if marks.count != count:
        raise BadInput(
            f"mark-up {name!r} has {marks.count} landmarks, the model {count}. Train the model with the right `marks`."
        )
    return marks
