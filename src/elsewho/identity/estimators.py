"""The methods as scikit-learn transformers, thin over the functions.

`fit_transform` is a release of a closed set, as the papers make it: the faces given are each other's donors, and
`release_` says what the release promises. `fit` keeps a gallery, and `transform` gives new identities from it to
faces that are not in it; there the bounds of the papers do not hold, see docs/guarantees.md. So `fit_transform` is
not `fit` followed by `transform`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from elsewho.errors import BadInput, BadKey, MissingPart, TooFewPeople
from elsewho.identity.diff import k_diff_furthest
from elsewho.identity.drawn import k_diff_drawn
from elsewho.identity.furthest import k_same_furthest
from elsewho.identity.gallery import Gallery
from elsewho.identity.isd import k_same_isd, rank_identity_features
from elsewho.identity.key import check_key
from elsewho.identity.release import Release, check_k, gather
from elsewho.identity.same import k_same_m, k_same_select
from elsewho.types import Array

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data
except ImportError as missing:
    raise MissingPart(
        "the transformers need scikit-learn 1.6 or newer, which is not there: pip install scikit-learn"
    ) from missing


class _Known(NamedTuple):
    """What is known of each face."""

    labels: list[str]  # (n,) y of the methods that need it, else empty
    people: Sequence[str] | None


class _Method(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """What all transformers share.

    gallery_  (p, d) after fit: one face a person
    release_  after fit_transform
    """

    k: int
    needs_y = False  # True: y says something that the method cannot do without

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.needs_y
        return tags

    def fit(self, X: Array, y: Any = None, *, people: Sequence[str] | None = None) -> Any:
        """Keep the faces X (n, d) as a gallery.

        y       what the method must know of each face; ignored where it needs nothing
        people  (n,) an id a row; None: every row its own person
        """
        X, known = self._read(X, y, people)
        self._keep(X, known)
        return self

    def transform(self, X: Array) -> Array:
        """New identities (n, d) for the faces X (n, d), from the gallery."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.stack([self._replace(face) for face in X])

    def fit_transform(self, X: Array, y: Any = None, *, people: Sequence[str] | None = None) -> Array:
        """New identities (n, d) for the faces X (n, d) from one another; what they promise is in `release_`.

        y, people  as in fit
        """
        X, known = self._read(X, y, people)
        self._keep(X, known)
        self.release_ = self._release(X, known)
        return self.release_.faces

    def _read(self, X: Array, y: Any, people: Sequence[str] | None) -> tuple[Array, _Known]:
        """X (n, d) float64, and what is known of its rows."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if not self.needs_y:
            return X, _Known([], people)
        if y is None:
            raise BadInput(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return X, _Known([str(one) for one in y.tolist()], people)

    def _keep(self, X: Array, known: _Known) -> None:
        """Make the gallery."""
        self.gallery_ = gather(X, self.k, type(self).__name__, people=known.people, classes=None).means

    def _release(self, X: Array, known: _Known) -> Release:
        """The release of the closed set X (n, d)."""
        raise NotImplementedError

    def _replace(self, face: Array) -> Array:
        """The new face (d,) of one face (d,)."""
        raise NotImplementedError


class KSameM(_Method):
    """k-Same-M. Against a gallery: the mean of the k gallery faces nearest to the face."""

    def __init__(self, k: int = 5, *, seed: int = 0) -> None:
        self.k = k
        self.seed = seed

    def _release(self, X: Array, known: _Known) -> Release:
        return k_same_m(X, self.k, people=known.people, seed=self.seed)

    def _replace(self, face: Array) -> Array:
        return nearest_mean(self.gallery_, face, self.k)


class KSameSelect(_Method):
    """k-Same-Select; y are the classes. Against a gallery: k-Same-M in the class of the nearest gallery face."""

    needs_y = True

    def __init__(self, k: int = 5, *, seed: int = 0) -> None:
        self.k = k
        self.seed = seed

    def _keep(self, X: Array, known: _Known) -> None:
        crowd = gather(X, self.k, type(self).__name__, people=known.people, classes=known.labels)
        self.gallery_, self.class_of_ = crowd.means, crowd.class_of

    def _release(self, X: Array, known: _Known) -> Release:
        return k_same_select(X, self.k, known.labels, people=known.people, seed=self.seed)

    def _replace(self, face: Array) -> Array:
        own = self.class_of_[nearest(self.gallery_, face)[0]]
        return nearest_mean(self.gallery_[self.class_of_ == own], face, self.k)


class KSameFurthest(_Method):
    """k-Same-furthest. Against a gallery: the mean of the furthest face and its k - 1 nearest (003, figure 7)."""

    def __init__(self, k: int = 5, *, seed: int = 0) -> None:
        self.k = k
        self.seed = seed

    def _release(self, X: Array, known: _Known) -> Release:
        return k_same_furthest(X, self.k, people=known.people, seed=self.seed)

    def _replace(self, face: Array) -> Array:
        return far_mean(self.gallery_, face, self.k)


class KDiffFurthest(_Method):
    """k-Diff-furthest. Against a gallery: the far cluster's mean, plus the face less the mean of its own cluster.

    Its own cluster is the face and the k - 1 gallery faces nearest to it.
    """

    def __init__(self, k: int = 5, *, singles: Literal["avoid", "allow"] = "avoid", seed: int = 0) -> None:
        self.k = k
        self.singles = singles
        self.seed = seed

    def _release(self, X: Array, known: _Known) -> Release:
        return k_diff_furthest(X, self.k, singles=self.singles, people=known.people, seed=self.seed)

    def _replace(self, face: Array) -> Array:
        near = self.gallery_[nearest(self.gallery_, face)[: self.k - 1]]
        own = np.vstack([face, near]).mean(axis=0)
        return np.asarray(far_mean(self.gallery_, face, self.k) + face - own)


class KDiffDrawn(_Method):
    """k-Diff-drawn. Against a gallery: the centre of a cluster and an offset, both drawn by the key.

    key  a function that gives the 32 secret bytes, such as elsewho.identity.key.load_key; not the bytes themselves,
         for scikit-learn prints parameters

    Faces are named by their bytes, so that two pictures of one person get two identities from a gallery: where that
    matters, give k_diff_drawn itself the people.
    """

    def __init__(self, k: int = 5, *, key: Callable[[], bytes] | None = None, seed: int = 0) -> None:
        self.k = k
        self.key = key
        self.seed = seed

    def transform(self, X: Array) -> Array:
        """New identities (n, d) for the faces X (n, d), from the gallery."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        many = len(self.gallery_)
        gallery = Gallery(self.gallery_, ("",), np.zeros(many, np.intp), np.full(many, -1), "")
        return k_diff_drawn(X, self.k, key=self._key(), gallery=gallery).faces

    def _keep(self, X: Array, known: _Known) -> None:
        self._key()
        super()._keep(X, known)

    def _release(self, X: Array, known: _Known) -> Release:
        return k_diff_drawn(X, self.k, key=self._key(), people=known.people, seed=self.seed)

    def _key(self) -> bytes:
        if not callable(self.key):
            raise BadKey(
                "KDiffDrawn needs key=, a function that gives 32 secret bytes, such as elsewho.identity.key.load_key; "
                f"found {'bytes, which would be printed' if self.key else 'none'}."
            )
        return check_key(self.key())


class KSameISD(_Method):
    """Identity subspace decomposition; y says who each row shows. The ranking is in `ranking_`.

    Against a gallery: the m features are replaced by their mean over the k gallery people nearest in them.
    """

    needs_y = True

    def __init__(self, k: int = 5, m: int = 1, *, seed: int = 0) -> None:
        self.k = k
        self.m = m
        self.seed = seed

    def _keep(self, X: Array, known: _Known) -> None:
        if known.people is not None:
            raise BadInput("KSameISD takes who each row shows as y; do not give people as well.")
        if isinstance(self.m, bool) or int(self.m) != self.m or not 1 <= self.m <= X.shape[1]:
            raise BadInput(f"KSameISD needs m from 1 to {X.shape[1]} features to replace, found m={self.m!r}.")
        self.ranking_ = rank_identity_features(X, known.labels)
        super()._keep(X, _Known([], known.labels))

    def _release(self, X: Array, known: _Known) -> Release:
        return k_same_isd(X, known.labels, self.k, self.m, ranking=self.ranking_, seed=self.seed)

    def _replace(self, face: Array) -> Array:
        sensitive = self.ranking_.order[: self.m]
        new = face.copy()
        new[sensitive] = nearest_mean(self.gallery_[:, sensitive], face[sensitive], self.k)
        return new


def nearest(gallery: Array, face: Array) -> Array:
    """The numbers (p,) of the gallery's faces (p, d), the nearest to `face` (d,) first."""
    return np.argsort(((gallery - face) ** 2).sum(axis=1), kind="stable")


def nearest_mean(gallery: Array, face: Array, k: int) -> Array:
    """The mean (d,) of the k faces of `gallery` (p, d) nearest to `face` (d,)."""
    check_k(k, "a mean over the gallery")
    if len(gallery) < k:
        raise TooFewPeople(f"k={k} needs {k} gallery people; found {len(gallery)}. Use k <= {len(gallery)}.")
    return np.asarray(gallery[nearest(gallery, face)[:k]].mean(axis=0))


def far_mean(gallery: Array, face: Array, k: int) -> Array:
    """The mean (d,) of the face of `gallery` (p, d) furthest from `face` (d,) and the k - 1 nearest to that one."""
    return nearest_mean(gallery, gallery[((gallery - face) ** 2).sum(axis=1).argmax()], k)
