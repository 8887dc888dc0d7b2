"""The ranking, figure 1 and table 1 of paper 002, drawn from our numbers, and what they say of its claims."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from elsewho.identity import Ranking
from elsewho.papers.figures import draw_lines, make_plot, make_sheet
from elsewho.papers.report import Claim, Panel, Table

PRINTED = (
    7, 6, 2, 11, 4, 3, 8, 9, 10, 13, 1, 5, 12, 16, 14, 18, 19, 20, 15, 27, 17, 25, 26, 30, 21, 24, 22, 28, 23, 29,
)  # fmt: skip
DIAGONAL = 0.02  # of .5: an area this near is the diagonal's


def make_panels(
    found: dict[str, Any], ranking: Ranking, pictures: dict[str, Any], everybody: int, k: int
) -> list[Panel]:
    """All panels, in the paper's order."""
    return [
        rank_panel(ranking),
        figure_1(found, everybody, k),
        table_1(found[str(everybody)], pictures),
        beyond(found[str(everybody)], everybody),
    ]


def rank_panel(ranking: Ranking) -> Panel:
    """The sensitivity ranking beside the paper's."""
    ours = [int(one) + 1 for one in ranking.order]
    count = len(ours)
    plot, (axes,) = make_plot(height=3.8)
    axes.plot(range(1, count + 1), PRINTED[:count], "o", color="#888888", label="paper (JAFFE)", markersize=5)
    axes.plot(range(1, count + 1), ours, "o", color="#0072b2", label="here", markersize=5, fillstyle="none")
    axes.set_xlabel("rank by identity sensitivity")
    axes.set_ylabel("parameter (1: most variance)")
    axes.legend(frameon=False, fontsize=8)
    paper = float(spearmanr(range(count), PRINTED[:count]).statistic)
    here = float(spearmanr(range(count), ours).statistic)
    first = {"paper": sum(one <= 10 for one in PRINTED[:10]), "here": sum(one <= 10 for one in ours[:10])}
    moved = ours[:3]
    return Panel(
        "ranking",
        "The sensitivity ranking",
        "Stepwise LDA, F of the change in Wilks' lambda, by SPSS's rules. The paper prints its ranking of 30 "
        "parameters.",
        plot=plot,
        tables=(
            Table(
                ("ranking", "parameters, the most sensitive first"),
                (("paper", " ".join(map(str, PRINTED))), ("here", " ".join(map(str, ours)))),
            ),
        ),
        claims=(
            Claim(
                "002-ranking",
                f"identity sensitivity is not the order of variance (A7 first), but follows it: Spearman {paper:.2f}",
                f"A{moved[0]}, A{moved[1]}, A{moved[2]} first; Spearman {here:.2f}",
                here > 0.3 and ours[0] != 1,
                f"{first['here']} of the first ten ranks go to the ten parameters of most variance "
                f"({first['paper']} in the "
                "paper). What moves faces most here (turning heads, side light) does not tell people apart; what "
                "varies "
                "little cannot either.",
                f"{here - paper:+.2f}",
            ),
        ),
    )


def figure_1(found: dict[str, Any], everybody: int, k: int) -> Panel:
    """Seven ROC curves, for everybody in one cluster and for clusters of k."""
    plot, axes = make_plot(2 if str(k) in found and k != everybody else 1, width=9.0, height=4.4)
    shades = ["#08306b", "#08519c", "#2171b5", "#4292c6", "#fd8d3c", "#e6550d", "#a63603"]
    for one, (size, stages) in zip(axes, found.items(), strict=True):
        at = np.linspace(0, 1, len(stages["0"]["curve"]))
        for colour, (m, row) in zip(shades, stages.items(), strict=True):
            one.plot(at, row["curve"], color=colour, linewidth=1.6, label=f"m={m}: {row['paper']:.3f}")
        one.plot([0, 1], [0, 1], color="#888888", linestyle=(0, (4, 3)), linewidth=1)
        one.set_title(f"k = {size}" + (" (everybody)" if size == str(everybody) else ""), fontsize=10)
        one.set_xlabel("false accept rate")
        one.set_ylabel("true accept rate")
        one.legend(frameon=False, fontsize=8, title="area", title_fontsize=8)
    own = found[str(everybody)]
    areas = [own[m]["paper"] for m in own]
    falls = all(a >= b - 0.005 for a, b in pairwise(areas))
    rows = [
        (f"k={size}, {what}", *(f"{row[what]:.3f}" for row in stages.values()))
        for size, stages in found.items()
        for what in ("paper", "held out", "retrained", "kept")
    ]
    claims = [
        Claim(
            "002-fig1-falls",
            "the curve approaches the diagonal as m grows from 0 to 30",
            f"area {', '.join(f'{one:.3f}' for one in areas)}",
            falls,
            "Each further feature averaged takes away what the recogniser learned to weigh; the most telling go first.",
        ),
        Claim(
            "002-fig1-diagonal",
            "at m = 30 the curve is the diagonal (.5)",
            f"{areas[-1]:.3f} with k = {everybody} (everybody)",
            abs(areas[-1] - 0.5) <= DIAGONAL,
            "With everybody in one cluster and every feature averaged all released faces are equal. The paper's k "
            "= 10 is "
            "all of its 10 people.",
            f"{areas[-1] - 0.5:+.3f}",
        ),
    ]
    if k != everybody:
        other = found[str(k)]["30"]["paper"]
        claims.append(
            Claim(
                "002-fig1-k10",
                "k-anonymity with k = 10 brings the curve to the diagonal",
                f"{other:.3f} with clusters of {k} among {everybody} people",
                abs(other - 0.5) <= DIAGONAL,
                f"Clusters hold alike people, so a released face stays near its cluster: it says who, up to {k}. "
                "1-in-k "
                "linking is bounded; the area under a curve over all pairs is not.",
                f"{other - 0.5:+.3f}",
            )
        )
    return Panel(
        "fig1",
        "Figure 1: seven ROC curves of an LDA",
        "m features replaced by the mean over k people. 'paper': the LDA learned from all originals. 'held out': "
        "it has "
        "not seen that kind of picture. 'retrained': it learned from released pictures. 'kept': the share of the "
        "variance "
        "within people (expression, light, turn) that the release keeps.",
        plot=plot,
        tables=(Table(("m", *(str(m) for m in own)), tuple(rows)),),
        claims=tuple(claims),
    )


def table_1(own: dict[str, Any], pictures: dict[str, Any]) -> Panel:
    """One person's pictures at seven stages."""
    apart = pictures["apart"]
    fall = [apart[m] / apart["0"] for m in apart]
    kept = [own[m]["kept"] for m in own]
    half = next((m for m in own if own[m]["paper"] <= 0.75), "30")
    heads = [str(kind) for kind in pictures["kinds"]]
    return Panel(
        "table1",
        f"Table 1: person {pictures['person']} at seven stages",
        "The person's own pictures, then m = 0 to 30 features averaged over everybody. The paper lets the reader "
        "judge; "
        "measured: how far the mean faces of two people lie apart, and what is kept within people.",
        sheet=make_sheet(pictures["sheet"], ("photo", *(f"m = {m}" for m in apart)), heads),
        tables=(
            Table(
                ("m", *apart),
                (
                    ("distance between people, of m=0", *(f"{one:.2f}" for one in fall)),
                    ("kept within people", *(f"{one:.2f}" for one in kept)),
                ),
            ),
        ),
        claims=(
            Claim(
                "002-table1-people",
                "with m it becomes more difficult to distinguish different subjects",
                f"mean faces of two people {', '.join(f'{one:.2f}' for one in fall)} as far apart",
                all(a >= b - 1e-9 for a, b in pairwise(fall)) and fall[-1] < 0.01,
                "Averaged features are the same in everybody; the distance that is left lies in those kept.",
            ),
            Claim(
                "002-table1-utility",
                "anonymity with high utility of the remaining features",
                f"where the area first falls to .75 (m = {half}), {own[half]['kept']:.0%} of the variance within "
                "people is "
                "kept",
                own[half]["kept"] > 0.5,
                f"The features that tell people apart also carry expression and light: the first five hold "
                f"{1 - kept[1]:.0%} of the variance within people, the first fifteen {1 - kept[3]:.0%}.",
            ),
        ),
    )


def beyond(own: dict[str, Any], everybody: int) -> Panel:
    """An attacker who learns from what was released."""
    ms = [int(m) for m in own]
    plot, (axes,) = make_plot()
    lines = {
        "LDA of originals (paper)": [own[str(m)]["paper"] for m in ms],
        "LDA of other kinds of picture": [own[str(m)]["held out"] for m in ms],
        "LDA of released pictures": [own[str(m)]["retrained"] for m in ms],
        "kept within people": [own[str(m)]["kept"] for m in ms],
    }
    draw_lines(
        axes, ms, lines, across="m", up="area under the ROC curve; share kept", theory={"diagonal": [0.5] * len(ms)}
    )
    late = own["25"]["retrained"]
    return Panel(
        "beyond-retrained",
        "Beyond the paper: an attacker who learns from released pictures",
        f"With k = {everybody}. Whoever has released pictures of people whose names are known learns what is left.",
        plot=plot,
        claims=(
            Claim(
                "002-identity-subspace",
                "identity lies in the sensitive features: averaged, the discriminating power diminishes",
                f"at m = 25 an LDA of originals has {own['25']['paper']:.3f}, one of released pictures {late:.3f}",
                late <= 0.6,
                "The ranking finds the features that suffice, not all that tell: the five of least sensitivity "
                "are real "
                "features of the person still, and an LDA that has nothing else learns them.",
                f"{late - own['25']['paper']:+.3f}",
            ),
        ),
    )
