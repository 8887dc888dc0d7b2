"""What a reproduction found, and the files it becomes: report.json, index.html, and each figure as PNG and SVG."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from jinja2 import Environment, PackageLoader
from matplotlib import rc_context
from matplotlib.figure import Figure

from elsewho import __version__
from elsewho.errors import BadInput, OutputExists
from elsewho.media.files import show_name, write_atomically
from elsewho.types import Array

PAGE, REPORT = "index.html", "report.json"
DPI = 110


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that the paper shows or states, and what came out here."""

    id: str  # paper, figure, what: 003-fig6-furthest-zero
    paper: str  # what the paper says, in figures
    ours: str  # what was measured
    holds: bool
    why: str  # one sentence with the evidence: why it holds, or why not
    difference: str = ""  # ours less the paper's, where both are numbers


@dataclass(frozen=True, slots=True)
class Table:
    """Rows beside the paper's own."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure or table of the paper, drawn again."""

    name: str  # of the files: fig6
    title: str
    about: str  # what is shown, and what the paper's own figure shows, in numbers
    plot: Figure | None = None
    sheet: Array | None = None  # (rows, columns, 3) uint8 RGB; pictures of people: private
    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Everything one paper's run found. The same data and seed give the same bytes: nothing in it tells the time."""

    paper: str  # the name on the command line
    number: str  # of the paper: "003"
    title: str
    citation: str
    summary: str  # what was found, in two or three sentences
    settings: Mapping[str, Any]  # data, model, protocol
    panels: tuple[Panel, ...]
    measured: Mapping[str, Any] = field(default_factory=dict)  # all figures, for programs

    @property
    def claims(self) -> list[Claim]:
        """The claims of all panels, in their order."""
        return [claim for panel in self.panels for claim in panel.claims]

    @property
    def private(self) -> bool:
        """Whether pictures of people are among the figures."""
        return any(panel.sheet is not None for panel in self.panels)


def check_out(out: Path, overwrite: bool) -> None:
    """Refuse a folder that holds a report already, before any work is done."""
    if out.exists() and not out.is_dir():
        raise OutputExists(f"{show_name(out)} is a file. Name a folder.")
    taken = [name for name in (REPORT, PAGE) if (out / name).exists()]
    if taken and not overwrite:
        raise OutputExists(f"{show_name(out / taken[0])} exists already. Choose another folder, or pass --overwrite.")


def write_reproduction(found: Reproduction, out: Path, *, overwrite: bool = False) -> list[Path]:
    """Write all files of a reproduction into the folder `out`; returns them, the report last."""
    out.mkdir(parents=True, exist_ok=True)
    ids = [claim.id for claim in found.claims]
    if repeated := sorted({one for one in ids if ids.count(one) > 1}):
        raise BadInput(f"claims need ids of their own; {', '.join(repeated)} occur twice.")
    files: dict[str, bytes] = {}
    shown = []
    for panel in found.panels:
        picture = None
        if panel.plot is not None:
            files[f"{panel.name}.svg"] = draw(panel.plot, "svg")
            picture = files[f"{panel.name}.png"] = draw(panel.plot, "png")
        elif panel.sheet is not None:
            picture = files[f"{panel.name}.png"] = encode_png(panel.sheet)
        shown.append((panel, base64.b64encode(picture).decode() if picture else ""))
    page = Environment(loader=PackageLoader("elsewho.papers"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    files[PAGE] = page.get_template("page.html").render(found=found, shown=shown, version=__version__).encode()
    files[REPORT] = to_json(found).encode()
    for name, content in files.items():
        write_atomically(out / name, content, overwrite=overwrite)
    return [out / name for name in files]


def to_json(found: Reproduction) -> str:
    """The report for programs."""
    said = {
        "version": __version__,
        "paper": found.paper,
        "title": found.title,
        "citation": found.citation,
        "settings": found.settings,
        "claims": [asdict(claim) for claim in found.claims],
        "figures": [
            {
                "name": panel.name,
                "title": panel.title,
                "files": _files_of(panel),
                "private": panel.sheet is not None,
                "tables": [asdict(table) for table in panel.tables],
            }
            for panel in found.panels
        ],
        "measured": found.measured,
    }
    return json.dumps(plain(said), indent=1, allow_nan=False) + "\n"


def _files_of(panel: Panel) -> list[str]:
    if panel.plot is not None:
        return [f"{panel.name}.png", f"{panel.name}.svg"]
    return [f"{panel.name}.png"] if panel.sheet is not None else []


def plain(value: Any) -> Any:
    """`value` as JSON knows it: numbers rounded to six digits, no NaN, no arrays."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    if isinstance(value, Sequence):
        return [plain(one) for one in value]
    return str(value)


def draw(plot: Figure, kind: str) -> bytes:
    """The bytes of a plot as "png" or "svg": the same for the same plot."""
    target = io.BytesIO()
    with rc_context({"svg.hashsalt": "elsewho", "svg.fonttype": "none"}):
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        plot.savefig(target, format=kind, dpi=DPI, metadata=metadata, facecolor="white")
    return target.getvalue()


def encode_png(picture: Array) -> bytes:
    """The bytes of a picture (rows, columns, 3) uint8 RGB."""
    return bytes(cv2.imencode(".png", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))[1].tobytes())
