"""New identities for faces given as vectors: plain functions on arrays, that know nothing of images.

    from elsewho.identity import k_same_furthest, verify

    release = k_same_furthest(faces, k=5)     # faces (n, d), one row a face; see FaceModel.to_vector
    release.faces, release.bound              # (n, d), and what it promises
    verify(release, faces)

`METHODS` lists all methods with what each needs and promises; docs/guarantees.md has the proofs and counterexamples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elsewho.lazily import open_when_used

if TYPE_CHECKING:
    from elsewho.identity.diff import k_diff_furthest
    from elsewho.identity.drawn import draw_identities, k_diff_drawn
    from elsewho.identity.furthest import furthest_average, k_same_furthest
    from elsewho.identity.gallery import Gallery, load_gallery
    from elsewho.identity.images import blur, k_same_eigen, k_same_pixel, mask, pixelate
    from elsewho.identity.isd import Ranking, k_same_isd, rank_identity_features
    from elsewho.identity.key import load_key
    from elsewho.identity.methods import METHODS
    from elsewho.identity.release import Bound, Release
    from elsewho.identity.same import k_same_m, k_same_select
    from elsewho.identity.verification import verify

_WHERE = {
    "METHODS": "elsewho.identity.methods",
    "Bound": "elsewho.identity.release",
    "Gallery": "elsewho.identity.gallery",
    "Ranking": "elsewho.identity.isd",
    "Release": "elsewho.identity.release",
    "blur": "elsewho.identity.images",
    "draw_identities": "elsewho.identity.drawn",
    "furthest_average": "elsewho.identity.furthest",
    "k_diff_drawn": "elsewho.identity.drawn",
    "k_diff_furthest": "elsewho.identity.diff",
    "k_same_eigen": "elsewho.identity.images",
    "k_same_furthest": "elsewho.identity.furthest",
    "k_same_isd": "elsewho.identity.isd",
    "k_same_m": "elsewho.identity.same",
    "k_same_pixel": "elsewho.identity.images",
    "k_same_select": "elsewho.identity.same",
    "load_gallery": "elsewho.identity.gallery",
    "load_key": "elsewho.identity.key",
    "mask": "elsewho.identity.images",
    "pixelate": "elsewho.identity.images",
    "rank_identity_features": "elsewho.identity.isd",
    "verify": "elsewho.identity.verification",
}

__all__ = [
    "METHODS",
    "Bound",
    "Gallery",
    "Ranking",
    "Release",
    "blur",
    "draw_identities",
    "furthest_average",
    "k_diff_drawn",
    "k_diff_furthest",
    "k_same_eigen",
    "k_same_furthest",
    "k_same_isd",
    "k_same_m",
    "k_same_pixel",
    "k_same_select",
    "load_gallery",
    "load_key",
    "mask",
    "pixelate",
    "rank_identity_features",
    "verify",
]

__getattr__ = open_when_used(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted(__all__)
