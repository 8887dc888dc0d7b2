"""Paper 000, "Distinguishable De-identified Faces": k-Diff-furthest on 40 neutral faces of IMM, 1,000 runs a k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from elsewho.papers.beyond import Attacked, attack_panel, attack_photos, check_photos
from elsewho.papers.datasets.sets import IMM_EXPRESSIONS
from elsewho.papers.diff_panels import Others, make_panels
from elsewho.papers.faces import Photos, describe, encode_faces, model_faces, read_photos
from elsewho.papers.foreign import encode_by_packaged
from elsewho.papers.registry import Job
from elsewho.papers.report import Reproduction
from elsewho.papers.vectors import Spread, chance_hits, copied, pair_distances, recognised, release, whitened
from elsewho.papers.workers import run_all
from elsewho.proof.recognisers import distances
from elsewho.types import Array

RUNS = 1000
EVERY_K = tuple(range(2, 11))
K = 5  # of figure 8 and table I
SHAPES, TEXTURES = 9, 50
BRIGHTNESS = SHAPES  # the first texture mode's place in a vector
CHUNK = 50  # runs that a worker makes at once
SIMULATIONS = 10
BINS = 48

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "k-same-m": ("k-same-m", {}),
    "k-same-furthest": ("k-same-furthest", {}),
    "k-diff-furthest, singles avoided": ("k-diff-furthest", {"singles": "avoid"}),
    "k-diff-furthest, singles allowed": ("k-diff-furthest", {"singles": "allow"}),
    "k-diff-drawn": ("k-diff-drawn", {}),
}
COLLAPSED = ("k-same-m", "k-same-furthest")  # several people share a face
TITLE = "Distinguishable de-identified faces: k-Diff-furthest, reproduced"
CITATION = "Z. Sun, L. Meng, A. Ariyaeeinia: Distinguishable De-identified Faces. FG workshops, 2015 (paper 000)."


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some runs of one variant, for a worker."""

    faces: Array
    variant: str
    k: int
    seeds: tuple[int, ...]
    edges: Array  # (BINS + 1,) of the histogram


@dataclass(frozen=True, slots=True)
class Material:
    """What is there before the work begins."""

    photos: Photos
    pairs: Photos | None  # for the deep recogniser


def check(job: Job) -> Material:
    """Read what the data hold."""
    photos = read_photos(job.data, list(IMM_EXPRESSIONS.values()), 2 * max(EVERY_K), "k-diff-furthest")
    return Material(photos, check_photos(job, photos))


def reproduce(job: Job, material: Material) -> Reproduction:
    """Run the protocol."""
    job.progress("face model", 0, 1)
    model = model_faces(material.photos, shape_modes=SHAPES, texture_modes=TEXTURES)
    every = encode_faces(model, material.photos)
    neutral = material.photos.kinds == "neutral"
    full = every[neutral]
    job.progress("face model", 1, 1)
    shapes = len(model.shape.basis)
    constancy = constant_share(every, material.photos)[shapes:]
    faces = full.copy()
    faces[:, shapes] = 0
    zeroed = measure(job, faces, EVERY_K, "runs")
    kept = measure(job, full, (2, K, 10), "runs with brightness", fewer=4)
    elsewhere = encode_by_packaged(material.photos.of("neutral"), SHAPES, TEXTURES)
    foreign = None if elsewhere is None else measure(job, elsewhere, (K,), "runs in the packaged model", fewer=10)
    every[:, shapes] = 0
    odd = measure(job, with_outliers(every, material.photos), (K,), "runs with three odd faces", fewer=10)
    attacked = attack_photos(job, material.pairs)
    panels = make_panels(model, faces, full, zeroed, kept, Others(foreign, odd), constancy)
    if attacked:
        panels.append(attack_panel("000", attacked))
    return Reproduction(
        "k-diff-furthest",
        "000",
        TITLE,
        CITATION,
        summarise(zeroed, attacked),
        {
            "data": f"IMM: {len(faces)} neutral faces, one a person; all {len(material.photos.records)} for the model",
            "model": describe(model) + "; the first texture mode is set to zero",
            "runs": job.runs,
            "seed": job.seed,
            "not as printed": "the paper's model has 783 LFPW faces besides, its test set 37 colour faces of IMM and "
            "3 of LFPW; here all 40 people of IMM, in grey",
        },
        tuple(panels),
        {"zeroed": zeroed, "brightness kept": kept, "packaged model": foreign, "three odd faces": odd},
    )


def summarise(zeroed: dict[str, Any], attacked: list[Attacked]) -> str:
    """What came out, in a few sentences."""
    avoided = zeroed["rates"]["k-diff-furthest, singles avoided"]
    seen = zeroed["whitened"]["k-diff-furthest, singles avoided"][str(K)]
    text = (
        f"By the paper's own recogniser its figures come out: recognised {max(avoided.values()):.2%} at most with "
        f"singles avoided, nobody with singles allowed. The protection is that of this one distance: in units of each "
        f"coefficient's spread {seen:.1%} are recognised at k=5, by who runs the method himself "
        f"{zeroed['simulated']['k-diff-furthest, singles avoided'][str(K)]:.1%} (chance {1 / zeroed['people']:.1%})."
    )
    if attacked:
        worst = next(one for one in attacked if one.name == "k-diff-furthest")
        text += f" A deep recogniser names {worst.rank1.value:.1%} of painted faces (chance {worst.chance:.1%})."
    return text


def measure(job: Job, faces: Array, every_k: Sequence[int], what: str, fewer: int = 1) -> dict[str, Any]:
    """All variants at each k: recognition, exceptions, copies; at K distances too."""
    runs = max(1, job.runs // fewer)
    edges = np.linspace(0, 1.6 * pair_distances(faces).mean() * 1.5, BINS + 1)
    seeds = [int(one) for one in np.random.SeedSequence([job.seed, 0]).generate_state(runs)]
    cut = [tuple(seeds[i : i + CHUNK]) for i in range(0, runs, CHUNK)]
    tasks = [Chunk(faces, name, k, some, edges) for name in VARIANTS for k in every_k for some in cut]
    rows = run_all(run_chunk, tasks, workers=job.workers, what=what, progress=job.progress)
    by_key: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for task, found in zip(tasks, rows, strict=True):
        by_key.setdefault((task.variant, task.k), []).extend(found)
    names = [name for name in by_key[next(iter(VARIANTS)), every_k[0]][0] if name not in ("spread", "histogram")]
    result: dict[str, Any] = {"people": len(faces), "runs": runs, "edges": edges}
    for name in names:
        result[name] = {
            variant: {str(k): float(np.mean([row[name] for row in by_key[variant, k]])) for k in every_k}
            for variant in VARIANTS
        }
    result["spread"] = {"originals": astuple(Spread.of(faces))}
    result["histogram"] = {"originals": np.histogram(pair_distances(faces), edges)[0]}
    for variant in VARIANTS:
        at = by_key[variant, K]
        result["spread"][variant] = np.mean([row["spread"] for row in at], axis=0)
        result["histogram"][variant] = np.mean([row["histogram"] for row in at], axis=0)
    return result


def run_chunk(task: Chunk) -> list[dict[str, Any]]:
    """The runs of one chunk."""
    method, options = VARIANTS[task.variant]
    sd = whitened(task.faces)
    simulated = [release(method, task.faces, task.k, 1 + run, **options).faces for run in range(SIMULATIONS)]
    rows: list[dict[str, Any]] = []
    for number, seed in enumerate(task.seeds):
        made = release(method, task.faces, task.k, seed, **options)
        known, exception = recognised(made.faces, task.faces), made.exceptions != ""
        copy = copied(made.faces, task.faces)
        exchanged = lone_pairs(made.core_sizes)
        row = {
            "rates": chance_hits(-distances(made.faces, task.faces)),
            "uncovered": (known & ~exception).sum(),
            "exceptions": exception.mean(),
            "copies": copy.mean(),
            "any copy": copy.any(),
            "early lone pair": exchanged,
            "smallest cluster": made.people_per_cluster.min(),
            "core size": made.core_sizes.mean(),
            "whitened": chance_hits(-distances(made.faces / sd, task.faces / sd)),
            "spread": astuple(Spread.of(made.faces, zeros=task.variant not in COLLAPSED)),
            "histogram": np.histogram(pair_distances(made.faces), task.edges)[0],
        }
        if number == 0:
            guess = np.min([distances(made.faces, one) for one in simulated], axis=0)
            row["simulated"] = chance_hits(-guess)
        else:
            row["simulated"] = rows[0]["simulated"]
        rows.append(row)
    return rows


def with_outliers(every: Array, photos: Photos) -> Array:
    """The neutral faces, three of them replaced by the least usual picture of the same person.

    As in the paper's set, where three faces taken under other light stand for the grey ones of people 02 to 04.
    """
    people, neutral = np.asarray(photos.people), photos.kinds == "neutral"
    faces = every[neutral].copy()
    away = ((every - faces.mean(axis=0)) ** 2).sum(axis=1)
    for row in np.flatnonzero(np.isin(people[neutral], ["02", "03", "04"])):
        own = np.flatnonzero(people == people[neutral][row])
        faces[row] = every[own[away[own].argmax()]]
    return np.asarray(faces)


def constant_share(every: Array, photos: Photos) -> Array:
    """For each coefficient (d,) the share of its variance that lies between people: what stays of a person."""
    use = np.isin(photos.kinds, ["neutral", "happy", "arbitrary"])
    vectors, people = every[use], np.asarray(photos.people)[use]
    own = [vectors[people == one] for one in dict.fromkeys(people.tolist())]
    within = np.mean([rows.var(axis=0, ddof=1) for rows in own], axis=0)
    between = np.var([rows.mean(axis=0) for rows in own], axis=0, ddof=1) - within / len(own[0])
    kept = np.maximum(between, 0)
    return np.asarray(kept / (kept + within))


def lone_pairs(core_sizes: Array) -> bool:
    """Whether two clusters of one came about in an iteration before the last."""
    lone = np.flatnonzero(core_sizes == 1)
    return bool((lone < len(core_sizes) - 2).any())
