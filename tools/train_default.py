"""Make the face model that ships, from the London set and the Congress portraits.

    python tools/train_default.py ../shared/data --work build/model --out src/elsewho/data

The held-out people of benchmarks/heldout.csv are left out of everything here. Pictures in which glasses are seen are
left out; hair and background that hide the face are painted over with the mean face in the picture's light.
`--work` keeps the found points between runs. tools/sample_gallery.py makes the gallery, tools/make_card.py the card.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from elsewho.aam import store
from elsewho.aam.basis import Basis, fit_basis
from elsewho.aam.clean import bare_face, glasses_scores, light_gain, light_terms
from elsewho.aam.levels import train_levels
from elsewho.aam.mesh import Mesh, make_mesh
from elsewho.aam.model import FaceModel
from elsewho.aam.population import fit_population
from elsewho.aam.regions import Regions, find_regions
from elsewho.aam.shape import fit_shapes
from elsewho.aam.texture import TextureModel
from elsewho.aam.train import both_ways, collect_textures
from elsewho.aam.traits import Reading, Traits, fit_reading
from elsewho.find import embed_face, find_faces, topology
from elsewho.media.images import read_image
from elsewho.papers.datasets import LondonPerson, read_london_info
from elsewho.types import Array

WIDTH = 256  # of the texture frame
SHAPE_MODES, TEXTURE_MODES = 40, 200
GLASSES = 5.9  # score above which a Congress portrait is left out; checked by eye on sheets sorted by score
EXPRESSIONS = 16  # directions of expression, from London's pairs
LIGHTS = 4  # copies of each London face in other light, to teach the readings what is not the person
CONGRESS_AGE = (58.0, 10.0)  # mean (Congressional Research Service, profiles of the 111th to 114th Congress), spread
TONE_SPLIT = 50.0  # L* of the skin; London's black people lie about 36, all others above 53
AGE_SPLIT = 45.0  # years; London's people lie below but for three, the members of Congress mostly above
LEVEL_PICTURES = 300  # pictures that the fitting levels are trained on


@dataclass(frozen=True)
class Photo:
    """One training picture."""

    source: str  # "london" or "congress"
    person: str
    smiling: bool
    path: Path
    points: Array  # (468, 3)
    embedding: Array  # (128,) by the pipeline's embedder; used here to carry labels over, shipped nowhere


def main() -> None:
    """Train and write the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/model"))
    parser.add_argument("--out", type=Path, default=Path("src/elsewho/data"))
    asked = parser.parse_args()
    began = time.monotonic()
    photos = [photo for photo in find_photos(asked.data, asked.work) if not is_held_out(photo)]
    model = train(photos, asked.data)
    asked.out.mkdir(parents=True, exist_ok=True)
    store.write(asked.out / "face-model.safetensors", model, "model", small=True, overwrite=True)
    store.write(asked.work / "face-model-full.safetensors", model, "model", overwrite=True)  # to tell what that costs
    size = (asked.out / "face-model.safetensors").stat().st_size
    print(f"{size / 2**20:.1f} MiB in {time.monotonic() - began:.0f} s")


def train(photos: list[Photo], data: Path) -> FaceModel:
    """The model of the photos; see the module's text for what is left out."""
    shape = fit_shapes(
        both_ways(np.stack([photo.points for photo in photos]), topology.MIRROR), SHAPE_MODES, topology.POSE_WEIGHTS
    )
    mesh = make_mesh(shape.mean, np.asarray(topology.TRIANGLES, np.int32), WIDTH)
    regions = find_regions(mesh)
    raw = textures_of(photos, mesh)
    keep = without_glasses(photos, raw, mesh)
    photos, raw = [photo for photo, kept in zip(photos, keep, strict=True) if kept], raw[keep]
    print(f"{len(photos)} pictures kept, {int((~keep).sum())} with glasses left out")
    texture = TextureModel(mesh, "ycc", Basis(raw.mean(0), raw[:0], np.zeros(0), 0.0))
    bare = bare_textures(texture, raw, regions)
    flipped = np.stack([flip(texture, vector) for vector in bare])
    texture = replace(texture, basis=fit_basis(np.concatenate([bare, flipped]), TEXTURE_MODES, in_place=True))
    del flipped
    model = FaceModel("mesh468", shape, texture)
    frames = [mesh.fill(np.clip(texture.unpack(vector), 0, 255)) for vector in bare]
    mean = mesh.fill(np.clip(texture.unpack(texture.basis.mean), 0, 255))
    terms = np.stack([light_terms(frame, mean, regions.skin) for frame in frames])
    even = np.stack(
        [
            pack_frame(texture, np.clip(frame * light_gain(change, mesh.size), 0, 255))
            for frame, change in zip(frames, even_light(photos, terms) - terms, strict=True)
        ]
    )
    shapes = np.stack([shape.encode(photo.points)[0] for photo in photos]) * model.shape_weight
    vectors = np.concatenate([shapes, texture.basis.encode(even)], axis=1)
    neutral, expression = expressions(photos, vectors)
    one_each = np.array([not photo.smiling or photo.source == "congress" for photo in photos])
    population = fit_population(vectors[one_each], expression, neutral)
    traits = read_traits(photos, model, frames, terms, shapes, data)
    chosen = np.sort(np.random.default_rng(0).permutation(len(photos))[:LEVEL_PICTURES])
    levels = train_levels(
        [read_image(photos[i].path) for i in chosen],
        np.stack([photos[i].points for i in chosen]),
        shape,
        mirror=topology.MIRROR,
    )
    card = {
        "training": {
            "pictures": len(photos),
            "people": len({(photo.source, photo.person) for photo in photos}),
            "london": sum(photo.source == "london" for photo in photos),
            "congress": sum(photo.source == "congress" for photo in photos),
            "mirrored": True,
            "held_out": hashlib.sha256(HELD_OUT.read_bytes()).hexdigest(),
        },
        "licence": "Apache-2.0",
        "attribution": [
            "Face Research Lab London Set, DeBruine and Jones 2017, doi 10.6084/m9.figshare.5047666, CC-BY 4.0",
            "Portraits of members of the US Congress, Government Publishing Office, public domain",
        ],
    }
    return FaceModel("mesh468", shape, texture, levels, population, traits, card)


# Pictures and points

HELD_OUT = Path(__file__).parents[1] / "benchmarks" / "heldout.csv"


def is_held_out(photo: Photo) -> bool:
    """True for the people who are in no shipped model."""
    with HELD_OUT.open(newline="") as file:
        return (photo.source, photo.person) in {(row["set"], row["person"]) for row in csv.DictReader(file)}


def find_photos(data: Path, work: Path) -> list[Photo]:
    """All pictures with the points found on them, held-out people included."""
    kept = work / "photos.npz"
    paths = sorted((data / "london").glob("*/*.jpg")) + sorted((data / "congress").glob("*.jpg"))
    names = [str(path.relative_to(data)) for path in paths]
    if not kept.exists() or list(np.load(kept)["names"]) != names:
        points, embeddings = [], []
        for i, path in enumerate(paths):
            image = read_image(path)
            points.append(find_faces(image)[0][1].points)
            embeddings.append(embed_face(image, points[-1]))
            print(f"\rpoints {i + 1}/{len(paths)}", end="", flush=True)
        work.mkdir(parents=True, exist_ok=True)
        np.savez(kept, names=names, points=np.stack(points), embeddings=np.stack(embeddings))
        print()
    found = np.load(kept)
    return [
        Photo("london" if "london" in path.parts else "congress", path.stem, path.parent.name == "smiling", path, *both)
        for path, *both in zip(paths, found["points"], found["embeddings"], strict=True)
    ]


# Textures


def textures_of(photos: list[Photo], mesh: Mesh) -> Array:
    """Texture vectors (n, d) of the photos as they are."""
    return collect_textures([photo.path for photo in photos], np.stack([p.points for p in photos]), mesh, "ycc", None)


def without_glasses(photos: list[Photo], vectors: Array, mesh: Mesh) -> Array:
    """(n,) True for the pictures to keep; London's people took their glasses off."""
    scores = glasses_scores([mesh.fill(vector[: len(mesh.pixels)]) for vector in vectors], mesh.points)
    return np.array([p.source == "london" or s < GLASSES for p, s in zip(photos, scores, strict=True)])


def pack_frame(texture: TextureModel, frame: Array) -> Array:
    """The vector of a picture in the frame (rows, columns, 3)."""
    return texture.pack(frame[texture.mesh.inside])


def bare_textures(texture: TextureModel, vectors: Array, regions: Regions) -> Array:
    """Texture vectors (n, d) with what hides the face painted over."""
    frame = texture.mesh.fill
    mean = frame(np.clip(texture.unpack(np.median(vectors, axis=0)), 0, 255))
    return np.stack(
        [
            pack_frame(texture, bare_face(frame(np.clip(texture.unpack(vector), 0, 255)), mean, regions))
            for vector in vectors
        ]
    )


def flip(texture: TextureModel, vector: Array) -> Array:
    """The mirror image of a texture; the frame is its own mirror image but for single pixels of the outline."""
    return pack_frame(texture, np.ascontiguousarray(texture.mesh.extend(texture.unpack(vector))[:, ::-1]))


def even_light(photos: list[Photo], terms: Array) -> Array:
    """The light terms (n, 6, 3) that each face would have in London's studio.

    Slopes and curves of the light become the studio's. The overall level stays: it is skin tone as much as
    exposure. A cast of colour is taken back to how London's skin goes from dark to light.
    """
    london = np.array([photo.source == "london" for photo in photos])
    target = np.repeat(terms[london].mean(axis=0)[None], len(terms), axis=0)
    level = terms[:, 0].mean(axis=1)
    cast = terms[:, 0] - level[:, None]
    line = np.stack([np.ones_like(level), level], axis=1)
    usual = line @ np.linalg.lstsq(line[london], cast[london], rcond=None)[0]
    odd = cast - usual
    odd[~london] -= odd[~london].mean(axis=0)
    odd[~london] *= odd[london].std(axis=0) / odd[~london].std(axis=0)
    target[:, 0] = level[:, None] + usual + odd
    return target


# People


def expressions(photos: list[Photo], vectors: Array) -> tuple[Array, Array]:
    """Neutral vectors (m, d) of London's people, and directions (e, d) in which they move when they smile."""
    rows = {(p.person, p.smiling): v for p, v in zip(photos, vectors, strict=True) if p.source == "london"}
    people = sorted({person for person, _ in rows})
    neutral = np.stack([rows[person, False] for person in people])
    smiles = np.stack([rows[person, True] for person in people]) - neutral
    return neutral, np.linalg.svd(smiles, full_matrices=False)[2][:EXPRESSIONS]


def read_traits(
    photos: list[Photo], model: FaceModel, frames: list[Array], terms: Array, shapes: Array, data: Path
) -> Traits:
    """Readings of the coefficients, learned on London's labels and on what they say of the Congress portraits.

    London's people, each also in the light of some Congress portraits, keep their labels. The Congress portraits get
    theirs from readings of the embedder, learned on London: it knows faces in all lights. An age read so far beyond
    London's ages is only a rank: it is given the mean and the spread that members of Congress have.
    """
    info = read_london_info(data / "london")
    labels = known_labels(photos, frames, model, info)
    london = np.array([photo.source == "london" for photo in photos])
    people = np.array([f"{photo.source} {photo.person}" for photo in photos])
    embeddings = np.stack([photo.embedding for photo in photos]).astype(np.float64)
    for name, truth in labels.items():
        known = london & np.isfinite(truth)
        guess = fit_reading(embeddings[known], truth[known], people[known]).of(embeddings)
        if name == "gender":
            guess = np.clip(1.5 * guess, -1, 1)
        if name == "age":
            guess = (guess - guess[~london].mean()) / guess[~london].std() * CONGRESS_AGE[1] + CONGRESS_AGE[0]
        truth[~london] = guess[~london]
    rng = np.random.default_rng(1)
    lights = terms[~london] - terms[~london].mean(axis=0)
    rows, which = [], []
    for i, frame in enumerate(frames):
        for copy in range(1 + LIGHTS if london[i] else 1):
            change = lights[rng.integers(len(lights))] if copy else np.zeros_like(terms[i])
            lit = pack_frame(model.texture, np.clip(frame * light_gain(change, model.texture.mesh.size), 0, 255))
            rows.append(np.concatenate([shapes[i], model.texture.basis.encode(lit)]))
            which.append(i)
    vectors = np.stack(rows)
    readings = {}
    for name, truth in labels.items():
        every = truth[which]
        known = np.isfinite(every)
        readings[name] = fit_reading(vectors[known], every[known], people[which][known])
    brighter = brightness(model, readings["tone"])
    return Traits(readings["gender"], readings["tone"], readings["age"], brighter, TONE_SPLIT, AGE_SPLIT)


def known_labels(
    photos: list[Photo], frames: list[Array], model: FaceModel, info: Mapping[str, LondonPerson]
) -> dict[str, Array]:
    """For each trait a number a photo; NaN where London's people did not say, and for Congress."""
    inside = model.texture.mesh.inside
    skin = find_regions(model.texture.mesh).skin[inside]
    labels = {name: np.full(len(photos), np.nan) for name in ("gender", "tone", "age")}
    for i, photo in enumerate(photos):
        if photo.source == "london":
            person = info[photo.person]
            labels["gender"][i] = {"female": -1.0, "male": 1.0}.get(person.gender, np.nan)
            labels["age"][i] = np.nan if person.age is None else person.age
            lab = cv2.cvtColor((frames[i][inside][None] / 255).astype(np.float32), cv2.COLOR_RGB2LAB)[0]
            labels["tone"][i] = np.median(lab[skin, 0])
    return labels


def brightness(model: FaceModel, tone: Reading) -> Array:
    """Unit vector (d,): the mean face with the light turned up, less what reads as another skin tone."""
    mean = model.texture.basis.mean
    up = np.concatenate([np.zeros(len(model.shape.basis)), model.texture.basis.encode(mean * np.float32(1.1))])
    up = up - (up @ tone.weights) / (tone.weights @ tone.weights) * tone.weights
    return up / np.linalg.norm(up)


if __name__ == "__main__":
    main()
