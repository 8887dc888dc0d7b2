"""`elsewho gallery`: the faces that new identities come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from elsewho.aam.model import FaceModel
    from elsewho.identity.gallery import Gallery
    from elsewho.types import Array

app = typer.Typer(help="Make a gallery: the faces that new identities come from.", rich_markup_mode="markdown")

Out = Annotated[Path, typer.Option(help="File for the gallery, such as donors.safetensors.")]
ModelFile = Annotated[Path | None, typer.Option("--model", help="Face model; without it the packaged one.")]
Size = Annotated[int, typer.Option("--k", min=2, help="Faces in a cluster.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file at --out.")]
People = Annotated[
    str,
    typer.Option(help="folder: one person a subfolder; each: one a photo; or a .csv of file,person.", metavar="WHO"),
]
Points = Annotated[
    Path | None, typer.Option("--points", help="Folder of points named like the photos. Without it, they are found.")
]


@app.command()
def sample(
    out: Out,
    n: Annotated[int, typer.Option("--n", min=2, max=1_000_000, help="How many faces.")],
    k: Size = 5,
    seed: Annotated[int, typer.Option(min=0, help="Another seed samples other faces.")] = 0,
    model: ModelFile = None,
    away_from: Annotated[
        Path | None, typer.Option(help="Photos of people whom no sampled face may look like; subfolders are people.")
    ] = None,
    points: Points = None,
    far: Annotated[float, typer.Option(help="Share of strangers who are as near as the threshold.")] = 1e-3,
    overwrite: Overwrite = False,
) -> None:
    """Sample faces of nobody from a face model.

    Nothing but --away-from keeps a sample from looking like somebody by chance; the gallery's card says what was
    screened. The packaged gallery was screened against the people of the packaged model.

    Examples:

    * `elsewho gallery sample --n 2000 --out donors.safetensors`
    * `elsewho gallery sample --n 2000 --k 10 --seed 7 --out donors.safetensors --away-from photos`
    """
    from elsewho.cli.files import check_folder, check_free
    from elsewho.identity.donors import sample_gallery

    check_free(out, overwrite)
    check_folder(out)
    face_model, model_hash = read_model(model)
    people = None if away_from is None else encode_people(face_model, away_from, points, "folder")
    gallery = sample_gallery(face_model, n, k, seed, model_hash, people=people, far=far)
    save(gallery, out, overwrite)
    if people is None:
        typer.echo("elsewho: no face was screened: one may look like somebody by chance. See --away-from.", err=True)


@app.command()
def build(
    photos: Annotated[Path, typer.Argument(help="Folder of photos; subfolders are people.", metavar="PHOTOS")],
    out: Out,
    k: Size = 5,
    points: Points = None,
    people: People = "folder",
    model: ModelFile = None,
    overwrite: Overwrite = False,
) -> None:
    """Take the people of photos as donors. They are real people: ask them first.

    Examples:

    * `elsewho gallery build photos --out donors.safetensors`
    * `elsewho gallery build photos --points points --out donors.safetensors --k 3`
    """
    from elsewho.cli.files import check_folder, check_free
    from elsewho.identity.donors import arrange_gallery

    check_free(out, overwrite)
    check_folder(out)
    face_model, model_hash = read_model(model)
    donors = encode_people(face_model, photos, points, people)
    card = {"source": "photos of real people", "screening": {"real people": "not screened: each donor is one"}}
    save(arrange_gallery(face_model, donors, k, model_hash, card), out, overwrite)
    typer.echo(
        "elsewho: these donors are real people; each new face is the mean of some of them and a drawn offset. "
        "Have their consent.",
        err=True,
    )


def read_model(path: Path | None) -> tuple[FaceModel, str]:
    """The face model and the hash of its file."""
    from elsewho.aam.load import PACKAGED, load_model
    from elsewho.aam.store import sha256_of

    return load_model(path), sha256_of(path or PACKAGED)


def encode_people(model: FaceModel, photos: Path, points: Path | None, who: str) -> Array:
    """The people of a folder as vectors (p, d): the mean of each one's photos; `who` they are as in --people."""
    import numpy as np

    from elsewho.cli.train import read_persons, read_photos, show_progress
    from elsewho.media.images import read_image

    with show_progress() as progress:
        annotated, _ = read_photos(photos, points, read_persons(who, photos), progress)
        of: dict[str, list[Array]] = {}
        for done, one in enumerate(annotated, 1):
            assert one.points is not None  # noqa: S101  read_photos saw to it
            code = model.encode(read_image(one.image), one.points)
            of.setdefault(str(one.image) if who == "each" else one.person, []).append(model.to_vector(code))
            progress("faces", done, len(annotated))
    return np.stack([np.mean(vectors, axis=0) for vectors in of.values()])


def save(gallery: Gallery, out: Path, overwrite: bool) -> None:
    """Write the gallery and say what is in it."""
    import numpy as np

    gallery.save(out, overwrite=overwrite)
    clusters = len(np.unique(gallery.cluster_of))
    left = gallery.card["given"] - gallery.card["kept"]
    typer.echo(
        f"{out}: {len(gallery.vectors)} faces in {len(gallery.classes)} classes and {clusters} clusters"
        + (f"; {left} were left out, for they fill no cluster." if left else ".")
    )
