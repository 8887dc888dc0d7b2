"""Check that what the documentation says can be done, can be done.

    python tools/check_docs.py          make docs calls this

Links lead to files and headings that exist; modules and files that are named exist; each `make` and `elsewho` command
is one that exists, with the options it is given; and the Python examples of a page run, one after the other, in a
folder that holds portrait.jpg (a portrait in the public domain) and photos/ (faces painted by the model, with points).
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
INLINE = re.compile(r"`([^`\n]+)`")
FILE_NAME = re.compile(r"[\w./-]+\.(py|md|json|csv|toml|lock|cff)|[\w./-]+/")
NOT_HERE = re.compile(r"\.\./|photos/|demo/|OUT|build/")  # beside the checkout, or made by a command
PAINTED = 8  # faces in photos/


def main() -> int:
    """Check every page; 1 if something is wrong, else 0."""
    pages = find_pages()
    wrong = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(ROOT).as_posix()
        for check in (check_links, check_files, check_commands, check_examples):
            wrong += [f"{name}: {problem}" for problem in check(page, text)]
    print("\n".join(wrong) or f"{len(pages)} pages: links, names, commands and examples hold")
    return 1 if wrong else 0


def find_pages() -> list[Path]:
    """Every page of the documentation."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def check_links(page: Path, text: str) -> Iterator[str]:
    """Relative links that lead nowhere."""
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, heading = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists():
            yield f"the link {target} leads to no file"
        elif heading and heading not in headings(there):
            yield f"the link {target} leads to no heading"


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    lines = FENCE.sub("", page.read_text(encoding="utf-8")).splitlines()
    titles = [line.lstrip("#").strip().lower() for line in lines if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def check_files(_page: Path, text: str) -> Iterator[str]:
    """Files and folders that are named and are not there, in the repository or in the package."""
    for name in INLINE.findall(FENCE.sub("", text)):
        if not FILE_NAME.fullmatch(name) or NOT_HERE.match(name) or name.startswith("/"):
            continue
        if not any((base / name).exists() for base in (ROOT, ROOT / "src" / "elsewho")):
            yield f"`{name}` is not in the repository"


def check_commands(_page: Path, text: str) -> Iterator[str]:
    """Commands that do not exist, or do not know an option that they are given."""
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for command in commands_in(text):
        tool, *words = shlex.split(command, comments=True)
        if tool == "make":
            for word in words:
                if "=" not in word and word not in targets:
                    yield f"`{command}`: the Makefile has no target {word}"
            continue
        if not words or words[0].startswith("-"):
            continue
        said = help_of(words[0])
        if said is None:
            yield f"`{command}`: elsewho has no command {words[0]}"
            continue
        for option in (word.partition("=")[0] for word in words[1:] if word.startswith("--")):
            if not re.search(rf"(?<![\w-]){option}(?![\w-])", said):
                yield f"`{command}`: elsewho {words[0]} has no option {option}"


def commands_in(text: str) -> Iterator[str]:
    """All `make ...` and `elsewho ...` of a page, in its blocks of commands and in its lines."""
    blocks = [block for kind, block in FENCE.findall(text) if kind in ("", "sh", "bash")]
    lines = "\n".join(blocks).splitlines()
    for piece in lines + INLINE.findall(FENCE.sub("", text)):
        command = piece.strip().removeprefix("$ ").removeprefix(".venv/bin/")
        if re.match(r"(make|elsewho) [\w-]", command):
            yield command


@functools.cache
def help_of(command: str) -> str | None:
    """What `elsewho COMMAND --help` prints, or None where there is no such command."""
    width = {**os.environ, "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
    program = "import sys; from elsewho.cli import main; sys.exit(main())"
    run = subprocess.run(
        [sys.executable, "-c", program, command, "--help"], capture_output=True, text=True, check=False, env=width
    )
    return run.stdout if run.returncode == 0 else None


def check_examples(_page: Path, text: str) -> Iterator[str]:
    """Python examples that fail; all of a page share their names."""
    blocks = [block for kind, block in FENCE.findall(text) if kind == "python"]
    names: dict[str, Any] = {"__name__": "example"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        if blocks:
            prepare(Path(folder))
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                for block in blocks:
                    exec(compile(block, "example", "exec"), names)
        except Exception:
            yield f"an example fails:\n{block}{traceback.format_exc(limit=-1)}"
        finally:
            os.chdir(before)


def prepare(folder: Path) -> None:
    """portrait.jpg, and photos/ with painted faces of `PAINTED` people and their points as .pts."""
    import elsewho
    from elsewho.aam.model import Coefficients
    from elsewho.media.images import write_image

    shutil.copy(Path(elsewho.__file__).parent / "data" / "astronaut.jpg", folder / "portrait.jpg")
    model = elsewho.load_model()
    pose = model.portrait_pose(256)
    (folder / "photos").mkdir()
    for number, face in enumerate(model.sample(PAINTED, seed=7)):
        points = model.decode(Coefficients(face.shape, face.texture, pose)).points[:, :2]
        rows = "\n".join(f"{x + 1:.3f} {y + 1:.3f}" for x, y in points)
        stem = folder / "photos" / f"person{number}"
        stem.with_suffix(".pts").write_text(f"version: 1\nn_points: {len(points)}\n{{\n{rows}\n}}\n", "utf-8")
        write_image(stem.with_suffix(".png"), model.portrait(face))


if __name__ == "__main__":
    sys.exit(main())
