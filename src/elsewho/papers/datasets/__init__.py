"""Readers of annotated photographs; all yield the same record, `Annotated`.

    IMM      .asf, 58 points     relative to the image size
    300-W    .pts, 68 points     LFPW, Helen, iBUG
    London   .csv or .tem, 189   Face Research Lab London Set
    JAFFE    file names only     no points
    a folder of one's own        any of these files beside the pictures, or in a second folder

Points are x, y in pixels of the upright picture; x = 0.0 is the centre of the leftmost pixel.
"""

from elsewho.papers.datasets.points import read_points
from elsewho.papers.datasets.sets import (
    Annotated,
    LondonPerson,
    read_300w,
    read_folder,
    read_imm,
    read_jaffe,
    read_london,
    read_london_info,
)

__all__ = [
    "Annotated",
    "LondonPerson",
    "read_300w",
    "read_folder",
    "read_imm",
    "read_jaffe",
    "read_london",
    "read_london_info",
    "read_points",
]
