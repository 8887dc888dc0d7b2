"""k-Diff-drawn: a new face of one's own, drawn by the key, that says nothing of the old one but its cluster.

Without a gallery people are put into clusters of at least k that exchange centres in pairs; the new face is the
centre of the *other* cluster and an offset drawn from the distribution of all offsets. With a gallery the centre is
that of one of the gallery's clusters, drawn as well: nobody stands in for anybody. See docs/guarantees.md.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from elsewho.errors import BadInput, TooFewFaces
from elsewho.identity.chance import normal, snap, uniforms
from elsewho.identity.gallery import Gallery
from elsewho.identity.key import check_key
from elsewho.identity.offsets import fit_offsets
from elsewho.identity.pairs import fill_pairs, find_centres
from elsewho.identity.release import Bound, Crowd, Release, check_faces, check_k, gather
from elsewho.identity.skips import CrowdDraws, guess_from_skips, total_skipped
from elsewho.types import Array

METHOD = "k-diff-drawn"
MOST_DRAWS = 32  # tried for one person; if all are too like the original, the person gets no face
MOST_MEASURED = 100  # people of a crowd up to whom it is measured what skipped draws tell
OF = "identity coefficients, before expression, blending and redraws, for whoever lacks the key"

TooLike = Callable[[str, Array], bool]  # person, new face (d,): True where the draw must be skipped


@dataclass(frozen=True, slots=True)
class Drawn:
    """A release and how it was drawn."""

    release: Release
    draws: Mapping[str, int]  # person: the number of the draw used; the person ledger remembers it
    crowds: tuple[CrowdDraws, ...]  # numbered as in Release.cluster


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where new faces are drawn; people are in the order of their names."""

    crowd: Array  # (p,) the crowd that each person hides in
    names: tuple[str, ...]  # (c,) of the crowds
    donors: tuple[Array, ...]  # for each person the numbers of the centres that may be drawn
    centres: Array  # (g, d)
    sizes: Array  # (g,) how many faces each centre is the mean of
    factor: Array  # (d, d) of the offsets


def k_diff_drawn(
    faces: Array,
    k: int,
    *,
    key: bytes,
    gallery: Gallery | None = None,
    people: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    order: Sequence[int] | Array | None = None,
    seed: int = 0,
    first: Mapping[str, int] | None = None,
    too_like: TooLike | None = None,
) -> Release:
    """New identities for `faces` (n, d); the options are those of `draw_identities`."""
    return draw_identities(
        faces,
        k,
        key=key,
        gallery=gallery,
        people=people,
        classes=classes,
        order=order,
        seed=seed,
        first=first,
        too_like=too_like,
    ).release


def draw_identities(
    faces: Array,
    k: int,
    *,
    key: bytes,
    gallery: Gallery | None = None,
    people: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    order: Sequence[int] | Array | None = None,
    seed: int = 0,
    first: Mapping[str, int] | None = None,
    too_like: TooLike | None = None,
) -> Drawn:
    """New identities for `faces` (n, d), drawn by the key.

    k         the least size of a cluster: of people, or with a gallery of donors
    key       32 secret bytes; the same key, people and gallery give the same bytes, in whatever order they come
    gallery   None: the people themselves are the donors, and at least 2k are needed in each class
    people    (n,) an id a row; None: every row its own person, named by its bytes
    classes   (n,) a class a row; with a gallery its classes, and None lets everybody draw from all of them
    order     (p,) the people's numbers, as they first appear, in the order in which they trigger an iteration;
              None: drawn by key and seed
    first     the number of the draw at which a person begins, 0 where none is named
    too_like  a draw of which it says True is skipped, and the key's next is taken. Each skip tells a little

    With a gallery `Release.cluster` numbers the classes, the crowds people hide in, and `donor` and `core_sizes` the
    clusters of the gallery. A person none of whose draws could be used gets a row of NaN and is an exception.
    """
    check_key(key)
    array, k = check_faces(faces), check_k(k, METHOD)
    ids = name_rows(array) if people is None else [str(person) for person in people]
    given = gather(array, k, METHOD, people=ids, classes=classes, clusters=0 if gallery else 2)
    crowd = _in_order(given, ids)
    if gallery is None:
        plan = _swap_clusters(crowd, k, _triggers(given, crowd, order, key, seed))
    else:
        plan = _open_gallery(crowd, k, gallery, named=classes is not None)
    new, donor, draws = _draw(crowd.names, plan, key, first or {}, too_like)
    crowds = _report(crowd.names, plan, new, draws, first or {}, too_like)
    release = _release(k, crowd, plan, new, donor, crowds)
    return Drawn(release, dict(zip(crowd.names, draws.tolist(), strict=True)), crowds)


def name_rows(faces: Array) -> list[str]:
    """A name for each row, made of its values; rows that are all the same get names of their own."""
    named: Counter[str] = Counter()
    names = []
    for row in faces.astype("<f8") + 0.0:  # + 0.0 turns -0 into 0
        name = hashlib.sha256(row.tobytes()).hexdigest()
        named[name] += 1
        names.append(name if named[name] == 1 else f"{name} {named[name]}")
    return names


def _in_order(given: Crowd, ids: Sequence[str]) -> Crowd:
    """The crowd by name, so that nothing depends on the order of the rows."""
    names, kinds = tuple(sorted(given.names)), tuple(sorted(given.classes))
    number = {name: i for i, name in enumerate(names)}
    person_of = np.array([number[person] for person in ids], dtype=np.intp)
    turn = sorted(range(len(names)), key=lambda i: given.names[i])
    class_of = np.array([kinds.index(given.classes[given.class_of[i]]) for i in turn], dtype=np.intp)
    return Crowd(given.means[turn], person_of, names, class_of, kinds)


def _triggers(given: Crowd, crowd: Crowd, order: Sequence[int] | Array | None, key: bytes, seed: int) -> Array:
    """The people (p,) of `crowd` in the order in which they trigger; `order` numbers them as in `given`."""
    if order is None:
        lots = [uniforms(key, "order", str(seed), name, n=1)[0] for name in crowd.names]
        return np.argsort(lots, kind="stable")
    if sorted(order) != list(range(len(given))):
        raise BadInput(
            f"{METHOD}: order must hold each of the numbers 0..{len(given) - 1} of the {len(given)} people once, as "
            f"they first appear in the input; found {len(order)} entries. Leave it out for a drawn order."
        )
    return np.array([crowd.names.index(given.names[int(number)]) for number in order], dtype=np.intp)


def _swap_clusters(crowd: Crowd, k: int, order: Array) -> _Plan:
    """The people as each other's donors: clusters 2i and 2i + 1 exchange centres."""
    cluster = np.full(len(crowd), -1, dtype=np.intp)
    for members in crowd.members():
        turn = order[np.isin(order, members)]
        cluster[turn] = fill_pairs(crowd.means[turn], k) + cluster.max() + 1
    centres = find_centres(crowd.means, cluster)
    return _Plan(
        crowd=cluster,
        names=tuple(str(number) for number in range(len(centres))),
        donors=tuple(np.array([number ^ 1]) for number in cluster),
        centres=centres,
        sizes=np.bincount(cluster),
        factor=fit_offsets(crowd.means - centres[cluster]),
    )


def _open_gallery(crowd: Crowd, k: int, gallery: Gallery, *, named: bool) -> _Plan:
    """The gallery's clusters as donors; `named`: those of the person's class alone."""
    vectors = gallery.vectors.astype(np.float64)
    if vectors.shape[1] != crowd.means.shape[1]:
        raise BadInput(
            f"the gallery's faces have {vectors.shape[1]} values, yours {crowd.means.shape[1]}. "
            "Use the face model that the gallery was made with."
        )
    if named and (unknown := sorted(set(crowd.classes) - set(gallery.classes))):
        raise BadInput(f"the gallery has no class {unknown[0]!r}; it has {', '.join(gallery.classes)}.")
    numbers = _clusters_of(gallery, vectors, k)
    used = numbers >= 0
    vectors, numbers, class_of = vectors[used], numbers[used], gallery.class_of[used]
    by_class = []
    for kind in crowd.classes:
        mine = numbers[class_of == gallery.classes.index(kind)] if named else numbers
        if not len(mine):
            what = f"class {kind!r} of the gallery" if named else "the gallery"
            raise TooFewFaces(
                f"{METHOD} with k={k}: {what} has no cluster of {k} faces. Use a smaller k, or sample more."
            )
        by_class.append(np.unique(mine))
    centres = find_centres(vectors, numbers)
    return _Plan(
        crowd=crowd.class_of,
        names=crowd.classes,
        donors=tuple(by_class[number] for number in crowd.class_of),
        centres=centres,
        sizes=np.bincount(numbers),
        factor=fit_offsets(vectors - centres[numbers]),
    )


def _clusters_of(gallery: Gallery, vectors: Array, k: int) -> Array:
    """Cluster numbers (n,) from 0 on: the gallery's own where they hold k faces, else new ones; -1: in none."""
    own = gallery.cluster_of
    sizes = np.unique(own[own >= 0], return_counts=True)[1]
    numbers = np.full(len(vectors), -1, dtype=np.intp)
    if len(sizes) and sizes.min() >= k:
        numbers[own >= 0] = np.unique(own[own >= 0], return_inverse=True)[1]
        return numbers
    for number in range(len(gallery.classes)):
        members = np.flatnonzero(gallery.class_of == number)
        if len(members) >= 2 * k:
            numbers[members] = fill_pairs(vectors[members], k) + numbers.max() + 1
        elif len(members) >= k:
            numbers[members] = numbers.max() + 1
    return numbers


def _draw(
    names: Sequence[str], plan: _Plan, key: bytes, first: Mapping[str, int], too_like: TooLike | None
) -> tuple[Array, Array, Array]:
    """New faces (p, d), the centres (p,) they began at, and the numbers (p,) of the draws."""
    d = plan.centres.shape[1]
    scale = float(max(np.abs(plan.factor).max(), np.abs(plan.centres).max(), np.finfo(float).tiny))
    new, donor = np.full((len(names), d), np.nan), np.zeros(len(names), dtype=np.intp)
    draws = np.array([first.get(name, 0) for name in names], dtype=np.intp)
    for i, name in enumerate(names):
        for number in range(draws[i], draws[i] + MOST_DRAWS):
            lot = uniforms(key, "face", str(number), name, n=1 + d)
            donor[i] = plan.donors[i][int(lot[0] * len(plan.donors[i]))]
            face = snap(plan.centres[donor[i]] + plan.factor @ normal(lot[1:]), scale)
            draws[i] = number
            if too_like is None or not too_like(name, face):
                new[i] = face
                break
    return new, donor, draws


def _report(
    names: Sequence[str],
    plan: _Plan,
    new: Array,
    draws: Array,
    first: Mapping[str, int],
    too_like: TooLike | None,
) -> tuple[CrowdDraws, ...]:
    """For each crowd what was skipped, and what that tells."""
    without = np.asarray(~np.isfinite(new).all(axis=1))
    skipped = draws - np.array([first.get(name, 0) for name in names]) + without
    crowds = []
    for number, crowd in enumerate(plan.names):
        members = np.flatnonzero(plan.crowd == number).tolist()
        guess = None
        if too_like and skipped[members].any() and not without[members].any() and len(members) <= MOST_MEASURED:
            allowed = [[j == i or not too_like(names[j], new[i]) for j in members] for i in members]
            guess = guess_from_skips(np.array(allowed))
        crowds.append(CrowdDraws(crowd, len(members), int(skipped[members].sum()), guess))
    return tuple(crowds)


def _release(k: int, crowd: Crowd, plan: _Plan, new: Array, donor: Array, crowds: tuple[CrowdDraws, ...]) -> Release:
    """The release, with all that limits its promise."""
    broken = []
    reasons = np.full(len(crowd), "", dtype=object)
    if not plan.factor.any():
        broken.append("faces all alike")
        reasons[:] = "the donors do not vary: new faces are not told apart"
    if total_skipped(crowds):
        broken.append("skipped draws")
        for number, one in enumerate(crowds):
            if one.skipped:
                reasons[plan.crowd == number] = f"{one.skipped} draws were skipped among {one.people} people"
    for number, one in enumerate(crowds):
        if one.people == 1:
            reasons[plan.crowd == number] = "the only person of its class: there is no crowd to hide in"
    reasons[~np.isfinite(new).all(axis=1)] = f"none of {MOST_DRAWS} draws was unlike the original: no new face"
    worst = max(one.guess.worst if one.guess else 1.0 if one.skipped else 1 / one.people for one in crowds)
    rows = crowd.person_of
    return Release(
        method=METHOD,
        k=k,
        faces=new[rows],
        cluster=plan.crowd[rows],
        donor=donor[rows],
        people_per_cluster=np.array([one.people for one in crowds]),
        core_sizes=plan.sizes,
        exceptions=reasons[rows].astype(str),
        bound=Bound(worst, OF, not broken, tuple(broken)),
    )
