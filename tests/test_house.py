"""The rules of the house: what must hold for every file of the repository, whatever it does."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MOST_BYTES = 13 * 1024 * 1024
PICTURES = {".bmp", ".gif", ".heic", ".jpeg", ".jpg", ".png", ".ppm", ".svg", ".tif", ".tiff", ".webp"}
CLIPS = {".avi", ".mkv", ".mov", ".mp4", ".webm"}
UNSAFE = {"cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve"}
NETWORK = {"aiohttp", "asyncio", "ftplib", "http.client", "requests", "smtplib", "socket", "ssl"}
NETWORK |= {"urllib.request"}
HEAVY = {"ai_edge_litert", "cv2", "matplotlib", "onnxruntime", "scipy", "typer"}
# Written in pieces, so that this file does not name what it looks for.
HOSTS = re.compile("py" + r"pi\.org|python" + r"hosted|(index|extra)-" + r"url[ =]\S*:")
MACHINE_PATHS = re.compile(r"(?<![\w.*~}$)-])/(work|root|tmp|home|opt)/\w")


@pytest.fixture(scope="module")
def tree():
    """Every file that git tracks, or would if it were added."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for name in sorted(set(listed.split("\0"))) if name and (path := ROOT / name).is_file()]


def show(paths):
    return [path.relative_to(ROOT).as_posix() for path in paths]


def read_text(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def loaded_by(code):
    """The names of the modules that a fresh Python has loaded after `code`."""
    run = [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"]
    return set(subprocess.run(run, check=True, capture_output=True, text=True).stdout.split())


def test_no_source_imports_pickle_or_its_like():
    assert {name: bad for name in SOURCES if (bad := UNSAFE & set(imports_of(name)))} == {}


def test_every_module_says_what_it_is_for():
    trees = {path: ast.parse(path.read_text("utf-8")) for path in SOURCES}
    silent = [path for path, tree in trees.items() if not ast.get_docstring(tree)]

    assert show(silent) == []


def test_no_file_is_too_large_to_be_cloned_in_comfort(tree):
    assert show(path for path in tree if path.stat().st_size > MOST_BYTES) == []


def test_there_is_no_photograph_but_the_public_domain_portrait(tree):
    pictures = [path for path in tree if path.suffix.lower() in PICTURES | CLIPS]
    strange = [path for path in pictures if ROOT / "docs" / "images" not in path.parents]

    assert show(strange) == ["src/elsewho/data/astronaut.jpg"]


def test_no_file_names_a_package_index(tree):
    assert [name for name, path in zip(show(tree), tree, strict=True) if HOSTS.search(read_text(path))] == []


def test_no_file_names_a_path_of_somebodys_machine(tree):
    found = {name: MACHINE_PATHS.search(read_text(path)) for name, path in zip(show(tree), tree, strict=True)}

    assert {name: match[0] for name, match in found.items() if match} == {}


def test_every_pinned_package_has_a_hash():
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    pins = [i for i, line in enumerate(lines) if "==" in line]

    assert len(pins) > 20
    assert [lines[i] for i in pins if "--hash=sha256:" not in lines[i + 1]] == []


def test_the_lock_pins_everything_that_pyproject_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["dev"]
    asked += project["build-system"]["requires"]
    names = {re.match(r"[\w.-]+", line)[0].lower() for line in asked}
    lock = (ROOT / "requirements.lock").read_text("utf-8")

    assert names - set(re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)) == set()


def test_importing_elsewho_loads_neither_networking_nor_the_heavy_libraries():
    assert loaded_by("import elsewho") & (NETWORK | HEAVY) == set()


def test_the_version_is_one():
    found = {
        re.search(pattern, (ROOT / name).read_text("utf-8"), re.MULTILINE)[1]
        for name, pattern in {
            "src/elsewho/__init__.py": r'^__version__ = "(.+)"$',
            "CITATION.cff": r"^version: (.+)$",
            "CHANGELOG.md": r"^## \[(.+?)\]",
        }.items()
    }

    assert len(found) == 1


def test_the_licence_is_the_text_that_pyproject_names():
    licence = (ROOT / "LICENSE").read_text("utf-8")

    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text("utf-8")
    assert licence.lstrip().startswith("Apache License\n                           Version 2.0, January 2004")
    assert "END OF TERMS AND CONDITIONS" in licence


def test_what_continuous_integration_runs_can_be_executed():
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
