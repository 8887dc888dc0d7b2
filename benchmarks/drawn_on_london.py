"""k-Diff-drawn under attack: how often released vectors are linked to their people, on London and IMM, over many keys.

    python benchmarks/drawn_on_london.py --data ../shared/data --out out/drawn

London: 102 people, the packaged model's vectors of the points found on their neutral photos, cut to 59 principal
components. IMM: 40 people, 9 shape and 50 texture modes of the 58 annotated points. The attacker holds the originals
of these very pictures. Rank-1, mean and standard error over keys:

  nearest    by Euclidean or whitened distance
  ridge      learns, on half of the people, to go from released to original; nearest, for the other half
  clusters   the best guess of who also knows every cluster and centre: whitened offsets against offsets
  three      as `clusters`, with three releases of different keys: who is in all three clusters
  gallery    the same against new faces drawn from a gallery, all people of one class: packaged for London; half of
             the people for IMM
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from elsewho.aam.load import load_model
from elsewho.aam.train import train_model
from elsewho.find import find_faces
from elsewho.identity.diff import k_diff_furthest
from elsewho.identity.drawn import k_diff_drawn
from elsewho.identity.gallery import Gallery, load_gallery
from elsewho.identity.pairs import find_centres
from elsewho.media.images import read_image
from elsewho.papers.datasets import read_imm

K = 5
MODES = 59
RIDGE = 0.3  # times the mean variance


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("out/drawn"))
    parser.add_argument("--keys", type=int, default=100)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    keys = [hashlib.sha256(f"key {number}".encode()).digest() for number in range(asked.keys)]
    london, donors = encode_london(asked.data / "london")
    imm = encode_imm(asked.data / "imm")
    result = {
        "command": " ".join(["python", "benchmarks/drawn_on_london.py", *sys.argv[1:]]),
        "k": K,
        "keys": len(keys),
        "london": {"people": len(london), **measure(london, keys, donors)},
        "imm": {"people": len(imm), **measure(imm, keys, None)},
    }
    (asked.out / "drawn_on_london.json").write_text(json.dumps(result, indent=1))
    print(json.dumps(result, indent=1))


def encode_london(folder):
    """Vectors (102, MODES) of the neutral photos, and the packaged gallery in the same space."""
    model, vectors = load_model(), []
    for path in sorted((folder / "neutral").glob("*.jpg")):
        image = read_image(path)
        vectors.append(model.to_vector(model.encode(image, find_faces(image)[0][1].points)))
    vectors = np.stack(vectors)
    mean = vectors.mean(axis=0)
    axes = np.linalg.svd(vectors - mean, full_matrices=False)[2][:MODES]
    gallery = load_gallery()
    seen = (gallery.vectors - mean) @ axes.T
    return (vectors - mean) @ axes.T, Gallery(seen, gallery.classes, gallery.class_of, gallery.cluster_of, "")


def encode_imm(folder):
    """Vectors (40, 59) of the neutral photos, by a model of all 240; the first texture mode is zeroed."""
    faces = list(read_imm(folder))
    model = train_model(
        [face.image for face in faces],
        [face.points for face in faces],
        people=[face.person for face in faces],
        marks="imm58",
        colour="grey",
        mirror=False,
        levels=False,
        shape_modes=9,
        texture_modes=50,
    )
    neutral = [face for face in faces if face.expression == "neutral" and face.image.stem.split("-")[1][0] == "1"]
    vectors = np.stack([model.to_vector(model.encode(read_image(face.image), face.points)) for face in neutral])
    vectors[:, 9] = 0
    return vectors


def measure(originals, keys, gallery):
    """All attacks on all keys."""
    n = len(originals)
    if gallery is None:  # half of the people are the donors of the other half
        gallery = Gallery(originals[n // 2 :], ("",), np.zeros(n - n // 2, int), np.full(n - n // 2, -1), "")
        shown = originals[: n // 2]
    else:
        shown = originals
    runs = {"closed": [], "kept offsets": [], "gallery": []}
    for number, key in enumerate(keys):
        for name, release in (
            ("closed", k_diff_drawn(originals, K, key=key)),
            ("kept offsets", k_diff_furthest(originals, K, seed=number)),
        ):
            rates = attack(originals, release.faces, number) | clusters_known(originals, release)
            runs[name].append(rates)
        runs["gallery"].append(attack(shown, k_diff_drawn(shown, K, key=key, gallery=gallery).faces, number))
    three = [three_releases(originals, keys[i : i + 3]) for i in range(0, len(keys) - 2, 3)]
    table = {name: {one: summary([run[one] for run in rows]) for one in rows[0]} for name, rows in runs.items()}
    table["closed"]["three"] = summary(three)
    table["chance"] = {"closed": 1 / n, "gallery": 1 / len(shown)}
    return table


def attack(originals, released, seed):
    """Rank-1 of the attackers who know the originals."""
    sd = originals.std(axis=0)
    sd = np.where(sd > 0, sd, 1)
    half = np.random.default_rng(seed).permutation(len(originals))
    learn, test = half[: len(half) // 2], half[len(half) // 2 :]
    x, y = (released - released.mean(axis=0)) / sd, (originals - originals.mean(axis=0)) / sd
    gain = np.linalg.solve(x[learn].T @ x[learn] + RIDGE * len(learn) * np.eye(x.shape[1]), x[learn].T @ y[learn])
    return {
        "nearest, Euclidean": rank1(released, originals),
        "nearest, whitened": rank1(released / sd, originals / sd),
        "ridge": rank1(x[test] @ gain, y[test]),
    }


def rank1(probes, gallery):
    """How often the nearest of the gallery is the probe's own."""
    away = (probes**2).sum(axis=1)[:, None] - 2 * probes @ gallery.T + (gallery**2).sum(axis=1)
    return float((away.argmin(axis=1) == np.arange(len(probes))).mean())


def clusters_known(originals, release):
    """Rank-1 of who knows clusters and centres and compares offsets."""
    centres = find_centres(originals, release.cluster)
    sd = np.where(originals.std(axis=0) > 0, originals.std(axis=0), 1)
    own = (originals - centres[release.cluster]) / sd
    new = (release.faces - centres[release.donor]) / sd
    right = 0
    for number in range(len(centres)):
        rows = release.cluster == number
        right += rank1(new[rows], own[rows]) * rows.sum()
    return {"clusters known": float(right / len(originals))}


def three_releases(originals, keys):
    """Rank-1 of who knows the clusters of three releases: one of those who are in all of a person's clusters."""
    clusters = [k_diff_drawn(originals, K, key=key).cluster for key in keys]
    together = np.all([cluster[:, None] == cluster for cluster in clusters], axis=0)
    return float((1 / together.sum(axis=1)).mean())


def summary(rates):
    return [round(float(np.mean(rates)), 4), round(float(np.std(rates) / np.sqrt(len(rates))), 4)]


if __name__ == "__main__":
    main()
