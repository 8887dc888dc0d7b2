"""`elsewho doctor`: what is installed, what is missing, what is broken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import typer

PARTS = {
    "numpy": "numpy",
    "scipy": "scipy",
    "opencv-python-headless": "cv2",
    "onnxruntime": "onnxruntime",
    "cryptography": "cryptography",
    "platformdirs": "platformdirs",
    "ai-edge-litert": "ai_edge_litert",
    "safetensors": "safetensors",
    "typer": "typer",
    "rich": "rich",
}  # the name to install, the name to import
NEAR = 2.0  # percent of the face's diagonal by which a painted face may be missed
STARTED_AT = 3.0  # percent by which the fit starts beside it


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table."""

    part: str
    state: Literal["ok", "missing", "broken"]
    detail: str  # a version or hash; else what to do
    needed: bool = True  # False: elsewho works without it


def doctor() -> None:
    """Check this installation: parts, networks, face model, and a face fitted back.

    Exits with 1 when something needed is missing or broken.

    Examples:

    * `elsewho doctor`
    * `elsewho doctor && elsewho demo`
    """
    from rich.console import Console
    from rich.table import Table

    findings = list(examine())
    table = Table(box=None, pad_edge=False)
    for title in ("part", "state", "detail"):
        table.add_column(title, overflow="fold")
    colours = {"ok": "green", "missing": "yellow", "broken": "red"}
    for one in findings:
        table.add_row(one.part, f"[{colours[one.state]}]{one.state}[/]", one.detail)
    Console(highlight=False).print(table)
    if any(one.state != "ok" and one.needed for one in findings):
        raise typer.Exit(1)


def examine() -> Iterator[Finding]:
    """All findings, one after the other; none of them raises."""
    yield from check_parts()
    yield from check_networks()
    yield check_file("face model", "face-model.safetensors", needed=True)
    yield check_file("gallery", "gallery.safetensors", needed=False)
    yield check_fit()


def check_parts() -> Iterator[Finding]:
    """Python, elsewho and what it is built on."""
    import importlib
    import importlib.metadata
    import platform

    from elsewho import __version__

    yield Finding("python", "ok", platform.python_version())
    yield Finding("elsewho", "ok", __version__)
    for name, module in PARTS.items():
        try:
            importlib.import_module(module)
            yield Finding(name, "ok", importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name, "ok", "version unknown")
        except ModuleNotFoundError:
            yield Finding(name, "missing", f"Run: pip install {name}")
        except Exception as error:  # a part that fails while it loads, in whatever way, is broken
            yield Finding(name, "broken", f"{_short(error)} Run: pip install --force-reinstall {name}")


def check_networks() -> Iterator[Finding]:
    """The embedded networks, by their hashes."""
    from elsewho.find.networks import FOLDER, check_weights, read_manifest

    manifest = read_manifest()
    for name, wrong in check_weights().items():
        if wrong:
            yield Finding(name, "broken" if (FOLDER / name).is_file() else "missing", wrong)
        else:
            yield Finding(name, "ok", f"sha256 {manifest[name]['sha256'][:16]}")


def check_file(part: str, name: str, *, needed: bool) -> Finding:
    """A packaged model or gallery: it is there, whole, and readable."""
    from elsewho.aam.load import PACKAGED, load_model
    from elsewho.aam.store import sha256_of

    path = PACKAGED.with_name(name)
    if not path.is_file():
        again = "Run: pip install --force-reinstall --no-deps elsewho" if needed else "not in this version"
        return Finding(part, "missing", again, needed)
    try:
        if path == PACKAGED:
            load_model()
        else:
            from elsewho.identity.gallery import load_gallery

            load_gallery(path)
    except Exception as error:
        return Finding(part, "broken", _short(error), needed)
    return Finding(part, "ok", f"sha256 {sha256_of(path)[:16]}", needed)


def check_fit() -> Finding:
    """A face of nobody, painted into the packaged portrait, is fitted back from a start beside it."""
    from pathlib import Path

    import numpy as np

    from elsewho.aam.load import load_model
    from elsewho.aam.model import Coefficients
    from elsewho.aam.procrustes import diagonal
    from elsewho.find import find_faces
    from elsewho.media.images import read_image

    try:
        model, portrait = load_model(), read_image(Path(__file__).parents[1] / "data" / "astronaut.jpg")
        pose = model.shape.encode(find_faces(portrait)[0][1].points)[1]
        nobody = model.sample(1, seed=0)[0]
        painted = Coefficients(nobody.shape, nobody.texture, pose)
        truth = model.decode(painted).points[:, :2]
        size = diagonal(truth)
        fit = model.fit(model.paint(portrait, painted), truth + STARTED_AT / 100 * size / np.sqrt(2))
        missed = float(np.linalg.norm(fit.points - truth, axis=1).mean()) / size * 100
    except Exception as error:
        return Finding("a painted face fitted back", "broken", _short(error))
    near = missed <= NEAR and fit.trustworthy
    said = f"from {STARTED_AT:.1f}% beside it to {missed:.2f}% of its diagonal, {fit.stopped}"
    return Finding("a painted face fitted back", "ok" if near else "broken", said)


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
