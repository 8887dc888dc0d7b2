import shutil
from pathlib import Path

import numpy as np
import pytest
from forms import build
from numpy.testing import assert_allclose

from elsewho.errors import BadAnnotation, TooFewPeople
from elsewho.expression.marks import IMM58, IMM64, MESH468
from elsewho.expression.measure import opening_of
from elsewho.expression.shape import level
from elsewho.papers import fet
from elsewho.papers.inner_lips import add_inner_lips
from elsewho.papers.registry import PAPERS, Job

IMM = Path(__file__).parents[2] / ".." / "shared" / "data" / "imm"


@pytest.fixture
def imm():
    if not IMM.is_dir():
        pytest.skip("the IMM pictures are not here")
    return IMM


def faces(opening):
    """The same face as 58 annotated points and as a mesh; the 58 know where the outer lips end."""
    mesh = build(MESH468, opening=opening, thick=0.04)
    points = build(IMM58, opening=opening + 0.08)
    return points, mesh


@pytest.mark.parametrize("opening", [0.0, 0.05, 0.1])
def test_inner_lips_of_the_mesh_open_the_annotated_ones_as_far(opening):
    points, mesh = faces(opening)
    scale, turn = 120.0, np.array([[np.cos(0.2), np.sin(0.2)], [-np.sin(0.2), np.cos(0.2)]])

    found = add_inner_lips(scale * points @ turn, 300 * mesh + 7)

    assert found.shape == (64, 2)
    own = opening_of(level(found, IMM64.mouth).points, IMM64.mouth)
    assert own == pytest.approx(scale * opening, abs=0.35 * scale * 0.08)


def test_the_annotated_points_stay_as_they_are():
    points, mesh = faces(0.05)

    found = add_inner_lips(points, mesh)

    assert_allclose(found[:47], points[:47])
    assert_allclose(found[53:], points[47:])


def test_lips_that_are_pressed_together_do_not_cross():
    points, mesh = faces(0.0)
    upper, lower = MESH468.mouth.pairs.T
    mesh[upper], mesh[lower] = mesh[lower] + 0.02, mesh[upper]

    found = add_inner_lips(points, mesh)

    assert opening_of(level(found, IMM64.mouth).points, IMM64.mouth) >= -1e-9


def test_the_paper_is_known_by_name():
    assert PAPERS["fet"] == "elsewho.papers.fet"


def test_a_folder_that_is_not_there_is_refused_before_work_begins(tmp_path):
    with pytest.raises(BadAnnotation, match="is not there"):
        fet.check(Job(tmp_path / "nothing", 1))


def test_half_a_person_is_refused_by_name(imm, tmp_path):
    for file in sorted(imm.glob("0[1-3]-*")):
        shutil.copy(file, tmp_path)
    next(tmp_path.glob("02-2*.asf")).unlink()

    with pytest.raises(BadAnnotation, match="person 02 has no happy picture"):
        fet.check(Job(tmp_path, 1))


def test_too_few_people_are_counted(imm, tmp_path):
    for file in sorted(imm.glob("0[1-3]-*")):
        shutil.copy(file, tmp_path)

    with pytest.raises(TooFewPeople, match=r"needs 11 people .* shows 3"):
        fet.check(Job(tmp_path, 1))


@pytest.mark.slow
def test_the_whole_paper_runs_and_says_what_holds(imm):
    job = Job(imm, 2)

    found = fet.reproduce(job, fet.check(job))

    held = {claim.id: claim.holds for claim in found.claims}
    assert held["004-fig4-same"]
    assert held["004-fig6-tone"]
    assert held["004-fig7-select"]
    assert not held["004-fig8-fet-above-select"]
    assert held["004-details-kept"]
    assert {panel.name for panel in found.panels} >= {"fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "intensity"}
