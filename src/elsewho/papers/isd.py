"""Paper 002, "Facial Image De-identification Using Identity Subspace Decomposition": seven ROC curves of an LDA.

JAFFE where the user has it (points are found, 68 of the mesh), else IMM with all its 240 pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elsewho.aam.model import CombinedModel, FaceModel
from elsewho.aam.train import combine
from elsewho.errors import NoFace, TooFewFaces, TooFewPeople
from elsewho.identity import Ranking, k_same_isd, rank_identity_features
from elsewho.media.files import show_name
from elsewho.media.images import read_image
from elsewho.papers.beyond import Attacked, attack_panel, attack_photos, check_photos
from elsewho.papers.datasets import Annotated, read_jaffe
from elsewho.papers.datasets.sets import IMM_EXPRESSIONS
from elsewho.papers.faces import Photos, crop_faces, describe, encode_faces, find_set, model_faces, read_photos
from elsewho.papers.isd_panels import make_panels
from elsewho.papers.registry import Job
from elsewho.papers.report import Reproduction
from elsewho.papers.workers import run_all
from elsewho.proof.recognisers import Fisherfaces, Roc, area_under, distances, equal_error, pairs, roc
from elsewho.types import Array

RUNS = 10  # orders of clustering, where not everybody is in one cluster
PARAMETERS = 30
EVERY_M = (0, 5, 10, 15, 20, 25, 30)
K = 10
RIDGE = 1e-6  # for features that vary between people only
CURVE = np.linspace(0, 1, 101)
TITLE = "Identity subspace decomposition: ISD, reproduced"
CITATION = "H. Chi, Y. H. Hu: Facial Image De-identification Using Identity Subspace Decomposition (paper 002)."
# The points of the 468-point mesh that stand for the 68 of iBUG's mark-up, in its order.
IBUG = (
    127, 234, 93, 58, 172, 136, 149, 148, 152, 377, 378, 365, 397, 288, 323, 454, 356,
    70, 63, 105, 66, 107, 336, 296, 334, 293, 300,
    168, 197, 5, 4, 75, 97, 2, 326, 305,
    33, 160, 158, 133, 153, 144, 362, 385, 387, 263, 373, 380,
    61, 39, 37, 0, 267, 269, 291, 405, 314, 17, 84, 181, 78, 82, 13, 312, 308, 317, 14, 87,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Coded:
    """All pictures as combined coefficients."""

    features: Array  # (n, 30)
    people: tuple[str, ...]
    kinds: Array  # (n,) of picture


@dataclass(frozen=True, slots=True)
class Run:
    """One clustering, for a worker."""

    coded: Coded
    ranking: Ranking
    k: int
    m: int
    seed: int


@dataclass(frozen=True, slots=True)
class Material:
    """What is there before the work begins."""

    photos: Photos
    pairs: Photos | None


def check(job: Job) -> Material:
    """Read what the data hold: JAFFE if it is there, else IMM."""
    folder = find_set(job.data, "jaffe")
    if folder is None:
        photos = read_photos(job.data, list(IMM_EXPRESSIONS.values()), K, "isd")
        return Material(photos, check_photos(job, photos))
    photos = Photos("JAFFE", tuple(read_jaffe(folder)))
    shown = photos.shown()
    if len(shown) < K:
        raise TooFewPeople(
            f"isd with k={K} needs {K} people; {show_name(folder)} shows {len(shown)}. Looked for names like "
            "KL.AN1.39.tiff. Add the others."
        )
    if len(photos.records) < 2 * PARAMETERS:
        raise TooFewFaces(
            f"isd describes faces by {PARAMETERS} parameters and needs {2 * PARAMETERS} pictures; {show_name(folder)} "
            f"holds {len(photos.records)}. Looked for names like KL.AN1.39.tiff. Add the others."
        )
    for person in shown:
        if len({one.expression for one in photos.records if one.person == person}) < 3:
            raise TooFewFaces(
                f"isd needs three expressions a person or more; {show_name(folder)} has fewer of {person}. Looked for "
                f"{person}.AN*, .DI*, .FE*, .HA*, .NE*, .SA*, .SU*. Add the others."
            )
    return Material(photos, check_photos(job, photos))


def reproduce(job: Job, material: Material) -> Reproduction:
    """Run the protocol."""
    photos = find_points(job, material.photos) if material.photos.name == "JAFFE" else material.photos
    job.progress("face model", 0, 1)
    model, combined, coded = encode(photos)
    job.progress("face model", 1, 1)
    ranking = rank_identity_features(coded.features, coded.people)
    everybody = len(photos.shown())
    sizes = list(dict.fromkeys((everybody, K)))
    tasks = [
        Run(coded, ranking, k, m, job.seed + number)
        for k in sizes
        for m in EVERY_M
        for number in range(job.runs if m > 0 and k < everybody else 1)
    ]
    rows = run_all(measure, tasks, workers=job.workers, what="clusterings", progress=job.progress)
    found = {
        str(k): {
            str(m): mean_of([row for task, row in zip(tasks, rows, strict=True) if (task.k, task.m) == (k, m)])
            for m in EVERY_M
        }
        for k in sizes
    }
    pictures = show_stages(model, combined, photos, coded, ranking, job.seed)
    attacked = attack_photos(job, material.pairs)
    panels = make_panels(found, ranking, pictures, everybody, K)
    if attacked:
        panels.append(attack_panel("002", attacked))
    return Reproduction(
        "isd",
        "002",
        TITLE,
        CITATION,
        summarise(found[str(everybody)], attacked),
        {
            "data": f"{photos.name}: {len(photos.records)} pictures of {everybody} people"
            + ("" if photos.name == "JAFFE" else "; the paper used JAFFE, which was not there"),
            "model": f"{PARAMETERS} combined parameters over {describe(model)}",
            "clusters": f"k = {everybody} (everybody, as the paper's 10 of 10) and k = {K}, {job.runs} orders; "
            "the people "
            "nearest in the features replaced, person means first",
            "seed": job.seed,
        },
        tuple(panels),
        {"ranking": [int(one) + 1 for one in ranking.order], "F": ranking.f[ranking.order], "by k and m": found},
    )


def summarise(found: dict[str, Any], attacked: list[Attacked]) -> str:
    """What came out, in a few sentences."""
    text = (
        f"As in the paper, the area under the ROC curve of an LDA that learned from originals falls from "
        f"{found['0']['paper']:.3f} to {found['30']['paper']:.3f} as features are averaged. An LDA that learns from "
        f"released pictures instead still reaches {found['25']['retrained']:.3f} at m = 25, where "
        f"{found['25']['kept']:.0%} of what varies within people is kept."
    )
    if attacked:
        text += " On the same page: the other methods, attacked by a deep recogniser."
    return text


def find_points(job: Job, photos: Photos) -> Photos:
    """JAFFE has no points: 68 of the found mesh, on every picture."""
    from elsewho.find import find_faces

    records = []
    for done, one in enumerate(photos.records, 1):
        faces = find_faces(read_image(one.image))
        if not faces:
            raise NoFace(f"in {show_name(one.image)} no face was found. Take the picture out of the data set.")
        points = faces[0][1].points[list(IBUG), :2].astype(float)
        records.append(Annotated(one.image, points, one.person, one.expression, "ibug68"))
        job.progress("points", done, len(photos.records))
    return Photos(photos.name, tuple(records))


def encode(photos: Photos) -> tuple[FaceModel, CombinedModel, Coded]:
    """A combined model with 30 parameters of all pictures, and the pictures in it."""
    model = model_faces(photos)
    vectors = encode_faces(model, photos)
    combined = combine(model, vectors, PARAMETERS)
    features = combined.basis.encode(vectors)
    return model, combined, Coded(features, tuple(photos.people), photos.kinds)


def released(task: Run) -> Array:
    """The released features (n, 30); with m = 0 nothing is replaced."""
    features = task.coded.features
    if not task.m:
        return features
    made = k_same_isd(features, task.coded.people, task.k, task.m, ranking=task.ranking, seed=task.seed)
    return np.asarray(made.faces)


def measure(task: Run) -> dict[str, Any]:
    """Areas under the curve for three recognisers, the paper's curve, and what is kept within people.

    paper      it learned from all originals; every released picture against all originals but its own
    held out   it learned from the five other kinds of picture, which are its gallery too
    retrained  it learned from *released* pictures of the other kinds, which are its gallery
    """
    coded, new = task.coded, released(task)
    curve = attack(coded.features, new, coded.people, coded.features, coded.people, own=True)
    return {
        "paper": area_under(curve),
        "eer": equal_error(curve),
        "held out": over_kinds(coded.features, new, coded.people, coded.kinds),
        "retrained": over_kinds(new, new, coded.people, coded.kinds),
        "kept": within_people(new, coded.people) / within_people(coded.features, coded.people),
        "curve": np.interp(CURVE, curve.far, curve.tar),
    }


def mean_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean over runs of each figure."""
    means: dict[str, Any] = {name: np.mean([row[name] for row in rows], axis=0) for name in rows[0]}
    return means


def attack(
    train: Array, probes: Array, people: Sequence[str], gallery: Array, of: Sequence[str], *, own: bool = False
) -> Roc:
    """The ROC curve of distances in the space of an LDA learned from `train` of people `of`.

    own  True: the probes are the gallery's pictures row by row, and none is compared with itself
    """
    lda = Fisherfaces.train(train, list(of), shrinkage=RIDGE)
    away = distances(lda.embed(probes), lda.embed(gallery)) if len(lda.axes) else np.zeros((len(probes), len(gallery)))
    counted = ~np.eye(len(probes), dtype=bool) if own else None
    return roc(*pairs(away, people, of, counted))


def over_kinds(known: Array, new: Array, people: Sequence[str], kinds: Array) -> float:
    """The mean area where each kind of picture in turn is what the attacker has not seen."""
    ids, areas = np.asarray(people), []
    for kind in dict.fromkeys(kinds.tolist()):
        unseen = kinds == kind
        others = ids[~unseen].tolist()
        areas.append(area_under(attack(known[~unseen], new[unseen], ids[unseen].tolist(), known[~unseen], others)))
    return float(np.mean(areas))


def within_people(features: Array, people: Sequence[str]) -> float:
    """The variance within people, summed."""
    ids = np.asarray(people)
    own = [features[ids == one] for one in dict.fromkeys(people)]
    return float(sum(((rows - rows.mean(axis=0)) ** 2).sum() for rows in own))


def show_stages(
    model: FaceModel, combined: CombinedModel, photos: Photos, coded: Coded, ranking: Ranking, seed: int
) -> dict[str, Any]:
    """Table 1: one person's pictures at seven stages, and how alike different people become."""
    shown = photos.shown()
    who = "KL" if "KL" in shown else shown[seed % len(shown)]
    rows = [i for i, one in enumerate(photos.records) if one.person == who]
    first = [next(i for i in rows if photos.kinds[i] == kind) for kind in dict.fromkeys(photos.kinds[rows].tolist())]
    own = Photos(photos.name, tuple(photos.records[i] for i in first))
    width = 96
    stages, apart = [], {}
    for m in EVERY_M:
        new = released(Run(coded, ranking, len(shown), m, seed))
        poses = [combined.decode(new[i]) for i in first]
        stages.append([model.portrait(one, width) for one in poses])
        means = np.stack([new[np.asarray(coded.people) == one].mean(axis=0) for one in shown])
        apart[str(m)] = float(distances(means, means)[np.triu_indices(len(means), 1)].mean())
    sheet = [list(crop_faces(model, own, width)), *stages]
    return {"person": who, "kinds": [photos.kinds[i] for i in first], "sheet": sheet, "apart": apart}
