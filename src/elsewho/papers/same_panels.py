"""The figures and theorems of paper 003, drawn from our numbers, and what they say of the paper's claims."""

from __future__ import annotations

from typing import Any

import numpy as np

from elsewho.papers.figures import draw_lines, make_plot, make_sheet
from elsewho.papers.report import Claim, Panel, Table
from elsewho.proof.recognisers import mean_interval

NEARLY = 0.1  # of the originals' mean distance: faces that differ by less are nearly identical
SLIGHTLY = 0.01  # above zero


def make_panels(splits: list[dict[str, Any]], pictures: dict[str, Any]) -> list[Panel]:
    """All panels, in the paper's order."""
    return [
        figure_1(splits),
        theorems(splits),
        figure_6(splits),
        figure_7(pictures),
        figure_8(pictures),
        beyond(splits),
    ]


def over(splits: list[dict[str, Any]], recogniser: str, method: str) -> dict[int, float]:
    """Rank-1 by k, mean over splits."""
    every = splits[0]["rates"][recogniser][method]
    return {int(k): float(np.mean([one["rates"][recogniser][method][k] for one in splits])) for k in every}


def reach(splits: list[dict[str, Any]], recogniser: str, method: str) -> list[float]:
    """Half the 95% interval over splits, by k; 0 from one split."""
    every = splits[0]["rates"][recogniser][method]
    found = [mean_interval([one["rates"][recogniser][method][k] for one in splits]) for k in every]
    return [one.high - one.value if np.isfinite(one.high) else 0.0 for one in found]


def by_k(splits: list[dict[str, Any]], name: str) -> dict[int, float]:
    """A figure that each split has by k, mean over splits."""
    return {int(k): float(np.mean([one[name][k] for one in splits])) for k in splits[0][name]}


def figure_1(splits: list[dict[str, Any]]) -> Panel:
    """Lucky escapes of k-Same-M."""
    escapes, rates = by_k(splits, "escapes"), over(splits, "AAM", "k-same-m")
    rows = tuple((str(k), f"{1 / k:.3f}", f"{rates[k]:.3f}", f"{escapes[k]:.3f}") for k in escapes)
    most = max(escapes.values())
    return Panel(
        "fig1",
        "Figure 1: lucky escapes of k-Same-closest",
        "An escape: the original nearest to a cluster's centre belongs to another cluster. Counted for k-Same-M within "
        "each expression; share of faces.",
        tables=(Table(("k", "1/k", "k-Same-M recognised (all expressions in the gallery)", "escapes"), rows),),
        claims=(
            Claim(
                "003-fig1-escapes",
                "overlapping clusters give k-Same-closest lucky escapes",
                f"{min(escapes.values()):.1%} to {most:.1%} of faces escape, by k",
                most > 0,
                "Clusters formed late reach around earlier ones, so their centre can fall next to somebody else's "
                "face.",
            ),
        ),
    )


def theorems(splits: list[dict[str, Any]]) -> Panel:
    """Theorems 1 to 3, on every run."""
    releases = len(splits) * 3 * len(splits[0]["escapes"])
    broken = sum(one["theorem 1"] for one in splits)
    two = {name: sum(one["theorem 2"][name] for one in splits) for name in ("checked", "broken")}
    three = {name: sum(one[name] for one in splits) for name in ("theorem 3", "checked", "exceptions")}
    cores = by_k(splits, "core of one")
    return Panel(
        "theorems",
        "Theorems 1 to 3, on every run",
        "Checked for every split, k and expression, with one picture of each person, as the proofs need.",
        tables=(
            Table(
                ("theorem", "checked", "violations"),
                (
                    ("1: each released face k times", f"{releases:,} releases", str(broken)),
                    (
                        "2: no other face nearer than the one that joined",
                        f"{two['checked']:,} faces",
                        str(two["broken"]),
                    ),
                    (
                        "3: no face recognised by the same distance",
                        f"{three['checked']:,} faces",
                        str(three["theorem 3"]),
                    ),
                ),
            ),
        ),
        claims=(
            Claim(
                "003-theorem-1",
                "every released face at least k times (k-anonymity)",
                f"{broken} of {releases:,} releases break it",
                broken == 0,
                "Recomputed from the arrays alone by elsewho.identity.verify. At k=2 "
                f"{cores[2]:.0%} of releases have a centre that is one person's real face, which the theorem allows.",
            ),
            Claim(
                "003-theorem-2",
                "no face outside a cluster is nearer to its new centre than the face that joined last",
                f"{two['broken']} of {two['checked']:,} faces",
                two["broken"] == 0,
                "The new centre lies between the old one and the joined face: geometry, in any space.",
            ),
            Claim(
                "003-theorem-3",
                "no face is matched to its own original by the same distance",
                f"{three['theorem 3']} of {three['checked']:,} faces ({three['exceptions']} exceptions)",
                three["theorem 3"] == 0,
                "Clusters do not overlap, so some member of the other cluster is always nearer.",
            ),
        ),
    )


def figure_6(splits: list[dict[str, Any]]) -> Panel:
    """Recognition against k, by both recognisers."""
    names = {
        f"{method}: {recogniser}": (recogniser, method)
        for method in ("k-same-m", "k-same-furthest")
        for recogniser in ("AAM", "PCA", "PCA, shape-free")
    }
    lines = {name: over(splits, *pair) for name, pair in names.items()}
    ks = list(lines["k-same-m: AAM"])
    original = {name: float(np.mean([one["originals"][name] for one in splits])) for name in ("AAM", "PCA")}
    inside = {name: float(np.mean([one["originals in gallery"][name] for one in splits])) for name in ("AAM", "PCA")}
    plot, (axes,) = make_plot(width=8.4, height=4.6)
    draw_lines(
        axes,
        ks,
        {name: list(values.values()) for name, values in lines.items()}
        | {f"originals: {name}": [original[name]] * len(ks) for name in original},
        across="k",
        up="rank-1",
        theory={"1/k": [1 / k for k in ks]},
        spread={name: reach(splits, *pair) for name, pair in names.items()},
    )
    axes.set_ylim(-0.02, 1.05 * max(0.52, *original.values()))
    rows = tuple(
        (
            str(k),
            f"{1 / k:.3f}",
            f"{1 / k - 0.03:.3f} to {1 / k - 0.02:.3f}",
            *(f"{lines[name][k]:.4f}" for name in names),
        )
        for k in ks
    )
    gap = {k: 1 / k - lines["k-same-m: AAM"][k] for k in ks}
    escapes = by_k(splits, "escapes")
    zero = max(lines["k-same-furthest: AAM"].values())
    pixel = max(*lines["k-same-furthest: PCA"].values(), *lines["k-same-furthest: PCA, shape-free"].values())
    least = min(lines["k-same-m: PCA"].values())
    lower = float(np.mean([lines["k-same-m: AAM"][k] - lines["k-same-m: PCA"][k] for k in ks]))
    unseen = {
        k: float(np.mean([one["unseen"]["k-same-furthest"][k] for one in splits]))
        for k in splits[0]["unseen"]["k-same-furthest"]
    }
    unseen_m = {
        k: float(np.mean([one["unseen"]["k-same-m"][k] for one in splits])) for k in splits[0]["unseen"]["k-same-m"]
    }
    tables = [Table(("k", "1/k", "M in the paper (AAM)", *names), rows)]
    if unseen:
        tables.append(
            Table(
                ("k, only people the model has not seen", "k-same-m: AAM", "k-same-furthest: AAM"),
                tuple((k, f"{unseen_m[k]:.3f}", f"{unseen[k]:.4f}") for k in unseen),
            )
        )
    flat = float(np.mean([lines["k-same-m: AAM"][k] - lines["k-same-m: PCA, shape-free"][k] for k in ks]))
    middle = float(np.mean(list(gap.values())))
    return Panel(
        "fig6",
        "Figure 6: recognition rates against k",
        f"Mean over {len(splits)} splits and three expressions, 95% intervals over splits; gallery: all originals of "
        f"all expressions. Originals with the probe itself left out of the gallery ({inside['AAM']:.3f} with it).",
        plot=plot,
        tables=tuple(tables),
        claims=(
            Claim(
                "003-fig6-furthest-zero",
                "k-Same-furthest with the same distance: always zero",
                f"at most {zero:.4f}",
                zero == 0,
                "Theorem 3 covers the pictures of the same expression "
                f"({sum(one['theorem 3'] for one in splits)} of {sum(one['checked'] for one in splits):,} recognised). "
                "The gallery's other expressions took no part in the clustering: that none of them is nearest is "
                "measured, not proven.",
                f"{zero:+.4f}",
            ),
            Claim(
                "003-fig6-furthest-pca",
                "k-Same-furthest with PCA: slightly above zero, far below k-Same-M",
                f"at most {pixel:.4f}; k-Same-M at least {least:.3f}; see the table for crops brought to the mean "
                "shape",
                pixel <= SLIGHTLY and pixel < least,
                "Pixels of the painted face measure nearly what the model's texture does, so the theorem nearly holds.",
            ),
            Claim(
                "003-fig6-same-m-gap",
                "k-Same-M with AAM: about 2 to 3% below 1/k",
                f"{min(gap.values()):.1%} to {max(gap.values()):.1%} below, {middle:.1%} on average",
                0.01 <= middle <= 0.05 and min(gap.values()) > 0,
                f"Escapes of figure 1 account for it: {escapes[5]:.1%} of faces at k=5, which lowers 1/k by "
                f"{escapes[5] / 5:.1%}; and {int(1000 * gap[5]) / 10}% is the whole gap there. The rest: a last "
                "cluster "
                "of more than k, and faces of other expressions in the gallery.",
                f"{middle - 0.025:+.1%}",
            ),
            Claim(
                "003-fig6-pca-lower",
                "k-Same-M is recognised less by PCA than by AAM",
                f"{lower:.1%} less on average over k (as cropped), {flat:.1%} less (brought to the mean shape)",
                min(lower, flat) > 0,
                "A released face is painted by the model, the gallery is photographs: pixels hold what the model "
                "leaves out. "
                "Crops that keep the outline also measure the averaged shape, at every edge.",
            ),
        ),
    )  # fmt: skip


def figure_7(pictures: dict[str, Any]) -> Panel:
    """One person, expression kept, by k."""
    moved = pictures["within"]["from the least k"]
    away = pictures["within"]["from the original"]
    near = max(pictures["within"]["nearer than the mean pair"].values())
    kept = min(one["within"] for one in pictures["kind kept"].values() if one["within"] is not None)
    furthest = max(moved.values())
    return Panel(
        "fig7",
        "Figure 7: released faces by k, expression kept by clustering within each",
        f"Person {pictures['person']}, who triggers first. The paper: nearly identical over k; the expression stays; "
        "significantly different from the original. Measured over all people, each first in turn.",
        sheet=make_sheet(
            pictures["sheets"]["within"], ("neutral", "happy", "arbitrary"), ("original", *(f"k={k}" for k in moved))
        ),
        tables=(
            Table(
                ("k", "distance from k=2's face", "from the original", "expression told by LDA"),
                tuple(
                    (k, f"{moved[k]:.2f}", f"{away[k]:.2f}", f"{pictures['kind kept'][k]['within']:.2f}") for k in moved
                ),
            ),
        ),
        claims=(
            Claim(
                "003-fig7-same-over-k",
                "nearly identical faces over k",
                f"the face at k=10 lies {furthest:.2f} of two people's mean distance from that at k=2 (limit {NEARLY})",
                furthest <= NEARLY,
                "The furthest face is the same at every k. What changes is how many of its nearest the overlap "
                "test lets "
                "into the centre: the step from a core of one or two to a few, then none.",
            ),
            Claim(
                "003-fig7-expression",
                "the expression is preserved",
                f"an LDA of expressions trained on the originals finds the right one for at least {kept:.0%}",
                kept >= 0.8,
                "A mean of faces of one expression shows it. It is the class that stays, not the person's own "
                "intensity.",
            ),
            Claim(
                "003-fig7-different",
                "significantly different from the originals",
                f"{min(away.values()):.2f} times the mean distance of two faces away; {near:.1%} nearer than it",
                min(away.values()) > 1,
                "The cluster around the furthest face is exchanged with the person's own.",
            ),
        ),
    )  # fmt: skip


def figure_8(pictures: dict[str, Any]) -> Panel:
    """One person among all expressions, by k."""
    out, kinds = pictures["extreme"], pictures["kind kept"]
    half = pictures["to the half's mean"]
    ks = list(out)
    least, most = ks[0], ks[-1]
    kept = kinds[least]["without"]
    return Panel(
        "fig8",
        "Figure 8: the same with no regard to expression",
        "Clusters among all pictures of all expressions, each its own person. The paper: for small k an extreme of the "
        "gallery; for large k the average of the half of the gallery further from the original.",
        sheet=make_sheet(
            pictures["sheets"]["without"], ("neutral", "happy", "arbitrary"), ("original", *(f"k={k}" for k in ks))
        ),
        tables=(
            Table(
                ("k", "distance from the mean of all", "from the mean of the further half", "expression as before"),
                tuple((k, f"{out[k]:.2f}", f"{half[k]:.2f}", f"{kinds[k]['without']:.2f}") for k in ks),
            ),
        ),
        claims=(
            Claim(
                "003-fig8-extreme",
                "for small k an extreme of the gallery",
                f"at k={least} {out[least]:.2f} from the mean of all, originals {pictures['original extreme']:.2f}; "
                f"the expression stays for {kept:.0%}",
                out[least] > pictures["original extreme"],
                "The furthest face from anybody lies at the rim of the gallery, whatever its expression.",
            ),
            Claim(
                "003-fig8-average",
                "for large k the average of the half of the gallery that is further",
                f"from k={least} to k={most} the distance to that average goes from {half[least]:.2f} to "
                f"{half[most]:.2f}",
                half[most] < 0.25,
                "The centre counts only the core, which the overlap test stops long before k: the rest of the "
                "cluster is "
                "given the face without a say in it. The printed pseudo-code cannot converge to that average.",
            ),
        ),
    )  # fmt: skip


def beyond(splits: list[dict[str, Any]]) -> Panel:
    """Other recognisers, other attackers, and our method."""
    methods, known = ("k-same-m", "k-same-furthest", "k-diff-drawn"), ("AAM", "PCA", "AAM whitened", "LDA")
    ks = (2, 5, 10)
    rows = tuple(
        (f"{method}, k={k}", *(f"{over(splits, name, method)[k]:.3f}" for name in known))
        for method in methods
        for k in ks
    )
    furthest = by_k(splits, "furthest match")
    people, chance = 1 / furthest[5], 1 / splits[0]["people"]
    plot, (axes,) = make_plot()
    lines = {f"{method}: AAM whitened": list(over(splits, "AAM whitened", method).values()) for method in methods}
    lines["k-same-furthest: the furthest match"] = list(furthest.values())
    draw_lines(axes, list(furthest), lines, across="k", up="rank-1", theory={"1/k": [1 / k for k in furthest]})
    return Panel(
        "beyond-vectors",
        "Beyond the paper: other recognisers on the same faces",
        "Whitened: each coefficient in units of its spread. LDA: Fisherfaces of the training people. Furthest "
        "match: the "
        "attacker names the person whose picture is furthest from the released face; one picture a person.",
        plot=plot,
        tables=(Table(("released", *known), rows),),
        claims=(
            Claim(
                "003-perfect-privacy",
                "perfect privacy protection regardless of k",
                f"a furthest-match attacker is right for {furthest[2]:.1%} at k=2, {furthest[5]:.1%} at k=5 "
                f"and {furthest[10]:.1%} at k=10 (chance {chance:.1%})",
                max(furthest.values()) <= 1.5 * chance,
                "A face that is never nearest tells something by being far: who knows the method looks there, about "
                f"1 in {people:.0f} at k=5. The proven bound is 1/k, not 0.",
            ),
        ),
    )  # fmt: skip
