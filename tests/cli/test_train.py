from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

import elsewho
from elsewho import load_model
from elsewho.cli import train as command
from elsewho.media.images import write_image


def options(faces, *more):
    return (
        "train", faces / "photos", "--points", faces / "points", "--out", faces / "model.safetensors",
        "--width", 40, "--no-levels", *more,
    )  # fmt: skip


def left_behind(faces):
    """What lies beside the photos and the points."""
    return sorted(path.name for path in faces.iterdir() if path.name not in ("photos", "points"))


def test_a_model_is_written_and_its_held_out_errors_are_shown(run, faces):
    code, out, err = run(*options(faces))

    assert (code, err) == (0, "")
    model = load_model(faces / "model.safetensors")
    assert (model.shape.count, model.marks, model.levels) == (16, "pts16", ())
    assert left_behind(faces) == ["model.safetensors"]
    assert "12 photos of 12 people, 16 points" in out
    rows = [line.split() for line in out.splitlines()[-3:]]
    assert all(0 <= float(row[1]) < 10 and 0 < float(row[2]) < 60 for row in rows)


def test_more_modes_describe_unseen_people_better(run, faces):
    _, out, _ = run(*options(faces, "--shape-modes", 8, "--texture-modes", 8))

    rows = np.array([line.split() for line in out.splitlines()[3:]], float)
    assert rows[0, 0] == 1
    assert (np.diff(rows[:, 1:], axis=0) < 0).all()


def test_subfolders_are_people(run, faces):
    for number in range(12):
        for folder, suffix in (("photos", "png"), ("points", "pts")):
            person = faces / folder / f"p{number // 3}"
            person.mkdir(exist_ok=True)
            (faces / folder / f"face{number:02}.{suffix}").rename(person / f"{number}.{suffix}")

    _, as_folders, _ = run(*options(faces))
    _, each, _ = run(*options(faces, "--people", "each", "--overwrite"))

    assert "12 photos of 4 people" in as_folders
    assert "Held out by person (4 folds)" in as_folders
    assert "12 photos of 12 people" in each
    assert "each taken for another person (5 folds)" in each


def test_an_output_that_exists_is_refused_before_training(run, faces, monkeypatch):
    (faces / "model.safetensors").write_text("mine")
    monkeypatch.setattr(command, "read_photos", lambda *_: pytest.fail("work was begun"))

    code, _, err = run(*options(faces))

    assert code == 1
    assert "exists already" in err
    assert "--overwrite" in err
    assert (faces / "model.safetensors").read_text() == "mine"


def test_overwriting_is_possible_where_it_is_asked_for(run, faces):
    (faces / "model.safetensors").write_text("mine")

    assert run(*options(faces, "--overwrite"))[0] == 0
    assert load_model(faces / "model.safetensors").shape.count == 16


def break_points(faces, text):
    (faces / "points" / "face03.pts").write_text(text)


BAD = {
    "a word in a number's place": (
        lambda faces: break_points(faces, "version: 1\nn_points: 1\n{\n12 nose\n}\n"),
        "face03.pts:4: a number was expected, found 'nose'",
    ),
    "fewer rows than announced": (
        lambda faces: break_points(faces, "version: 1\nn_points: 3\n{\n1 2\n}\n"),
        "face03.pts:2: 3 points were announced, 1 rows follow",
    ),
    "another count than the others": (
        lambda faces: break_points(faces, "version: 1\nn_points: 3\n{\n30 30\n60 32\n45 70\n}\n"),
        "face03.png has points of shape (3, 2), the first picture (16, 2)",
    ),
    "all points at one place": (
        lambda faces: break_points(faces, "version: 1\nn_points: 16\n{\n" + "30 30\n" * 16 + "}\n"),
        "face03.png all lie at one place",
    ),
    "points for no photo": (
        lambda faces: (faces / "photos" / "face03.png").unlink(),
        "face03.pts:1: no picture has this name",
    ),
    "a photo without points": (
        lambda faces: (faces / "points" / "face03.pts").unlink(),
        "1 of 12 photos have no points",
    ),
    "a damaged photo": (
        lambda faces: (faces / "photos" / "face03.png").write_bytes(b"no picture"),
        "face03.png",
    ),
    "no photos": (
        lambda faces: [path.unlink() for path in (faces / "photos").iterdir()],
        "photos",
    ),
    "one photo": (
        lambda faces: [
            (faces / folder / f"face{n:02}.{suffix}").unlink()
            for n in range(11)
            for folder, suffix in (("photos", "png"), ("points", "pts"))
        ],
        "at least 2 pictures, found 1",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_and_nothing_is_written(run, faces, case):
    spoil, said = BAD[case]
    spoil(faces)

    code, out, err = run(*options(faces))

    assert (code, out) == (1, "")
    assert said in err
    assert err.count("\n") == 1
    assert left_behind(faces) == []


def test_fewer_photos_than_modes_is_refused(run, faces):
    code, _, err = run(*options(faces, "--texture-modes", 50))

    assert code == 1
    assert "50 modes were asked of" in err
    assert left_behind(faces) == []


def test_one_person_alone_is_refused(run, faces):
    for folder in ("photos", "points"):
        (faces / folder / "anna").mkdir()
        for path in [path for path in (faces / folder).iterdir() if path.is_file()]:
            path.rename(faces / folder / "anna" / path.name)

    code, _, err = run(*options(faces))

    assert code == 1
    assert "one person" in err
    assert left_behind(faces) == []


@pytest.mark.parametrize("modes", ["0", "-3", "1.5", "many", "nan"])
def test_modes_that_are_no_count_and_no_share_are_wrong_usage(run, faces, modes):
    code, _, err = run(*options(faces, f"--shape-modes={modes}"))

    assert code == 2
    assert f"--shape-modes {modes}" in err


def test_a_folder_that_does_not_exist_is_named_before_training(run, faces, monkeypatch):
    monkeypatch.setattr(command, "read_photos", lambda *_: pytest.fail("work was begun"))

    code, _, err = run("train", faces / "photos", "--out", faces / "nowhere" / "model.safetensors")

    assert code == 1
    assert "nowhere" in err


def test_photos_without_faces_and_without_points_are_refused(run, faces):
    for path in (faces / "photos").iterdir():
        write_image(path, np.random.default_rng(0).integers(0, 256, (96, 96, 3), np.uint8), overwrite=True)

    code, _, err = run("train", faces / "photos", "--out", faces / "model.safetensors")

    assert code == 1
    assert "in none of the 12 photos" in err
    assert left_behind(faces) == []


def test_points_that_are_not_given_are_found_with_the_mesh(run, faces, monkeypatch):
    large = cv2.imread(str(Path(elsewho.__file__).parent / "data" / "astronaut.jpg"))[20:220, 110:340]
    for number, path in enumerate(sorted((faces / "photos").iterdir())):
        stretched = cv2.resize(large, None, fx=0.8 + 0.03 * number, fy=1.1 - 0.02 * number)
        write_image(path, stretched, overwrite=True)
    (faces / "photos" / "face11.png").unlink()
    write_image(faces / "photos" / "noise.png", np.random.default_rng(0).integers(0, 256, (96, 96, 3), np.uint8))

    code, out, err = run(
        "train", faces / "photos", "--out", faces / "model.safetensors", "--width", "60", "--no-levels",
        "--shape-modes", "3", "--texture-modes", "3",
    )  # fmt: skip

    assert code == 0
    assert "11 photos of 11 people, 468 points, 3 shape and 3 texture modes" in out
    assert err.startswith("elsewho: left out, no sure face in them: ")
    assert "noise.png" in err
    assert load_model(faces / "model.safetensors").marks == "mesh468"


def train_in_a_process(faces, **streams):
    words = [str(word) for word in options(faces)]
    return subprocess.run([sys.executable, "-m", "elsewho", *words], check=True, **streams)


def test_piped_it_shows_no_progress(faces):
    done = train_in_a_process(faces, capture_output=True, text=True)

    assert done.stderr == ""
    assert "Held out" in done.stdout


def test_on_a_terminal_it_shows_progress(faces):
    ours, theirs = pty.openpty()
    train_in_a_process(faces, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)

    assert b"textures" in os.read(ours, 1 << 16)


def test_a_table_says_who_is_on_which_photo(run, faces):
    table = faces / "photos" / "people.csv"
    table.write_text("file,person\n" + "".join(f"face{n:02}.png,p{n // 3}\n" for n in range(12)))

    code, out, _ = run(*options(faces, "--people", table))

    assert code == 0
    assert "12 photos of 4 people" in out


def test_people_that_are_no_table_are_refused(run, faces):
    code, _, err = run(*options(faces, "--people", "everyone"))

    assert code == 2
    assert "--people everyone: pass folder, each, or the name of a .csv file" in err
    assert left_behind(faces) == []


def test_a_table_of_absent_photos_is_refused(run, faces):
    table = faces / "photos" / "people.csv"
    table.write_text("file,person\nface99.png,anna\n")

    code, _, err = run(*options(faces, "--people", table))

    assert code == 1
    assert "names 1 of 1 files that are not in" in err
    assert left_behind(faces) == []
