"""A table on disk whose rows only the key opens: ids in one column, sealed JSON in the other.

SQLite sees to it that runs at the same time, and runs that are killed, lose nothing; AES-256-GCM seals each row to its
id. What is removed is overwritten in the file. What the disk keeps of it elsewhere is beyond any program.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from urllib.parse import quote

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from elsewho.errors import (
    LedgerBusy,
    LedgerDamaged,
    LedgerError,
    LedgerForeign,
    LedgerReadOnly,
    LedgerTooNew,
    OutputExists,
)
from elsewho.identity.key import derive, fingerprint
from elsewho.media.files import appear_whole, show_name

FORMAT = 1
APPLICATION = 0x656C7377  # "elsw", in the file's header
PATIENCE = 10.0  # seconds to wait for another run
NONCE = 12  # bytes
SETTINGS = ("secure_delete = ON", "synchronous = EXTRA", "temp_store = MEMORY", "trusted_schema = OFF")
CODES = {
    sqlite3.SQLITE_BUSY: LedgerBusy,
    sqlite3.SQLITE_LOCKED: LedgerBusy,
    sqlite3.SQLITE_READONLY: LedgerReadOnly,
    sqlite3.SQLITE_PERM: LedgerReadOnly,
    sqlite3.SQLITE_CORRUPT: LedgerDamaged,
    sqlite3.SQLITE_NOTADB: LedgerDamaged,
    sqlite3.SQLITE_ERROR: LedgerDamaged,  # a table is missing
}
REMEDIES: dict[type[LedgerError], str] = {
    LedgerBusy: "Another run holds it; try again when that has ended.",
    LedgerReadOnly: "Allow writing to it and to its folder, or name another ledger.",
    LedgerDamaged: "It was left as it is; bring back a copy of it, or move it away.",
    LedgerError: "Check the disk and the path.",
}


class SealedTable:
    """One ledger, open. Use it in a `with` block."""

    def __init__(self, path: Path | str, key: bytes, kind: Literal["people", "releases"]) -> None:
        """Open the ledger at `path`, or make it; a damaged, foreign or newer one is refused and left as it is."""
        self.path, self.kind, self.fingerprint = Path(path), kind, fingerprint(key)
        self._cipher = AESGCM(derive(key, f"{kind} ledger"))
        if not self.path.exists():
            self._make()
        self._db = self._open(self.path)
        try:
            with self._named():
                self._check()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> SealedTable:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was not yet written whole is taken back."""
        self._db.close()

    def get(self, id: bytes) -> Any:  # noqa: A002
        """The value under an id; None where there is none."""
        with self._named():
            row = self._db.execute("SELECT sealed FROM rows WHERE id = ?", (id,)).fetchone()
        return None if row is None else self._unseal(id, row[0])

    def items(self) -> Iterator[tuple[bytes, Any]]:
        """All ids and values, by id."""
        with self._named():
            rows = self._db.execute("SELECT id, sealed FROM rows ORDER BY id").fetchall()
        return ((id_, self._unseal(id_, sealed)) for id_, sealed in rows)

    def count(self) -> int:
        """How many rows there are."""
        with self._named():
            return int(self._db.execute("SELECT count(*) FROM rows").fetchone()[0])

    def version(self) -> int:
        """A number that changes when another run has written."""
        with self._named():
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def put(self, id: bytes, value: Any) -> None:  # noqa: A002
        """Write a value under an id, over one that is there. Only within `writing`."""
        nonce = secrets.token_bytes(NONCE)
        text = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
        sealed = nonce + self._cipher.encrypt(nonce, text, id)
        with self._named():
            self._db.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", (id, sealed))

    def remove(self, id: bytes) -> bool:  # noqa: A002
        """Overwrite and drop a row, and write the file anew without it; False where there was none."""
        with self.writing(), self._named():
            gone = self._db.execute("DELETE FROM rows WHERE id = ?", (id,)).rowcount > 0
        with self._named():
            self._db.execute("VACUUM")
        return gone

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the ledger alone; all that is put is written at the end, or nothing if the block raises."""
        with self._named():
            self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            with self._named():
                self._db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise

    def _make(self) -> None:
        """An empty ledger, whole from its first moment; if another run was faster, its ledger stays."""
        name = show_name(self.path)
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with appear_whole(self.path, mode=0o600) as draft, self._named():
                db = self._open(draft)
                db.executescript(
                    f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT};"
                    "CREATE TABLE about (kind TEXT NOT NULL, key TEXT NOT NULL);"
                    "CREATE TABLE rows (id BLOB PRIMARY KEY, sealed BLOB NOT NULL) WITHOUT ROWID;"
                )
                db.execute("INSERT INTO about VALUES (?, ?)", (self.kind, self.fingerprint))
                db.close()
        except OutputExists:
            pass
        except OSError as error:
            raise LedgerError(f"the ledger {name} cannot be made: {error.strerror}. Name another place.") from error

    def _open(self, path: Path) -> sqlite3.Connection:
        address = f"file:{quote(os.fsencode(path.absolute()))}?mode=rw"
        with self._named():
            db = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
        try:
            with self._named():
                for setting in SETTINGS:
                    db.execute(f"PRAGMA {setting}")
        except BaseException:
            db.close()
            raise
        return db

    def _check(self) -> None:
        """Refuse what is no ledger of this kind and key, before anything is written."""
        name = show_name(self.path)
        if self._db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise LedgerDamaged(f"{name} is no ledger of elsewho, or is damaged. {REMEDIES[LedgerDamaged]}")
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise LedgerTooNew(f"{name} has format {version}; this version reads up to {FORMAT}. Update elsewho.")
        page = int(self._db.execute("PRAGMA page_size").fetchone()[0])
        if self.path.stat().st_size % page:  # SQLite takes what is missing for zeros, which it may have been
            raise LedgerDamaged(f"{name} is damaged (cut short). {REMEDIES[LedgerDamaged]}")
        if (found := self._db.execute("PRAGMA quick_check").fetchone()[0]) != "ok":
            raise LedgerDamaged(f"{name} is damaged ({found}). {REMEDIES[LedgerDamaged]}")
        kind, made_with = self._db.execute("SELECT kind, key FROM about").fetchone() or ("nothing", "")
        if kind != self.kind:
            raise LedgerError(f"{name} is a ledger of {kind}, asked was one of {self.kind}. Name the other file.")
        if made_with != self.fingerprint:
            raise LedgerForeign(
                f"{name} was made with the key {made_with}, given is {self.fingerprint}. "
                "Use that key, or name another ledger."
            )

    def _unseal(self, id_: bytes, sealed: bytes) -> Any:
        try:
            return json.loads(self._cipher.decrypt(sealed[:NONCE], sealed[NONCE:], id_))
        except (InvalidTag, ValueError, TypeError) as error:
            raise LedgerDamaged(
                f"{show_name(self.path)}: row {id_.hex()[:16]} was changed. {REMEDIES[LedgerDamaged]}"
            ) from error

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Give SQLite's errors our names."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the upper bits tell details
            kind = CODES.get(code, LedgerError)
            raise kind(f"the ledger {show_name(self.path)}: {error}. {REMEDIES[kind]}") from error
