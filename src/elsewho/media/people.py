"""Who is on which picture, as a table: `file,person`."""

from __future__ import annotations

import csv
from pathlib import Path

from elsewho.errors import BadAnnotation
from elsewho.media.files import show_name


def read_people(path: Path) -> dict[str, str]:
    """Person by file, from a CSV with the columns `file` and `person`; files relative to their folder, with slashes."""
    name = show_name(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadAnnotation(f"{name}:1: cannot be read as UTF-8 text ({error}). Save it as CSV in UTF-8.") from error
    rows = csv.reader(text.splitlines())
    header = [cell.strip().lower() for cell in next(rows, [])]
    if header != ["file", "person"]:
        raise BadAnnotation(f"{name}:1: the first line must read file,person; found {','.join(header) or 'nothing'}.")
    people: dict[str, str] = {}
    for line, row in enumerate(rows, 2):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) != 2 or not all(cells):
            raise BadAnnotation(f"{name}:{line}: needs a file and a person; found {','.join(cells)!r}.")
        file = Path(cells[0]).as_posix()
        if people.setdefault(file, cells[1]) != cells[1]:
            raise BadAnnotation(f"{name}:{line}: {file} is {people[file]!r} above and {cells[1]!r} here. Keep one.")
    return people
