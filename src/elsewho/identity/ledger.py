"""What must be remembered between releases: who got which draw, and which pictures were released how.

Both ledgers name people and pictures by HMAC under a key, so that without it nobody can even ask whether somebody is
in them. They hold no names and no pictures; the people's embeddings are sealed.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from elsewho.errors import BadInput, LedgerDamaged, SecondRelease
from elsewho.identity.key import default_path, derive
from elsewho.identity.sealed import SealedTable
from elsewho.media.files import show_name
from elsewho.types import Array

CHUNK = 1 << 20
SHORT = 8  # hexadecimal digits of an id that may stand for it


def people_path(key: Path | str | None = None) -> Path:
    """Where the person ledger of a key file lies: beside it. None: that of the user's own key."""
    path = default_path() if key is None else Path(key)
    return path.with_name(path.name + ".people")


def releases_path() -> Path:
    """Where the user's one release ledger lies, whatever key is used."""
    from platformdirs import user_state_path

    return user_state_path("elsewho") / "releases"


def id_of_name(key: bytes, name: str) -> str:
    """The id of a person whose name is given, by a folder or a list."""
    return _digest(key, "name", name.encode("utf-8", "surrogateescape"))


def id_of_pictures(key: bytes, pictures: Iterable[Path | str]) -> str:
    """The id of a person without a name: that of the picture whose HMAC is smallest, in whatever order they come."""
    ids = [id_of_content(key, picture) for picture in pictures]
    if not ids:
        raise BadInput("a person without a name needs at least one picture; none was given.")
    return _digest(key, "picture", bytes.fromhex(min(ids)))


def id_of_content(key: bytes, path: Path | str) -> str:
    """The id of a picture or clip: an HMAC of the bytes of its file."""
    digest = hmac.new(derive(key, "ids"), b"content\0", "sha256")
    with Path(path).open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def id_of_people(key: bytes, people: Iterable[str]) -> str:
    """One id for a set of people's ids, for `Settings.people`."""
    return _digest(key, "people", "\n".join(sorted(set(people))).encode())


def _to_bytes(id_: str) -> bytes:
    try:
        data = bytes.fromhex(id_)
    except ValueError:
        data = b""
    if len(data) != 32:
        raise BadInput(f"{show_name(id_)!r} is no id: an id has 64 hexadecimal digits. Use id_of_name or its like.")
    return data


def _digest(key: bytes, what: str, data: bytes) -> str:
    return hmac.digest(derive(key, "ids"), what.encode() + b"\0" + data, "sha256").hex()


@dataclass(frozen=True, slots=True)
class Person:
    """What is remembered of a person."""

    id: str  # 64 hexadecimal digits; the name under which faces are drawn
    of_class: str  # the class of the donors
    draw: int  # the number of the key's draw
    embedding: Array | None = field(default=None, compare=False)  # (e,) float32; None: known again by the id alone


class PeopleLedger:
    """The people of one key, and the draw that each of them got. Use it in a `with` block."""

    def __init__(self, path: Path | str, key: bytes) -> None:
        self._table = SealedTable(path, key, "people")
        self._key = key
        self._known: tuple[int, list[Person], Array] | None = None  # version of the table, people, embeddings (p, e)

    def __enter__(self) -> PeopleLedger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._table.count()

    def __iter__(self) -> Iterator[Person]:
        return (self._person(id_, value) for id_, value in self._table.items())

    def close(self) -> None:
        """Close the file."""
        self._table.close()

    def find(self, person: str) -> Person | None:
        """The person of an id; None where it is not known."""
        value = self._table.get(_to_bytes(person))
        return None if value is None else self._person(_to_bytes(person), value)

    def nearest(self, embedding: Array) -> tuple[Person, float] | None:
        """The person whose embedding is nearest to (e,) and its Euclidean distance; None where there is none."""
        asked = np.asarray(embedding, np.float32)
        if asked.ndim != 1 or not np.isfinite(asked).all():
            raise BadInput(f"an embedding is a vector (e,) of finite numbers, found shape {asked.shape}.")
        people, known = self._embeddings()
        if not people:
            return None
        if known.shape[1] != len(asked):
            raise BadInput(
                f"the ledger's embeddings have {known.shape[1]} values, yours {len(asked)}. Use the same embedder."
            )
        away = np.sqrt(((known - asked) ** 2).sum(axis=1))
        return people[int(away.argmin())], float(away.min())

    def remember(self, people: Iterable[Person]) -> list[Person]:
        """Write the people who are not known yet, all or none; returns what is known of each from now on.

        Another run may have been faster: what it wrote stays, and is what must be used.
        """
        kept = []
        with self._table.writing():
            for person in people:
                known = self.find(person.id)
                if known is None:
                    self._table.put(_to_bytes(person.id), _row(person))
                kept.append(known or person)
        self._known = None
        return kept

    def forget(self, person: str) -> str:
        """Remove a person, by name, id or the first digits of the id; returns the id."""
        found = self._resolve(person)
        self._table.remove(bytes.fromhex(found))
        self._known = None
        return found

    def _resolve(self, person: str) -> str:
        named = id_of_name(self._key, person)
        if self.find(named) is not None:
            return named
        digits = person.lower()
        if len(digits) >= SHORT and not set(digits) - set("0123456789abcdef"):
            found = [one.id for one in self if one.id.startswith(digits)]
            if len(found) == 1:
                return found[0]
            if found:
                raise BadInput(f"{len(found)} people have ids that begin with {digits}. Give more digits.")
        raise BadInput(
            f"the ledger knows no person {show_name(person)!r}. Give the name as in the folder or list, "
            f"or at least {SHORT} digits of an id that `elsewho ledger list` shows."
        )

    def _person(self, id_: bytes, value: dict[str, object]) -> Person:
        try:
            packed = value["embedding"]
            embedding = None if packed is None else np.frombuffer(b64decode(str(packed)), "<f4")
            return Person(id_.hex(), str(value["class"]), int(str(value["draw"])), embedding)
        except (KeyError, ValueError, TypeError) as error:
            raise LedgerDamaged(
                f"{show_name(self._table.path)}: row {id_.hex()[:16]} is not a person's. Update elsewho."
            ) from error

    def _embeddings(self) -> tuple[list[Person], Array]:
        """The people with embeddings, and those as (p, e); unsealed again only when something was written."""
        version = self._table.version()
        if self._known is None or self._known[0] != version:
            people = [person for person in self if person.embedding is not None]
            self._known = version, people, np.array([person.embedding for person in people])
        return self._known[1:]


def _row(person: Person) -> dict[str, object]:
    packed = None
    if person.embedding is not None:
        packed = b64encode(np.asarray(person.embedding, "<f4").tobytes()).decode()
    return {"class": person.of_class, "draw": person.draw, "embedding": packed}


@dataclass(frozen=True, slots=True)
class Settings:
    """All that makes a second release of the same pictures another one."""

    key: str  # fingerprint
    gallery: str  # sha256, or "input"
    model: str  # sha256
    method: str
    k: int
    donors: str  # "alike", "any"
    people: str | None = None  # with the gallery "input" the id of the set of people, else None


class ReleaseLedger:
    """Which pictures were released, and with which settings; under the user's own key. Use it in a `with` block."""

    def __init__(self, path: Path | str, key: bytes) -> None:
        self._table = SealedTable(path, key, "releases")

    def __enter__(self) -> ReleaseLedger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._table.count()

    def close(self) -> None:
        """Close the file."""
        self._table.close()

    def clashes(self, originals: Sequence[str], settings: Settings) -> dict[str, list[str]]:
        """For the originals, by `id_of_content`, that were only released otherwise: what was other then."""
        now = asdict(settings)
        found = {}
        for original in originals:
            earlier = self._table.get(_to_bytes(original))
            if earlier and now not in earlier:
                found[original] = [name for name in now if earlier[-1].get(name) != now[name]]
        return found

    def check(self, originals: Sequence[str], settings: Settings) -> None:
        """Refuse originals that were released under other settings; for before the work."""
        if found := self.clashes(originals, settings):
            other = sorted({name for names in found.values() for name in names})
            raise SecondRelease(
                f"{len(found)} of {len(set(originals))} pictures were released before with another "
                f"{', '.join(other)}; two releases together tell more about a face than either. "
                "Use the settings of the first release, or pass --allow-second-release."
            )

    def record(self, originals: Sequence[str], settings: Settings, *, allow: bool = False) -> dict[str, list[str]]:
        """Write down that the originals are released, all or none; refuses as `check` does.

        allow   second releases are written down beside the first ones instead
        returns the clashes, for the report
        """
        now = asdict(settings)
        with self._table.writing():
            if not allow:
                self.check(originals, settings)
            found = self.clashes(originals, settings)
            for original in dict.fromkeys(originals):
                earlier = self._table.get(_to_bytes(original)) or []
                if now not in earlier:
                    self._table.put(_to_bytes(original), [*earlier, now])
        return found
