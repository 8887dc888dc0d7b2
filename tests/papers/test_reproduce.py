"""`elsewho reproduce` from end to end on cartoon people, and what it refuses before it begins."""

import json
from pathlib import Path

import numpy as np
import pytest
from cartoons import write_imm

from elsewho.cli import main
from elsewho.papers.registry import PAPERS

SHARED = Path(__file__).parents[3] / "shared" / "data"
OURS = ("k-same-furthest", "k-diff-furthest", "isd")
KEYS = {"id", "paper", "ours", "holds", "why", "difference"}


@pytest.fixture(scope="module")
def imm(tmp_path_factory):
    return write_imm(tmp_path_factory.mktemp("data") / "imm")


@pytest.fixture
def run(capfd):
    """Run the program with these words; returns its exit code, standard output and standard error."""

    def call(*words):
        code = main([str(word) for word in words])
        said = capfd.readouterr()
        return code, said.out, said.err

    return call


@pytest.mark.parametrize("paper", OURS)
def test_a_paper_is_reproduced(run, imm, tmp_path, paper):
    words = ("reproduce", paper, "--data", imm, "--out", tmp_path, "--runs", 3, "--workers", 1)
    code, said, error = run(*words)

    assert (code, error) == (0, "")
    assert "claims of the paper hold" in said
    report = json.loads((tmp_path / "report.json").read_text())
    page = (tmp_path / "index.html").read_text()
    assert all(set(claim) == KEYS for claim in report["claims"])
    assert len({claim["id"] for claim in report["claims"]}) == len(report["claims"]) >= 5
    assert all(claim["id"] in page for claim in report["claims"])
    for figure in report["figures"]:
        assert f'id="{figure["name"]}"' in page
        assert all(name in page for name in figure["files"])
        assert all((tmp_path / name).stat().st_size > 1000 for name in figure["files"])


@pytest.mark.parametrize("paper", ["isd", *(pytest.param(one, marks=pytest.mark.slow) for one in OURS[:2])])
def test_the_same_seed_gives_the_same_bytes_whatever_the_number_of_workers(run, imm, tmp_path, paper):
    for workers in (1, 2):
        out = tmp_path / str(workers)
        assert run("reproduce", paper, "--data", imm, "--out", out, "--runs", 2, "--workers", workers)[0] == 0

    files = sorted(path.name for path in (tmp_path / "1").iterdir())
    assert all((tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes() for name in files)


def test_the_theorems_hold_on_cartoons_too(run, imm, tmp_path):
    assert run("reproduce", "k-same-furthest", "--data", imm, "--out", tmp_path, "--runs", 1, "--workers", 1)[0] == 0

    claims = {one["id"]: one for one in json.loads((tmp_path / "report.json").read_text())["claims"]}
    assert all(claims[f"003-theorem-{number}"]["holds"] for number in (1, 2, 3))


def test_a_report_that_is_there_is_not_replaced_without_being_asked(run, imm, tmp_path):
    (tmp_path / "report.json").write_text("mine")

    code, _, error = run("reproduce", "isd", "--data", imm, "--out", tmp_path)

    assert code == 1
    assert "OutputExists" in error
    assert (tmp_path / "report.json").read_text() == "mine"


def test_a_paper_that_is_not_there_is_wrong_usage(run, imm, tmp_path):
    code, _, error = run("reproduce", "k-same-nearest", "--data", imm, "--out", tmp_path)

    assert code == 2
    assert all(name in error for name in PAPERS)


@pytest.mark.parametrize("paper", OURS)
def test_a_missing_data_folder_is_named(run, tmp_path, paper):
    code, _, error = run("reproduce", paper, "--data", tmp_path / "nowhere", "--out", tmp_path / "out")

    assert code == 1
    assert "nowhere is not there" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("paper", OURS)
def test_half_a_data_set_is_refused_with_the_files_looked_for(run, imm, tmp_path, paper):
    half = write_imm(tmp_path / "imm")
    for path in half.glob("07-2m.*"):
        path.unlink()

    code, _, error = run("reproduce", paper, "--data", half, "--out", tmp_path / "out")

    assert code == 1
    assert "person 07 has no happy picture" in error
    assert "07-2[mf].asf" in error


def test_one_person_with_one_picture_is_refused(run, tmp_path):
    alone = write_imm(tmp_path / "imm", people=1, kinds="1")

    code, _, error = run("reproduce", "isd", "--data", alone, "--out", tmp_path / "out")

    assert code == 1
    assert "person 01 has no happy" in error


def test_classes_with_fewer_people_than_k_needs_are_refused(run, tmp_path):
    few = write_imm(tmp_path / "imm", people=12, kinds="126")

    code, _, error = run("reproduce", "k-same-furthest", "--data", few, "--out", tmp_path / "out")

    assert code == 1
    assert "needs 20 people" in error
    assert "shows 12" in error
    assert "NN-1[mf].asf" in error


def test_points_without_their_picture_are_refused(run, tmp_path):
    half = write_imm(tmp_path / "imm", people=2)
    (half / "01-1m.jpg").unlink()

    code, _, error = run("reproduce", "isd", "--data", half, "--out", tmp_path / "out")

    assert code == 1
    assert "01-1m.asf" in error


def test_a_recogniser_that_is_not_there_is_named_before_the_work(run, imm, tmp_path):
    words = ("--data", imm, "--out", tmp_path / "out", "--recogniser", tmp_path / "no.onnx")
    code, _, error = run("reproduce", "isd", *words)

    assert code == 1
    assert "no.onnx is not there" in error


def test_too_few_people_or_pictures_in_jaffes_layout_are_refused(run, tmp_path):
    jaffe = tmp_path / "jaffe"
    jaffe.mkdir()
    for person in "ABCDEFGHIJ":
        for kind in ("AN", "HA"):
            (jaffe / f"K{person}.{kind}1.1.tiff").touch()

    words = ("reproduce", "isd", "--data", tmp_path, "--out", tmp_path / "out")
    code, _, error = run(*words)
    assert code == 1
    assert "needs 60 pictures" in error

    for path in jaffe.glob("KA.*"):
        path.unlink()
    code, _, error = run(*words)
    assert code == 1
    assert "needs 10 people" in error
    assert "KL.AN1.39.tiff" in error


@pytest.mark.slow
def test_table_1_of_paper_000_on_imm(run, tmp_path):
    if not (SHARED / "imm").is_dir():
        pytest.skip("the data set 'imm' is not beside the repository")
    words = ("--data", SHARED / "imm", "--out", tmp_path, "--runs", 100)
    assert run("reproduce", "k-diff-furthest", *words)[0] == 0

    claims = {one["id"]: one for one in json.loads((tmp_path / "report.json").read_text())["claims"]}
    assert claims["000-theorem-1"]["holds"]
    assert claims["000-fig7-allowed-zero"]["holds"]
    assert abs(float(claims["000-table1-diff"]["ours"]) - 1.04) <= 0.05
    assert np.isclose(float(claims["000-table1-closest"]["ours"]), 0.57, atol=0.03)
