"""Where the methods' promises hold and where they end, on IMM: the figures of docs/guarantees.md.

    python benchmarks/guarantees_on_imm.py --data ../shared/data/imm --out out/guarantees

The 40 neutral faces in an AAM of all 240 images (9 shape and 50 texture modes, grey; the first texture mode, which
is brightness, set to zero). Every figure is a mean over runs with another order of triggers, and another key, each.

  nearest    share of released faces whose nearest original is their own (rank-1; chance is 1/40)
  whitened   the same, every coefficient in units of its standard deviation
  furthest   share whose *furthest* original is their own
  simulated  the attacker runs the method on the originals himself, with orders and keys of his own, and links each
             released face to the person whose simulated face is nearest
  clusters   the clusters are known: the best that can be done, 1/(people in the cluster)
  three      clusters of three independent releases are known: 1/(people who were together in all three)
  copies     share of people who get a real face of somebody; and the share of runs in which anybody does
  core of 1  share of runs in which some cluster's centre is one real face
  flagged    share of people that the release itself names as exceptions
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from elsewho.aam.train import train_model
from elsewho.identity.methods import METHODS
from elsewho.media.images import read_image
from elsewho.papers.datasets import read_imm
from elsewho.papers.vectors import chance_hits, copied, release, whitened
from elsewho.proof.recognisers import distances

SHAPE_MODES, TEXTURE_MODES = 9, 50
NAMES = ("k-same-m", "k-same-furthest", "k-diff-furthest", "k-diff-drawn")
EVERY_K = (2, 5, 10)
SIMULATIONS = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/imm"))
    parser.add_argument("--out", type=Path, default=Path("out/guarantees"))
    parser.add_argument("--runs", type=int, default=200)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    faces = encode(asked.data)
    result = {
        "command": " ".join(["python", "benchmarks/guarantees_on_imm.py", *sys.argv[1:]]),
        "people": len(faces),
        "runs": asked.runs,
        "rows": [measure(faces, name, k, asked.runs) for name in NAMES for k in EVERY_K],
        "one_away": {name: one_away(faces, name, 5) for name in NAMES},
    }
    (asked.out / "guarantees_on_imm.json").write_text(json.dumps(result, indent=1))
    columns = [name for name in result["rows"][0] if name not in ("method", "k")]
    print(f"{'':16}  k " + " ".join(f"{name:>14}" for name in columns))
    for row in result["rows"]:
        print(f"{row['method']:16} {row['k']:2} " + " ".join(f"{row[name]:14.4f}" for name in columns))
    print("\nshare of the others whose cluster changes when one person is taken away, k=5:", result["one_away"])


def encode(data):
    """The 40 neutral faces (40, 59)."""
    pictures = list(read_imm(data))
    model = train_model(
        [picture.image for picture in pictures],
        [picture.points for picture in pictures],
        people=[picture.person for picture in pictures],
        marks="imm58",
        colour="grey",
        shape_modes=SHAPE_MODES,
        texture_modes=TEXTURE_MODES,
        mirror=False,
        levels=False,
    )
    neutral = [picture for picture in pictures if picture.expression == "neutral"]
    faces = np.stack([model.to_vector(model.encode(read_image(one.image), one.points)) for one in neutral])
    faces[:, SHAPE_MODES] = 0
    return faces


def measure(faces, name, k, runs):
    sd = whitened(faces)
    simulated = np.stack([release(name, faces, k, 1_000_000 + run).faces for run in range(SIMULATIONS)])
    rows, together = [], []
    for run in range(runs):
        made = release(name, faces, k, run)
        away = distances(made.faces, faces)
        guess = np.min([distances(made.faces, one) for one in simulated], axis=0)
        copies = copied(made.faces, faces)
        together.append(made.cluster[:, None] == made.cluster[None])
        rows.append(
            {
                "nearest": chance_hits(-away),
                "whitened": chance_hits(-distances(made.faces / sd, faces / sd)),
                "furthest": chance_hits(away),
                "simulated": chance_hits(-guess),
                "clusters": float((1 / together[-1].sum(axis=1)).mean()),
                "three": float((1 / np.all(together[-3:], axis=0).sum(axis=1)).mean()) if run > 1 else np.nan,
                "copies": copies.mean(),
                "runs with any": copies.any(),
                "core of 1": (made.core_sizes == 1).any(),
                "flagged": (made.exceptions != "").mean(),
                "bound": made.bound.value if made.bound.holds else np.nan,
            }
        )
    means = {key: float(np.nanmean([row[key] for row in rows])) for key in rows[0] if key != "bound"}
    bounds = [row["bound"] for row in rows]
    means["bound"] = float(np.max(bounds)) if np.isfinite(bounds).all() else float("nan")
    return {"method": name, "k": k, **{key: round(value, 4) for key, value in means.items()}}


def one_away(faces, name, k):
    """The share of people whose cluster's other members change when one person leaves."""
    everybody = [f"p{number:02}" for number in range(len(faces))]
    options = {"key": bytes(32)} if "key" in METHODS[name].needs else {}
    before = METHODS[name](faces, k, people=everybody, **options).cluster
    changed = []
    for gone in range(len(faces)):
        rest = np.delete(np.arange(len(faces)), gone)
        after = METHODS[name](faces[rest], k, people=[everybody[i] for i in rest], **options).cluster
        for place, person in enumerate(rest):
            was = set(np.flatnonzero(before == before[person])) - {gone}
            changed.append(was != set(rest[after == after[place]]))
    return round(float(np.mean(changed)), 3)


if __name__ == "__main__":
    main()
