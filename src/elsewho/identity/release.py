"""What every method takes and gives: a crowd of people, and a release that says what it promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elsewho.errors import BadInput, TooFewPeople
from elsewho.types import Array


@dataclass(frozen=True, slots=True)
class Bound:
    """How well anybody links a released face to its person, at best, and of what that is true."""

    value: float  # 0..1
    of: str  # what the bound is about, in words
    holds: bool  # False where it is not proven for this release
    broken_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Release:
    """New identities for faces, and how they came about. Rows are those of the input."""

    method: str
    k: int
    faces: Array  # (n, d) float64
    cluster: Array  # (n,) the cluster of each face
    donor: Array  # (n,) the cluster whose faces gave the new identity
    people_per_cluster: Array  # (c,) how many people each cluster holds
    core_sizes: Array  # (c,) of how many people each cluster's centre is the mean
    exceptions: Array  # (n,) str: "" where the method's promise covers the face, else why it does not
    bound: Bound
    core: Array | None = None  # (n,) bool: True where the face counts in its cluster's centre; None: all do


@dataclass(frozen=True, slots=True)
class Crowd:
    """Faces by person: several rows of one person count once, as their mean."""

    means: Array  # (p, d) float64
    person_of: Array  # (n,) the number of each row's person
    names: tuple[str, ...]  # (p,) in the order in which people first appear
    class_of: Array  # (p,) the number of each person's class; clusters stay within a class
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.means)

    def members(self) -> list[Array]:
        """For each class the numbers of its people, in their order."""
        return [np.flatnonzero(self.class_of == number) for number in range(len(self.classes))]


def check_faces(faces: Array, name: str = "faces") -> Array:
    """Vectors as (n, d) float64; refuses what is none. Never the caller's own array if that would be changed."""
    array = np.asarray(faces)
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise BadInput(
            f"{name} must be an array (n, d) of numbers, one row a face; "
            f"found shape {array.shape} of {array.dtype}. Use FaceModel.to_vector for each face."
        )
    array = array.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise BadInput(f"{name}: row {row} holds NaN or infinity. Leave the face out, or encode it again.")
    return array


def check_k(k: int, method: str) -> int:
    """k as an int of at least 2."""
    if isinstance(k, bool) or int(k) != k or k < 2:
        raise BadInput(f"{method} needs a whole k of at least 2, found k={k!r}: one face alone hides nobody.")
    return int(k)


def gather(
    faces: Array,
    k: int,
    method: str,
    *,
    people: Sequence[str] | None,
    classes: Sequence[str] | None,
    clusters: int = 1,
) -> Crowd:
    """The crowd behind the rows of `faces` (n, d); refuses what is too small for k.

    people    (n,) an id a row; None: every row its own person
    classes   (n,) a class a row, the same for all rows of a person; None: one class
    clusters  of k people that the method needs at once: 2 where clusters swap, else 1
    """
    array, k = check_faces(faces), check_k(k, method)
    ids = [str(i) for i in range(len(array))] if people is None else [str(person) for person in people]
    of_class = [""] * len(array) if classes is None else [str(one) for one in classes]
    for what, given in (("people", ids), ("classes", of_class)):
        if len(given) != len(array):
            raise BadInput(f"{method}: {len(array)} faces but {len(given)} {what} were given; give one a row.")
    names = tuple(dict.fromkeys(ids))
    number = {name: i for i, name in enumerate(names)}
    person_of = np.array([number[person] for person in ids], dtype=np.intp)
    kinds = tuple(dict.fromkeys(of_class))
    class_of = np.full(len(names), -1, dtype=np.intp)
    for row, person in enumerate(person_of):
        own = kinds.index(of_class[row])
        if class_of[person] not in (-1, own):
            raise BadInput(f"{method}: person {names[person]!r} is in two classes; give a person one class.")
        class_of[person] = own
    for index, kind in enumerate(kinds):
        size = int((class_of == index).sum())
        if size < clusters * k:
            found = f"class {kind!r} holds {size}" if classes is not None else f"the inputs hold {size}"
            most = size // clusters
            remedy = f"Use k <= {most}, or add" if most >= 2 else "Add"
            raise TooFewPeople(
                f"{method} with k={k} needs {clusters * k} people; {found}. {remedy} {clusters * k - size} people."
            )
    if not len(array):
        raise TooFewPeople(f"{method} with k={k} needs {clusters * k} people; the inputs hold none.")
    counts = np.bincount(person_of, minlength=len(names))
    if people is None:
        means = array.copy()
    else:
        means = np.zeros((len(names), array.shape[1]))
        by_value = np.lexsort(array.T) if len(names) < len(array) else slice(None)  # sums that no order of rows changes
        np.add.at(means, person_of[by_value], array[by_value])
        means /= counts[:, None]
    return Crowd(means, person_of, names, class_of, kinds)
