"""Galleries of one's own: samples of a face model, or people of photographs, by class and in clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from elsewho.aam.model import FaceModel
from elsewho.errors import BadInput, TooFewFaces
from elsewho.identity.gallery import Gallery, cluster_alike
from elsewho.identity.release import check_k
from elsewho.identity.screen import FAR, screen
from elsewho.types import Array

ALL = "all"  # the one class where a model reads no traits
BATCH = 200  # faces sampled at a time
TRIES = 50  # faces sampled for each one kept, at most, on average
SPANS = {  # gender score, L* of the skin and years of age, the latter two from their split: from, to
    f"{gender}-{tone}-{age}": (span_g, span_t, span_a)
    for gender, span_g in (("female", (-1.3, -0.5)), ("male", (0.5, 1.3)))
    for tone, span_t in (("darker", (-20.0, -3.0)), ("lighter", (3.0, 18.0)))
    for age, span_a in (("younger", (-23.0, -3.0)), ("older", (3.0, 21.0)))
}


def sample_gallery(
    model: FaceModel,
    n: int,
    k: int,
    seed: int,
    model_hash: str,
    *,
    people: Array | None = None,
    far: float = FAR,
) -> Gallery:
    """`n` sampled faces of nobody, as a gallery; about as many of each class that the model reads.

    people  (m, d) vectors of people whom no donor may look like, in coefficients; None: nothing is screened, for a
            face model holds no training person's face to screen against
    """
    kinds = [ALL] if model.traits is None else list(SPANS)
    counts = [n // len(kinds) + (number < n % len(kinds)) for number in range(len(kinds))]
    if min(counts) < check_k(k, "a gallery"):
        raise TooFewFaces(f"n={n} faces make no cluster of k={k} in each of {len(kinds)} classes. Ask for more faces.")
    kept, tried, threshold = [], 0, None
    for number, (kind, count) in enumerate(zip(kinds, counts, strict=True)):
        rng = np.random.default_rng([seed, number])
        have = 0
        while have < count:
            # As float16, for that is what is written and what users get.
            drawn = _sample_class(model, kind, rng).astype(np.float16).astype(np.float32)
            tried += len(drawn)
            if people is not None:
                passed = screen(drawn, people, far=far)
                drawn, threshold = drawn[passed.passed], passed.threshold
            kept.append(drawn[: count - have])
            have += len(kept[-1])
            if tried > TRIES * n + BATCH:
                raise BadInput(f"too few of {tried} samples are unlike the people given. Use a smaller far.")
    screening: dict[str, Any] = {"people of the model": "not screened: the model holds none of their faces"}
    if people is not None:
        screening |= {"people given": len(people), "space": "coefficients", "far": far, "threshold": threshold}
        screening |= {"tried": tried}
    source = "sampled from the face model; no face is a real person's"
    card = {"source": source, "seed": seed, "screening": screening}
    return arrange_gallery(model, np.concatenate(kept), k, model_hash, card)


def _sample_class(model: FaceModel, kind: str, rng: np.random.Generator) -> Array:
    """Samples (m, d) that read as the class, m at most BATCH."""
    population, traits = model.people_statistics(), model.traits
    vectors = population.sample(BATCH, rng)
    if traits is None:
        return vectors
    readings = (traits.gender, traits.tone, traits.age)
    spans = np.array(SPANS[kind]) + np.array([[0.0], [traits.tone_split], [traits.age_split]])
    targets = rng.uniform(spans[:, 0], spans[:, 1], (BATCH, 3)) - np.array([one.offset for one in readings])
    vectors = population.towards(vectors, np.stack([one.weights for one in readings]), targets)
    return vectors[[traits.class_of(vector) == kind for vector in vectors]]


def arrange_gallery(model: FaceModel, vectors: Array, k: int, model_hash: str, card: Mapping[str, Any]) -> Gallery:
    """Vectors (n, d) by the classes that the model reads, in clusters of `k` alike; what fills none is left out."""
    k = check_k(k, "a gallery")
    read = [ALL if model.traits is None else model.traits.class_of(vector) for vector in vectors]
    order, numbers, names = _cluster(vectors, read, k)
    if not names:
        most = max(read.count(name) for name in set(read)) if read else 0
        raise TooFewFaces(f"no class has k={k} faces; the largest has {most}. Use a smaller k, or more faces.")
    about = {**card, "k": k, "given": len(vectors), "kept": len(order)}
    about["left out"] = {name: read.count(name) for name in sorted(set(read) - set(names))}
    class_of = np.array([names.index(read[i]) for i in order], np.int32)
    return Gallery(np.asarray(vectors[order], np.float32), names, class_of, numbers, model_hash, about)


def _cluster(vectors: Array, read: Sequence[str], k: int) -> tuple[Array, Array, tuple[str, ...]]:
    """The rows kept (m,), their clusters (m,), and the classes that have any."""
    rows, numbers, names = [], [], []
    before = 0
    for number, name in enumerate(sorted(set(read))):
        members = np.array([i for i, one in enumerate(read) if one == name])
        if len(members) < k:
            continue
        cluster = cluster_alike(vectors[members].astype(np.float64), k, np.random.default_rng([k, number]))
        filled = cluster >= 0
        rows.append(members[filled])
        numbers.append(cluster[filled] + before)
        before += int(cluster.max()) + 1
        names.append(name)
    if not rows:
        return np.zeros(0, np.intp), np.zeros(0, np.int32), ()
    return np.concatenate(rows), np.concatenate(numbers).astype(np.int32), tuple(names)
