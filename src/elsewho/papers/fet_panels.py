"""The figures of paper 004, drawn from our numbers, and what they say of the paper's claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from elsewho.expression import Look, Steps, look_of, measure
from elsewho.expression.marks import Component, Marks
from elsewho.identity.furthest import furthest_average
from elsewho.papers.figures import draw_lines, make_plot, make_sheet
from elsewho.papers.portraits import paint_look
from elsewho.papers.report import Claim, Panel, Table
from elsewho.types import Array

if TYPE_CHECKING:
    from elsewho.papers.fet import Cast

AT = 5  # k of the pictures
NEAR_ZERO = 0.05
RETRIEVED = 0.73  # the rate that the paper quotes for basic Eigenfaces
PRINTED = Steps(literal=True, closed=0.01)
NONE = Steps(scale=False, limit=False, eyes=False, mouth=False, tone=False, light=False)
SELECT, FURTHEST = "k-same-m: select", "k-same-furthest"
FET, GIVEN = "furthest-FET, neutral retrieved", "furthest-FET, neutral given"


def make_panels(fine: Cast, found: dict[str, Any]) -> list[Panel]:
    """All panels, in the paper's order; pictures are drawn by the model that keeps more."""
    panels = [
        figure_3(fine, found),
        figure_4(fine, found),
        figure_5(fine, found),
        figure_6(fine, found),
        figure_7(found),
        figure_8(found),
        intensity(found),
    ]
    if found["deep"]:
        panels.append(deep(found["deep"]))
    return panels


def new_identity(cast: Cast, person: int, neutral: int) -> Look:
    """The face that a person gets whose neutral face is taken to be that of person `neutral`."""
    own = cast.vectors["neutral"][neutral][None]
    return look_of(cast.model, furthest_average(own, cast.others(person), AT)[0])


def picture(cast: Cast, look: Look, values: Array | None = None) -> Array:
    """A painted face."""
    return paint_look(cast.model, look, 128, values=values)[0]


def figure_3(cast: Cast, found: dict[str, Any]) -> Panel:
    """A wrong neutral face."""
    wrong = [i for i, taken in enumerate(cast.taken["happy"]) if taken != i][:4] or [0]
    rows = []
    for person in wrong:
        look, right = cast.looks["happy"][person], cast.looks["neutral"][person]
        taken = int(cast.taken["happy"][person])
        false = cast.looks["neutral"][taken]
        new = new_identity(cast, person, person)
        faces = [look, right, false, new, cast.transfer(look, right, new), cast.transfer(look, false, new)]
        rows.append([picture(cast, face) for face in faces])
    spread = {}
    for name, use in (("given", lambda i: i), ("retrieved", lambda i: int(cast.taken["happy"][i]))):
        made = []
        for person, look in enumerate(cast.looks["happy"]):
            rest = cast.looks["neutral"][use(person)]
            result = cast.transfer(look, rest, new_identity(cast, person, use(person)), replace(PRINTED, limit=False))
            made.append(((result.texture / cast.model.texture.basis.sd) ** 2).mean())
        spread[name] = float(np.sqrt(np.mean(made)))
    hits = found["paper"]["retrieved right"], found["fine"]["retrieved right"]
    return Panel(
        "fig3",
        "Figure 3: a wrong neutral face of the original",
        "The neutral face is taken from a gallery by AAM-based Eigenfaces. Left to right: the original, its neutral "
        "face, the one that was taken for it, the new identity, the result with each. The paper shows one example and "
        "says that the results do not get worse.",
        sheet=make_sheet(
            rows,
            ["" for _ in rows],
            ("original", "neutral", "taken for it", "new identity", "right neutral", "wrong neutral"),
        ),
        claims=(
            Claim(
                "004-fig3-retrieval",
                "Eigenfaces name the person behind an expression in 73% (quoted from its reference 20)",
                f"{hits[0]['happy']:.0%} of happy and {hits[0]['arbitrary']:.0%} of arbitrary faces in the paper's "
                f"model, {hits[1]['happy']:.0%} and {hits[1]['arbitrary']:.0%} in the finer one",
                hits[0]["happy"] >= RETRIEVED,
                "The model and the Eigenfaces have seen all people of the gallery; what is confused are faces whose "
                "expression moves them further than people lie apart.",
                f"{hits[0]['happy'] - RETRIEVED:+.2f}",
            ),
            Claim(
                "004-fig3-quality",
                "a wrong neutral face does not degrade the result",
                f"texture coefficients of the results before the limit: {spread['retrieved']:.2f} sd from the mean "
                f"with the retrieved, {spread['given']:.2f} with the true neutral face",
                spread["retrieved"] <= 1.1 * spread["given"],
                "A wrong neutral face adds the difference of two people, which is of the size of an expression; the "
                "limit of 3 sd catches what is implausible. The expression itself is then partly that of another face.",
            ),
        ),
    )


def figure_4(cast: Cast, found: dict[str, Any]) -> Panel:
    """Two spaces, one result."""
    away = max(found[name]["steps"]["spaces differ by"] for name in ("paper", "fine"))
    limited = found["paper"]["steps"]["faces that were limited"]
    plot, axes = make_plot(2, height=4.0)
    person = 0
    look, rest = cast.looks["happy"][person], cast.looks["neutral"][person]
    new = new_identity(cast, person, person)
    outline(axes[0], new.form + look.form - rest.form, cast.transfer.marks, "in space")
    outline(axes[1], cast.transfer.form(look, rest, new, NONE), cast.transfer.marks, "of coefficients")
    return Panel(
        "fig4",
        "Figure 4: equation 1 in space and in coefficients",
        f"The landmarks of one person's happy face on the new identity. Over all {2 * found['people']} faces and both "
        "models the two results are compared point by point, before any limit.",
        plot=plot,
        claims=(
            Claim(
                "004-fig4-same",
                "identical results",
                f"largest difference {away:.1e} of the face's diagonal",
                away < 1e-6,
                f"Both are the same linear map; they part only where the limit of 3 sd holds coefficients back, which "
                f"it does on {limited:.0%} of the faces in the paper's model.",
            ),
        ),
    )


def figure_5(cast: Cast, found: dict[str, Any]) -> Panel:
    """Eyes and mouth."""
    names = ("mouth opening", "mouth width", "eye opening")
    off = found["fine"]["steps"]["off"]
    marks = cast.transfer.marks
    gaps = [measure(one.form, marks)[0] for one in cast.looks["arbitrary"]]
    person = int(np.argmax(gaps))
    look, rest = cast.looks["arbitrary"][person], cast.looks["neutral"][person]
    new = new_identity(cast, person, person)
    plot, axes = make_plot(4, width=10, height=3.4)
    ours = Steps(tone=False, light=False)
    outline(axes[0], look.form, marks, "original")
    outline(axes[1], cast.transfer.form(look, rest, new, replace(NONE, scale=True, limit=True)), marks, "equation 1")
    outline(axes[2], cast.transfer.form(look, rest, new, PRINTED), marks, "equation 2 as printed")
    outline(axes[3], cast.transfer.form(look, rest, new, ours), marks, "ours")
    better = [bool(off["with"][i] < off["without"][i]) for i in range(3)]
    said = "; ".join(
        f"{name} {off['without'][i]:.3f} without, {off['with'][i]:.3f} with" for i, name in enumerate(names)
    )
    return Panel(
        "fig5",
        "Figure 5: with and without the extra steps for eyes and mouth",
        "The face whose mouth is open widest. Ours is equation 2 on the change of each landmark, and by the width "
        "where a mouth at rest is less than a tenth of its width open.",
        plot=plot,
        tables=(
            Table(
                ("mean error against the original", *names),
                tuple((name, *(f"{one:.3f}" for one in off[name])) for name in ("without", "with")),
            ),
        ),
        claims=(
            Claim(
                "004-fig5-opening",
                "with the extra steps eyes and mouth are as open as the original's, without them they are not",
                f"mean difference to the original, in distances of the eyes: {said}",
                all(better),
                "Equation 2 keeps the ratio of opening to the opening at rest. Of an eye that is a good measure; a "
                "mouth at rest is open by a hair's breadth, found with an error as large, and the ratio multiplies it.",
            ),
        ),
    )


def figure_6(cast: Cast, found: dict[str, Any]) -> Panel:
    """Tone and light."""
    transfer = cast.transfer
    bright = [transfer.channels.moments(one.texture)[0][0] for one in cast.looks["arbitrary"]]
    calm = [transfer.channels.moments(one.texture)[0][0] for one in cast.looks["neutral"]]
    people = [int(np.argmax(np.subtract(bright, calm))), int(np.argmin(np.subtract(bright, calm)))]
    rows = []
    for person in people:
        look, rest = cast.looks["arbitrary"][person], cast.looks["neutral"][person]
        new = new_identity(cast, person, person)
        form = transfer.form(look, rest, new)
        result = Look(new.shape, new.texture, form)
        three = look.texture, rest.texture, new.texture
        stages = [replace(NONE), replace(NONE, tone=True), replace(NONE, tone=True, limit=True), Steps()]
        painted = [picture(cast, result, transfer.texture_by_histograms(*three, steps)) for steps in stages]
        rows.append([picture(cast, look), picture(cast, rest), picture(cast, new), *painted])
    off, light = found["fine"]["steps"]["tone off"], found["fine"]["steps"]["light"]
    return Panel(
        "fig6",
        "Figure 6: adjustments of the texture",
        "Two people whose arbitrary picture has other light than their neutral one. Left to right: original, its "
        "neutral, new identity; equation 1 alone, + skin tone, + limit, + light. Histograms are matched.",
        sheet=make_sheet(
            rows, ["" for _ in rows], ("original", "neutral", "new", "equation 1", "+ tone", "+ limit", "+ light")
        ),
        claims=(
            Claim(
                "004-fig6-tone",
                "without the alignment the original's skin tone goes over to the result",
                f"brightness differs from the new identity's by {off[0]:.1f} grey levels without, {off[1]:.2f} with",
                off[1] < 0.5 * off[0],
                "What equation 1 carries over is the difference between two pictures of one person, so it is their "
                "light and exposure more than skin tone; matched histograms take it out by construction.",
            ),
            Claim(
                "004-fig6-light",
                "the original's illumination is cloned",
                f"change of brightness of original and result correlate at {light:.2f}",
                light > 0.9,
                "The light that matching takes out of the original is added back at the end, unscaled.",
            ),
        ),
    )


def figure_7(found: dict[str, Any]) -> Panel:
    """Rank-1."""
    paper, fine = found["paper"]["rank1"], found["fine"]["rank1"]
    at = [int(k) for k in paper[FET]]
    chance = 1 / found["people"]
    plot, axes = make_plot(2, width=10, height=4.2)
    for one, rates, title in zip(axes, (paper, fine), ("75% / 90% of the variance, as printed", "98%"), strict=True):
        lines = {name: list(values.values()) for name, values in rates.items()}
        draw_lines(one, at, lines, across="k", up="rank-1", theory={"1/k": [1 / k for k in at]})
        one.set_title(title, fontsize=10)
        one.set_ylim(-0.03, 0.9)
    top = {name: max(values.values()) for name, values in paper.items()}
    calm = found["paper"]["neutral gallery rank1"]
    happy = max(found["paper"]["happy rank1"][FET].values())
    over = max(paper[SELECT][str(k)] - 1 / k for k in at)
    return Panel(
        "fig7",
        "Figure 7: recognition of originals and de-identified faces",
        "Eigenfaces of coefficients, trained on 70% of the people; the gallery holds all original pictures, probes are "
        "the released happy and arbitrary faces; originals are compared with all pictures but their own. Right: the "
        "same in a model that keeps more.",
        plot=plot,
        tables=(
            Table(
                ("paper's model", *(f"k={k}" for k in at)),
                tuple((name, *(f"{v:.3f}" for v in values.values())) for name, values in paper.items()),
            ),
            Table(
                ("finer model", *(f"k={k}" for k in at)),
                tuple((name, *(f"{v:.3f}" for v in values.values())) for name, values in fine.items()),
            ),
        ),
        claims=(
            Claim(
                "004-fig7-select",
                "k-Same-M-Select stays slightly below 1/k",
                f"at most {over:+.3f} against 1/k",
                over <= 0.01,
                "The mean of k faces is nearest to at most one of them; it is sometimes nearest to a face outside.",
            ),
            Claim(
                "004-fig7-furthest",
                "k-Same-furthest: 0 at every k",
                f"at most {top[FURTHEST]:.3f}",
                top[FURTHEST] == 0,
                "The mean of the furthest is far from the person's neutral face; the theorem does not speak of other "
                "pictures of the person, and at a few k one of them is nearest.",
            ),
            Claim(
                "004-fig7-fet",
                "k-Same-furthest-FET: nearly zero at every k",
                f"at most {top[FET]:.3f} (happy faces alone {happy:.3f}), neutral given {top[GIVEN]:.3f}, chance "
                f"{chance:.3f}; in the finer model {max(fine[FET].values()):.3f} and {max(fine[GIVEN].values()):.3f}",
                top[FET] <= NEAR_ZERO,
                "The gallery holds the very picture whose difference from neutral was added, and that difference is "
                "large where the head turns or the light changes, as in the arbitrary pictures: with neutral pictures "
                f"as the gallery the most is {max(calm[FET].values()):.3f} (given: {max(calm[GIVEN].values()):.3f}).",
            ),
        ),
    )


def figure_8(found: dict[str, Any]) -> Panel:
    """The class of the expression."""
    rates = found["paper"]["accuracy"]
    at = [int(k) for k in rates[FET]]
    plot, axes = make_plot(2, width=10)
    shown = (SELECT, FET, GIVEN)
    for one, name, title in zip(axes, ("paper", "fine"), ("75% / 90% of the variance", "98%"), strict=True):
        lines = {line: list(found[name]["accuracy"][line].values()) for line in shown}
        draw_lines(one, at, lines, across="k", up="happy faces classified as happy")
        one.set_title(title, fontsize=10)
    mean = {line: float(np.mean(list(rates[line].values()))) for line in shown}
    unseen = {line: float(np.mean(list(found["paper"]["unseen accuracy"][line].values()))) for line in shown}
    plain = found["paper"]["happy original accuracy, unseen"]
    return Panel(
        "fig8",
        "Figure 8: accuracy of a classifier of expressions",
        "Linear discriminants learned from the original neutral and happy faces of 70% of the people; tested on the "
        "released happy faces of everybody.",
        plot=plot,
        tables=(
            Table(
                ("released happy faces", "everybody", "people not learned from"),
                tuple((line, f"{mean[line]:.3f}", f"{unseen[line]:.3f}") for line in shown),
            ),
        ),
        claims=(
            Claim(
                "004-fig8-fet-above-select",
                "FET's accuracy lies above Select's at every k",
                f"FET {mean[FET]:.3f}, Select {mean[SELECT]:.3f}, mean over k; originals of unseen people {plain:.3f}",
                all(rates[FET][str(k)] > rates[SELECT][str(k)] for k in at),
                "The mean of k happy faces is an average smile, which lies well on the happy side of the line: as a "
                "class, Select keeps happiness by construction. FET gives each face its own smile, faint ones too.",
                f"{mean[FET] - mean[SELECT]:+.3f}",
            ),
        ),
    )


def intensity(found: dict[str, Any]) -> Panel:
    """How much of the own smile is left: not in the paper."""
    rates, fine = found["paper"]["intensity"], found["fine"]["intensity"]
    at = [int(k) for k in rates[FET]]
    plot, axes = make_plot(2, width=10)
    shown = (SELECT, FURTHEST, FET, GIVEN)
    for one, table, title in zip(axes, (rates, fine), ("75% / 90% of the variance", "98%"), strict=True):
        draw_lines(
            one, at, {line: list(table[line].values()) for line in shown}, across="k", up="correlation with own smile"
        )
        one.set_title(title, fontsize=10)
    ours = found["changes only"]["intensity"][GIVEN][str(AT)]
    over = [k for k in at if rates[FET][str(k)] > rates[SELECT][str(k)]]
    return Panel(
        "intensity",
        "Ours: the intensity of the smile",
        "Opening and width of the mouth and lift of its corners in released happy faces, against what the originals "
        "have beyond their neutral faces: mean of the three correlations over people.",
        plot=plot,
        claims=(
            Claim(
                "004-details-kept",
                "not only the class but the details and intensity of an expression are kept",
                f"correlation at k = 5: FET {rates[FET]['5']:.2f}, neutral given {rates[GIVEN]['5']:.2f}, Select "
                f"{rates[SELECT]['5']:.2f}; with a finer model {fine[GIVEN]['5']:.2f}, and {ours:.2f} by our steps",
                len(over) == len(at),
                "Select gives people of a cluster one smile, and the larger the cluster, the nearer to the average; "
                f"FET is above it at k = {', '.join(str(k) for k in over) or 'none'}.",
            ),
        ),
    )


def deep(attacked: dict[str, Any]) -> Panel:
    """A deep recogniser on painted faces."""
    rates = attacked["rank1"]
    return Panel(
        "beyond-deep",
        f"Beyond paper 004: a deep recogniser on {attacked['of']}'s {attacked['people']} people",
        "Smiling faces painted alone by the packaged model, against a real neutral photo of each person; the neutral "
        "face is estimated from the smiling one. Most of these people are among those the model learned from.",
        tables=(
            Table(
                ("released", f"rank-1 (chance {attacked['chance']:.3f})"),
                tuple((name, f"{value:.3f}") for name, value in rates.items()),
            ),
        ),
        claims=(
            Claim(
                "004-deep-fet",
                "expression transfer has hardly any impact on privacy",
                f"rank-1 {rates['furthest-FET']:.3f} with, {rates['k-same-furthest']:.3f} without transfer; painted "
                f"originals {rates['painted, no method']:.3f}",
                rates["furthest-FET"] <= rates["k-same-furthest"] + 0.02,
                "The recogniser knows the painted originals, so it could know these; the difference that is added is "
                "a prediction along few directions and tells little of the person.",
            ),
        ),
    )


def outline(axes: Axes, form: Array, marks: Marks, title: str) -> None:
    """The landmarks of a face (L, 2) as lines."""
    curves = [*marks.brows, *(lids(eye) for eye in marks.eyes), *lips(marks.mouth), np.arange(13)]
    for curve in curves:
        axes.plot(*form[curve, :2].T, color="#0072b2", linewidth=1.4)
    axes.set_title(title, fontsize=10)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.axis("off")


def lids(eye: Component) -> Array:
    """The loop of an eye."""
    return loop(eye.corners, eye.pairs[:, 0], eye.pairs[:, 1])


def lips(mouth: Component) -> list[Array]:
    """The loops of the outer and the inner lips."""
    upper, lower = mouth.pairs.T
    inner = np.concatenate([upper, lower[::-1], upper[:1]])
    (top, _), (bottom, _) = mouth.rims
    return [np.concatenate([mouth.corners[:1], top, mouth.corners[1:], bottom, mouth.corners[:1]]), inner]


def loop(corners: Array, upper: Sequence[int] | Array, lower: Sequence[int] | Array) -> Array:
    """From the left corner over the upper points to the right one, and back."""
    return np.concatenate([corners[:1], upper, corners[1:], np.asarray(lower)[::-1], corners[:1]])
