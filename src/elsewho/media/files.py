"""Files that appear whole or not at all, and file names that can be shown."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from elsewho.errors import OutputExists

_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def show_name(path: str | os.PathLike[str]) -> str:
    """The name as a message may show it: on one line, control characters and stray bytes escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in os.fspath(path))


def write_atomically(path: str | os.PathLike[str], data: bytes, *, overwrite: bool = False, mode: int = 0o666) -> None:
    """Write `data` so that `path` holds either all of it or what was there before.

    overwrite  False: an existing file, or a link of that name, raises OutputExists and is left alone
    mode       permissions before the umask; 0o600 for what is private
    """
    with appear_whole(path, overwrite=overwrite, mode=mode) as draft:
        draft.write_bytes(data)


@contextmanager
def appear_whole(path: str | os.PathLike[str], *, overwrite: bool = False, mode: int = 0o666) -> Iterator[Path]:
    """Lend a draft beside `path`, of the same suffix; rename it to `path` if the block ends well.

    The draft is removed if the block raises. A link planted at `path` is never followed.
    """
    path = Path(path)
    _check_free(path, overwrite)
    draft = _open_draft(path, mode)
    try:
        yield draft
        _sync_file(draft)
        _publish(draft, path, overwrite)
        _sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _check_free(path: Path, overwrite: bool) -> None:
    """Refuse a name that is taken; with `overwrite`, one taken by something else than a file."""
    try:
        found = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not (stat.S_ISREG(found) or stat.S_ISLNK(found)):
        raise OutputExists(f"{show_name(path)}: exists and is not a file. Choose another name.")
    if not overwrite:
        raise OutputExists(_exists(path))


def _exists(path: Path) -> str:
    return f"{show_name(path)}: exists already. Choose another name, or allow overwriting."


def _open_draft(path: Path, mode: int) -> Path:
    suffix = path.suffix if len(os.fsencode(path.suffix)) <= 16 else ""
    draft = path.parent / f".elsewho-{secrets.token_hex(8)}{suffix}"
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, mode))
    return draft


def _publish(draft: Path, path: Path, overwrite: bool) -> None:
    """Give the draft its final name; a rename would clobber, a hard link does not."""
    if overwrite:
        draft.replace(path)
        return
    try:
        os.link(draft, path)
    except FileExistsError:
        raise OutputExists(_exists(path)) from None
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        _reserve_and_replace(draft, path)


def _reserve_and_replace(draft: Path, path: Path) -> None:
    """For file systems without hard links: take the name with an empty file, then rename over it."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        raise OutputExists(_exists(path)) from None
    try:
        draft.replace(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _sync_file(path: Path) -> None:
    """Wait until the disk holds the file."""
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(path: Path) -> None:
    """Wait until the disk holds the folder's names, where the file system can do that."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)
