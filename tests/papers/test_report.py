"""Reports hold what was found, the same bytes each time, and nothing that JSON does not know."""

import json

import numpy as np
import pytest

from elsewho.errors import BadInput
from elsewho.papers.figures import draw_lines, make_plot, make_sheet
from elsewho.papers.report import Claim, Panel, Reproduction, Table, plain, write_reproduction
from elsewho.papers.vectors import Spread, chance_hits, copied, recognised


def found(**changes):
    plot, (axes,) = make_plot()
    draw_lines(axes, [1, 2], {"k-same-m": [0.5, 0.2]}, across="k", up="rank-1", theory={"1/k": [1, 0.5]})
    sheet = make_sheet([[np.zeros((20, 20, 3), np.uint8), None]], ["row"], ["one", "two"])
    claim = Claim("p-1", "paper <says>", "ours", True, "because", "+1")
    panels = (
        Panel("fig1", "Figure 1", "about", plot=plot, tables=(Table(("a", "b"), (("1", "2"),)),), claims=(claim,)),
        Panel("fig2", "Figure 2", "people", sheet=sheet),
    )
    whole = {"paper": "x", "number": "001", "title": "t", "citation": "c", "summary": "s", "settings": {"seed": 0}}
    return Reproduction(**(whole | {"panels": panels} | changes))


def test_a_report_is_written_whole_and_twice_the_same(tmp_path):
    for name in ("a", "b"):
        write_reproduction(found(), tmp_path / name)

    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["fig1.png", "fig1.svg", "fig2.png", "index.html", "report.json"]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


def test_the_page_escapes_and_says_that_pictures_are_private(tmp_path):
    write_reproduction(found(), tmp_path)
    page = (tmp_path / "index.html").read_text()

    assert "paper &lt;says&gt;" in page
    assert "Keep it to yourself" in page
    report = json.loads((tmp_path / "report.json").read_text())
    assert [one["private"] for one in report["figures"]] == [False, True]


def test_claims_need_ids_of_their_own(tmp_path):
    claim = Claim("p-1", "", "", True, "")
    with pytest.raises(BadInput, match="p-1 occur twice"):
        write_reproduction(found(panels=(Panel("f", "", "", claims=(claim, claim)),)), tmp_path)


def test_numbers_become_what_json_knows():
    assert plain({1: np.float64(np.nan), "b": np.array([1.23456789]), "c": np.bool_(True), "d": np.int64(3)}) == {
        "1": None,
        "b": [1.23457],
        "c": True,
        "d": 3,
    }


def test_recognition_is_strict_and_a_tie_is_shared_by_chance():
    faces = np.array([[0.0], [2.0]])
    middle = np.ones((2, 1))

    assert not recognised(middle, faces).any()
    assert chance_hits(-np.abs(middle - faces.T)) == 0.5
    assert recognised(faces, faces).all()
    assert copied(np.array([[2.0], [1.0]]), faces).tolist() == [True, False]


def test_spread_leaves_zeros_out_of_the_deviation_alone():
    faces = np.array([[0.0], [0.0], [3.0], [7.0]])
    every, apart = Spread.of(faces), Spread.of(faces, zeros=False)

    assert (every.least, every.most, every.mean) == (apart.least, apart.most, apart.mean) == (0, 7, 4)
    assert np.isclose(apart.sd, np.std([3, 3, 7, 7, 4], ddof=1))
