"""Fit the IMM faces with menpofit 0.7.1, and keep the starts so that another fitter can begin from them.

Run it with a python that has menpofit (README.md beside this file says how to get one):

    python benchmarks/peers/menpofit_imm.py --data ../shared/data/imm --out out/menpofit

People 01-28 train, people 29-40 test, each with four expressions: neutral, happy, side light, arbitrary.
Every configuration runs in a process of its own, on one thread, so that its memory and time are its own.
The error of a fit is the mean distance of its points from the annotated ones, divided by the diagonal of
the annotated points' bounding box.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

# Linux lets a child's `ru_maxrss` begin at its parent's, so the parent stays small: it imports neither NumPy
# nor menpofit, and every function that needs them imports them in its own body.

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
TRAIN_PEOPLE = range(1, 29)
TEST_PEOPLE = range(29, 41)
EXPRESSIONS = {1: "neutral", 2: "happy", 5: "side light", 6: "arbitrary"}
POINTS = 58

STARTS_PER_PICTURE = 10
START_NOISE = 0.04  # menpofit's noise_percentage
START_DIAGONAL = 150  # pixels, of the reference shape: menpofit's noise depends on it (README.md)
START_SEED = 0

DIVERGED = 0.5  # mean error over half the face's diagonal: the fit left the face
MEMORY_LIMIT_GIB = 12.0

MANY = 1000
MANY_DIAGONAL = 256  # pixels, of the face
MANY_SIDE = 320  # pixels, of a picture
MANY_SEED = 0
MANY_LIMIT_S = 270  # for each of the two trainings


@dataclass(frozen=True)
class Configuration:
    """What one row of the table trains and fits with; a tuple holds one value per scale, coarse to fine."""

    name: str
    model: str  # a class in menpofit.aam: HolisticAAM, MaskedAAM (near the points) or PatchAAM
    feature: str  # a name in menpo.feature
    algorithm: str  # a class in menpofit.aam
    scales: tuple[float, ...]
    diagonal: int  # pixels, of the mean shape at scale 1
    shape_modes: tuple[float, ...]  # counts, or shares of the variance if below 1
    texture_modes: tuple[float, ...]
    iterations: tuple[int, ...]
    shape_prior: bool = False  # menpofit's map_inference
    patch: int | None = None  # side of a point's patch in pixels, for MaskedAAM and PatchAAM
    mirrors: bool = False  # train on the mirrored pictures too
    batch: int | None = None  # pictures held at once in training; None trains on all together


GREY_2 = Configuration(
    name="grey, 2 levels, Wiberg",
    model="HolisticAAM",
    feature="no_op",
    algorithm="WibergInverseCompositional",
    scales=(0.25, 1.0),
    diagonal=150,
    shape_modes=(3, 20),
    texture_modes=(30, 90),
    iterations=(20, 20),
)
GREY_3 = replace(
    GREY_2,
    name="grey, 3 levels, Wiberg",
    scales=(0.25, 0.5, 1.0),
    diagonal=180,
    shape_modes=(1, 5, 20),
    texture_modes=(20, 50, 90),
    iterations=(20, 20, 20),
)
PATCH_3 = replace(GREY_3, name="grey patches, 3 levels, Wiberg", model="PatchAAM", diagonal=100, patch=17)
LARGE_PATCH_3 = replace(PATCH_3, name="grey patches, larger", diagonal=150, patch=23)


def _with(configuration, method):
    """Fit the same model by another of menpofit's inverse compositional algorithms."""
    name = configuration.name.replace("Wiberg", method)
    return replace(configuration, name=name, algorithm=f"{method}InverseCompositional")


CONFIGURATIONS = (
    GREY_2,
    _with(GREY_2, "Simultaneous"),
    _with(GREY_2, "ProjectOut"),
    GREY_3,
    _with(GREY_3, "Simultaneous"),
    _with(GREY_3, "ProjectOut"),
    replace(GREY_2, name="daisy, 2 levels, Wiberg", feature="daisy"),
    replace(GREY_3, name="grey masked, 3 levels, Wiberg", model="MaskedAAM", patch=17),
    PATCH_3,
    _with(PATCH_3, "Simultaneous"),
    _with(PATCH_3, "ProjectOut"),
    replace(PATCH_3, name="grey patches, 10 steps a level", iterations=(10, 10, 10)),
    LARGE_PATCH_3,
    replace(LARGE_PATCH_3, name="grey patches, larger, mirrors", texture_modes=(20, 50, 120), mirrors=True),
)
MANY_CONFIGURATIONS = (
    replace(GREY_2, name="1,000 at once", scales=(0.5, 1.0), diagonal=MANY_DIAGONAL),
    replace(GREY_2, name="1,000 in batches of 125", scales=(0.5, 1.0), diagonal=MANY_DIAGONAL, batch=125),
)


def read_points(path):
    """Read the points of an `.asf` file, relative to the picture's width and height.

    Rows have 7 columns (path, type, x, y, point, from, to) or 10; lines of one number or name are no points.

    returns  (58, 2) x, y in 0..1
    """
    import numpy as np

    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    rows = [line for line in lines if len(line) in (7, 10)]
    if len(rows) != POINTS:
        raise ValueError(f"{path.name}: {POINTS} points expected, {len(rows)} rows found")
    return np.array([[float(row[2]), float(row[3])] for row in rows])


def read_pictures(data, people):
    """Read the grey pictures of `people`, one at a time, ordered by person, then expression.

    yields  person, expression, picture (H, W) float 0..1, points (58, 2) x, y in pixels
    """
    import numpy as np
    from PIL import Image

    for person in people:
        for expression in EXPRESSIONS:
            found = sorted(data.glob(f"{person:02d}-{expression}[mf].asf"))
            if len(found) != 1:
                raise FileNotFoundError(f"{person:02d}-{expression}: one .asf expected in {data}, {len(found)} found")
            image = Image.open(found[0].with_suffix(".jpg"))
            points = read_points(found[0]) * image.size
            grey = np.asarray(image.convert("L"), dtype=float) / 255
            yield person, expression, grey, points


def with_mirrors(pictures):
    """Add the mirrored picture after each, its points numbered as in the original.

    The point that a mirrored point becomes is the nearest one on the mirrored mean, one for each.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    pictures = list(pictures)
    mean = np.mean([points - points.mean(axis=0) for *_, points in pictures], axis=0)
    distances = np.linalg.norm((mean * [-1, 1])[:, None] - mean, axis=2)
    partner = linear_sum_assignment(distances)[1]
    for person, expression, grey, points in pictures:
        yield person, expression, grey, points
        turned = points[partner] * [-1, 1] + [grey.shape[1] - 1, 0]
        yield person, expression, grey[:, ::-1].copy(), turned


def to_menpo(grey, points):
    """Turn a picture (H, W) and its points (58, 2) x, y into menpo's image with landmarks y, x."""
    from menpo.image import Image

    image = Image(grey[None])
    image.landmarks["PTS"] = to_cloud(points)
    return image


def to_cloud(points):
    from menpo.shape import PointCloud

    return PointCloud(points[:, ::-1])


def face_diagonal(points):
    """Measure the diagonal of the bounding box of points (..., L, 2)."""
    import numpy as np

    return np.linalg.norm(np.ptp(points, axis=-2), axis=-1)


def errors(found, truth):
    """Measure the mean point distance over the true face's diagonal, for points (..., L, 2)."""
    import numpy as np

    return np.linalg.norm(found - truth, axis=-1).mean(axis=-1) / face_diagonal(truth)


def write_starts(data, path):
    """Write the starts: menpofit's training mean, placed by its noisy box around the annotated points."""
    import numpy as np
    from menpofit.builder import compute_reference_shape
    from menpofit.fitter import noisy_shape_from_bounding_box

    training = [to_cloud(points) for *_, points in read_pictures(data, TRAIN_PEOPLE)]
    mean = compute_reference_shape(training, diagonal=START_DIAGONAL)
    tests = list(read_pictures(data, TEST_PEOPLE))
    np.random.seed(START_SEED)  # noqa: NPY002  menpofit draws from NumPy's global generator
    starts = []
    for *_, points in tests:
        box = to_cloud(points).bounding_box()
        placed = [
            noisy_shape_from_bounding_box(mean, box, noise_percentage=START_NOISE) for _ in range(STARTS_PER_PICTURE)
        ]
        starts.append([shape.points[:, ::-1] for shape in placed])
    np.savez(
        path,
        S=np.array(starts),
        person=np.array([person for person, *_ in tests]),
        expression=np.array([expression for _, expression, *_ in tests]),
        truth=np.array([points for *_, points in tests]),
    )


def peak_mib():
    """Read this process's peak resident memory so far, in MiB (Linux counts it in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def train(images, configuration):
    """Train menpofit's model and prepare its fitter.

    returns  the fitter, and the seconds and MiB that training took
    """
    import menpo.feature
    import menpofit.aam

    before = peak_mib()
    patch = {} if configuration.patch is None else {"patch_shape": (configuration.patch,) * 2}
    worked, began = time.process_time(), time.perf_counter()
    model = getattr(menpofit.aam, configuration.model)(
        images,
        group="PTS",
        holistic_features=getattr(menpo.feature, configuration.feature),
        diagonal=configuration.diagonal,
        scales=configuration.scales,
        max_shape_components=list(configuration.shape_modes),
        max_appearance_components=list(configuration.texture_modes),
        batch_size=configuration.batch,
        **patch,
    )
    trained, train_cpu = time.perf_counter(), time.process_time() - worked
    after_training = peak_mib()
    fitter = menpofit.aam.LucasKanadeAAMFitter(model, lk_algorithm_cls=getattr(menpofit.aam, configuration.algorithm))
    prepared = time.perf_counter()
    cost = {
        "train_s": trained - began,
        "train_cpu_s": train_cpu,
        "prepare_s": prepared - trained,
        "peak_before_mib": before,
        "peak_trained_mib": after_training,
        "peak_prepared_mib": peak_mib(),
        "texture_values": [int(m.mean_vector.size) for m in model.appearance_models],
        "texture_modes": [int(m.n_active_components) for m in model.appearance_models],
        "shape_modes": [int(m.n_active_components) for m in model.shape_models],
    }
    return fitter, cost


def fit(fitter, image, start, configuration):
    """Fit one image from a start (58, 2), timed around menpofit's call alone.

    returns  the points found (58, 2) or None, milliseconds on the clock, milliseconds of the processor, and
             the exception's name where one was raised
    """
    import numpy as np

    shape = to_cloud(start)
    result, raised = None, None
    worked, began = time.process_time(), time.perf_counter()
    try:
        result = fitter.fit_from_shape(
            image, shape, max_iters=list(configuration.iterations), map_inference=configuration.shape_prior
        )
    except (ArithmeticError, LookupError, MemoryError, ValueError) as error:  # LinAlgError is a ValueError
        raised = type(error).__name__
    clock, processor_time = time.perf_counter() - began, time.process_time() - worked
    points = None if result is None else result.final_shape.points[:, ::-1]
    if points is not None and not np.isfinite(points).all():
        points = None
    return points, clock * 1e3, processor_time * 1e3, raised


def measure_fitting(data, out, configuration, n_starts):
    """Train on people 01-28, fit people 29-40 from their saved starts."""
    import numpy as np

    saved = np.load(out / "starts.npz")
    training = read_pictures(data, TRAIN_PEOPLE)
    if configuration.mirrors:
        training = with_mirrors(training)
    fitter, cost = train([to_menpo(*picture[2:]) for picture in training], configuration)
    pictures = list(read_pictures(data, TEST_PEOPLE))
    fit(fitter, to_menpo(*pictures[0][2:]), saved["S"][0, 0], configuration)  # imports and caches, not timed
    fits = []
    for k, (person, expression, grey, truth) in enumerate(pictures):
        image = to_menpo(grey, truth)
        for j in range(n_starts):
            start = saved["S"][k, j]
            found, ms, cpu_ms, raised = fit(fitter, image, start, configuration)
            error = None if found is None else float(errors(found, truth))
            fits.append(
                {
                    "person": person,
                    "expression": expression,
                    "start": j,
                    "start_error": float(errors(start, truth)),
                    "error": error,
                    "ms": ms,
                    "cpu_ms": cpu_ms,
                    "diverged": error is None or error > DIVERGED,
                    "raised": raised,
                }
            )
    return {**cost, "peak_fitted_mib": peak_mib(), **summarise(fits), "fits": fits}


def summarise(fits):
    """Sum the fits up; one without finite points counts as an infinite error."""
    import numpy as np

    error = np.array([np.inf if f["error"] is None else f["error"] for f in fits])
    start = np.array([f["start_error"] for f in fits])
    ms = np.array([(f["ms"], f["cpu_ms"]) for f in fits])

    def finite(value):
        return float(value) if np.isfinite(value) else None

    return {
        "n": len(fits),
        "median": finite(np.median(error)),
        "mean": finite(error.mean()),
        "max": finite(error.max()),
        "under_02": float((error < 0.02).mean()),
        "under_03": float((error < 0.03).mean()),
        "under_05": float((error < 0.05).mean()),
        "worse_than_start": float((error > start).mean()),
        "diverged": int(sum(f["diverged"] for f in fits)),
        "ms_median": float(np.median(ms[:, 0])),
        "ms_p90": float(np.percentile(ms[:, 0], 90)),
        "cpu_ms_median": float(np.median(ms[:, 1])),
    }


def write_many(data, path):
    """Write 1,000 small grey pictures, each an IMM face of about 256 px, turned, scaled and shifted a little.

    The file holds `pictures` (1000, 320, 320) uint8, `points` (1000, 58, 2) x, y in pixels, and `source`
    (1000, 2) person, expression, so that another model can train on exactly these.
    """
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(MANY_SEED)
    sources = list(read_pictures(data, [*TRAIN_PEOPLE, *TEST_PEOPLE]))
    pictures, points, source = [], [], []
    for k in range(MANY):
        person, expression, grey, truth = sources[k % len(sources)]
        turn = np.deg2rad(rng.uniform(-5, 5))
        scale = MANY_DIAGONAL / face_diagonal(truth) * rng.uniform(0.95, 1.05)
        rotation = scale * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        centre = (truth.min(axis=0) + truth.max(axis=0)) / 2
        shift = MANY_SIDE / 2 + rng.uniform(-8, 8, 2) - rotation @ centre
        back = np.linalg.inv(rotation)
        coefficients = np.column_stack([back, -back @ shift]).ravel()
        picture = Image.fromarray(np.round(grey * 255).astype(np.uint8)).transform(
            (MANY_SIDE, MANY_SIDE), Image.Transform.AFFINE, tuple(coefficients), Image.Resampling.BILINEAR
        )
        pictures.append(np.asarray(picture))
        points.append(truth @ rotation.T + shift)
        source.append((person, expression))
    np.savez(path, pictures=np.array(pictures), points=np.array(points), source=np.array(source))


def measure_many(out, configuration):
    """Train on the 1,000 pictures."""
    import numpy as np

    with np.load(out / "train_1000.npz") as saved:
        images = [
            to_menpo(picture / 255, points) for picture, points in zip(saved["pictures"], saved["points"], strict=True)
        ]
    return train(images, configuration)[1]


def child(task, data, out, **more):
    """Run one task in a process of its own, on one thread, watched for memory and time.

    returns  what the task printed as JSON; {"stopped": why} where it was killed or failed
    """
    command = [sys.executable, "-W", "ignore", __file__, "--data", str(data), "--out", str(out)]
    command += ["--task", json.dumps({"task": task, **more})]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONE_THREAD})
    stopped = []

    def watch():
        began = time.monotonic()
        while running.poll() is None:
            if resident_gib(running.pid) > MEMORY_LIMIT_GIB:
                stopped.append(f"over {MEMORY_LIMIT_GIB:g} GiB after {time.monotonic() - began:.0f} s")
                running.kill()
            elif time.monotonic() - began > more.get("limit_s", float("inf")):
                stopped.append(f"over {more['limit_s']} s")
                running.kill()
            time.sleep(0.25)

    watcher = threading.Thread(target=watch)
    watcher.start()
    printed = running.stdout.read()
    watcher.join()
    if stopped or running.returncode:
        return {"stopped": stopped[0] if stopped else f"exit status {running.returncode}"}
    return json.loads(printed)


def resident_gib(pid):
    """Read the resident memory of a process, 0 where it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * resource.getpagesize() / 2**30


def run_task(data, out, task, configuration=None, n_starts=1, **_):
    """Do, in the child, what the parent asked for."""
    if task == "starts":
        return write_starts(data, out / "starts.npz")
    if task == "pictures":
        return write_many(data, out / "train_1000.npz")
    configuration = Configuration(**configuration)
    if task == "fit":
        return measure_fitting(data, out, configuration, n_starts)
    return measure_many(out, configuration)


def processor():
    """Name the processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def changed(configuration, changes):
    """Change settings given as KEY=JSON, for trying others than the table's."""
    values = {key: json.loads(value) for key, _, value in (c.partition("=") for c in changes)}
    return replace(configuration, **values)


def options():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the IMM pictures and .asf files")
    parser.add_argument("--out", type=Path, required=True, help="folder for starts.npz and menpofit.json")
    parser.add_argument("--starts", type=int, default=1, metavar="N", help="starts a picture, 1 to 10")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a configuration; repeatable")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=JSON",
        dest="changes",
        help="change a setting, for example diagonal=180 or 'shape_modes=[3, 12]'; repeatable",
    )
    parser.add_argument("--train-1000", action="store_true", help="only train, on 1,000 pictures of 256 px faces")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    return parser.parse_args()


ROW = "{:42} {:>7} {:>5} {:>5} {:>5} {:>7} {:>4} {:>6} {:>6} {:>8} {:>10}"


def row(name, result):
    """Print one configuration's line."""
    if "stopped" in result:
        return f"{name:42} stopped: {result['stopped']}"
    memory = f"{result['peak_before_mib']:.0f}-{result['peak_trained_mib']:.0f}"
    fitted = [""] * 8
    if "n" in result:
        fitted = [
            "inf" if result["median"] is None else f"{result['median']:.4f}",
            *(f"{result[key]:.0%}" for key in ("under_02", "under_03", "under_05")),
            "inf" if result["max"] is None else f"{result['max']:.3f}",
            result["diverged"],
            f"{result['ms_median']:.0f}",
            f"{result['cpu_ms_median']:.0f}",
        ]
    return ROW.format(name, *fitted, f"{result['train_s']:.1f}", memory)


def main():
    given = options()
    if given.task:
        json.dump(run_task(given.data, given.out, **json.loads(given.task)), sys.stdout)
        return
    if not 1 <= given.starts <= STARTS_PER_PICTURE:
        sys.exit(f"--starts {given.starts}: 1 to {STARTS_PER_PICTURE} starts are saved for each picture")
    configurations = MANY_CONFIGURATIONS if given.train_1000 else CONFIGURATIONS
    names = [c.name for c in configurations]
    unknown = set(given.only) - set(names)
    if unknown:
        sys.exit(f"--only {unknown.pop()!r}: not one of {names}")
    given.out.mkdir(parents=True, exist_ok=True)
    report = {
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores_allowed": len(os.sched_getaffinity(0)),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("menpofit", "menpo", "numpy", "scipy", "pillow")},
        "results": {},
    }
    failed = child("pictures" if given.train_1000 else "starts", given.data, given.out)
    if failed:
        sys.exit(f"the input could not be prepared: {failed['stopped']}")
    path = given.out / ("menpofit-1000.json" if given.train_1000 else "menpofit.json")
    print(ROW.format("", "median", "<.02", "<.03", "<.05", "max", "div", "ms", "cpu ms", "train s", "MiB"))
    for configuration in configurations:
        if given.only and configuration.name not in given.only:
            continue
        settings = asdict(changed(configuration, given.changes))
        if given.train_1000:
            result = child("many", given.data, given.out, configuration=settings, limit_s=MANY_LIMIT_S)
        else:
            result = child("fit", given.data, given.out, configuration=settings, n_starts=given.starts)
        report["results"][configuration.name] = {"settings": settings, **result}
        path.write_text(json.dumps(report, indent=1, allow_nan=False) + "\n")
        print(row(configuration.name, result), flush=True)


if __name__ == "__main__":
    main()
