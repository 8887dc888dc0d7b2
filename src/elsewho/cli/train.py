"""`elsewho train`: a face model from annotated photos."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from elsewho.aam.model import FaceModel
    from elsewho.aam.train import Progress
    from elsewho.papers.datasets import Annotated as Photo
    from elsewho.types import Array

COUNTS = (1, 2, 5, 10, 20, 50, 100, 200)  # of modes, at which the held-out errors are shown
FOLDS = 5


def train(
    photos: Annotated[Path, typer.Argument(help="Folder of photos; subfolders are people.", metavar="PHOTOS")],
    out: Annotated[Path, typer.Option(help="File for the model, such as faces.safetensors.")],
    points: Annotated[
        Path | None,
        typer.Option(help="Folder of .pts, .asf, .tem or .csv named like the photos. Without it, points are found."),
    ] = None,
    colour: Annotated[
        Literal["auto", "grey", "rgb", "ycc"],
        typer.Option(help="ycc: colour at a third of the cost of rgb; auto: grey if all photos are, else ycc."),
    ] = "auto",
    width: Annotated[int, typer.Option(min=16, max=2048, help="Of the texture frame, pixels.")] = 256,
    shape_modes: Annotated[str, typer.Option(help="A whole number, or a share of variance under 1.")] = "0.98",
    texture_modes: Annotated[str, typer.Option(help="A whole number, or a share of variance under 1.")] = "0.98",
    people: Annotated[
        str,
        typer.Option(
            help="folder: one person a subfolder; each: one person a photo; or a CSV with the columns file,person.",
            metavar="folder|each|FILE.csv",
        ),
    ] = "folder",
    no_levels: Annotated[
        bool, typer.Option("--no-levels", help="Without what fitting needs: faster, smaller.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file at --out.")] = False,
) -> None:
    """Train a face model, and say how well it describes people whom it has not seen.

    Examples:

    * `elsewho train photos --points points --out faces.safetensors`
    * `elsewho train photos --out faces.safetensors --texture-modes 0.95 --people people.csv`
    """
    shapes_kept, textures_kept = read_modes("--shape-modes", shape_modes), read_modes("--texture-modes", texture_modes)

    from elsewho.aam.store import write
    from elsewho.aam.train import train_model
    from elsewho.cli.files import check_folder, check_free

    check_free(out, overwrite)
    check_folder(out)
    with show_progress() as progress:
        annotated, settings = read_photos(photos, points, read_persons(people, photos), progress)
        pictures = [one.image for one in annotated]
        marks = [one.points for one in annotated if one.points is not None]  # all have them: read_photos saw to it
        ids = [str(one.image) for one in annotated] if people == "each" else [one.person for one in annotated]
        model = train_model(
            pictures,
            marks,
            people=ids,
            colour=colour,
            width=width,
            shape_modes=shapes_kept,
            texture_modes=textures_kept,
            levels=not no_levels,
            progress=progress,
            **settings,
        )
        lines = held_out(model, pictures, marks, ids, progress)
    write(out, model, "model", overwrite=overwrite)
    typer.echo(
        f"{out}: {len(pictures)} photos of {len(set(ids))} people, {model.shape.count} points, "
        f"{len(model.shape.basis)} shape and {len(model.texture.basis)} texture modes."
    )
    for line in lines:
        typer.echo(line)


def read_modes(option: str, text: str) -> int | float:
    """A whole number of modes, or a share of variance between 0 and 1."""
    try:
        value = int(text) if text.isdigit() else float(text)
    except ValueError:
        value = 0
    if (isinstance(value, int) and value >= 1) or (isinstance(value, float) and 0 < value < 1):
        return value
    raise typer.BadParameter(f"{option} {text}: pass a whole number of modes, or a share of variance such as 0.98.")


def read_persons(people: str, photos: Path) -> dict[str, str] | None:
    """Person by photo, where --people names a table; refuses one that names photos which are not there."""
    if people in ("folder", "each"):
        return None
    if not people.lower().endswith(".csv"):
        raise typer.BadParameter(f"--people {people}: pass folder, each, or the name of a .csv file.")

    from elsewho.errors import BadAnnotation
    from elsewho.media.files import show_name
    from elsewho.media.people import read_people

    persons = read_people(Path(people))
    if absent := [file for file in persons if not (photos / file).is_file()]:
        raise BadAnnotation(
            f"{show_name(Path(people))} names {len(absent)} of {len(persons)} files that are not in "
            f"{show_name(photos)}, such as {absent[0]}. Paths are relative to that folder."
        )
    return persons


def read_photos(
    photos: Path, points: Path | None, persons: dict[str, str] | None, progress: Progress
) -> tuple[list[Photo], dict[str, Any]]:
    """The photos with their points, and what else training needs to know of the mark-up."""
    from elsewho.errors import BadAnnotation
    from elsewho.media.files import show_name
    from elsewho.papers.datasets import read_folder

    if points is None:
        return find_points(photos, persons, progress), mesh_settings()
    annotated = list(read_folder(photos, points, persons=persons))
    missing = [show_name(one.image) for one in annotated if one.points is None]
    if missing:
        raise BadAnnotation(
            f"{len(missing)} of {len(annotated)} photos have no points in {show_name(points)}: "
            f"{', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}. Annotate or remove them."
        )
    return annotated, {"marks": annotated[0].marks}


def find_points(photos: Path, persons: dict[str, str] | None, progress: Progress) -> list[Photo]:
    """The photos with the points of their largest face; those without a trustworthy face are left out, and said."""
    from dataclasses import replace

    from elsewho.errors import NoFace
    from elsewho.find import find_faces
    from elsewho.media.files import show_name
    from elsewho.media.images import read_image
    from elsewho.papers.datasets import read_folder

    found, without = [], []
    every = list(read_folder(photos, persons=persons))
    for done, one in enumerate(every, 1):
        faces = [points for _, points in find_faces(read_image(one.image)) if points.trustworthy]
        if faces:
            largest = max(faces, key=lambda face: float(face.points[:, 0].max() - face.points[:, 0].min()))
            found.append(replace(one, points=largest.points, marks="mesh468"))
        else:
            without.append(show_name(one.image))
        progress("points", done, len(every))
    if not found:
        raise NoFace(f"in none of the {len(every)} photos in {show_name(photos)} a face was found. Check the folder.")
    if without:
        typer.echo(f"elsewho: left out, no sure face in them: {', '.join(without)}", err=True)
    return found


def mesh_settings() -> dict[str, Any]:
    """What training knows of the found mesh: its triangles, its mirror, the points that no expression moves."""
    from elsewho.find import topology

    return {
        "marks": "mesh468",
        "triangles": topology.TRIANGLES,
        "mirror": topology.MIRROR,
        "weights": topology.POSE_WEIGHTS,
    }


def held_out(
    model: FaceModel, pictures: list[Path], points: list[Array], ids: list[str], progress: Progress
) -> list[str]:
    """Lines of a table: how well people are described by a model that has not seen them."""
    import numpy as np

    from elsewho.aam.train import collect_textures, cross_validate, shape_vectors

    texture = model.texture
    shapes = np.stack([np.asarray(one, np.float64) for one in points])
    levels = collect_textures(pictures, shapes, texture.mesh, texture.space, None, progress)
    if texture.space == "ycc":
        levels = levels[:, : len(texture.mesh.pixels)]  # luma; chroma has its own scale
    most = max(len(model.shape.basis), len(texture.basis))
    counts = [count for count in COUNTS if count <= most] or [1]
    forms = cross_validate(shape_vectors(model.shape, shapes), ids, counts, FOLDS)
    looks = cross_validate(levels, ids, counts, FOLDS)
    distance = np.sqrt(model.shape.dimensions) * 100  # of a point, in percent of the diagonal
    folds = min(FOLDS, len(set(ids)))
    who = "person" if len(set(ids)) < len(ids) else "photo, each taken for another person"
    return [
        f"Held out by {who} ({folds} folds), root mean square error:",
        " modes   points, % of the face's diagonal   texture, grey levels",
        *(
            f"{count:6d}   {form.mean() * distance:32.2f}   {look.mean():20.2f}"
            for count, form, look in zip(counts, forms.error, looks.error, strict=True)
        ),
    ]


@contextmanager
def show_progress() -> Iterator[Progress]:
    """A bar a stage on a terminal; nothing when standard error is piped."""
    if not sys.stderr.isatty():
        yield lambda _what, _done, _of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, Any] = {}

        def progress(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=of)
            bars.update(tasks[what], completed=done, total=of)

        yield progress
