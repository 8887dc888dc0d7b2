"""Paper 003, "Face De-identification with Perfect Privacy Protection": k-Same-furthest on IMM, ten random splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from elsewho.aam.model import FaceModel
from elsewho.identity import k_same_furthest, verify
from elsewho.papers.beyond import Attacked, attack_panel, attack_photos, check_photos
from elsewho.papers.faces import (
    Photos,
    as_rows,
    crop_faces,
    decode_textures,
    describe,
    encode_faces,
    model_faces,
    paint_faces,
    read_photos,
    sample_textures,
)
from elsewho.papers.registry import Job
from elsewho.papers.report import Reproduction
from elsewho.papers.same_panels import make_panels
from elsewho.papers.vectors import chance_hits, recognised, release, whitened
from elsewho.papers.workers import run_all
from elsewho.proof.recognisers import Eigenfaces, Fisherfaces, distances, rank1
from elsewho.types import Array

RUNS = 10
EVERY_K = tuple(range(2, 11))
KINDS = ("neutral", "happy", "arbitrary")
METHODS = ("k-same-m", "k-same-furthest", "k-diff-drawn")
TRAINING = 0.7  # of the people
PAINTED_K = (2, 3, 5, 10)  # at which the costly k-diff-drawn is painted too
SHOWN_K = (2, 3, 5, 10)
TITLE = "Perfect privacy protection: k-Same-furthest, reproduced"
CITATION = "L. Meng, Z. Sun: Face De-Identification with Perfect Privacy Protection. MIPRO, 2014 (paper 003)."


@dataclass(frozen=True, slots=True)
class Split:
    """One random choice of the training people, for a worker."""

    photos: Photos
    seed: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Material:
    """What is there before the work begins."""

    photos: Photos
    pairs: Photos | None  # for the deep recogniser


def check(job: Job) -> Material:
    """Read what the data hold."""
    photos = read_photos(job.data, KINDS, 2 * max(EVERY_K), "k-same-furthest")
    return Material(photos, check_photos(job, photos))


def reproduce(job: Job, material: Material) -> Reproduction:
    """Run the protocol."""
    tasks = [Split(material.photos, (job.seed, number)) for number in range(job.runs)]
    splits = run_all(run_split, tasks, workers=job.workers, what="splits", progress=job.progress)
    pictures = show_pictures(material.photos, job.seed)
    attacked = attack_photos(job, material.pairs)
    panels = make_panels(splits, pictures)
    if attacked:
        panels.append(attack_panel("003", attacked))
    people = len(material.photos.shown())
    return Reproduction(
        "k-same-furthest",
        "003",
        TITLE,
        CITATION,
        summarise(splits, attacked),
        {
            "data": f"IMM: neutral, happy and arbitrary pictures of {people} people",
            "splits": job.runs,
            "training people": f"{round(TRAINING * people)} of {people}, three pictures each; all are de-identified",
            "seed": job.seed,
            "models": splits[0]["model"] + " (first split)",
            "gallery": "all original pictures with all three expressions; clusters within an expression",
        },
        tuple(panels),
        {"splits": splits, "pictures": {name: value for name, value in pictures.items() if name != "sheets"}},
    )


def summarise(splits: list[dict[str, Any]], attacked: list[Attacked]) -> str:
    """What came out, in a few sentences."""
    worst = max(np.mean([one["rates"]["AAM"]["k-same-furthest"][str(k)] for one in splits]) for k in EVERY_K)
    furthest = np.mean([one["furthest match"]["5"] for one in splits])
    text = (
        f"k-Same-furthest keeps its word against the recogniser of the paper: at most {worst:.2%} of faces are "
        f"recognised, and none where a person has one picture. A recogniser that takes the *furthest* face instead of "
        f"the nearest is right for {furthest:.1%} at k=5: above zero, within the bound 1/k."
    )
    if attacked:
        own = next(one for one in attacked if one.name == "k-same-furthest")
        text += f" A deep recogniser names {own.rank1.value:.1%} of painted faces (chance {own.chance:.1%})."
    return text


def run_split(task: Split) -> dict[str, Any]:
    """One split: train on some people, de-identify everybody, recognise."""
    photos, rng = task.photos, np.random.default_rng(task.seed)
    shown, kinds, people = photos.shown(), photos.kinds, photos.people
    chosen = set(rng.permutation(shown)[: round(TRAINING * len(shown))].tolist())
    training = Photos(photos.name, tuple(one for one in photos.records if one.person in chosen))
    learned = np.array([one.person in chosen for one in photos.records])
    model = model_faces(training)
    vectors = encode_faces(model, photos)
    crops = as_rows(crop_faces(model, photos))
    pixels = Eigenfaces.train(crops[learned])
    textures = sample_textures(model, photos)
    flat = Eigenfaces.train(textures[learned])
    discriminant = Fisherfaces.train(vectors[learned], [one for one in people if one in chosen])
    sd = whitened(vectors[learned])
    known = {
        "AAM": vectors,
        "PCA": pixels.embed(crops),
        "PCA, shape-free": flat.embed(textures),
        "AAM whitened": vectors / sd,
        "LDA": discriminant.embed(vectors),
    }
    found: dict[str, Any] = {
        "model": describe(model),
        "people": len(shown),
        "rates": {name: {method: {} for method in METHODS} for name in known},
        "own kind": {},
        "originals": {name: leave_one_out(rows, photos.people) for name, rows in known.items()},
        "originals in gallery": {name: rank1(distances(rows, rows), people, people) for name, rows in known.items()},
        "unseen": {method: {} for method in METHODS},
        "theorem 1": 0, "theorem 2": check_theorem_two(vectors[kinds == KINDS[0]], max(EVERY_K)), "theorem 3": 0,
        "checked": 0, "exceptions": 0, "escapes": {}, "furthest match": {}, "core of one": {},
    }  # fmt: skip
    for k in EVERY_K:
        seed = int(rng.integers(1 << 31))
        for method in METHODS:
            released = vectors.copy()
            for kind in KINDS:
                rows = kinds == kind
                made = release(method, vectors[rows], k, seed)
                released[rows] = made.faces
                if method != "k-diff-drawn":
                    count_theorems(found, method, k, made, vectors[rows])
            for name in known:
                if name == "PCA":
                    if method == "k-diff-drawn" and k not in PAINTED_K:
                        continue
                    probes = pixels.embed(as_rows(paint_faces(model, released)))
                elif name == "PCA, shape-free":
                    probes = flat.embed(decode_textures(model, released))
                else:
                    probes = embed(name, released, sd, discriminant)
                away = distances(probes, known[name])
                found["rates"][name][method][str(k)] = rank1(away, people, people)
            if 2 * k <= len(shown) - len(chosen):
                found["unseen"][method][str(k)] = unseen_rate(vectors, kinds, learned, method, k, seed)
    for name in ("escapes", "core of one", "furthest match"):
        found[name] = {k: float(np.mean(values)) for k, values in found[name].items()}
    return found


def embed(name: str, vectors: Array, sd: Array, discriminant: Fisherfaces) -> Array:
    """Released vectors as the recogniser of this name sees them."""
    if name == "LDA":
        return discriminant.embed(vectors)
    return np.asarray(vectors / sd) if name == "AAM whitened" else vectors


def leave_one_out(rows: Array, people: list[str]) -> float:
    """Rank-1 of the originals, the probe itself not in the gallery."""
    away = distances(rows, rows)
    np.fill_diagonal(away, np.inf)
    return rank1(away, people, people)


def unseen_rate(vectors: Array, kinds: Array, learned: Array, method: str, k: int, seed: int) -> float:
    """The recognition rate where only people whom the model has not seen are de-identified, within an expression."""
    rates = []
    for kind in KINDS:
        rows = (kinds == kind) & ~learned
        made = release(method, vectors[rows], k, seed)
        people = [str(i) for i in range(int(rows.sum()))]
        rates.append(rank1(distances(made.faces, vectors[rows]), people, people))
    return float(np.mean(rates))


def count_theorems(found: dict[str, Any], method: str, k: int, made: Any, originals: Array) -> None:
    """Add what theorems 1 and 3 and figure 1 say of one release (of one expression: one picture a person)."""
    if method == "k-same-m":
        nearest = distances(made.faces, originals).argmin(axis=1)
        away = made.cluster[nearest] != made.cluster
        found["escapes"].setdefault(str(k), []).append(away.mean())
        return
    if not verify(made, originals).holds or made.people_per_cluster.min() < k:
        found["theorem 1"] += 1
    known, exception = recognised(made.faces, originals), made.exceptions != ""
    found["theorem 3"] += int((known & ~exception).sum())
    found["furthest match"].setdefault(str(k), []).append(chance_hits(distances(made.faces, originals)))
    found["exceptions"] += int(exception.sum())
    found["checked"] += len(originals)
    found["core of one"].setdefault(str(k), []).append((made.core_sizes == 1).any())


def check_theorem_two(faces: Array, k: int) -> dict[str, int]:
    """Grow a cluster about each of `faces` (n, d); count faces outside that the growth brings nearer than the joined.

    Theorem 2: if the closest face outside joins, no other face outside is closer to the new centre than it.
    """
    checked = broken = 0
    for start in range(len(faces)):
        members, outside = [start], [i for i in range(len(faces)) if i != start]
        while len(members) < k and outside:
            centre = faces[members].mean(axis=0)
            joined = outside[int(((faces[outside] - centre) ** 2).sum(axis=1).argmin())]
            members.append(joined)
            outside.remove(joined)
            centre = faces[members].mean(axis=0)
            limit = ((faces[joined] - centre) ** 2).sum()
            checked += len(outside)
            broken += int((((faces[outside] - centre) ** 2).sum(axis=1) < limit * (1 - 1e-12)).sum())
    return {"checked": checked, "broken": broken}


def show_pictures(photos: Photos, seed: int) -> dict[str, Any]:
    """Figures 7 and 8: one person de-identified first, with and without expression classes, and what is measured."""
    model = model_faces(photos)
    vectors, kinds = encode_faces(model, photos), photos.kinds
    people = photos.shown()
    who = people[seed % len(people)]
    scale = float(np.mean(distances(vectors, vectors)[np.triu_indices(len(vectors), 1)]))
    kind_of = Fisherfaces.train(vectors, kinds.tolist())
    within = trigger_first(vectors, kinds, classes=True)
    without = trigger_first(vectors, kinds, classes=False)
    rows = [int(np.flatnonzero((np.asarray(photos.people) == who) & (kinds == kind))[0]) for kind in KINDS]
    crops = crop_faces(model, photos, 96)
    half = max(without)
    mean_half = np.stack([furthest_half(vectors, row) for row in range(len(vectors))])
    return {
        "person": who,
        "within": drift(within, vectors, scale),
        "without": drift(without, vectors, scale),
        "kind kept": {
            str(k): {
                "within": float((kind_of.classify(within[k]) == kinds).mean()) if k in within else None,
                "without": float((kind_of.classify(without[k]) == kinds).mean()),
            }
            for k in without
        },
        "extreme": {
            str(k): float(np.linalg.norm(faces - vectors.mean(axis=0), axis=1).mean() / scale)
            for k, faces in without.items()
        },
        "to the half's mean": {
            str(k): float(np.linalg.norm(faces - mean_half, axis=1).mean() / scale) for k, faces in without.items()
        },
        "original extreme": float(np.linalg.norm(vectors - vectors.mean(axis=0), axis=1).mean() / scale),
        "half": half,
        "sheets": {
            "within": [[crops[row], *(paint(model, within[k][row]) for k in SHOWN_K)] for row in rows],
            "without": [[crops[row], *(paint(model, faces[row]) for faces in without.values())] for row in rows],
        },
    }


def paint(model: FaceModel, vector: Array) -> Array:
    """One face as on the sheets."""
    return np.asarray(paint_faces(model, vector[None], 96)[0])


def furthest_half(vectors: Array, row: int) -> Array:
    """The mean of the half of the faces that is further from the face in `row`."""
    away = ((vectors - vectors[row]) ** 2).sum(axis=1)
    return np.asarray(vectors[np.argsort(away, kind="stable")[len(vectors) // 2 :]].mean(axis=0))


def trigger_first(vectors: Array, kinds: Array, *, classes: bool) -> dict[int, Array]:
    """By k the face (n, d) that each row gets where it is the first to be de-identified.

    classes  True: clusters within an expression; False: among all pictures, each its own person
    """
    size = int((kinds == kinds[0]).sum()) if classes else len(vectors)
    found = {}
    for k in SHOWN_K if classes else (*SHOWN_K, size // 4, size // 2):
        new = np.empty_like(vectors)
        for row in range(len(vectors)):
            rows = np.flatnonzero(kinds == kinds[row]) if classes else np.arange(len(vectors))
            own = int(np.flatnonzero(rows == row)[0])
            order = [own, *(i for i in range(len(rows)) if i != own)]
            new[row] = k_same_furthest(vectors[rows], k, order=order).faces[own]
        found[k] = new
    return found


def drift(by_k: dict[int, Array], originals: Array, scale: float) -> dict[str, Any]:
    """How far released faces move with k, and from the original, in units of the mean distance of originals."""
    first = by_k[min(by_k)]
    return {
        "from the least k": {
            str(k): float(np.linalg.norm(new - first, axis=1).mean() / scale) for k, new in by_k.items()
        },
        "from the original": {
            str(k): float(np.linalg.norm(new - originals, axis=1).mean() / scale) for k, new in by_k.items()
        },
        "nearer than the mean pair": {
            str(k): float((np.linalg.norm(new - originals, axis=1) < scale).mean()) for k, new in by_k.items()
        },
    }
