"""Make the gallery that ships: sampled faces of nobody, in classes and clusters, none near a training person.

    python tools/sample_gallery.py ../shared/data --work build/model --out src/elsewho/data

Faces are drawn from the population of the face model, moved to the traits of each class, painted, and seen by the
pipeline's embedder. A face is kept if it is farther from every training person than all but one in a thousand pairs
of different training people are from each other: measured photo against painted face, and painted against painted.
No training person's template is kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np
from train_default import Photo, find_photos, is_held_out

from elsewho.aam import store
from elsewho.aam.model import FaceModel
from elsewho.aam.regions import find_regions
from elsewho.find import FaceEmbedder
from elsewho.identity.gallery import Gallery, cluster_alike
from elsewho.media.images import read_image
from elsewho.types import Array

K = 5  # faces in a cluster
CLUSTERS = 60  # in each class
BATCH = 200  # faces drawn at a time
FAR = 1e-3
SKIN_SPLIT = 52.0  # L*
PORTRAIT = 220  # pixels
CLASSES = {  # gender score, skin L*, age: from, to
    f"{gender}-{tone}-{age}": (span_g, span_t, span_a)
    for gender, span_g in (("female", (-1.3, -0.5)), ("male", (0.5, 1.3)))
    for tone, span_t in (("darker", (30.0, 47.0)), ("lighter", (53.0, 68.0)))
    for age, span_a in (("younger", (22.0, 42.0)), ("older", (48.0, 66.0)))
}


def main() -> None:
    """Sample, screen, cluster and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/model"))
    parser.add_argument("--out", type=Path, default=Path("src/elsewho/data"))
    asked = parser.parse_args()
    path = asked.out / "face-model.safetensors"
    model = store.read(path, "model", FaceModel)
    photos = [photo for photo in find_photos(asked.data, asked.work) if not is_held_out(photo)]
    screen, skin = Screen(model, photos), Skin(model, photos)
    vectors, classes, clusters, tried = [], [], [], 0
    for number, name in enumerate(CLASSES):
        kept, drawn = fill_class(model, screen, skin, name, np.random.default_rng([7, number]))
        tried += drawn
        cluster = cluster_alike(kept, K, np.random.default_rng([8, number]))
        vectors.append(kept)
        classes.append(np.full(len(kept), number))
        clusters.append(cluster + number * CLUSTERS)
        print(f"{name}: {len(kept)} kept of {drawn}", flush=True)
    every = np.concatenate(vectors)
    card = {
        "source": "sampled from the face model; no face is a real person's",
        "screening": {
            "embedder": "dlib_face",
            "far": FAR,
            "threshold_photo": screen.from_photos,
            "threshold_painted": screen.from_painted,
            "kept": len(every),
            "tried": tried,
        },
    }
    gallery = Gallery(
        every.astype(np.float32),
        tuple(CLASSES),
        np.concatenate(classes).astype(np.int32),
        np.concatenate(clusters).astype(np.int32),
        store.sha256_of(path),
        card,
    )
    gallery.save(asked.out / "gallery.safetensors", overwrite=True)
    print(card)


class Skin:
    """The colour of skin in London's studio: a and b of Lab as lightness goes from dark to light."""

    def __init__(self, model: FaceModel, photos: list[Photo]) -> None:
        self.model, self.where = model, find_regions(model.texture.mesh).skin[model.texture.mesh.inside]
        london = [photo for photo in photos if photo.source == "london"]
        seen = np.stack([self.colour(model.encode(read_image(p.path), p.points).texture) for p in london])
        line = np.stack([np.ones(len(seen)), seen[:, 0]], axis=1)
        self.line = np.linalg.lstsq(line, seen[:, 1:], rcond=None)[0]
        self.spread = (seen[:, 1:] - line @ self.line).std(axis=0)

    def colour(self, texture: Array) -> Array:
        """Median L, a, b of the skin of texture coefficients (T,)."""
        values = self.model.texture.decode(texture)[self.where]
        return np.median(cv2.cvtColor(values[None] / np.float32(255), cv2.COLOR_RGB2LAB)[0], axis=0)

    def passes(self, vector: Array, darker: bool) -> bool:
        """True for skin of the right lightness and a usual colour."""
        light, *chroma = self.colour(self.model.from_vector(vector).texture)
        off = np.abs(np.array(chroma) - np.array([1.0, light]) @ self.line) / self.spread
        return bool((light < SKIN_SPLIT) == darker and off.max() < 2.5)


class Screen:
    """The training people as the embedder sees them, and how near strangers among them come."""

    def __init__(self, model: FaceModel, photos: list[Photo]) -> None:
        self.model, self.embedder = model, FaceEmbedder()
        people = np.array([f"{photo.source} {photo.person}" for photo in photos])
        self.photos = np.stack([photo.embedding for photo in photos])
        painted = []
        for photo in photos:
            coefficients = model.encode(read_image(photo.path), photo.points)
            painted.append(self.see(model.to_vector(coefficients)))
        self.painted = np.stack(painted)
        strangers = people[:, None] != people
        self.from_photos = float(np.quantile(distances(self.painted, self.photos)[strangers], FAR))
        self.from_painted = float(np.quantile(distances(self.painted, self.painted)[strangers], FAR))

    def see(self, vector: Array) -> Array:
        """The embedding of a face painted from its vector (d,)."""
        face = self.model.from_vector(vector, self.model.portrait_pose(PORTRAIT))
        picture = self.model.portrait(face, PORTRAIT)
        return self.embedder.embed(picture, self.model.decode(face).points)

    def passes(self, vector: Array) -> bool:
        """True for a face that is no training person's likeness."""
        seen = self.see(vector)[None]
        return bool(
            distances(seen, self.photos).min() > self.from_photos
            and distances(seen, self.painted).min() > self.from_painted
        )


def fill_class(model: FaceModel, screen: Screen, skin: Skin, name: str, rng: np.random.Generator) -> tuple[Array, int]:
    """Faces (K * CLUSTERS, d) of a class that pass the screen, and how many were seen by it."""
    traits, spans = model.traits, np.array(CLASSES[name])
    readings = np.stack([one.weights for one in (traits.gender, traits.tone, traits.age)])
    offsets = np.array([one.offset for one in (traits.gender, traits.tone, traits.age)])
    kept: list[Array] = []
    drawn = 0
    while len(kept) < K * CLUSTERS:
        targets = rng.uniform(spans[:, 0], spans[:, 1], (BATCH, 3)) - offsets
        vectors = model.population.towards(model.population.sample(BATCH, rng), readings, targets)
        # As float16, for that is what is written and what users get.
        for vector in vectors.astype(np.float16).astype(np.float64):
            if model.traits.class_of(vector) != name or not skin.passes(vector, "darker" in name):
                continue
            drawn += 1
            if screen.passes(vector):
                kept.append(vector)
            if len(kept) == K * CLUSTERS:
                break
        if drawn > 40 * K * CLUSTERS:
            raise SystemExit(f"{name}: only {len(kept)} of {drawn} faces pass; join the class with its neighbour.")
    return np.stack(kept), drawn


def distances(a: Array, b: Array) -> Array:
    """Euclidean distances (n, m) of unit vectors (n, d) and (m, d)."""
    return np.sqrt(np.maximum(2 - 2 * a @ b.T, 0))


if __name__ == "__main__":
    main()
