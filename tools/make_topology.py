"""Writes src/elsewho/find/topology.json from MediaPipe's face_mesh_connections.py.

    python tools/make_topology.py face_mesh_connections.py src/elsewho/find/topology.json

The file is read, never executed.  In its list of edges each three consecutive ones are a triangle.  Nothing
but the connections themselves says which point mirrors which: the mesh, walked from an edge of the midline on
both sides at once, is its own mirror image, but for three quads a side whose diagonals MediaPipe draws
differently.  There the picture's left side decides.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from pathlib import Path

MIDLINE = (10, 151)  # the first two points below the top of the face
RIGID = [  # points that no expression moves
    *(10, 338, 297, 67, 109, 151, 9, 8, 168, 6, 197, 195, 5, 4, 1),  # forehead and nose
    *(33, 133, 362, 263, 127, 356, 234, 454, 162, 389),  # corners of the eyes, sides of the head
]

Triangle = tuple[int, int, int]


def read_edges(source: str) -> dict[str, list[tuple[int, int]]]:
    """The edge lists by their names, in the order in which the file writes them."""
    edges = {}
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Call(args=[ast.List() as literal])):
                edges[name] = ast.literal_eval(literal)
    return edges


def triangles_of(edges: list[tuple[int, int]]) -> list[Triangle]:
    """Each three consecutive edges closed to a triangle."""
    triangles = []
    for (a, b), (c, d), (e, f) in zip(edges[::3], edges[1::3], edges[2::3], strict=True):
        if (b, d, f) != (c, e, a):
            raise SystemExit(f"the edges {a}-{b}, {c}-{d}, {e}-{f} do not close to a triangle")
        triangles.append((a, b, d))
    return triangles


def mirror_of(triangles: list[Triangle]) -> list[int]:
    """The partner of each point: walk the mesh from the midline on both sides, the surest point first."""
    apex = {}
    for a, b, c in triangles:
        apex[a, b], apex[b, c], apex[c, a] = c, a, b
    partner = {point: point for point in MIDLINE}
    while len(partner) < 1 + max(map(max, triangles)):
        votes: Counter[tuple[int, int]] = Counter()
        for (x, y), point in apex.items():  # a mirror turns the sense of an edge
            other = (partner.get(y), partner.get(x))
            if point not in partner and other in apex:
                votes[point, apex[other]] += 1
        point, other_point = max(votes, key=lambda pair: (votes[pair], pair))
        partner[point], partner[other_point] = other_point, point
    return [partner[point] for point in range(len(partner))]


def make_even(triangles: list[Triangle], mirror: list[int], left: set[int]) -> list[Triangle]:
    """The triangles with those diagonals of the right side that have no partner drawn as on the left."""
    have = {frozenset(t) for t in triangles}
    odd = [t for t in triangles if frozenset(mirror[p] for p in t) not in have]
    odd_left = [t for t in odd if left & set(t)]
    kept = [t for t in triangles if t not in odd or t in odd_left]
    return kept + [(mirror[a], mirror[c], mirror[b]) for a, b, c in odd_left]


def left_side(triangles: list[Triangle], mirror: list[int]) -> set[int]:
    """The points on the left of the picture: what is joined to point 33 without crossing the midline."""
    side, todo = {33}, [33]
    while todo:
        here = todo.pop()
        near = {p for t in triangles if here in t for p in t if mirror[p] != p} - side
        side |= near
        todo += near
    return side


def chain(edges: list[tuple[int, int]], start: int, end: int, through: int) -> list[int]:
    """The points from start to end along the edges, by way of the neighbour `through`."""
    path = [start, through]
    while path[-1] != end:
        path += [p for edge in edges if path[-1] in edge for p in edge if p not in path[-2:]][:1]
    return path


def close(lower: list[int], upper: list[int], middle: int | None = None) -> list[Triangle]:
    """Triangles between two chains that share both ends; after column `middle` the diagonals turn round."""
    triangles = [(lower[0], lower[1], upper[1])]
    for i in range(1, len(lower) - 2):
        a, b, c, d = lower[i], lower[i + 1], upper[i], upper[i + 1]
        if middle is None or i < middle:
            triangles += [(a, b, c), (b, d, c)]
        else:
            triangles += [(a, d, c), (a, b, d)]
    return [*triangles, (lower[-2], lower[-1], upper[-2])]


def make(source: str) -> dict[str, object]:
    """Everything that topology.json holds."""
    edges = read_edges(source)
    face = triangles_of(edges["FACEMESH_TESSELATION"])
    mirror = mirror_of(face)
    face = make_even(face, mirror, left_side(face, mirror))
    right_eye, lips = edges["FACEMESH_RIGHT_EYE"], edges["FACEMESH_LIPS"]
    eye_low, eye_high = chain(right_eye, 33, 133, 7), chain(right_eye, 33, 133, 246)
    in_low, in_high = chain(lips, 78, 308, 95), chain(lips, 78, 308, 191)
    out_low, out_high = chain(lips, 61, 291, 146), chain(lips, 61, 291, 185)
    eye = close(eye_low, eye_high)
    other_eye = [(mirror[a], mirror[c], mirror[b]) for a, b, c in eye]
    mouth = close(in_low, in_high, middle=len(in_low) // 2)
    left_eye = [*eye_low, *eye_high[-2:0:-1]]
    brow_edges = edges["FACEMESH_RIGHT_EYEBROW"]
    brow = [*chain(brow_edges, 46, 55, 53), *chain(brow_edges, 107, 70, 66)]
    oval = chain(edges["FACEMESH_FACE_OVAL"], 10, 109, 338)
    return {
        "triangles": [*face, *eye, *other_eye, *mouth],
        "counts": [len(face), 2 * len(eye), len(mouth)],
        "mirror": mirror,
        "lips_outer": [*out_low, *out_high[-2:0:-1]],
        "lips_inner": [*in_low, *in_high[-2:0:-1]],
        "eyes": [left_eye, [mirror[p] for p in left_eye]],
        "brows": [brow, [mirror[p] for p in brow]],
        "oval": oval,
        "nose": sorted({p for edge in edges["FACEMESH_NOSE"] for p in edge}),
        "rigid": sorted(RIGID),
    }


if __name__ == "__main__":
    made = make(Path(sys.argv[1]).read_text(encoding="utf-8"))
    lines = ",\n".join(f'"{key}": {json.dumps(made[key], separators=(",", ":"))}' for key in made)
    Path(sys.argv[2]).write_text("{\n" + lines + "\n}\n", encoding="utf-8")
