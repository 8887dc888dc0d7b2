"""`elsewho demo`: the packaged portrait, all the way through."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from elsewho.pipeline import Result
    from elsewho.types import Array

NAMES = ("released.png", "before-after.png")
SIDE, LABEL = 512, 40  # pixels of a panel's side, and of the line of text over it


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the two pictures.")] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Another seed draws another face.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace pictures of an earlier demo.")] = False,
) -> None:
    """Give the packaged portrait another face, and show both side by side.

    The new face is a sample of the face model. It protects nobody yet.

    Examples:

    * `elsewho demo`
    * `elsewho demo --seed 7 --out faces --overwrite`
    """
    from elsewho.cli.files import check_free
    from elsewho.media.images import read_image, write_image
    from elsewho.pipeline import deidentify

    for name in NAMES:
        check_free(out / name, overwrite)
    portrait = read_image(Path(__file__).parents[1] / "data" / "astronaut.jpg")
    result = deidentify(portrait, seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    write_image(out / NAMES[0], result.image, overwrite=overwrite)
    write_image(out / NAMES[1], before_after(portrait, result), overwrite=overwrite)
    replaced = sum(face.outcome == "replaced" for face in result.faces)
    typer.echo(
        f"{replaced} of {len(result.faces)} faces replaced: {out / NAMES[0]}, {out / NAMES[1]}. "
        "The new face is a plain sample of the model: this protects nobody yet."
    )


def before_after(before: Array, result: Result) -> Array:
    """Head and shoulders of the first face, before and after, side by side (rows, columns, 3) uint8."""
    import cv2
    import numpy as np

    height, width = before.shape[:2]
    x, y, w, h = result.faces[0].box if result.faces else (0.0, 0.0, width, height)
    side = int(min(height, width, 2.2 * max(w, h)))
    left = int(np.clip(x + (w - side) / 2, 0, width - side))
    top = int(np.clip(y + (h - side) / 2, 0, height - side))
    panels = []
    for picture, text in ((before, "before"), (result.image, "after: a sample; it protects nobody yet")):
        part = np.ascontiguousarray(picture[top : top + side, left : left + side])
        panel = np.full((SIDE + LABEL, SIDE, 3), 255, np.uint8)
        panel[LABEL:] = cv2.resize(part, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
        cv2.putText(panel, text, (10, 27), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (60, 60, 60), 1, cv2.LINE_AA)
        panels.append(panel)
    gap = np.full((SIDE + LABEL, 8, 3), 255, np.uint8)
    return np.hstack([panels[0], gap, panels[1]])
