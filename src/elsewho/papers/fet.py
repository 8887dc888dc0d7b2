"""Paper 004, Retaining Expressions on De-identified Faces: expression transfer on IMM's near-frontal faces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from elsewho.aam.load import load_model
from elsewho.aam.model import FaceModel
from elsewho.aam.train import train_model
from elsewho.expression import (
    MEASURES,
    ExpressionTransfer,
    Look,
    Steps,
    load_neutral,
    look_at,
    look_of,
    measure,
    prepare,
    retrieve_neutral,
    to_vector,
)
from elsewho.identity.furthest import furthest_average
from elsewho.identity.same import k_same_m
from elsewho.media.images import read_image
from elsewho.papers.beyond import check_photos, find_points
from elsewho.papers.faces import FRAME, Photos, points_of, read_photos
from elsewho.papers.fet_panels import make_panels
from elsewho.papers.inner_lips import add_inner_lips
from elsewho.papers.portraits import paint_look
from elsewho.papers.registry import Job
from elsewho.papers.report import Reproduction
from elsewho.proof.recognisers import Eigenfaces, Fisherfaces, OnnxRecogniser, distances, rank1
from elsewho.types import Array

RUNS = 10
KINDS = ("neutral", "happy", "arbitrary")
EVERY_K = tuple(range(2, 11))
K = 5  # of the pictures and of what goes beyond the paper
SEEN = 0.7  # share of the people whom recognisers learn from
THRESHOLDS = {"paper": (0.75, 0.90), "fine": (0.98, 0.98)}  # of the variance of shape and of texture
PRINTED = Steps(literal=True, closed=0.01)
LINES = (
    "originals",
    "k-same-m: select",
    "k-same-furthest",
    "furthest-FET, neutral retrieved",
    "furthest-FET, neutral given",
)
TITLE = "Retaining expressions on de-identified faces: k-Same-furthest-FET, reproduced"
CITATION = (
    "L. Meng, Z. Sun, A. Ariyaeeinia, K. L. Bennett: Retaining Expressions on De-identified Faces. "
    "MIPRO, 2014 (paper 004)."
)


@dataclass(frozen=True, slots=True)
class Material:
    """What is there before the work begins."""

    photos: Photos
    pairs: Photos | None  # for the deep recogniser


@dataclass(frozen=True)
class Cast:
    """Everybody as one face model sees them: rows are people, in one order."""

    model: FaceModel
    transfer: ExpressionTransfer
    people: list[str]
    looks: dict[str, list[Look]]  # by expression
    vectors: dict[str, Array]  # (p, d) by expression
    taken: dict[str, Array]  # by expression: whose neutral face Eigenfaces take for the person's own

    def others(self, person: int) -> Array:
        """The neutral faces of everybody else."""
        return np.delete(self.vectors["neutral"], person, axis=0)


def check(job: Job) -> Material:
    """Read what the data hold."""
    photos = read_photos(job.data, list(KINDS), max(EVERY_K) + 1, "fet")
    return Material(photos, check_photos(job, photos))


def reproduce(job: Job, material: Material) -> Reproduction:
    """Run the protocol with the paper's model and with a finer one."""
    points = find_64(job, material.photos)
    casts, found = {}, dict[str, Any]()
    for done, (name, (shapes, textures)) in enumerate(THRESHOLDS.items()):
        job.progress("face models", done, len(THRESHOLDS))
        casts[name] = make_cast(material.photos, points, shapes, textures)
        found[name] = run_protocol(job, casts[name], PRINTED)
        found[name]["steps"] = step_by_step(casts[name])
    found["changes only"] = run_protocol(job, casts["fine"], Steps(), every_k=(K,))
    job.progress("face models", len(THRESHOLDS), len(THRESHOLDS))
    found["deep"] = attack_deep(job, material.pairs)
    found["people"] = len(casts["paper"].people)
    modes = {n: (len(c.model.shape.basis), len(c.model.texture.basis)) for n, c in casts.items()}
    return Reproduction(
        "fet",
        "004",
        TITLE,
        CITATION,
        summarise(found, modes),
        {
            "data": f"IMM: {found['people']} people, neutral, happy and arbitrary; 64 landmarks, six of which (the "
            "inner lips) are the finder's",
            "models": {
                name: f"{modes[name][0]} shape and {modes[name][1]} texture modes in grey, "
                f"{share[0]:.0%} and {share[1]:.0%} of the variance, frame {FRAME} pixels"
                for name, share in THRESHOLDS.items()
            },
            "splits": job.runs,
            "seed": job.seed,
            "not as printed": "grey instead of colour (three people of IMM are); the model knows all people, of which "
            "the paper says nothing; textures are matched by the moments of their histograms but in figure 6",
        },
        tuple(make_panels(casts["fine"], found)),
        found,
    )


def summarise(found: dict[str, Any], modes: dict[str, tuple[int, int]]) -> str:
    """What came out, in a few sentences."""
    happy, both = (list(found["paper"][name][LINES[3]].values()) for name in ("happy rank1", "rank1"))
    fine = list(found["fine"]["rank1"][LINES[3]].values())
    kept = found["changes only"]["intensity"][LINES[4]][str(K)]
    return (
        f"In the paper's coarse model ({modes['paper'][0]} shape, {modes['paper'][1]} texture modes) transferred happy "
        f"faces are recognised at {min(happy):.1%} to {max(happy):.1%} (chance {1 / found['people']:.1%}), with the "
        f"arbitrary ones, in which heads turn and light changes, at {min(both):.1%} to {max(both):.1%}; in a model "
        f"that keeps 98% of the variance at {min(fine):.1%} to {max(fine):.1%}, because more of the picture "
        "comes with the difference. As a class a smile is kept better by k-Same-M-Select, its intensity by "
        "transfer, and best "
        f"({kept:.2f}) where the mouth is opened by its width and not by the ratio to a closed mouth."
    )


def find_64(job: Job, photos: Photos) -> list[Array]:
    """The paper's 64 landmarks of each photo."""
    found = []
    for done, (record, points) in enumerate(zip(photos.records, points_of(photos), strict=True), 1):
        found.append(add_inner_lips(points, find_points(read_image(record.image), record.image)))
        job.progress("inner lips", done, len(photos.records))
    return found


def make_cast(photos: Photos, points: Sequence[Array], shapes: float, textures: float) -> Cast:
    """A face model of all photos, and everybody's looks in it."""
    model = train_model(
        [one.image for one in photos.records],
        points,
        people=photos.people,
        marks="imm64",
        colour="grey",
        width=FRAME,
        shape_modes=shapes,
        texture_modes=textures,
        mirror=False,
        levels=False,
    )
    people = sorted(photos.shown())
    looks: dict[str, list[Look]] = {kind: [] for kind in KINDS}
    for one, at in sorted(zip(photos.records, points, strict=True), key=lambda both: both[0].person):
        looks[one.expression].append(look_at(model, model.encode(read_image(one.image), at)))
    vectors = {kind: np.stack([to_vector(model, look) for look in looks[kind]]) for kind in KINDS}
    every = np.concatenate(list(vectors.values()))
    taken = {kind: retrieve_neutral(vectors[kind], vectors["neutral"], every) for kind in KINDS}
    return Cast(model, prepare(model), people, looks, vectors, taken)


# The protocol


def released(cast: Cast, line: str, kind: str, k: int, steps: Steps, seed: int) -> list[Look]:
    """What a method makes of everybody's faces of one expression."""
    looks, neutral, calm = cast.looks[kind], cast.looks["neutral"], cast.vectors["neutral"]
    if line == "originals":
        return looks
    if line == LINES[1]:
        return [look_of(cast.model, v) for v in k_same_m(cast.vectors[kind], k, seed=seed).faces]
    found = cast.taken[kind] if line.endswith("retrieved") else np.arange(len(looks))
    made = []
    for person, look in enumerate(looks):
        new = look_of(cast.model, furthest_average(calm[found[person]][None], cast.others(person), k)[0])
        made.append(new if line == "k-same-furthest" else cast.transfer(look, neutral[found[person]], new, steps))
    return made


def run_protocol(job: Job, cast: Cast, steps: Steps, every_k: Sequence[int] = EVERY_K) -> dict[str, Any]:
    """Figures 7 and 8 and the intensity of the smile: means over splits, for each line and k."""
    kinds = KINDS[1:]
    people = cast.people
    gallery = np.concatenate([cast.vectors[kind] for kind in KINDS])
    owners = people * len(KINDS)
    splits = [np.random.default_rng([job.seed, run]).permutation(len(people)) for run in range(job.runs)]
    seen = [np.isin(np.arange(len(people)), one[: round(SEEN * len(people))]) for one in splits]
    eigen = [Eigenfaces.train(gallery[np.tile(use, len(KINDS))]) for use in seen]
    shown = [
        (
            np.concatenate([cast.vectors["neutral"][use], cast.vectors["happy"][use]]),
            ["neutral"] * int(use.sum()) + ["happy"] * int(use.sum()),
        )
        for use in seen
    ]
    judges = [Fisherfaces.train(*both) for both in shown]
    names = ("rank1", "happy rank1", "neutral gallery rank1", "accuracy", "unseen accuracy", "intensity")
    result: dict[str, Any] = {name: {} for name in names}
    beyond = moved_by(cast, cast.looks["happy"], cast.looks["neutral"])
    for line in LINES:
        for part in result.values():
            part[line] = {}
        for k in every_k:
            rows: dict[str, list[Any]] = {name: [] for name in result}
            same = line != LINES[1]  # one release serves all splits
            for run in range(job.runs):
                if run == 0 or not same:
                    looks = {kind: released(cast, line, kind, k, steps, job.seed + run) for kind in kinds}
                    vectors = {kind: np.stack([to_vector(cast.model, one) for one in looks[kind]]) for kind in kinds}
                known = eigen[run].embed(gallery)
                rates = [rank1(distances(eigen[run].embed(vectors[kind]), known), people, owners) for kind in kinds]
                if line == "originals":
                    rates = [left_out(eigen[run], cast, kind) for kind in kinds]
                smiles = judges[run].classify(vectors["happy"]) == "happy"
                rows["rank1"].append(np.mean(rates))
                rows["happy rank1"].append(rates[0])
                calm = known[: len(people)]
                rows["neutral gallery rank1"].append(
                    np.mean([rank1(distances(eigen[run].embed(vectors[kind]), calm), people, people) for kind in kinds])
                )
                rows["accuracy"].append(smiles.mean())
                rows["unseen accuracy"].append(smiles[~seen[run]].mean())
                rows["intensity"].append(agreement(beyond, absolute(cast, looks["happy"])))
            for name, values in rows.items():
                result[name][line][str(k)] = float(np.mean(values))
    result["retrieved right"] = {k: float((cast.taken[k] == np.arange(len(people))).mean()) for k in kinds}
    result["happy original accuracy, unseen"] = float(
        np.mean(
            [
                (judge.classify(cast.vectors["happy"][~use]) == "happy").mean()
                for judge, use in zip(judges, seen, strict=True)
            ]
        )
    )
    return result


def left_out(eigen: Eigenfaces, cast: Cast, kind: str) -> float:
    """Rank-1 of the originals of one expression, each against all original pictures but itself."""
    gallery = np.concatenate([cast.vectors[one] for one in KINDS])
    away = distances(eigen.embed(cast.vectors[kind]), eigen.embed(gallery))
    own = np.arange(len(cast.people))
    away[own, KINDS.index(kind) * len(own) + own] = np.inf
    return rank1(away, cast.people, cast.people * len(KINDS))


def absolute(cast: Cast, looks: list[Look]) -> Array:
    """Opening, width and smile (p, 3) of the mouths of faces."""
    read = np.stack([measure(look.form, cast.transfer.marks) for look in looks])
    return read[:, [MEASURES.index(name) for name in ("mouth opening", "mouth width", "smile")]]


def moved_by(cast: Cast, looks: list[Look], rest: list[Look]) -> Array:
    """The same, beyond the same people's neutral faces."""
    return absolute(cast, looks) - absolute(cast, rest)


def agreement(beyond: Array, shown: Array) -> float:
    """How the originals' smiles (p, 3), beyond their neutral faces, correlate with what is shown (p, 3)."""
    rows = [np.corrcoef(a, b)[0, 1] if b.std() > 1e-9 else 0.0 for a, b in zip(beyond.T, shown.T, strict=True)]
    return float(np.mean(rows))


def step_by_step(cast: Cast) -> dict[str, Any]:
    """What each step does at K, on happy and arbitrary faces, the neutral given."""
    calm, basis = cast.vectors["neutral"], cast.model.shape.basis
    marks, level = cast.transfer.marks, cast.transfer.channels.moments
    none = Steps(scale=False, limit=False, eyes=False, mouth=False, tone=False, light=False)
    spaces, errors, tones, lights = [], {name: list[Array]() for name in ("without", "with")}, [], []
    clipped = []
    for kind in KINDS[1:]:
        for person, look in enumerate(cast.looks[kind]):
            rest = cast.looks["neutral"][person]
            new = look_of(cast.model, furthest_average(calm[person][None], cast.others(person), K)[0])
            in_space = new.form + look.form - rest.form
            in_pca = cast.transfer.form(look, rest, new, none)
            spaces.append(np.abs(basis.decode(basis.encode(in_space.ravel())) - in_pca.ravel()).max())
            moved = new.shape + look.shape - rest.shape
            clipped.append((np.abs(moved) > 3 * basis.sd).any())
            wanted = measure(look.form, marks)[[0, 1, 2]]
            for name, steps in (("without", replace(none, scale=True, limit=True)), ("with", PRINTED)):
                form = cast.transfer.form(look, rest, new, steps)
                errors[name].append(measure(form, marks)[[0, 1, 2]] - wanted)
            before = [
                level(cast.transfer.texture(look.texture, rest.texture, new.texture, replace(none, tone=tone)))[0][0]
                for tone in (False, True)
            ]
            tones.append([one - level(new.texture)[0][0] for one in before])
            lit = level(cast.transfer.texture(look.texture, rest.texture, new.texture, Steps()))[0][0]
            lights.append([lit - level(new.texture)[0][0], level(look.texture)[0][0] - level(rest.texture)[0][0]])
    return {
        "spaces differ by": float(np.max(spaces)),
        "faces that were limited": float(np.mean(clipped)),
        "off": {name: np.abs(np.stack(rows)).mean(axis=0) for name, rows in errors.items()},
        "tone off": np.abs(np.array(tones)).mean(axis=0),
        "light": float(np.corrcoef(np.array(lights).T)[0, 1]),
    }


# Beyond the paper


def attack_deep(job: Job, pairs: Photos | None) -> dict[str, Any] | None:
    """Rank-1 of a deep recogniser on painted smiling faces of the packaged model, their neutral faces estimated."""
    if pairs is None or job.recogniser is None:
        return None
    model, recogniser, estimator = load_model(), OnnxRecogniser(job.recogniser), load_neutral()
    transfer = prepare(model)
    people = pairs.of("neutral").people
    by_person = {one.person: one for one in pairs.records if one.expression != "neutral"}
    looks, gallery = [], []
    for done, record in enumerate(pairs.of("neutral").records, 1):
        image = read_image(record.image)
        gallery.append(recogniser.embed(image, find_points(image, record.image)))
        image = read_image(by_person[record.person].image)
        at = find_points(image, by_person[record.person].image)
        looks.append(look_at(model, model.encode(image, at), at))
        job.progress("photos for the deep recogniser", done, len(people))
    rests = [estimator.rest(model, look) for look in looks]
    calm = np.stack([to_vector(model, rest) for rest in rests])
    new = [look_of(model, furthest_average(v[None], np.delete(calm, i, 0), K)[0]) for i, v in enumerate(calm)]
    made = {
        "painted, no method": looks,
        "k-same-furthest": new,
        "furthest-FET": [transfer(*three) for three in zip(looks, rests, new, strict=True)],
    }
    rates = {}
    for done, (name, faces) in enumerate(made.items(), 1):
        seen = np.stack([recogniser.embed(*paint_look(model, face, 224)) for face in faces])
        rates[name] = rank1(distances(seen, np.stack(gallery)), people, people)
        job.progress("deep recogniser", done, len(made))
    return {"rank1": rates, "people": len(people), "of": pairs.name, "chance": 1 / len(people)}
