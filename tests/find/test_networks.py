import os
import subprocess
import sys

import pytest

from elsewho.errors import MissingPart
from elsewho.find import FaceEmbedder, FaceMesh, RetinaFace, networks


def test_all_embedded_networks_are_the_pinned_ones():
    assert set(networks.check_weights()) == {
        "face_landmark.tflite",
        "iris_landmark.tflite",
        "retinaface.onnx",
        "dlib_face.onnx",
    }
    assert not any(networks.check_weights().values())


@pytest.mark.parametrize("part", [RetinaFace, FaceMesh, FaceEmbedder])
def test_a_missing_network_is_named_with_the_command_that_repairs_it(part, tmp_path, monkeypatch):
    monkeypatch.setattr(networks, "FOLDER", tmp_path)

    with pytest.raises(MissingPart, match=r"(?s)(\.onnx|\.tflite).*pip install"):
        part()
    assert all("is not there" in problem for problem in networks.check_weights().values())


def test_a_damaged_network_is_told_by_its_hash(tmp_path, monkeypatch):
    monkeypatch.setattr(networks, "FOLDER", tmp_path)
    (tmp_path / "retinaface.onnx").write_bytes(b"x")

    assert "SHA-256" in networks.check_weights()["retinaface.onnx"]


def test_a_file_that_is_no_network_is_a_missing_part(tmp_path, monkeypatch):
    monkeypatch.setattr(networks, "FOLDER", tmp_path)
    for name in networks.read_manifest():
        (tmp_path / name).write_bytes(b"x")

    for part in (RetinaFace, FaceMesh, FaceEmbedder):
        with pytest.raises(MissingPart, match="pip install"):
            part()


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    return done.stdout.strip(), done.stderr.strip()


def test_importing_the_package_loads_no_runtime():
    code = "import elsewho.find, sys; print([m for m in ('onnxruntime', 'ai_edge_litert') if m in sys.modules])"

    assert run_python(code) == ("[]", "")


def test_loading_the_networks_prints_nothing():
    assert run_python("import elsewho.find as f; f.RetinaFace(), f.FaceMesh(), f.FaceEmbedder()") == ("", "")
