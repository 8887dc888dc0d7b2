"""Make the estimator of neutral faces that ships, from London's pairs of neutral and smiling photos.

    python tools/train_neutral.py ../shared/data --work build/model --out src/elsewho/data

The packaged face model encodes them as the pipeline does. The held-out people of benchmarks/heldout.csv are left out,
and serve to say at the end how well a smile is taken away. `--work` keeps the found points between runs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from train_default import Photo, find_photos, is_held_out

from elsewho.aam import store
from elsewho.aam.load import load_model
from elsewho.aam.model import FaceModel
from elsewho.aam.train import flip_points
from elsewho.expression import find_marks, fit_neutral, look_of, measure
from elsewho.expression.measure import MEASURES
from elsewho.expression.neutral import NeutralEstimator, fingerprint
from elsewho.find import topology
from elsewho.media.images import read_image
from elsewho.pipeline import Deidentifier
from elsewho.types import Array, FacePoints


def main() -> None:
    """Fit, write, and say how well it does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/model"))
    parser.add_argument("--out", type=Path, default=Path("src/elsewho/data"))
    asked = parser.parse_args()
    model = load_model()
    london = [photo for photo in find_photos(asked.data, asked.work) if photo.source == "london"]
    moved, calm, people = pairs([photo for photo in london if not is_held_out(photo)], model, mirrored=True)
    estimator = fit_neutral(moved, calm, people, model=fingerprint(model))
    store.write(asked.out / "neutral.safetensors", estimator, "neutral", overwrite=True)
    size = (asked.out / "neutral.safetensors").stat().st_size
    print(f"{len(set(people))} people, {len(people)} pairs, {size / 2**10:.0f} KiB")
    report(estimator, model, *pairs([photo for photo in london if is_held_out(photo)], model))


def pairs(photos: list[Photo], model: FaceModel, *, mirrored: bool = False) -> tuple[Array, Array, list[str]]:
    """Vectors (n, d) of smiling and of neutral faces, row by row, and who they are; `mirrored`: also flipped."""
    encode = Deidentifier(model=model).encode
    rows = {}
    for photo in photos:
        image = read_image(photo.path)
        ways = [(image, photo.points)]
        if mirrored:
            flipped = np.ascontiguousarray(image[:, ::-1])
            ways.append((flipped, flip_points(photo.points, image.shape[1], topology.MIRROR)))
        for way, (view, at) in enumerate(ways):
            found = FacePoints(at, np.zeros((2, 5, 2)), 1.0, 0.0)
            rows[way, photo.person, photo.smiling] = model.to_vector(encode(view, found))
    both = sorted((way, person) for way, person, smiling in rows if smiling and (way, person, False) in rows)
    moved, calm = (np.stack([rows[way, person, smiling] for way, person in both]) for smiling in (True, False))
    return moved, calm, [person for _, person in both]


def report(estimator: NeutralEstimator, model: FaceModel, moved: Array, calm: Array, people: list[str]) -> None:
    """The measures of the smiling, the estimated and the true neutral faces of people it was not fitted on."""
    marks = find_marks(model.marks, model.shape.count)
    read = [
        np.stack([measure(look_of(model, vector).form, marks) for vector in vectors])
        for vectors in (moved, estimator.neutral(moved), calm, estimator.neutral(calm))
    ]
    print(f"{len(people)} held-out people; mean of: smiling, estimated from it, neutral, estimated from that")
    for i, name in enumerate(MEASURES):
        off = np.abs(read[1][:, i] - read[2][:, i]).mean()
        print(f"  {name:14}", *(f"{one[:, i].mean():8.3f}" for one in read), f"   error {off:.3f}")
    for name, vectors in (("smiling", moved), ("estimated", estimator.neutral(moved))):
        print(f"  distance to the true neutral, {name}: {np.linalg.norm(vectors - calm, axis=1).mean():.0f}")


if __name__ == "__main__":
    main()
