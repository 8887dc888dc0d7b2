"""The data sets of the papers, and folders of one's own, as records of picture, points and person."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from elsewho.errors import BadAnnotation
from elsewho.media.files import show_name
from elsewho.media.images import SUFFIXES as PICTURES
from elsewho.media.images import read_size
from elsewho.papers.datasets import points as formats
from elsewho.types import Array

IMM_EXPRESSIONS = {
    "1": "neutral",
    "2": "happy",
    "3": "right turn",
    "4": "left turn",
    "5": "sidelight",
    "6": "arbitrary",
}
JAFFE_EXPRESSIONS = {
    "AN": "angry",
    "DI": "disgusted",
    "FE": "fearful",
    "HA": "happy",
    "NE": "neutral",
    "SA": "sad",
    "SU": "surprised",
}
_MARKS = {
    (".asf", 58): "imm58",
    (".pts", 68): "ibug68",
    (".csv", 189): "london189",
    (".tem", 189): "london189",
}
_IMM_NAME = re.compile(r"(\d\d)-([1-6])[mf]")
_JAFFE_NAME = re.compile(r"([A-Z]{2})\.(AN|DI|FE|HA|NE|SA|SU)\d+\.\d+")


@dataclass(frozen=True, slots=True, eq=False)
class Annotated:
    """One picture of one face, and what is known about it."""

    image: Path
    points: Array | None  # (L, 2) float64, x, y in pixels, 0.0 at the centre of the first pixel; read-only
    person: str
    expression: str  # "" where unknown
    marks: str  # the mark-up, such as "imm58"; "" without points


@dataclass(frozen=True, slots=True)
class LondonPerson:
    """What a person of the London set said about themselves."""

    age: int | None  # years
    gender: str
    ethnicity: str


def read_imm(folder: str | Path) -> Iterator[Annotated]:
    """IMM: `NN-Ex.asf` beside `NN-Ex.jpg`; person NN, expression E. Right and left are the person's own."""
    for path in _list_files(Path(folder), {".asf"}, "IMM"):
        named = _IMM_NAME.fullmatch(path.stem)
        if named is None:
            raise BadAnnotation(f"{show_name(path)}:1: IMM files are named like 01-1m.asf. Rename it.")
        yield _join(_find_picture(path), path, named[1], IMM_EXPRESSIONS[named[2]], 58)


def read_300w(folder: str | Path) -> Iterator[Annotated]:
    """300-W (LFPW, Helen, iBUG): `.pts` beside pictures of any extension; each picture its own person."""
    for path in _list_files(Path(folder), {".pts"}, "300-W"):
        person = path.relative_to(folder).with_suffix("").as_posix()
        yield _join(_find_picture(path), path, person, "", 68)


def read_london(folder: str | Path) -> Iterator[Annotated]:
    """London: `neutral/NNN.jpg` with points, `smiling/NNN.jpg` mostly without; person NNN."""
    for expression in ("neutral", "smiling"):
        for image in _list_files(Path(folder) / expression, PICTURES, "London"):
            path = _find_points(image.with_suffix(""))
            yield _join(image, path, image.stem, expression, 189)


def read_london_info(folder: str | Path) -> dict[str, LondonPerson]:
    """Age, gender and ethnicity of each person of the London set, from its `info.csv`."""
    path = Path(folder) / "info.csv"
    header, *lines = formats.read_lines(path)
    names = [cell.strip() for cell in header.text.split(",")]
    columns = ("face_id", "face_age", "face_gender", "face_eth")
    if not set(columns) <= set(names):
        header.fail(f"the columns {', '.join(columns)} were expected", "Take the info.csv of the London set.")
    people = {}
    for line in lines:
        cells = [cell.strip() for cell in line.text.split(",")]
        if len(cells) != len(names):
            line.fail(f"{len(names)} cells were expected, found {len(cells)}", "Correct the row.")
        row = dict(zip(names, cells, strict=True))
        age = int(row["face_age"]) if row["face_age"].isdecimal() else None
        people[row["face_id"]] = LondonPerson(age, row["face_gender"], row["face_eth"])
    return people


def read_jaffe(folder: str | Path) -> Iterator[Annotated]:
    """JAFFE: `KL.AN1.39.tiff` is person KL, angry; there are no points."""
    for image in _list_files(Path(folder), {".tif", ".tiff"}, "JAFFE"):
        named = _JAFFE_NAME.fullmatch(image.stem.upper())
        if named is None:
            raise BadAnnotation(f"{show_name(image)}:1: JAFFE files are named like KL.AN1.39.tiff. Rename it.")
        yield Annotated(image, None, named[1], JAFFE_EXPRESSIONS[named[2]], "")


def read_folder(
    photos: str | Path, points: str | Path | None = None, *, persons: Mapping[str, str] | None = None
) -> Iterator[Annotated]:
    """Any folder of pictures, with subfolders, in the order of their names.

    points   a folder of .pts, .asf, .tem or .csv of the pictures' names and subfolders; default: beside them
    persons  relative path of a picture to its person; the others are named by their subfolder, or else
             by their own name
    """
    photos = Path(photos)
    beside = photos if points is None else Path(points)
    images = _list_files(photos, PICTURES, "picture")
    stems = [image.relative_to(photos).with_suffix("") for image in images]
    times = Counter(stems)
    _check_orphans(beside, set(stems))
    for image, stem in zip(images, stems, strict=True):
        path = _find_points(beside / stem)
        if path is not None and times[stem] > 1:
            raise BadAnnotation(f"{show_name(path)}:1: two pictures have this name. Rename one and its points.")
        subfolder = stem.parent.as_posix()
        person = stem.name if subfolder == "." else subfolder
        relative = image.relative_to(photos).as_posix()
        yield _join(image, path, (persons or {}).get(relative, person), "", None)


def _join(image: Path, path: Path | None, person: str, expression: str, count: int | None) -> Annotated:
    """Read the points, if any, and make the record; `count` is how many the mark-up has."""
    if path is None:
        return Annotated(image, None, person, expression, "")
    found = formats.read_points(path, read_size(image))
    kind = path.suffix.lower()
    if count is not None and len(found) != count:
        raise BadAnnotation(
            f"{show_name(path)}:1: this mark-up has {count} points, the file {len(found)}. Annotate it again."
        )
    marks = _MARKS.get((kind, len(found)), f"{kind[1:]}{len(found)}")
    return Annotated(image, found, person, expression, marks)


def _list_files(folder: Path, suffixes: set[str] | frozenset[str], what: str) -> list[Path]:
    """All files of these extensions below a folder, sorted; hidden ones are left out, none is an error."""
    if not folder.is_dir():
        raise BadAnnotation(f"{show_name(folder)}: not a folder. Give the folder of the {what} files.")
    found = sorted(p for p in folder.rglob("*") if p.suffix.lower() in suffixes and p.is_file())
    found = [p for p in found if not any(part.startswith(".") for part in p.relative_to(folder).parts)]
    if not found:
        raise BadAnnotation(
            f"{show_name(folder)}: no {what} files ({', '.join(sorted(suffixes))}) in it. Check the path."
        )
    return found


def _find_picture(points: Path) -> Path:
    """The one picture of the same name beside a file of points."""
    found = _find_same_name(points.with_suffix(""), PICTURES)
    if len(found) != 1:
        what = "no picture" if not found else f"{len(found)} pictures"
        raise BadAnnotation(f"{show_name(points)}:1: {what} of this name beside it. Put one there.")
    return found[0]


def _find_points(stem: Path) -> Path | None:
    """The one file of points of this name, or None."""
    found = _find_same_name(stem, formats.SUFFIXES)
    if len(found) > 1:
        names = ", ".join(show_name(path.name) for path in found)
        raise BadAnnotation(f"{show_name(found[0])}:1: one picture has several files of points: {names}. Keep one.")
    return found[0] if found else None


def _find_same_name(stem: Path, suffixes: tuple[str, ...] | frozenset[str]) -> list[Path]:
    """Files beside each other that differ in extension only; upper or lower case extensions."""
    endings = [ending for suffix in sorted(suffixes) for ending in (suffix, suffix.upper())]
    found = (stem.parent / (stem.name + ending) for ending in endings)
    return [path for path in found if path.is_file()]


def _check_orphans(folder: Path, stems: set[Path]) -> None:
    """Refuse points without a picture; a .csv may be anything, so it is left alone."""
    if not folder.is_dir():
        raise BadAnnotation(f"{show_name(folder)}: not a folder. Give the folder of the points.")
    for path in sorted(folder.rglob("*")):
        orphan = path.relative_to(folder).with_suffix("") not in stems
        if orphan and path.suffix.lower() in (".asf", ".pts", ".tem") and not path.name.startswith("."):
            raise BadAnnotation(f"{show_name(path)}:1: no picture has this name. Add it or remove the points.")
