from __future__ import annotations

import importlib
import sys

import pytest

from elsewho.aam import load
from elsewho.cli import doctor as command
from elsewho.cli.doctor import Finding


def state_of(findings, part):
    return next(one for one in findings if one.part == part)


def test_the_parts_of_this_installation_are_found_with_their_versions():
    findings = list(command.check_parts())

    assert {one.part for one in findings} >= {"python", "elsewho", *command.PARTS}
    assert {one.state for one in findings} == {"ok"}


def test_the_embedded_networks_are_the_right_ones():
    assert {one.state for one in command.check_networks()} == {"ok"}


def test_a_missing_part_comes_with_the_command_that_adds_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    found = state_of(command.check_parts(), "onnxruntime")

    assert found.state == "missing"
    assert "pip install onnxruntime" in found.detail


def test_a_part_that_does_not_load_is_broken(monkeypatch):
    def fail(name):
        raise OSError("libGL.so.1: cannot open")

    monkeypatch.setattr(importlib, "import_module", fail)

    found = state_of(command.check_parts(), "opencv-python-headless")

    assert found.state == "broken"
    assert "libGL.so.1" in found.detail


def test_a_network_that_was_changed_is_broken(monkeypatch, tmp_path):
    from elsewho.find import networks

    (tmp_path / "retinaface.onnx").write_bytes(b"other")
    monkeypatch.setattr(networks, "FOLDER", tmp_path)

    findings = list(command.check_networks())

    assert state_of(findings, "retinaface.onnx").state == "broken"
    assert state_of(findings, "dlib_face.onnx").state == "missing"


def test_a_damaged_model_is_broken_and_a_missing_one_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(load, "PACKAGED", tmp_path / "face-model.safetensors")
    load._load_packaged.cache_clear()

    assert command.check_file("face model", "face-model.safetensors", needed=True).state == "missing"
    (tmp_path / "face-model.safetensors").write_bytes(b"x" * 40)
    found = command.check_file("face model", "face-model.safetensors", needed=True)

    assert found.state == "broken"
    assert "BadModel" in found.detail


@pytest.mark.skipif(not load.PACKAGED.is_file(), reason="the packaged face model is not built yet")
def test_a_painted_face_is_fitted_back():
    found = command.check_fit()

    assert found.state == "ok", found.detail


@pytest.mark.parametrize(
    ("finding", "code"),
    [
        (Finding("a", "ok", "1.0"), 0),
        (Finding("a", "missing", "Run: pip install a"), 1),
        (Finding("a", "broken", "no"), 1),
        (Finding("a", "missing", "optional", needed=False), 0),
    ],
)
def test_what_is_needed_and_not_right_exits_with_1(run, monkeypatch, finding, code):
    monkeypatch.setattr(command, "examine", lambda: iter([finding]))

    got, out, err = run("doctor")

    assert (got, err) == (code, "")
    assert finding.state in out
    assert finding.detail in out
