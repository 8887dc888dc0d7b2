from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from elsewho.aam.load import PACKAGED
from elsewho.cli import demo as command
from elsewho.media.images import read_image
from elsewho.pipeline import ReleasedFace, Result

needs_model = pytest.mark.skipif(not PACKAGED.is_file(), reason="the packaged face model is not built yet")


@needs_model
def test_both_pictures_are_written_and_one_line_says_what_they_are_worth(tmp_path):
    words = [sys.executable, "-m", "elsewho", "demo", "--out", str(tmp_path / "new" / "demo")]

    done = subprocess.run(words, capture_output=True, text=True, check=True)

    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    assert "1 of 1 faces replaced" in done.stdout
    assert "protects nobody yet" in done.stdout
    found = sorted((tmp_path / "new" / "demo").iterdir())
    assert [path.name for path in found] == ["before-after.png", "released.png"]
    assert read_image(found[1]).shape == (512, 512, 3)


@pytest.mark.parametrize("name", command.NAMES)
def test_a_picture_that_exists_is_refused_before_any_work(run, tmp_path, monkeypatch, name):
    (tmp_path / name).write_text("mine")
    monkeypatch.setattr("elsewho.pipeline.deidentify", lambda *_, **__: pytest.fail("work was begun"))

    code, _, err = run("demo", "--out", tmp_path)

    assert code == 1
    assert "exists already" in err
    assert (tmp_path / name).read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_before_and_after_stand_side_by_side_at_the_same_place():
    before = np.zeros((100, 200, 3), np.uint8)
    before[40:60, 90:110] = 255
    face = ReleasedFace((80.0, 30.0, 40.0, 40.0), "replaced")

    both = command.before_after(before, Result(255 - before, (face,)))

    left, right = both[command.LABEL :, : command.SIDE], both[command.LABEL :, -command.SIDE :]
    assert (left[command.SIDE // 2, command.SIDE // 2] == 255).all()
    assert (left.astype(int) + right == 255).all()
