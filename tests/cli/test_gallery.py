from __future__ import annotations

import numpy as np
import pytest

from elsewho.aam.load import PACKAGED
from elsewho.aam.store import sha256_of
from elsewho.identity.gallery import load_gallery

needs_model = pytest.mark.skipif(not PACKAGED.is_file(), reason="the packaged face model is not built yet")


@pytest.fixture
def model(faces, run):
    """A face model of cartoon faces; `faces` is the folder of its photos and points."""
    path = faces / "model.safetensors"
    assert (
        run("train", faces / "photos", "--points", faces / "points", "--out", path, "--width", 32, "--no-levels")[0]
        == 0
    )
    return path


@pytest.mark.parametrize("command", [(), ("sample",), ("build",)])
def test_every_help_has_examples(run, command):
    code, out, _ = run("gallery", *command, "--help")

    assert code == 0
    if command:
        assert f"elsewho gallery {command[0]}" in out


@needs_model
def test_samples_are_of_every_class_and_say_that_nothing_was_screened(run, tmp_path):
    code, out, err = run("gallery", "sample", "--n", 80, "--out", tmp_path / "g")

    gallery = load_gallery(tmp_path / "g")
    assert code == 0
    assert out == f"{tmp_path / 'g'}: 80 faces in 8 classes and 16 clusters.\n"
    assert "no face was screened" in err
    assert gallery.model == sha256_of(PACKAGED)
    assert "not screened" in gallery.card["screening"]["people of the model"]
    assert np.bincount(gallery.cluster_of).tolist() == [5] * 16
    assert np.bincount(gallery.class_of).tolist() == [10] * 8


def test_same_seed_same_gallery_and_another_seed_another(run, faces, model):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        assert run("gallery", "sample", "--n", 20, "--model", model, "--seed", seed, "--out", faces / name)[0] == 0

    a, b, c = ((faces / name).read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_people_of_photos_become_donors_with_a_warning(run, faces, model):
    words = ("gallery", "build", faces / "photos", "--points", faces / "points", "--model", model)

    code, out, err = run(*words, "--people", "each", "--k", 5, "--out", faces / "g")

    assert code == 0
    assert "10 faces in 1 classes and 2 clusters; 2 were left out, for they fill no cluster." in out
    assert "real people" in err
    assert load_gallery(faces / "g").card["source"] == "photos of real people"


def test_samples_are_kept_away_from_people(run, faces, model):
    words = ("gallery", "sample", "--n", 20, "--model", model, "--away-from", faces / "photos", "--points")

    code, _, err = run(*words, faces / "points", "--far", 0.1, "--out", faces / "g")

    assert code == 1  # twelve people make 66 pairs of strangers
    assert "TooFewPeople: far=0.1 is measured on 1000 pairs of strangers, found 66" in err
    assert not (faces / "g").exists()


def test_a_gallery_that_exists_is_refused_before_any_work(run, tmp_path, monkeypatch):
    (tmp_path / "g").write_text("mine")
    monkeypatch.setattr("elsewho.cli.gallery.read_model", lambda _: pytest.fail("work was begun"))

    for words in (("sample", "--n", 80), ("build", tmp_path)):
        code, _, err = run("gallery", *words, "--out", tmp_path / "g")
        assert code == 1
        assert "exists already" in err


@pytest.mark.parametrize("words", [("sample",), ("sample", "--n", 1), ("build",), ("bogus",)])
def test_wrong_usage_exits_with_2(run, tmp_path, words):
    assert run("gallery", *words, "--out", tmp_path / "g")[0] == 2


def test_too_few_faces_for_a_cluster_are_refused(run, faces, model):
    code, _, err = run("gallery", "sample", "--n", 3, "--model", model, "--out", faces / "g")

    assert code == 1
    assert "n=3 faces make no cluster of k=5" in err
