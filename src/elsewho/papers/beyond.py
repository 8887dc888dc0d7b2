"""Beyond the papers: the methods on faces painted by the packaged model, attacked by a deep recogniser.

On London's 102 people where they are there, else on IMM's: probes are released neutral faces, painted alone on plain
ground, without hair or outline; the gallery is another, real photo of each person.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from elsewho.aam.load import load_model
from elsewho.aam.model import FaceModel
from elsewho.errors import BadAnnotation, NoFace
from elsewho.media.files import show_name
from elsewho.media.images import read_image
from elsewho.papers.datasets import read_london
from elsewho.papers.faces import Photos, find_set
from elsewho.papers.figures import COLOURS, make_plot
from elsewho.papers.registry import Job
from elsewho.papers.report import Panel, Table
from elsewho.papers.vectors import release
from elsewho.papers.workers import run_all
from elsewho.proof.recognisers import Interval, OnnxRecogniser, bootstrap_people, distances
from elsewho.proof.recognisers.scores import hits
from elsewho.types import Array

K = 5
KEYS = 20  # releases of each method, each with its own order and key
WIDTH = 224  # pixels of a painted face
NAMES = ("k-same-m", "k-same-furthest", "k-diff-furthest", "k-diff-drawn")
Maker = Callable[[Array, int], Array]  # vectors (n, d) and a seed in, released vectors out


@dataclass(frozen=True, slots=True)
class Attacked:
    """How often a deep recogniser names the person behind a painted face."""

    name: str
    rank1: Interval  # over people
    chance: float
    people: int
    of: str  # the data set


@dataclass(frozen=True, slots=True)
class Attack:
    """One release of one method, for a worker."""

    name: str
    vectors: Array
    seed: int
    recogniser: Path
    gallery: Array  # (m, e)
    people: tuple[str, ...]
    make: Maker


def check_photos(job: Job, imm: Photos) -> Photos | None:
    """Two photos a person for the deep recogniser: London's, else IMM's. None where there is no recogniser."""
    if job.recogniser is None:
        return None
    folder = find_set(job.data, "london")
    if folder is None:
        return Photos("IMM", tuple(one for one in imm.records if one.expression in ("neutral", "happy")))
    found = Photos("London", tuple(read_london(folder)))
    both = set(found.of("neutral").people) & set(found.of("smiling").people)
    if lone := sorted(set(found.people) - both):
        raise BadAnnotation(
            f"each person of {show_name(folder)} needs neutral/NNN.jpg and smiling/NNN.jpg; {lone[0]} has one of them. "
            "Add the other, or take the person out."
        )
    return found


def attack_photos(
    job: Job, photos: Photos | None, make: dict[str, Maker] | None = None, keys: int = KEYS
) -> list[Attacked]:
    """Rank-1 of a deep recogniser: of each method at k = 5, of the faces painted without any method, of the photos."""
    if photos is None or job.recogniser is None:
        return []
    methods = make or {name: partial(release_faces, name) for name in NAMES}
    model, recogniser = load_model(), OnnxRecogniser(job.recogniser)
    vectors, embedded = [], []
    people = tuple(photos.of("neutral").people)
    neutral = list(photos.of("neutral").records)
    by_person = {one.person: one for one in photos.records if one.expression != "neutral"}
    for done, person in enumerate(people, 1):
        for record in (neutral[done - 1], by_person[person]):
            image = read_image(record.image)
            points = find_points(image, record.image)
            embedded.append(recogniser.embed(image, points))
            if record.expression == "neutral":
                vectors.append(model.to_vector(model.encode(image, points)))
        job.progress("photos for the deep recogniser", done, len(people))
    real, gallery = np.stack(embedded[::2]), np.stack(embedded[1::2])
    every = np.stack(vectors)
    tasks = [
        Attack(name, every, run, job.recogniser, gallery, people, maker)
        for name, maker in methods.items()
        for run in range(keys)
    ]
    tasks.append(Attack("painted, no method", every, 0, job.recogniser, gallery, people, unchanged))
    found = run_all(run_attack, tasks, workers=job.workers, what="deep recogniser", progress=job.progress)
    won: dict[str, list[Array]] = {"photos": [hits(distances(real, gallery), people, people)]}
    for task, one in zip(tasks, found, strict=True):
        won.setdefault(task.name, []).append(one)
    order = ["photos", "painted, no method", *methods]
    return [
        Attacked(name, bootstrap_people(np.mean(won[name], axis=0), people), 1 / len(people), len(people), photos.name)
        for name in order
    ]


def release_faces(name: str, vectors: Array, seed: int) -> Array:
    """A release at K by the method of this name."""
    return release(name, vectors, K, seed).faces


def unchanged(vectors: Array, _seed: int) -> Array:
    """No method at all."""
    return vectors


def find_points(image: Array, path: Path) -> Array:
    """The points (468, 3) of the surest face."""
    from elsewho.find import find_faces

    faces = find_faces(image)
    if not faces:
        raise NoFace(f"in {show_name(path)} no face was found. Take the picture out of the data set.")
    return faces[0][1].points


def run_attack(task: Attack) -> Array:
    """For each person (n,) the chance that the recogniser names it from the released face."""
    model, recogniser = load_model(), OnnxRecogniser(task.recogniser)
    released = task.make(task.vectors, task.seed)
    distinct, back = np.unique(released, axis=0, return_inverse=True)
    embedded = np.stack([embed_painted(model, recogniser, one) for one in distinct])[back.ravel()]
    return hits(distances(embedded, task.gallery), task.people, task.people)


def embed_painted(model: FaceModel, recogniser: OnnxRecogniser, vector: Array) -> Array:
    """The recogniser's vector (e,) of a face painted alone, levelled; its points are known."""
    face = model.from_vector(vector, model.portrait_pose(WIDTH))
    return recogniser.embed(model.portrait(face, WIDTH), model.decode(face).points)


def attack_panel(number: str, attacked: list[Attacked]) -> Panel:
    """What a deep recogniser makes of each method, on the page."""
    people, chance = attacked[0].people, attacked[0].chance
    plot, (axes,) = make_plot(height=0.6 + 0.45 * len(attacked))
    for row, one in enumerate(reversed(attacked)):
        low, high = one.rank1.value - one.rank1.low, one.rank1.high - one.rank1.value
        colour = COLOURS.get(one.name, "#777777")
        axes.barh(row, one.rank1.value, xerr=[[low], [high]], color=colour, height=0.6, capsize=3)
        axes.text(max(one.rank1.high, one.rank1.value) + 0.015, row, f"{one.rank1.value:.3f}", va="center", fontsize=9)
    axes.set_yticks(range(len(attacked)), [one.name for one in reversed(attacked)])
    axes.axvline(chance, color="#888888", linestyle=(0, (4, 3)), linewidth=1.2)
    axes.set_xlim(0, 1.12)
    axes.grid(visible=False)
    axes.set_xlabel(f"rank-1 among {people} people (dashed: chance)")
    rows = tuple(
        (one.name, f"{one.rank1.value:.3f}", f"{one.rank1.low:.3f} to {one.rank1.high:.3f}") for one in attacked
    )
    return Panel(
        "beyond-deep",
        f"Beyond paper {number}: a deep recogniser on {attacked[0].of}'s {people} people",
        f"Released neutral faces at k = {K}, painted alone on plain ground by the packaged model, against another real "
        f"photo of each person; mean over {KEYS} orders and keys, 95% interval over people. The paper has no such "
        "attack. Most of these people were among those the packaged model learned from.",
        plot=plot,
        tables=(Table(("released", "rank-1", "95% interval"), rows),),
    )
