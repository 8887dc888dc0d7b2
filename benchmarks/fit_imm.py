"""Fit the IMM faces with elsewho, from the same starts as peers/menpofit_imm.py, and see when it is wrong and says so.

    python benchmarks/fit_imm.py --data ../shared/data/imm --starts out/menpofit/starts.npz --out out/fit

People 01-28 train, people 29-40 test, each with four expressions: neutral, happy, side light, arbitrary; then random
splits of all forty. The error of a fit is the mean distance of its points from the annotated ones, divided by the
diagonal of the annotated points' bounding box. Settings were chosen by cross-validation over people 01-28 alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

# Set before NumPy is imported: everything is measured on one thread.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
EXPRESSIONS = ("neutral", "happy", "sidelight", "arbitrary")
TRAIN_PEOPLE = range(1, 29)
TEST_PEOPLE = range(29, 41)
SOLVERS = ("wiberg", "simultaneous", "project-out")
NOISE = (0.05, 0.08, 0.09)  # own starts: sd of log scale, angle in radians, shift in diagonals; mean error .12
OFFSETS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)  # diagonals
MANY, MANY_DIAGONAL, MANY_SIDE = 1000, 256, 320


def read_pictures(data, people):
    """Read the pictures of `people`: a list of (person, picture (H, W, 3) uint8, points (58, 2)), in order."""
    from elsewho.media.images import read_image
    from elsewho.papers.datasets.sets import read_imm

    wanted = [one for one in read_imm(data) if int(one.person) in people and one.expression in EXPRESSIONS]
    return [(int(one.person), read_image(one.image), one.points) for one in wanted]


def train(pictures):
    """Train elsewho's model of these pictures."""
    from elsewho.aam.train import train_model

    people = [str(person) for person, *_ in pictures]
    return train_model([p[1] for p in pictures], [p[2] for p in pictures], people=people, marks="imm58")


def diagonal(points):
    """Measure the diagonal of the bounding box of points (L, 2)."""
    import numpy as np

    return float(np.hypot(*np.ptp(points, axis=0)))


def error_of(found, truth):
    """Measure the mean point distance over the true face's diagonal."""
    import numpy as np

    return float(np.linalg.norm(found - truth, axis=1).mean() / diagonal(truth))


def jitter(mean, truth, rng, scale=1.0, angle=0.0, shift=(0.0, 0.0), noise=NOISE):
    """Place the mean face (58, 2) near the true one: scaled, turned by degrees, shifted by diagonals, and noise."""
    import numpy as np

    from elsewho.aam.procrustes import similarity

    at = similarity(mean, truth).apply(mean)
    middle = at.mean(axis=0)
    scale = scale * np.exp(noise[0] * rng.normal())
    turn = np.deg2rad(angle) + noise[1] * rng.normal()
    spin = scale * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    moved = (np.asarray(shift) + noise[2] * rng.normal(size=2)) * diagonal(truth)
    return (at - middle) @ spin.T + middle + moved


def fit_one(model, picture, start, truth, solver):
    """Fit once; returns what is known of it afterwards, truth None where there is no face."""
    began, cpu = time.perf_counter(), time.thread_time()
    fit = model.fit(picture, start, solver=solver)
    return {
        "ms": 1e3 * (time.perf_counter() - began),
        "cpu_ms": 1e3 * (time.thread_time() - cpu),
        "error": None if truth is None else error_of(fit.points, truth),
        "start_error": None if truth is None else error_of(start, truth),
        "stopped": fit.stopped,
        "rms": fit.rms,
        "steps": fit.steps,
    }


def summarise(fits):
    """Sum up the fits of faces."""
    import numpy as np

    error = np.array([fit["error"] for fit in fits])
    flagged = np.array([fit["stopped"] == "diverged" for fit in fits])
    return {
        "n": len(fits),
        "start_error": float(np.mean([fit["start_error"] for fit in fits])),
        "median": float(np.median(error)),
        "mean": float(error.mean()),
        "under_02": float((error < 0.02).mean()),
        "under_03": float((error < 0.03).mean()),
        "under_05": float((error < 0.05).mean()),
        "max": float(error.max()),
        "ms_median": float(np.median([fit["ms"] for fit in fits])),
        "ms_p90": float(np.percentile([fit["ms"] for fit in fits], 90)),
        "cpu_ms_median": float(np.median([fit["cpu_ms"] for fit in fits])),
        "converged": sum(fit["stopped"] == "converged" for fit in fits),
        "diverged": int(flagged.sum()),
        "good_flagged": int((flagged & (error < 0.03)).sum()),
        "bad_unflagged": int((~flagged & (error > 0.05)).sum()),
    }


def interval_by_person(fits):
    """90% range of the share under .02 over bootstrap samples of the test people."""
    import numpy as np

    people = sorted({fit["person"] for fit in fits})
    shares = np.array([np.mean([fit["error"] < 0.02 for fit in fits if fit["person"] == one]) for one in people])
    drawn = np.random.default_rng(6).integers(0, len(people), (2000, len(people)))
    return np.percentile(shares[drawn].mean(axis=1), [5, 95]).tolist()


def measure_fixed(data, starts):
    """Train on people 01-28, fit people 29-40: accuracy from all starts, reach by offset, and what is flagged."""
    import numpy as np

    model = train(read_pictures(data, TRAIN_PEOPLE))
    tests = read_pictures(data, TEST_PEOPLE)
    # Only the starts are taken: menpofit counts pixels from their corner, elsewho from their centre, half a pixel off,
    # and each is measured against the annotation as it was trained.
    truth = [points for *_, points in tests]
    if starts.exists():
        places = np.load(starts)["S"] - 0.5
    else:
        rng = np.random.default_rng(5)
        places = np.stack([[jitter(model.shape.mean, one, rng) for _ in range(10)] for one in truth])
    fit_one(model, tests[0][1], places[0, 0], None, "wiberg")  # what is computed once is not timed
    found = {
        "starts": str(starts) if starts.exists() else "own",
        "all_starts": {},
        "first_start": {},
        "fits": {},
        "flags": measure_flags(model, tests),
    }
    for solver in SOLVERS:
        fits = [
            {"person": person, "picture": i, "start": j} | fit_one(model, picture, places[i, j], truth[i], solver)
            for i, (person, picture, _) in enumerate(tests)
            for j in range(places.shape[1])
        ]
        found["all_starts"][solver] = summarise(fits) | {"under_02_by_person": interval_by_person(fits)}
        found["first_start"][solver] = summarise([fit for fit in fits if fit["start"] == 0])
        found["fits"][solver] = fits
    found["reach"] = measure_reach(model, tests)
    return found


def measure_reach(model, tests):
    """Error against the distance of the start, one random direction a picture and distance."""
    import numpy as np

    reach = {}
    for solver in SOLVERS:
        rng = np.random.default_rng(3)
        reach[solver] = []
        for offset in OFFSETS:
            errors = []
            for _, picture, truth in tests:
                angle = rng.uniform(0, 2 * np.pi)
                shift = offset * np.array([np.cos(angle), np.sin(angle)])
                start = jitter(model.shape.mean, truth, rng, shift=shift, noise=(0, 0, 0))
                errors.append(fit_one(model, picture, start, truth, solver)["error"])
            reach[solver].append(errors)
    return reach


def measure_flags(model, tests):
    """Fits from hopeless starts, and in pictures without a face: which are flagged as diverged?"""
    import numpy as np

    rng = np.random.default_rng(4)
    mean = model.shape.mean
    kinds = {}

    def add(kind, picture, start, truth):
        kinds.setdefault(kind, []).append(fit_one(model, picture, start, truth, "wiberg"))

    for i, (_, picture, truth) in enumerate(tests):
        for _ in range(3):
            angle, far = rng.uniform(0, 2 * np.pi), rng.uniform(0.3, 1.2)
            shift = far * np.array([np.cos(angle), np.sin(angle)])
            add("far start", picture, jitter(mean, truth, rng, shift=shift), truth)
        for scale in (0.5, 0.7, 1.4, 2.0):
            add("wrong size", picture, jitter(mean, truth, rng, scale=scale), truth)
        for angle in (-40, -25, 25, 40):
            add("wrong angle", picture, jitter(mean, truth, rng, angle=angle), truth)
        near = jitter(mean, truth, rng)
        upside_down = np.ascontiguousarray(picture[::-1])
        add("upside down", upside_down, mean * diagonal(truth) + [truth[:, 0].mean(), 480 - truth[:, 1].mean()], None)
        wall = np.ascontiguousarray(picture[:, :160] if i % 2 else picture[:, -160:])
        add("background", wall, mean * rng.uniform(80, 140) + [80, rng.uniform(100, 380)], None)
        add("noise", rng.integers(0, 256, picture.shape, np.uint8), near, None)
        add("flat", np.full_like(picture, rng.integers(0, 256)), near, None)
    return {kind: summarise_flags(fits) for kind, fits in kinds.items()}


def summarise_flags(fits):
    """Count the good (error under .03) and bad (over .05, or no face) fits, and how many of each are flagged."""
    good = [fit for fit in fits if fit["error"] is not None and fit["error"] < 0.03]
    bad = [fit for fit in fits if fit["error"] is None or fit["error"] > 0.05]
    return {
        "n": len(fits),
        "good": len(good),
        "good_flagged": sum(fit["stopped"] == "diverged" for fit in good),
        "bad": len(bad),
        "bad_unflagged": sum(fit["stopped"] != "diverged" for fit in bad),
    }


def measure_split(data, split):
    """One random split, 28 people to train on and 12 to fit, two own starts a picture."""
    import numpy as np

    test = set(np.random.default_rng(100 + split).permutation(np.arange(1, 41))[:12].tolist())
    model = train(read_pictures(data, set(range(1, 41)) - test))
    rng = np.random.default_rng(split)
    fits = []
    for person, picture, truth in read_pictures(data, test):
        for _ in range(2):
            start = jitter(model.shape.mean, truth, rng)
            fits.append({"person": person} | fit_one(model, picture, start, truth, "wiberg"))
    return {"test_people": sorted(test), **summarise(fits)}


def measure_training(data, many):
    """Seconds and peak memory of training: on the 112 pictures, or on 1,000 (`many`) of which each is another crop."""
    import numpy as np

    if many:
        with np.load(many) as saved:
            pictures, points = saved["pictures"], saved["points"]
    else:
        read = read_pictures(data, TRAIN_PEOPLE)
        pictures, points = [picture for _, picture, _ in read], [at for *_, at in read]
    from elsewho.aam.train import train_model

    before, began, cpu_began = peak_mib(), time.perf_counter(), time.process_time()
    model = train_model(list(pictures), list(points))
    return {
        "pictures": len(points),
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu_began,
        "peak_before_mib": before,
        "peak_mib": peak_mib(),
        "shape_modes": len(model.shape.basis),
        "texture_modes": len(model.texture.basis),
        "level_modes": [len(level.basis) for level in model.levels],
    }


def write_many(data, path):
    """Write 1,000 pictures of 320 px, each an IMM face of about 256 px, turned, scaled and shifted a little."""
    import cv2
    import numpy as np

    rng = np.random.default_rng(0)
    sources = read_pictures(data, range(1, 41))
    pictures, points = [], []
    for k in range(MANY):
        _, picture, truth = sources[k % len(sources)]
        turn = np.deg2rad(rng.uniform(-5, 5))
        scale = MANY_DIAGONAL / diagonal(truth) * rng.uniform(0.95, 1.05)
        spin = scale * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        shift = MANY_SIDE / 2 + rng.uniform(-8, 8, 2) - spin @ truth.mean(axis=0)
        grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
        pictures.append(cv2.warpAffine(grey, np.column_stack([spin, shift]), (MANY_SIDE, MANY_SIDE)))
        points.append(truth @ spin.T + shift)
    np.savez(path, pictures=np.array(pictures), points=np.array(points))


def peak_mib():
    """Read this process's peak resident memory so far, in MiB (Linux counts it in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def plot(found, path):
    """Draw the error against the start's: the shared starts as dots, the reach as medians and ranges."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for solver, colour in zip(SOLVERS, ("C0", "C2", "C1"), strict=True):
        fits = found["fits"][solver]
        left.plot([f["start_error"] for f in fits], [f["error"] for f in fits], ".", ms=3, c=colour, label=solver)
        errors = np.array(found["reach"][solver])
        right.plot(OFFSETS, np.median(errors, axis=1), "o-", ms=4, c=colour, label=solver)
        right.fill_between(OFFSETS, *np.percentile(errors, [10, 90], axis=1), color=colour, alpha=0.15, lw=0)
    left.set(xlabel="error of the start", ylabel="error of the fit", ylim=(0, 0.06), title="shared starts")
    right.set(xlabel="start's offset, diagonals", ylabel="median error, 10-90%", yscale="log", title="reach")
    for axes in (left, right):
        axes.axhline(0.03, c="0.7", lw=0.8, zorder=0)
        axes.legend(frameon=False)
    figure.savefig(path, dpi=130)


def child(arguments, task):
    """Run one task in a process of its own, so that its time and memory are its own; returns what it found."""
    command = [sys.executable, __file__, "--data", str(arguments.data), "--out", str(arguments.out)]
    command += ["--starts", str(arguments.starts), "--task", json.dumps(task)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | ONE_THREAD)
    return json.loads(done.stdout)


def run_task(arguments, task):
    """Do, in the child, what the parent asked for."""
    import cv2

    cv2.setNumThreads(1)
    if task["name"] == "fixed":
        return measure_fixed(arguments.data, arguments.starts)
    if task["name"] == "split":
        return measure_split(arguments.data, task["split"])
    if task["name"] == "write":
        return write_many(arguments.data, task["path"])
    return measure_training(arguments.data, task["many"])


def main():
    """Measure everything and write results.json and error_by_offset.png."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/imm"), help="the IMM folder")
    parser.add_argument(
        "--starts", type=Path, default=Path("out/menpofit/starts.npz"), help="of peers/menpofit_imm.py; else own starts"
    )
    parser.add_argument("--many", type=Path, help="train_1000.npz of peers/menpofit_imm.py; made here if not given")
    parser.add_argument("--out", type=Path, default=Path("out/fit"))
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.task:
        print(json.dumps(run_task(arguments, json.loads(arguments.task))))
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    found = child(arguments, {"name": "fixed"})
    plot(found, arguments.out / "error_by_offset.png")
    found["splits"] = [child(arguments, {"name": "split", "split": i}) for i in range(arguments.splits)]
    many = arguments.many or arguments.out / "train_1000.npz"
    if not many.exists():
        child(arguments, {"name": "write", "path": str(many)})
    found["training"] = [child(arguments, {"name": "training", "many": one}) for one in (None, str(many))]
    found["machine"] = {"python": platform.python_version(), "processor": processor(), "threads": 1}
    (arguments.out / "results.json").write_text(json.dumps(found, indent=1))
    show(found)


def show(found):
    """Print the table."""
    for starts in ("all_starts", "first_start"):
        for solver, row in found[starts].items():
            print(starts, solver, *(f"{key} {value:.4g}" for key, value in row.items()))
    for kind, row in found["flags"].items():
        print("flags", kind, row)
    for row in found["splits"]:
        print("split", *(f"{key} {row[key]:.4g}" for key in ("median", "under_02", "under_03", "max")))
    if found["splits"]:
        mean = sum(row["under_02"] for row in found["splits"]) / len(found["splits"])
        print(f"splits, mean under .02: {mean:.3f}")
    for row in found["training"]:
        print("training", row)


def processor():
    """Name the processor."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    main()
