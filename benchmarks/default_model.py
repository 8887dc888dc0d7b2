"""What the default model does for people it has not seen.

    python benchmarks/default_model.py --data ../shared/data --work build/model --out out/model \
        [--recogniser ../shared/models/faceres.onnx]

Measures, on the held-out people of benchmarks/heldout.csv: reconstruction error by number of modes and by group; what
quantisation costs (where `--work` holds the model before it); the cosine of a deep recogniser between photo and
reconstruction; how well traits are read; time of load, encode and decode. Five folds by person over the training
pictures say the same without the held-out people. Writes default_model.json and a contact sheet of 12 people, which
shows real faces and must not be published.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import subprocess
import sys
import time
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from train_default import find_photos, is_held_out  # the same pictures and points as in training

from elsewho.aam import store
from elsewho.aam.load import PACKAGED
from elsewho.aam.model import Coefficients, FaceModel
from elsewho.aam.train import cross_validate
from elsewho.aam.warp import sample
from elsewho.media.images import read_image
from elsewho.papers.datasets import read_imm, read_london_info

COUNTS = (10, 20, 40, 80, 120, 160, 200)
CHIP = 224
CHIP_MARKS = np.array([[83.7, 105.1], [140.0, 104.8], [112.0, 137.2], [88.9, 170.2], [135.6, 169.9]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--work", type=Path, default=Path("build/model"))
    parser.add_argument("--out", type=Path, default=Path("out/model"))
    parser.add_argument("--recogniser", type=Path)
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    asked.out.mkdir(parents=True, exist_ok=True)
    model = store.read(PACKAGED, "model", FaceModel)
    info = read_london_info(asked.data / "london")
    every = find_photos(asked.data, asked.work)
    held = [photo for photo in every if is_held_out(photo)]
    faces = [look(model, photo) for photo in held]
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.processor() or platform.machine()}, one thread",
        "command": " ".join(["python", "benchmarks/default_model.py", *sys.argv[1:]]),
        "model": store.sha256_of(PACKAGED),
        "bytes": PACKAGED.stat().st_size,
        "held_out": {"pictures": len(held), "people": len({(p.source, p.person) for p in held})},
        "by_modes": by_modes(model, held, faces),
        "by_group": by_group(model, held, faces, info),
        "folds": folds(model, [photo for photo in every if not is_held_out(photo)]),
        "quantisation": quantisation(model, asked.work / "face-model-full.safetensors", held, faces),
        "traits": traits(model, held, faces, info, asked.data),
        "fitting": fitting(model, held),
        "speed": speed(model, held[0]),
    }
    if asked.recogniser:
        result["recogniser"] = recognise(model, held, faces, asked.recogniser)
    (asked.out / "default_model.json").write_text(json.dumps(result, indent=1))
    contact_sheet(model, held, asked.out / "contact-sheet.png")
    print(json.dumps(result, indent=1))


def look(model, photo):
    """Coefficients, the pixel values under the mesh, and which of them are seen."""
    image = read_image(photo.path)
    values, seen = sample(image, photo.points, model.texture.mesh)
    return model.encode(image, photo.points), values, seen


def luma(values):
    return values @ np.array([0.299, 0.587, 0.114], np.float32)


def texture_error(model, face, count):
    """Root mean square error in grey levels over what is seen."""
    coefficients, values, seen = face
    rebuilt = model.texture.unpack(model.texture.basis.decode(coefficients.texture[:count]))
    return float(np.sqrt(np.mean((luma(values) - luma(rebuilt))[seen] ** 2)))


def shape_error(model, photo, face, count):
    """Mean distance of the points in the picture plane, % of the face's diagonal."""
    shape, pose = face[0].shape[:count], face[0].pose
    off = pose.apply(model.shape.decode(shape)) - photo.points
    return float(np.hypot(*off[:, :2].T).mean() / np.hypot(*np.ptp(photo.points[:, :2], axis=0)) * 100)


def by_modes(model, held, faces):
    return {
        "texture_grey_levels": {
            n: {
                source: mean(texture_error(model, f, n) for p, f in zip(held, faces, strict=True) if p.source == source)
                for source in ("london", "congress")
            }
            for n in COUNTS
        },
        "shape_percent_of_diagonal": {
            n: mean(shape_error(model, p, f, n) for p, f in zip(held, faces, strict=True)) for n in (5, 10, 20, 40)
        },
    }


def by_group(model, held, faces, info):
    """Texture error of London's held-out people by what they said of themselves, and of all by what is read."""
    groups = {}
    for photo, face in zip(held, faces, strict=True):
        vector = model.to_vector(face[0])
        names = [f"read:{part}" for part in model.traits.class_of(vector).split("-")]
        if photo.source == "london":
            person = info[photo.person]
            names += [f"london:{person.gender}", f"london:{person.ethnicity}"]
            names += [] if person.age is None else [f"london:{'under 30' if person.age < 30 else '30 and over'}"]
        for name in names:
            groups.setdefault(name, []).append(texture_error(model, face, None))
    return {name: {"pictures": len(errors), "error": mean(errors)} for name, errors in sorted(groups.items())}


def folds(model, photos):
    vectors = []
    for photo in photos:
        values, _ = sample(read_image(photo.path), photo.points, model.texture.mesh)
        vectors.append(luma(values) - luma(model.texture.unpack(model.texture.basis.mean)))
    found = cross_validate(np.stack(vectors), [f"{p.source} {p.person}" for p in photos], COUNTS, folds=5)
    return {n: mean(errors) for n, errors in zip(COUNTS, found.error, strict=True)}


def quantisation(model, path, held, faces):
    if not path.exists():
        return None
    full = store.read(path, "model", FaceModel)
    before = mean(texture_error(full, look(full, photo), None) for photo in held)
    return {"grey_levels_full": before, "grey_levels_shipped": mean(texture_error(model, f, None) for f in faces)}


def traits(model, held, faces, info, data):
    london = [(info[p.person], model.to_vector(f[0])) for p, f in zip(held, faces, strict=True) if p.source == "london"]
    score = np.array([model.traits.gender.of(vector) for _, vector in london])
    truth = np.array([1.0 if person.gender == "male" else -1.0 for person, _ in london])
    aged = [(person.age, float(model.traits.age.of(vector))) for person, vector in london if person.age is not None]
    ages, read = np.array(aged).T
    tones = {}
    for person, vector in london:
        tones.setdefault(person.ethnicity, []).append(float(model.traits.tone.of(vector)))
    found = {
        "london_gender_right": float(((score > 0) == (truth > 0)).mean()),
        "london_gender_sure_and_wrong": float((((score > 0) != (truth > 0)) & (abs(score) > 0.3)).mean()),
        "london_age_mean_error_years": float(abs(ages - read).mean()),
        "london_age_correlation": float(np.corrcoef(ages, read)[0, 1]),
        "london_tone_by_ethnicity": {name: [mean(values), len(values)] for name, values in sorted(tones.items())},
        "congress_share_read_male": mean(
            float(model.traits.gender.of(model.to_vector(f[0])) > 0)
            for p, f in zip(held, faces, strict=True)
            if p.source == "congress"
        ),
    }
    from elsewho.find import find_faces

    right = {}
    for record in read_imm(data / "imm"):
        image = read_image(record.image)
        vector = model.to_vector(model.encode(image, find_faces(image)[0][1].points))
        is_male = record.image.stem.endswith("m")
        right.setdefault(record.expression, []).append(float((model.traits.gender.of(vector) > 0) == is_male))
    found["imm_gender_right"] = {name: mean(values) for name, values in sorted(right.items())}
    return found


def fitting(model, held):
    """The model fitted to London's held-out people from rough flat starts, against the points of the mesh finder."""
    rng = np.random.default_rng(0)
    found = {"error": [], "start_error": [], "diverged": 0, "cpu_ms": []}
    for photo in held:
        if photo.source != "london":
            continue
        image, truth = read_image(photo.path), photo.points[:, :2]
        size = float(np.hypot(*np.ptp(truth, axis=0)))
        middle = truth.mean(axis=0)
        start = (truth - middle) * rng.uniform(0.9, 1.1) + middle + rng.normal(0, 0.08 * size, 2)
        began = time.thread_time()
        fit = model.fit(image, start)
        found["cpu_ms"].append((time.thread_time() - began) * 1e3)
        found["error"].append(float(np.linalg.norm(fit.points - truth, axis=1).mean() / size))
        found["start_error"].append(float(np.linalg.norm(start - truth, axis=1).mean() / size))
        found["diverged"] += fit.stopped == "diverged"
    return {
        "pictures": len(found["error"]),
        "start_error": mean(found["start_error"]),
        "median_error": float(np.median(found["error"])),
        "largest_error": max(found["error"]),
        "diverged": found["diverged"],
        "cpu_ms": float(np.median(found["cpu_ms"])),
    }


def speed(model, photo):
    image = read_image(photo.path)
    face = model.encode(image, photo.points)

    def best(call, times=40):
        call()
        spent, cpu = [], []
        for _ in range(times):
            began, cpu_began = time.perf_counter(), time.thread_time()
            call()
            spent.append((time.perf_counter() - began) * 1e3)
            cpu.append((time.thread_time() - cpu_began) * 1e3)
        return {"median_ms": float(np.median(spent)), "best_ms": min(spent), "cpu_ms": float(np.median(cpu))}

    code = "import time, elsewho.aam.load as l; b = time.perf_counter(); l.load_model(); print(time.perf_counter() - b)"
    loads = [float(subprocess.check_output([sys.executable, "-c", code])) * 1e3 for _ in range(7)]
    return {
        "face_pixels_wide": float(np.ptp(photo.points[:, 0])),
        "encode": best(lambda: model.encode(image, photo.points)),
        "decode": best(lambda: model.decode(face)),
        "load_model_in_a_fresh_process": {"median_ms": float(np.median(loads)), "best_ms": min(loads)},
    }


def recognise(model, held, faces, path):
    """Cosines of faceres.onnx: photo against the photo with the reconstruction painted over the face."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(str(path), options)

    def embed(image, points):
        eyes = [points[[33, 133], :2].mean(0), points[[362, 263], :2].mean(0)]
        marks = np.array([*eyes, points[1, :2], points[61, :2], points[291, :2]])
        turn = cv2.estimateAffinePartial2D(marks, CHIP_MARKS)[0]
        chip = cv2.warpAffine(image, turn, (CHIP, CHIP), flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
        chip = (chip.astype(np.float32) - np.array([129.1863, 104.7624, 93.594], np.float32))[..., ::-1]
        name = session.get_inputs()[0].name
        found = session.run(["global_pooling/Mean"], {name: np.ascontiguousarray(chip[None])})[0].ravel()
        return found / np.linalg.norm(found)

    photos, rebuilt = [], []
    for photo, face in zip(held, faces, strict=True):
        image = read_image(photo.path)
        photos.append(embed(image, photo.points))
        rebuilt.append(embed(model.paint(image, face[0]), photo.points))
    photos, rebuilt = np.stack(photos), np.stack(rebuilt)
    people = np.array([f"{p.source} {p.person}" for p in held])
    cosine = photos @ rebuilt.T
    strangers = (photos @ photos.T)[people[:, None] != people]
    nearest = people[(rebuilt @ photos.T).argmax(axis=1)]
    return {
        "cosine_photo_reconstruction": float(np.diag(cosine).mean()),
        "lowest": float(np.diag(cosine).min()),
        "strangers_mean": float(strangers.mean()),
        "strangers_999": float(np.quantile(strangers, 0.999)),
        "rank1": float((nearest == people).mean()),
        "gallery": len(held),
    }


def contact_sheet(model, held, path):
    """12 held-out people, photo above reconstruction, and 12 samples."""
    chosen = [p for p in held if p.source == "london" and not p.smiling][:6]
    chosen += [p for p in held if p.source == "congress"][:6]
    rows = [[], [], []]
    pose = model.portrait_pose(256)
    for photo in chosen:
        image = read_image(photo.path)
        face = model.encode(image, photo.points)
        both = [image, model.paint(image, face)]
        low = photo.points[:, :2].min(0)
        size = np.ptp(photo.points[:, :2], axis=0).max()
        for row, picture in zip(rows, both, strict=False):
            at = np.round(low - 0.15 * size).astype(int).clip(0)
            crop = picture[at[1] : at[1] + int(1.3 * size), at[0] : at[0] + int(1.15 * size)]
            row.append(cv2.resize(crop, (256, 290), interpolation=cv2.INTER_AREA))
    for face in model.sample(12, seed=1):
        portrait = model.portrait(Coefficients(face.shape, face.texture, pose))
        rows[2].append(cv2.copyMakeBorder(portrait, 0, 400, 0, 0, cv2.BORDER_CONSTANT, value=(128, 128, 128))[:340])
    sheet = np.vstack([np.hstack(row) for row in rows])
    cv2.imwrite(str(path), cv2.cvtColor(sheet, cv2.COLOR_RGB2BGR))


def mean(values):
    return float(np.mean(list(values)))


if __name__ == "__main__":
    main()
