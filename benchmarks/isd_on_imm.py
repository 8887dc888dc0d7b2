"""Paper 002 on IMM: how well people are told apart when the m most identity-sensitive features are averaged.

    python benchmarks/isd_on_imm.py --data ../shared/data/imm --out out/isd

A combined AAM with 30 parameters of all 240 images (40 people, six images each, in grey). Recogniser: linear
discriminant analysis; the figure is the area under the ROC curve over all pairs of a released image and a gallery
image of the original faces.

  paper      as printed: the recogniser learns from all originals, every released image is compared with all originals
             but its own
  held out   the recogniser and its gallery have the five other kinds of image only
  retrained  the attacker learns from *released* images of the five other kinds, and these are the gallery
             (what a parrot attack does)
  kept       the share of the variance within people (expression, light, turn) that the release keeps

Last, what a linking attacker who knows all originals gains if everybody is given the mean of the own k nearest
people, instead of clusters in which each person is once.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path

import numpy as np

from elsewho.aam.train import combine, train_model
from elsewho.identity.isd import k_same_isd, rank_identity_features
from elsewho.papers.datasets import read_imm
from elsewho.papers.isd import attack, over_kinds, within_people
from elsewho.proof.recognisers import area_under

PARAMETERS = 30
EVERY_M = (0, 5, 10, 15, 20, 25, 30)
SEEDS = 20
# What a prototype measured, every subject averaged, m = 0, 5, ..., 30, and clusters of 10 averaged by kind of image.
BEFORE = {"all": (0.993, 0.945, 0.900, 0.786, 0.666, 0.563, 0.500), "10": (0.993, None, None, None, None, None, 0.647)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/imm"))
    parser.add_argument("--out", type=Path, default=Path("out/isd"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    features, people, kinds = encode(asked.data)
    encoded = time.perf_counter() - began
    ranking = rank_identity_features(features, people)
    ranked_ms = (time.perf_counter() - began - encoded) * 1e3
    everybody = len(set(people))
    result = {
        "command": " ".join(["python", "benchmarks/isd_on_imm.py", *sys.argv[1:]]),
        "machine": platform.processor() or platform.machine(),
        "images": len(features),
        "people": everybody,
        "seconds_to_train_and_encode": round(encoded, 1),
        "milliseconds_to_rank": round(ranked_ms, 2),
        "ranking": [int(j) + 1 for j in ranking.order],
        "f": [round(float(ranking.f[j]), 2) for j in ranking.order],
        "entered": int(ranking.entered.sum()),
        "removed": sum(not step.entered for step in ranking.steps),
        "before": BEFORE,
        "clusters": {
            "all": [measure(features, people, kinds, ranking, everybody, m, 1) for m in EVERY_M],
            "10": [measure(features, people, kinds, ranking, 10, m, SEEDS) for m in EVERY_M],
        },
        "neighbourhoods": {k: neighbourhoods(features, people, k) for k in (2, 5, 10)},
    }
    (asked.out / "isd_on_imm.json").write_text(json.dumps(result, indent=1))
    show(result)


def encode(data: Path) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Combined coefficients (240, 30), who and what kind of image each row is."""
    faces = list(read_imm(data))
    people = [face.person for face in faces]
    model = train_model(
        [face.image for face in faces],
        [face.points for face in faces],
        people=people,
        marks="imm58",
        colour="grey",
        mirror=False,
        levels=False,
    )
    from elsewho.media.images import read_image

    coded = [model.encode(read_image(face.image), face.points) for face in faces]
    vectors = np.stack([model.to_vector(one) for one in coded])
    combined = combine(model, vectors, PARAMETERS)
    return np.stack([combined.encode(one) for one in coded]), people, np.array([face.expression for face in faces])


def measure(features, people, kinds, ranking, k, m, seeds):
    """The areas for one m, mean over seeds of the clustering."""
    rows = []
    for seed in range(seeds if m else 1):
        released = k_same_isd(features, people, k, m, ranking=ranking, seed=seed).faces if m else features
        rows.append(
            {
                "paper": area_under(attack(features, released, people, features, people, own=True)),
                "held_out": over_kinds(features, released, people, kinds),
                "retrained": over_kinds(released, released, people, kinds),
                "kept": within_people(released, people) / within_people(features, people),
            }
        )
    return {"m": m, **{name: round(float(np.mean([row[name] for row in rows])), 3) for name in rows[0]}}


def neighbourhoods(features, people, k):
    """Rank-1 of who recomputes all means: everybody the mean of the own k nearest, against clusters of k."""
    ids = np.unique(people, return_inverse=True)[1]
    means = np.stack([features[ids == one].mean(axis=0) for one in np.unique(ids)])
    away = ((means[:, None] - means[None]) ** 2).sum(axis=2)
    own = np.stack([means[np.argsort(row, kind="stable")[:k]].mean(axis=0) for row in away])
    clusters = k_same_isd(means, None, k, means.shape[1], ranking=rank_identity_features(features, people)).faces
    return {name: round(linked(faces), 3) for name, faces in (("neighbourhoods", own), ("clusters", clusters))}


def linked(faces):
    """The chance to name a released face's person, guessing among those whose computed face is the same."""
    same = (np.abs(faces[:, None] - faces[None]) < 1e-9).all(axis=2)
    return float((1 / same.sum(axis=1)).mean())


def show(result) -> None:
    print(f"{result['images']} images of {result['people']} people; ranking", *result["ranking"])
    print(
        f"{result['entered']} features in, {result['removed']} removed on the way; {result['milliseconds_to_rank']} ms"
    )
    for k, rows in result["clusters"].items():
        print(f"\nk = {k:4}  m   paper  held out  retrained  kept   prototype")
        for row, before in zip(rows, result["before"][k], strict=True):
            old = "" if before is None else f"{before:.3f}"
            print(
                "        {m:3}   {paper:.3f}   {held_out:.3f}      {retrained:.3f}   {kept:.3f}   ".format(**row) + old
            )
    print("\nlinking by who knows all originals, everything averaged:")
    for k, row in result["neighbourhoods"].items():
        print(f"  k = {k:2}  own neighbourhoods {row['neighbourhoods']:.3f}   clusters {row['clusters']:.3f}")


if __name__ == "__main__":
    main()
