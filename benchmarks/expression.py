"""Expression transfer: what of an expression arrives, and what of the person goes with it, step by step.

    python benchmarks/expression.py --data ../shared/data --recogniser ../shared/models/faceres.onnx

IMM: the paper's 64 landmarks (58 annotated, six of the inner lips from the finder's mesh), neutral, happy and
arbitrary faces, models trained in five folds by person; everybody is transferred by a model that has not seen them.
London: the packaged model and the found mesh, neutral and smiling photos of all 102 people, of whom 20 are in nothing
that ships ("held out"); "all" includes those whom model and packaged estimator have seen, but "in folds" the estimator
is always one of other people. The new identity is the mean of the five neutral faces furthest from the person's own.

The correlation is between what the original's face does beyond its own neutral and what the result does beyond the new
identity's: "change" over faces with an expression, "with neutral" over these and neutral ones; "as is" compares the
measures themselves, in which brows and eyes are mostly the person's own.
"found" has the mesh finder read the measures from painted faces instead of from the landmarks of the result.
Leak: rank-1 among all people, by Eigenfaces of coefficients (the gallery holds every original) and, of painted faces,
by a deep recogniser (the gallery holds every photo). "nearest" is chance.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from elsewho.aam.load import load_model
from elsewho.aam.train import train_model
from elsewho.expression import (
    MEASURES,
    Steps,
    find_marks,
    fit_neutral,
    load_neutral,
    look_at,
    look_of,
    measure,
    prepare,
    retrieve_neutral,
    to_vector,
)
from elsewho.find import find_faces
from elsewho.identity.furthest import furthest_average
from elsewho.media.images import read_image
from elsewho.papers.datasets import read_imm
from elsewho.papers.figures import make_plot, make_sheet
from elsewho.papers.inner_lips import add_inner_lips
from elsewho.papers.portraits import paint_look
from elsewho.papers.report import draw, encode_png
from elsewho.pipeline import Deidentifier
from elsewho.proof.recognisers import Eigenfaces, OnnxRecogniser, distances, rank1
from elsewho.proof.recognisers.onnx import EXAMPLE

K = 5
FOLDS = 5
NONE = Steps(scale=False, limit=False, eyes=False, mouth=False, tone=False, light=False)
ALL = Steps()
STEPS = {
    "equation 1": NONE,
    "+ limit": replace(NONE, limit=True),
    "+ scale": replace(NONE, limit=True, scale=True),
    "+ eyes": replace(NONE, limit=True, scale=True, eyes=True),
    "+ mouth": replace(ALL, tone=False, light=False),
    "+ tone": replace(ALL, light=False),
    "+ light (whole)": ALL,
    "whole, ratios of the mouth": replace(ALL, closed=0.01),
    "whole, eq. 2 as printed": replace(ALL, literal=True, closed=0.01),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--recogniser", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/expression"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    result = {"command": " ".join(["python", "benchmarks/expression.py", *sys.argv[1:]]), "k": K}
    london = read_london_looks(asked.data / "london", asked.out)
    recogniser = open_recogniser(asked.recogniser)
    result["ms"] = speed(london)
    result["london"] = run_london(london, recogniser)
    result["imm"] = run_imm(asked.data / "imm")
    (asked.out / "expression.json").write_text(json.dumps(result, indent=1))
    show(result)
    plot_steps(result, asked.out / "fet-steps.png")
    paint_nobody(asked.out / "fet-nobody.png")


def open_recogniser(path):
    if path is None:
        return None
    with tempfile.TemporaryDirectory() as folder:  # its settings must lie beside it
        link = Path(folder) / path.name
        link.symlink_to(path.resolve())
        link.with_suffix(".json").write_text(EXAMPLE.read_text())
        return OnnxRecogniser(link)


# London


def read_london_looks(folder, out):
    """Looks of the smiling and the neutral photos of 102 people, by the packaged model; points are kept in `out`."""
    kept = out / "london.npz"
    paths = {(p.stem, p.parent.name): p for p in sorted(folder.glob("*/*.jpg"))}
    people = sorted({person for person, kind in paths if (person, "neutral") in paths and (person, "smiling") in paths})
    wanted = [(person, kind) for kind in ("smiling", "neutral") for person in people]
    if not kept.exists():
        np.savez(kept, points=np.stack([find_faces(read_image(paths[one]))[0][1].points for one in wanted]))
    points = np.load(kept)["points"]
    stage, model = Deidentifier(), load_model()
    looks = []
    for one, at in zip(wanted, points, strict=True):
        looks.append(look_at(model, stage.encode(read_image(paths[one]), found(at)), at))
    with (Path(__file__).parent / "heldout.csv").open() as file:
        out_of_all = {row["person"] for row in csv.DictReader(file) if row["set"] == "london"}
    n = len(people)
    return {
        "model": model,
        "people": people,
        "held": np.array([person in out_of_all for person in people]),
        "smiling": looks[:n],
        "neutral": looks[n:],
        "paths": [paths[one] for one in wanted],
        "points": points,
    }


def found(points):
    from elsewho.types import FacePoints

    return FacePoints(points, np.zeros((2, 5, 2)), 1.0, 0.0)


def run_london(london, recogniser):
    model, people, held = london["model"], london["people"], london["held"]
    transfer, marks = prepare(model), find_marks(model.marks, model.shape.count)
    calm = np.stack([to_vector(model, look) for look in london["neutral"]])
    smiles = np.stack([to_vector(model, look) for look in london["smiling"]])
    estimator = load_neutral()
    others = [calm[np.array(people) != person] for person in people]
    taken = retrieve_neutral(smiles, calm)
    neutrals = {
        "given": london["neutral"],
        "estimated": [estimator.rest(model, look) for look in london["smiling"]],
        "estimated in folds": in_folds(model, london, smiles, calm),
        "retrieved": [london["neutral"][i] for i in taken],
    }
    gallery = np.concatenate([smiles, calm])
    eigen = Eigenfaces.train(gallery)
    deep = Deep(recogniser, model, london) if recogniser else None
    tables = {}
    for kind, rest in neutrals.items():
        own = np.stack([to_vector(model, look) for look in rest])
        new = [look_of(model, furthest_average(v[None], o, K)[0]) for v, o in zip(own, others, strict=True)]
        plans = STEPS if kind in ("given", "estimated") else {"+ light (whole)": ALL}
        rows = {"no transfer": new} | {
            name: [transfer(*three, steps) for three in zip(london["smiling"], rest, new, strict=True)]
            for name, steps in plans.items()
        }
        calm_rest = {
            "estimated": [estimator.rest(model, look) for look in london["neutral"]],
            "estimated in folds": in_folds(model, london, smiles, calm, "neutral"),
        }.get(kind, london["neutral"])
        tables[kind] = {}
        for name, looks in rows.items():
            steps = plans.get(name)
            still = [transfer(*three, steps) if steps else three[2]
                     for three in zip(london["neutral"], calm_rest, new, strict=True)]  # fmt: skip
            readings = [
                np.stack([measure(look.form, marks) for look in of])
                for of in (london["smiling"], london["neutral"], looks, new, still)
            ]
            vectors = np.stack([to_vector(model, look) for look in looks])
            row = {
                "held out": correlations(*readings, held),
                "all": correlations(*readings, np.ones_like(held)),
                "leak, eigenfaces": rank1(
                    distances(eigen.embed(vectors), eigen.embed(gallery)), people, [*people, *people]
                ),
            }
            if (
                deep
                and kind != "estimated in folds"
                and name
                in (
                    "no transfer",
                    "equation 1",
                    "+ mouth",
                    "+ tone",
                    "+ light (whole)",
                    "whole, eq. 2 as printed",
                )
            ):
                row |= deep.attack(looks, new)
            tables[kind][name] = row
    return {
        "people": len(people),
        "held out": int(held.sum()),
        "retrieved right": float((taken == np.arange(len(people))).mean()),
        "control": deep.control() if deep else None,
        "tables": tables,
    }


def in_folds(model, london, smiles, calm, of="smiling"):
    """Everybody's neutral face by an estimator that was fitted on other people; the face model knows most of them."""
    fold = np.random.default_rng(0).permutation(len(calm)) % FOLDS
    people = np.array(london["people"])
    rest = [None] * len(people)
    for number in range(FOLDS):
        learn = fold != number
        estimator = fit_neutral(smiles[learn], calm[learn], people[learn].tolist())
        for i in np.flatnonzero(~learn):
            rest[i] = estimator.rest(model, london[of][i])
    return rest


class Deep:
    """Attacks by a deep recogniser on painted faces, and what the finder reads from them."""

    def __init__(self, recogniser, model, london):
        self.recogniser, self.model, self.london = recogniser, model, london
        self.marks = find_marks(model.marks, model.shape.count)
        images = zip(london["paths"], london["points"], strict=True)
        self.photos = np.stack([recogniser.embed(read_image(path), at) for path, at in images])
        self.people = london["people"]
        self.read_originals = [np.stack([self.read(look) for look in london[kind]]) for kind in ("smiling", "neutral")]

    def read(self, look):
        picture = paint_look(self.model, look, 256)[0]
        faces = find_faces(picture)
        return measure(faces[0][1].points, self.marks) if faces else np.full(len(MEASURES), np.nan)

    def embed(self, looks):
        painted = [paint_look(self.model, look, 256) for look in looks]
        return np.stack([self.recogniser.embed(*both) for both in painted])

    def control(self):
        """Rank-1 of the originals painted in the same way, against the photos of the *other* expression."""
        n = len(self.people)
        smiling = self.embed(self.london["smiling"])
        return rank1(distances(smiling, self.photos[n:]), self.people, self.people)

    def attack(self, looks, new):
        n = len(self.people)
        probes = self.embed(looks)
        read = [np.stack([self.read(look) for look in of]) for of in (looks, new)]
        ok = np.isfinite(read[0]).all(axis=1) & np.isfinite(read[1]).all(axis=1)
        beyond = self.read_originals[0] - self.read_originals[1]
        return {
            "leak, deep": rank1(distances(probes, self.photos), self.people, [*self.people, *self.people]),
            "leak, deep, neutral gallery": rank1(distances(probes, self.photos[n:]), self.people, self.people),
            "found": [correlate(beyond[ok, i], (read[0] - read[1])[ok, i]) for i in range(len(MEASURES))],
            "not found": int((~ok).sum()),
        }


def correlations(moved, calm, result, new, still, use):
    """Of the change, and of the measures as they are, neutral faces included."""
    change = [correlate((moved - calm)[use, i], (result - new)[use, i]) for i in range(len(MEASURES))]
    before, after = np.concatenate([moved[use], calm[use]]), np.concatenate([result[use], still[use]])
    beyond = (
        np.concatenate([(moved - calm)[use], 0 * calm[use]]),
        np.concatenate([(result - new)[use], (still - new)[use]]),
    )
    both = [correlate(beyond[0][:, i], beyond[1][:, i]) for i in range(len(MEASURES))]
    return {
        "change": change,
        "with neutral": both,
        "as is": [correlate(before[:, i], after[:, i]) for i in range(len(MEASURES))],
    }


def correlate(a, b):
    if a.std() < 1e-9 or b.std() < 1e-9:
        return 0.0
    return round(float(np.corrcoef(a, b)[0, 1]), 3)


# IMM


def read_imm64(folder):
    """The near-frontal pictures, with 64 landmarks."""
    faces = [face for face in read_imm(folder) if face.expression in ("neutral", "happy", "arbitrary")]
    points = [add_inner_lips(f.points, find_faces(read_image(f.image))[0][1].points) for f in faces]
    return faces, points


def run_imm(folder):
    faces, points = read_imm64(folder)
    people = sorted({face.person for face in faces})
    fold_of = dict(zip(np.random.default_rng(0).permutation(people), np.arange(len(people)) % FOLDS, strict=True))
    readings = {kind: {name: [] for name in ("no transfer", *STEPS)} for kind in ("given", "estimated")}
    linked = {kind: {name: [] for name in ("no transfer", *STEPS)} for kind in ("given", "estimated")}
    for fold in range(FOLDS):
        learn = [i for i, face in enumerate(faces) if fold_of[face.person] != fold]
        model = train_model(
            [faces[i].image for i in learn],
            [points[i] for i in learn],
            people=[faces[i].person for i in learn],
            marks="imm64",
            colour="grey",
            width=128,
            levels=False,
        )
        one_fold(model, faces, points, [fold_of[face.person] == fold for face in faces], readings, linked)
    tables = {}
    for kind, rows in readings.items():
        tables[kind] = {}
        for name, parts in rows.items():
            whole = [np.concatenate(part) for part in zip(*parts, strict=True)]
            everyone = np.ones(len(whole[0]), bool)
            tables[kind][name] = {
                "held out": correlations(*whole, everyone),
                "leak, eigenfaces": float(np.concatenate(linked[kind][name]).mean()),
            }
    return {"people": len(people), "faces": 2 * len(people), "tables": tables}


def one_fold(model, faces, points, test, readings, linked):
    transfer, marks = prepare(model), find_marks("imm64", 64)
    looks = []
    for face, at in zip(faces, points, strict=True):
        looks.append(look_at(model, model.encode(read_image(face.image), at), at))
    calm = {f.person: look for f, look in zip(faces, looks, strict=True) if f.expression == "neutral"}
    vector = {person: to_vector(model, look) for person, look in calm.items()}
    seen = [not out and face.expression != "neutral" for face, out in zip(faces, test, strict=True)]
    moved = np.stack([to_vector(model, look) for look, use in zip(looks, seen, strict=True) if use])
    whose = [face.person for face, use in zip(faces, seen, strict=True) if use]
    estimator = fit_neutral(moved, np.stack([vector[person] for person in whose]), whose)
    gallery = np.stack([to_vector(model, look) for look in looks])
    names = [face.person for face in faces]
    eigen = Eigenfaces.train(gallery)
    for kind in readings:
        rows = {name: [] for name in readings[kind]}
        for face, look, out in zip(faces, looks, test, strict=True):
            if not out or face.expression == "neutral":
                continue
            own = calm[face.person] if kind == "given" else estimator.rest(model, look)
            donors = np.stack([v for person, v in vector.items() if person != face.person])
            new = look_of(model, furthest_average(to_vector(model, own)[None], donors, K)[0])
            rest = calm[face.person]
            calm_own = rest if kind == "given" else estimator.rest(model, rest)
            for name in rows:
                steps = STEPS.get(name)
                got = transfer(look, own, new, steps) if steps else new
                still = transfer(calm[face.person], calm_own, new, steps) if steps else new
                forms = (look.form, calm[face.person].form, got.form, new.form, still.form)
                rows[name].append([measure(form, marks) for form in forms])
                near = distances(eigen.embed(to_vector(model, got)[None]), eigen.embed(gallery))
                linked[kind][name].append([rank1(near, [face.person], names)])
        for name, found_here in rows.items():
            readings[kind][name].append(tuple(np.array(found_here).transpose(1, 0, 2)))


# Speed


def speed(london):
    """CPU milliseconds of one transfer in coefficient space, neutral estimated: median, and nine in ten are below."""
    model = london["model"]
    transfer, estimator = prepare(model), load_neutral()
    new = look_of(model, model.people_statistics().mean)
    spent = []
    for look in london["smiling"] * 3:
        began = time.process_time()
        transfer(look, estimator.rest(model, look), new)
        spent.append((time.process_time() - began) * 1e3)
    return {"median": round(float(np.median(spent)), 2), "90th": round(float(np.quantile(spent, 0.9)), 2)}


# Pictures for the documentation


def plot_steps(result, path):
    """Correlations of the change for three kinds of transfer, the neutral given and estimated."""
    shown = {
        "equation 1": "#999999",
        "whole, eq. 2 as printed": "#d55e00",
        "+ light (whole)": "#0072b2",
    }
    sets = (
        ("IMM, neutral given", "imm", "given", "held out"),
        ("London, given", "london", "given", "all"),
        ("London, estimated, 20 held out", "london", "estimated", "held out"),
    )
    plot, axes = make_plot(len(sets), width=11, height=3.6)
    for one, (title, data, kind, over) in zip(axes, sets, strict=True):
        for number, (name, colour) in enumerate(shown.items()):
            values = result[data]["tables"][kind][name][over]["with neutral"]
            label = {"+ light (whole)": "ours", "whole, eq. 2 as printed": "equation 2 as printed"}.get(name, name)
            one.bar(np.arange(5) + 0.27 * (number - 1), values, 0.25, color=colour, label=label)
        one.set_xticks(range(5), [name.replace(" ", "\n") for name in MEASURES], fontsize=8)
        one.axhline(0.9, color="#888888", linestyle=(0, (4, 3)), linewidth=1)
        one.set_title(title, fontsize=10)
        one.set_ylim(0, 1.05)
    axes[0].set_ylabel("correlation of the change")
    plot.legend(*axes[0].get_legend_handles_labels(), frameon=False, fontsize=9, loc="outside lower center", ncols=3)
    path.write_bytes(draw(plot, "png"))


def paint_nobody(path):
    """One smile on five faces of nobody: all are samples of the packaged model, made to smile along its directions."""
    model, estimator = load_model(), load_neutral()
    transfer = prepare(model)
    source, *others = (look_of(model, model.to_vector(face)) for face in model.sample(5, seed=11))
    way = estimator.directions[0]
    if np.ptp(look_of(model, way * 5000).form[transfer.marks.mouth.corners, 0]) < np.ptp(
        look_of(model, -way * 5000).form[transfer.marks.mouth.corners, 0]
    ):
        way = -way
    rows = []
    for strength in (0, 5000, 10000):
        smiling = look_of(model, to_vector(model, source) + strength * way)
        faces = [smiling, estimator.rest(model, smiling), *(transfer(smiling, source, other) for other in others)]
        rows.append([paint_look(model, face, 120)[0] for face in faces])
    sheet = make_sheet(rows, ["at rest", "half", "smile"], ("original", "estimated rest", "1", "2", "3", "4"))
    path.write_bytes(encode_png(sheet))


def show(result):
    print(
        "one face, neutral estimated, whole transfer: {median} CPU ms (nine in ten under {90th})".format(**result["ms"])
    )
    for data in ("london", "imm"):
        for kind, rows in result[data]["tables"].items():
            for over in ("held out", "all"):
                if over not in next(iter(rows.values())):
                    continue
                print(f"\n{data}, neutral {kind}, {over}: change | with neutral | as is | found | leaks")
                for name, row in rows.items():
                    figures = [row[over]["change"], row[over]["with neutral"], row[over]["as is"], row.get("found", [])]
                    leaks = [row["leak, eigenfaces"], row.get("leak, deep"), row.get("leak, deep, neutral gallery")]
                    print(f"{name:24}", " | ".join(" ".join(f"{x:5.2f}" for x in part) for part in figures), "|",
                          *("  -  " if x is None else f"{x:.3f}" for x in leaks))  # fmt: skip
    print("\nmeasures:", ", ".join(MEASURES), f"; control {result['london']['control']}")


if __name__ == "__main__":
    main()
