"""How long finding takes, and how near the points lie.

    python benchmarks/finding.py --data ../shared/data --out out/finding

Times: one thread, CPU milliseconds, best of several. London: faces a picture, and whether the embedder tells all
people apart (smiling against neutral). IMM: distance of the eyes, mouth corners and chin from the annotated ones, in
percent of the face's height.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import cv2
import numpy as np

from elsewho.find import FaceEmbedder, FaceMesh, RetinaFace
from elsewho.find.topology import EYES
from elsewho.media.images import read_image
from elsewho.papers.datasets import read_imm, read_london

SIZES = {"675 x 675": (675, 675), "1080p": (1920, 1080), "480p": (854, 480)}
IMM_EYES, IMM_MOUTH, IMM_CHIN = (slice(13, 21), slice(21, 29)), slice(39, 47), 6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("out/finding"))
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    finder, mesh, embedder = RetinaFace(), FaceMesh(), FaceEmbedder()
    found = {
        "cpu_ms": measure_time(finder, mesh, embedder, read_image(next(read_london(asked.data / "london")).image)),
        "london": measure_london(finder, mesh, embedder, asked.data / "london"),
        "imm_percent_of_face_height": measure_imm(finder, mesh, asked.data / "imm"),
    }
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "finding.json").write_text(json.dumps(found, indent=1))
    print(json.dumps(found, indent=1))


def best(call, times=15):
    call()
    spent = []
    for _ in range(times):
        began = time.thread_time()
        call()
        spent.append(time.thread_time() - began)
    return min(spent) * 1e3


def measure_time(finder, mesh, embedder, image):
    times = {}
    for name, (width, height) in SIZES.items():
        frame = np.full((height, width, 3), 90, np.uint8)
        side = min(width, height)
        frame[:, (width - side) // 2 : (width + side) // 2][:, :side] = cv2.resize(image, (side, side))
        times[f"find, {name}"] = best(lambda frame=frame: finder.find(frame))
    face = finder.find(image)[0]
    points = mesh.points(image, face).points
    times["points"] = best(lambda: mesh.points(image, face))
    times["refine"] = best(lambda: mesh.refine(image, points))
    times["embed"] = best(lambda: embedder.embed(image, points))
    return times


def measure_london(finder, mesh, embedder, folder):
    seen, counts = {}, []
    for one in read_london(folder):
        image = read_image(one.image)
        faces = finder.find(image)
        counts.append(len(faces))
        seen[one.person, one.expression] = embedder.embed(image, mesh.points(image, faces[0]).points)
    people = sorted({person for person, _ in seen})
    neutral = np.stack([seen[person, "neutral"] for person in people])
    smiling = np.stack([seen[person, "smiling"] for person in people])
    nearest = (smiling @ neutral.T).argmax(axis=1)
    return {
        "pictures": len(counts),
        "with_exactly_one_face": counts.count(1),
        "people": len(people),
        "rank1": float((nearest == np.arange(len(people))).mean()),
    }


def measure_imm(finder, mesh, folder):
    errors = {}
    for one in read_imm(folder):
        image = read_image(one.image)
        found = mesh.points(image, finder.find(image)[0]).points[:, :2]
        off = np.linalg.norm(mesh_marks(found) - imm_marks(one.points), axis=1).mean()
        errors.setdefault(one.expression, []).append(off / (1.25 * np.ptp(one.points[:, 1])) * 100)
    return {
        name: {"median": float(np.median(some)), "p95": float(np.percentile(some, 95)), "pictures": len(some)}
        for name, some in sorted(errors.items())
    }


def mesh_marks(points):
    """Two eyes, two mouth corners and the chin of the mesh, from left to right of the picture."""
    return np.stack([*(points[eye].mean(axis=0) for eye in EYES), points[61], points[291], points[152]])


def imm_marks(points):
    """The same of the 58 points, whose first eye is the one on the right of the picture."""
    eyes = sorted((points[eye].mean(axis=0) for eye in IMM_EYES), key=lambda eye: eye[0])
    mouth = points[IMM_MOUTH]
    return np.stack([*eyes, mouth[mouth[:, 0].argmin()], mouth[mouth[:, 0].argmax()], points[IMM_CHIN]])


if __name__ == "__main__":
    main()
