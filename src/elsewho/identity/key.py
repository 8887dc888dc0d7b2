"""The user's key: 32 secret bytes from which every draw follows."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from pathlib import Path

from elsewho.errors import BadKey, OutputExists
from elsewho.media.files import show_name, write_atomically

BYTES = 32


def default_path() -> Path:
    """Where the user's own key lies."""
    from platformdirs import user_config_path

    return user_config_path("elsewho") / "key"


def load_key(path: Path | str | None = None, *, make: bool = True) -> bytes:
    """The key in the file `path`: 32 bytes, or 64 hexadecimal digits. None: the user's own.

    make  the user's own key is made where there is none; a named one never is
    """
    if path is not None:
        return _read(Path(path))
    own = default_path()
    if make and not own.exists():
        _make(own)
    return _read(own)


def check_key(key: bytes) -> bytes:
    """The key itself; refuses anything but 32 bytes."""
    if not isinstance(key, bytes) or len(key) != BYTES:
        found = f"{len(key)} bytes" if isinstance(key, bytes | bytearray) else f"a {type(key).__name__}"
        raise BadKey(f"a key has {BYTES} bytes, found {found}. Use load_key, or secrets.token_bytes({BYTES}).")
    return key


def fingerprint(key: bytes) -> str:
    """Sixteen digits that name the key in reports and do not give it away."""
    return hmac.digest(check_key(key), b"elsewho key", "sha256").hex()[:16]


def derive(key: bytes, purpose: str) -> bytes:
    """A key of 32 bytes for one purpose alone (HKDF-SHA256)."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), BYTES, salt=None, info=f"elsewho {purpose}".encode()).derive(check_key(key))


def _make(path: Path) -> None:
    """Write a new key that only its owner can read; if another run was faster, its key stays."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, secrets.token_bytes(BYTES), mode=0o600)
    except OutputExists:
        pass
    except OSError as error:
        raise BadKey(
            f"the key {show_name(path)} cannot be made: {error.strerror}. Name a key file of your own with --key."
        ) from error


def _read(path: Path) -> bytes:
    name = show_name(path)
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(4 * BYTES)
    except FileNotFoundError:
        make = f"(umask 077; head -c {BYTES} /dev/urandom > {name})"
        raise BadKey(f"there is no key {name}. Check the path, or make a key: {make}") from None
    except OSError as error:
        raise BadKey(f"the key {name} cannot be read: {error.strerror}. Check the path and who owns it.") from error
    if stat.S_ISREG(mode) and mode & 0o077:
        raise BadKey(f"others may read the key {name} (mode {mode & 0o777:o}). Close it: chmod 600 {name}")
    if len(data) == BYTES:
        return data
    try:
        text = data.decode("ascii").strip()
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != BYTES:
        size = f"more than {4 * BYTES - 1}" if len(data) == 4 * BYTES else str(len(data))
        raise BadKey(f"the key {name} has {size} bytes; a key is {BYTES} bytes, or {2 * BYTES} hexadecimal digits.")
    return key
