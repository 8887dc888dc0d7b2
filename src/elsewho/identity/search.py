"""Who of those who remain is nearest, who is furthest: exact answers, most of the work left out.

Faces vary along few directions. A scan in float32 along the first principal axes, with one number for all that lies
across them, bounds every distance from below (or above) in a single matrix product. Only faces whose bound could win
are compared in float64 on the vectors as given, so the answer is that of comparing everything, ties included.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from elsewho.errors import BadInput
from elsewho.types import Array

SHARE = 0.93  # of the variance that the scanned axes hold; less lets too many faces through, more takes longer
SAMPLE = 4096  # faces from which the axes are found, fewer where they have more than WIDE values
WIDE = 512
ALONE = 9215  # entries of a matrix that OpenBLAS multiplies on one thread
SLACK = 1 + 1e-9  # float64 rounds each squared distance by far less
FEW = 32_768  # people below which everybody is scanned each time
REACH = 1.7  # times the nearest distance: how far around a growing cluster people are kept at hand
LARGEST = 1e140  # of a value: float64 ends where squares of more are summed
TINY = 1e-30  # where float32 squares vanish; the longest vector has length 1


def squared_distances(points: Array, centre: Array) -> Array:
    """Squared distances (m,) of `points` (m, d) to `centre` (d,), each rounded as if it were computed alone."""
    apart = points - centre
    return np.asarray(np.add.reduce(np.square(apart, out=apart), axis=1))


class Remaining:
    """The people not yet in a cluster, by their number 0..n-1 in `points` (n, d) float64."""

    def __init__(self, points: Array) -> None:
        self.points = points
        n, d = points.shape
        largest = float(np.abs(points).max(initial=0.0))
        if largest > LARGEST:
            raise BadInput(f"faces hold the value {largest:.3g}, and its square is no number. Encode the faces again.")
        self.origin = points.mean(axis=0)
        longest = max(float(np.sqrt(squared_distances(points, self.origin).max())), 1e-12 * largest)
        self.scale = longest if longest > 1 / LARGEST else 1.0  # where squares vanish, everybody is compared
        rows = SAMPLE if d <= WIDE else WIDE
        self.axes = find_axes((points if n <= rows else points[:: -(-n // rows)]) - self.origin)  # (d, p)
        p = d if self.axes is None else self.axes.shape[1]
        # A column a face, those taken at the end: squared length, coordinates, length across the axes; longest is 1.
        # In blocks (blocks, p + 2, width), each too small for BLAS to share out among threads: for products as short
        # as these, waiting for one another costs many times what it saves.
        self.width = max(ALONE // (p + 2) // 16 * 16, 16)
        self.table = np.zeros((-(-n // self.width), p + 2, self.width), np.float32)
        step = SAMPLE // self.width + 1
        for first in range(0, len(self.table), step):
            blocks = self.table[first : first + step]
            filled = np.zeros((len(blocks) * self.width, p + 2), np.float32)
            some = points[first * self.width : first * self.width + len(filled)]
            filled[: len(some)] = self.place(some)
            blocks[:] = filled.reshape(len(blocks), self.width, p + 2).transpose(0, 2, 1)
        self.rounding = 2.0**-23 * (p + 8)  # times (|x| + |c|)^2: how far float32 is from the bound, at most
        self.count: int = n
        self.numbers = np.arange(n)  # (n,) of each column's face
        self.columns = np.arange(n)  # (n,) of each face's column

    def __len__(self) -> int:
        return self.count

    def __contains__(self, number: int) -> bool:
        return bool(self.columns[number] < self.count)

    def place(self, points: Array) -> Array:
        """What the table holds (m, p + 2) of `points` (m, d)."""
        apart = (points - self.origin) / self.scale
        square = np.add.reduce(np.square(apart), axis=1)
        if self.axes is None:
            return np.column_stack([square, apart, np.zeros_like(square)])
        z = apart @ self.axes
        rest = square - np.add.reduce(np.square(z), axis=1)
        return np.column_stack([square, z, np.sqrt(np.maximum(rest, 0.0) + 1e-14 * square)])  # never less than it is

    def all(self) -> Array:
        """The numbers of all who remain, rising."""
        return np.sort(self.numbers[: self.count])

    def take(self, taken: Iterable[int]) -> None:
        """Remove people: the last column takes the place of each."""
        table, width, numbers, columns = self.table, self.width, self.numbers, self.columns
        for number in taken:
            self.count -= 1
            here, last = int(columns[number]), self.count
            moved = numbers[last]
            table[here // width, :, here % width] = table[last // width, :, last % width]
            numbers[here], numbers[last] = moved, number
            columns[moved], columns[number] = here, last

    def put_back(self, number: int) -> None:
        """Undo the last removal, which was of `number`."""
        last = self.count
        assert self.numbers[last] == number  # noqa: S101
        self.table[last // self.width, :, last % self.width] = self.place(self.points[number][None])[0]
        self.count += 1

    def nearest(self, centre: Array, count: int = 1) -> Array:
        """The `count` people nearest to `centre` (d,), nearest first; at equal distance the lower number first."""
        view = View(self, centre)
        return view.least(view.below(), self.numbers, count)[0]

    def furthest(self, centre: Array, count: int = 1) -> Array:
        """The `count` people furthest from `centre` (d,), furthest first; at equal distance the lower number first."""
        view = View(self, centre)
        return view.most(view.below(), count)


class View:
    """Where a place lies in the table of those who remain, and how the bounds seen from there become answers.

    The bounds are of |x - c|^2 - |c|^2 in units of the table.
    """

    __slots__ = ("across", "centre", "left", "length", "query", "square")

    def __init__(self, left: Remaining, centre: Array) -> None:
        z = apart = (centre - left.origin) / left.scale  # as Remaining.place, for one point and quicker
        self.left, self.centre = left, centre
        self.square = float(apart @ apart)
        self.length = math.sqrt(self.square)
        self.across = 0.0
        if left.axes is not None:
            z = apart @ left.axes
            self.across = math.sqrt(max(self.square - float(z @ z), 0.0) + 1e-14 * self.square)
        self.query = np.empty(len(z) + 2, np.float32)
        self.query[0], self.query[-1] = 1.0, -2.0 * self.across
        self.query[1:-1] = -2.0 * z

    def below(self) -> Array:
        """Lower bounds (m,) for all who remain, in the order of the table."""
        left = self.left
        return np.asarray(np.matmul(self.query, left.table[: -(-left.count // left.width)]).ravel()[: left.count])

    def least(self, bounds: Array, numbers: Array, count: int) -> tuple[Array, float]:
        """The `count` nearest of `numbers` (m,) with these lower bounds (m,), and the largest distance among them."""
        if count == 1:
            apart = self.left.points[numbers[bounds.argmin()]] - self.centre
            worst = float(apart @ apart)
        else:
            likely = numbers[likeliest(bounds, count)]
            worst = float(squared_distances(self.left.points[likely], self.centre).max())
        scaled = worst / self.left.scale**2
        # Whoever is as near is no longer than |c| and the distance together.
        reach = 2 * self.length + math.sqrt(scaled)
        limit = scaled * SLACK - self.square + self.left.rounding * reach**2 + TINY
        may = numbers[(bounds <= limit).nonzero()[0]]
        if len(may) == 1:
            return may, worst
        squares = squared_distances(self.left.points.take(may, axis=0), self.centre)
        if count == 1:
            worst = np.minimum.reduce(squares)
            return np.minimum.reduce(may[squares == worst], keepdims=True), float(worst)
        order = np.lexsort((may, squares))[:count]
        return may[order], float(squares[order[-1]])

    def most(self, bounds: Array, count: int) -> Array:
        """The `count` furthest of all who remain, whose lower bounds (m,) are these."""
        left = self.left
        if self.across:
            across = left.table[: -(-left.count // left.width), -1].ravel()[: left.count]
            bounds = bounds + across * np.float32(4.0 * self.across)  # upper bounds
        likely = likeliest(-bounds, count)
        own = squared_distances(left.points.take(left.numbers[likely], axis=0), self.centre)
        scaled = float(own.min()) / left.scale**2
        limit = scaled * (2 - SLACK) - self.square - left.rounding * (self.length + 1) ** 2 - TINY
        may = left.numbers[(bounds >= limit).nonzero()[0]]
        if len(may) == 1:
            return np.asarray(may)
        squares = squared_distances(left.points.take(may, axis=0), self.centre)
        return np.asarray(may[np.lexsort((may, -squares))[:count]])


class Surroundings:
    """Those who remain as a growing cluster sees them.

    Its centre moves little from one member to the next. So whoever is within reach of where it was is kept in a table
    of their own, and looked at first: what they offer is the answer if nobody outside can be nearer.
    """

    __slots__ = ("left", "numbers", "place", "reach", "table")

    def __init__(self, left: Remaining) -> None:
        self.left = left
        self.numbers: Array | None = None

    def nearest(self, centre: Array) -> int:
        """The nearest of those who remain to `centre` (d,); at equal distance the lowest number."""
        left = self.left
        view = View(left, centre)
        if self.numbers is not None:
            there = left.columns[self.numbers] < left.count
            bounds = np.matmul(self.table, view.query).ravel()[: len(there)][there]
            if len(bounds):
                found, square = view.least(bounds, self.numbers[there], 1)
                moved = centre - self.place
                if math.sqrt(square) + math.sqrt(float(moved @ moved)) < self.reach:
                    return int(found[0])
        bounds = view.below()
        found, square = view.least(bounds, left.numbers, 1)
        self.keep(view, bounds, square)
        return int(found[0])

    def nearest_and_furthest(self, centre: Array) -> tuple[int, int]:
        """Both in one scan."""
        left = self.left
        view = View(left, centre)
        bounds = view.below()
        found, square = view.least(bounds, left.numbers, 1)
        self.keep(view, bounds, square)
        return int(found[0]), int(view.most(bounds, 1)[0])

    def keep(self, view: View, bounds: Array, square: float) -> None:
        """Remember who lies within REACH times the nearest distance, if that is worth while."""
        left = self.left
        if left.count < FEW:
            return
        scaled = REACH**2 * square / left.scale**2
        longest = 2 * view.length + math.sqrt(scaled)
        limit = scaled * SLACK - view.square + left.rounding * longest**2 + TINY
        kept = (bounds <= limit).nonzero()[0]
        if len(kept) > left.count // 8:
            self.numbers = None
            return
        self.numbers = left.numbers[kept]
        filled = np.resize(kept, -(-len(kept) // left.width) * left.width)
        rows = left.table[filled // left.width, :, filled % left.width]
        self.table = rows.reshape(-1, left.width, rows.shape[1])  # a row a face, in blocks too
        self.place, self.reach = view.centre, REACH * math.sqrt(square) / SLACK


def likeliest(bounds: Array, count: int) -> Array:
    """Positions of the `count` lowest of `bounds` (m,), in no order."""
    if count == 1:
        return np.array([bounds.argmin()])
    if count >= len(bounds):
        return np.arange(len(bounds))
    if count > 8:
        return np.argpartition(bounds, count - 1)[:count]
    positions, values = np.empty(count, np.intp), np.empty(count, bounds.dtype)
    for i in range(count):  # quicker than a partition
        positions[i] = bounds.argmin()
        values[i] = bounds[positions[i]]
        bounds[positions[i]] = np.inf
    bounds[positions] = values
    return positions


def find_axes(apart: Array) -> Array | None:
    """Principal axes (d, p) that hold SHARE of the variance of `apart` (n, d); None where that takes over half."""
    d = apart.shape[1]
    largest = float(np.abs(apart).max(initial=0.0))
    if d < 4 or largest == 0.0:
        return None
    if d <= WIDE:
        apart = apart / largest
        variances, axes = np.linalg.eigh(apart.T @ apart)
        share, axes = np.cumsum(variances[::-1]), axes.T[::-1]
    else:
        _, lengths, axes = np.linalg.svd(apart / largest, full_matrices=False)
        share = np.cumsum(lengths**2)
    p = int(np.searchsorted(share, SHARE * share[-1])) + 1
    return np.ascontiguousarray(axes[:p].T) if 2 * p <= d else None
