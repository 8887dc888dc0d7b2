"""How fast the papers' methods form their clusters, against the plain NumPy transcription of their pseudo-code.

    python benchmarks/identity_speed.py --out out/identity-speed
    python benchmarks/identity_speed.py --sizes 1000000 --spectra model --cores 1 --plain-up-to 0

`fast` is the public function, from vectors to release; `plain` is tests/identity/transcriptions.py, clusters alone: a
vectorised scan of those who remain for every question. Both get the same order of triggers, and their clusters are
compared. Samples have 59 values: 9 of shape and 50 of texture, with the default model's spectrum, or all alike
(isotropic). Each measurement is a process of its own; times are the best of --repeats for `fast` up to 30,000 people,
of one run else. `cpu` is processor time: what to compare where other work shares the machine. Peak memory includes
the interpreter, the libraries and the input.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
METHODS = ("k-same-m", "k-same-furthest", "k-diff-furthest")
SHAPE_MODES, TEXTURE_MODES = 9, 50
AT_ONCE = 20_000
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/identity-speed"))
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    parser.add_argument("--spectra", nargs="+", choices=("model", "isotropic"), default=["model", "isotropic"])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--plain-up-to", type=int, default=30_000, help="people; plain is not run on more")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.task:
        print(json.dumps(run_task(**json.loads(asked.task))))
        return
    asked.out.mkdir(parents=True, exist_ok=True)
    rows = []
    print(f"{'':16} {'people':>9} {'':10} {'':6} cores {'wall s':>8} {'cpu s':>8} {'GiB':>6} {'ratio (cpu)':>12}")
    for spectrum in asked.spectra:
        for people in asked.sizes:
            for method in asked.methods:
                rows += compare(asked, spectrum, people, method)
    result = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": " ".join(["python", "benchmarks/identity_speed.py", *sys.argv[1:]]),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "python": platform.python_version()},
        "load": os.getloadavg(),
        "k": asked.k,
        "rows": rows,
        "growth": growth(rows),
    }
    (asked.out / "identity_speed.json").write_text(json.dumps(result, indent=1))
    for one in result["growth"]:
        print("{spectrum} {method} {kind} {cores}: exponent {exponent:.2f} from {first} to {last} people".format(**one))
        if one["kind"] == "plain":
            print("    extrapolated from that, not measured: " + str(one["extrapolated"]))


def compare(asked, spectrum, people, method):
    """Measure the rows of one method on one sample; say so at once."""
    common = {"spectrum": spectrum, "people": people, "method": method, "k": asked.k}
    rows = []
    if people <= asked.plain_up_to:
        rows.append(child({**common, "kind": "plain", "cores": 1, "repeats": 1}))
    for cores in asked.cores:
        repeats = asked.repeats if people <= 30_000 else 1
        rows.append(child({**common, "kind": "fast", "cores": cores, "repeats": repeats}))
    plain = rows[0] if rows[0]["kind"] == "plain" else None
    for row in rows:
        row["ratio"] = plain["cpu"] / row["cpu"] if plain and row["kind"] == "fast" else None
        row["same clusters"] = row["clusters"] == plain["clusters"] if plain else None
        show = f"{row['ratio']:12.1f}" if row["ratio"] else f"{'-':>12}"
        show += "" if row["same clusters"] in (True, None) else "  OTHER CLUSTERS"
        print(
            f"{method:16} {people:9,} {spectrum:10} {row['kind']:6} {row['cores']:5} "
            f"{row['wall']:8.2f} {row['cpu']:8.2f} {row['gib']:6.2f} {show}",
            flush=True,
        )
    return rows


def child(task):
    environment = {**os.environ, **dict.fromkeys(THREADS, str(task["cores"]))}
    command = [sys.executable, __file__, "--task", json.dumps(task)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return {**task, **json.loads(done.stdout)}


def run_task(spectrum, people, method, k, kind, repeats, **_):
    import hashlib

    import numpy as np

    from elsewho.identity.diff import k_diff_furthest
    from elsewho.identity.furthest import k_same_furthest
    from elsewho.identity.same import k_same_m

    faces = sample(spectrum, people)
    faces = faces[np.argsort(faces[:, 0])]  # the people's own order: the transcription's ties are then the method's
    order = np.random.default_rng(1).permutation(people)
    best = None
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        if kind == "fast":
            function = {"k-same-m": k_same_m, "k-same-furthest": k_same_furthest, "k-diff-furthest": k_diff_furthest}
            cluster = function[method](faces, k, order=order).cluster
        else:
            cluster = transcribed(method, faces, k, order)
        spent = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        best = spent if best is None or spent["cpu"] < best["cpu"] else best
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {**best, "gib": peak, "clusters": hashlib.sha256(cluster.astype("<i8").tobytes()).hexdigest()}


def transcribed(method, faces, k, order):
    """The cluster of each face by the paper's pseudo-code."""
    import numpy as np

    sys.path.insert(0, str(ROOT / "tests" / "identity"))
    import transcriptions

    if method == "k-diff-furthest":
        groups = transcriptions.k_diff_furthest(faces, k, order, "avoid")[0]
    else:
        groups = getattr(transcriptions, method.replace("-", "_"))(faces, k, order)
    cluster = np.empty(len(faces), np.intp)
    for number, group in enumerate(groups):
        cluster[group.members] = number
    return cluster


def sample(spectrum, people):
    """Vectors (people, 59) as the default model's people vary, or the same in every direction."""
    import numpy as np

    import elsewho

    rng = np.random.default_rng(0)
    if spectrum == "isotropic":
        return rng.standard_normal((people, SHAPE_MODES + TEXTURE_MODES))
    model = elsewho.load_model()
    statistics, shapes = model.people_statistics(), len(model.shape.basis)
    kept = np.r_[:SHAPE_MODES, shapes : shapes + TEXTURE_MODES]
    faces = np.empty((people, len(kept)))
    for start in range(0, people, AT_ONCE):
        count = min(AT_ONCE, people - start)
        faces[start : start + count] = statistics.sample(count, rng, 1.0)[:, kept]
    return faces


def growth(rows):
    """The exponent of processor time in the number of people, from the smallest to the largest that was measured."""
    found = []
    for key in dict.fromkeys((row["spectrum"], row["method"], row["kind"], row["cores"]) for row in rows):
        own = [row for row in rows if (row["spectrum"], row["method"], row["kind"], row["cores"]) == key]
        first, last = own[0], own[-1]
        if first["people"] == last["people"]:
            continue
        exponent = math.log(last["cpu"] / first["cpu"]) / math.log(last["people"] / first["people"])
        one = dict(zip(("spectrum", "method", "kind", "cores"), key, strict=True))
        one |= {"first": first["people"], "last": last["people"], "exponent": exponent}
        if key[2] == "plain":
            more = {row["people"] for row in rows if row["people"] > last["people"]}
            one["extrapolated"] = {n: round(last["cpu"] * (n / last["people"]) ** exponent) for n in sorted(more)}
        found.append(one)
    return found


def processor():
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    main()
