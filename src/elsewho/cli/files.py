"""What commands check of files before they begin to work."""

from __future__ import annotations

from pathlib import Path

from elsewho.errors import BadInput, OutputExists
from elsewho.media.files import show_name


def check_free(path: Path, overwrite: bool) -> None:
    """Refuse an output that exists, before any work is done."""
    if path.is_dir():
        raise OutputExists(f"{show_name(path)} is a folder. Name a file.")
    if not overwrite and (path.exists() or path.is_symlink()):
        raise OutputExists(f"{show_name(path)} exists already. Choose another name, or pass --overwrite.")


def check_folder(path: Path) -> None:
    """Refuse an output whose folder does not exist."""
    if not path.parent.is_dir():
        raise BadInput(f"the folder {show_name(path.parent)} for {path.name} does not exist. Make it first.")
