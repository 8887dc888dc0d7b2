"""Every method by name: what it is called with, what it promises, and where its promise ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

Need = Literal["people", "classes", "key", "gallery", "features", "images", "box"]


@dataclass(frozen=True, slots=True)
class Method:
    """One method; calling it calls its function."""

    name: str
    where: str  # module:function; imported when first used
    works_on: Literal["vectors", "images", "picture"]  # (n, d), (n, h, w[, c]), or one picture and a box
    needs: frozenset[Need]  # what must be given besides faces and k
    takes: frozenset[Need]  # what may be given
    clusters: int  # of k people that it needs at once; 0: it works on one face alone
    papers: tuple[str, ...]
    promises: str
    bound: str  # what nobody does better than, and of what that is true; "" where there is none
    broken_by: str  # where the promise ends

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        module, _, name = self.where.partition(":")
        found: Callable[..., Any] = getattr(import_module(module), name)
        return found

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        return self.function(*args, **options)

    def largest_k(self, people: int) -> int | None:
        """The largest k that `people` people allow, of each class and without a gallery.

        0 where they are too few for any, None where there is no k.
        """
        if not self.clusters:
            return None
        most = people // self.clusters
        return most if most >= 2 else 0


def _vectors(
    name: str,
    where: str,
    clusters: int,
    *,
    papers: tuple[str, ...],
    promises: str,
    bound: str,
    broken_by: str,
    needs: tuple[Need, ...] = (),
    takes: tuple[Need, ...] = (),
) -> Method:
    may = frozenset({"people", "classes", *takes}) - frozenset(needs)
    at = f"elsewho.identity.{where}"
    return Method(name, at, "vectors", frozenset(needs), may, clusters, papers, promises, bound, broken_by)


def _picture(name: str, promises: str, broken_by: str) -> Method:
    at = f"elsewho.identity.images:{name}"
    return Method(name, at, "picture", frozenset({"box"}), frozenset(), 0, (), promises, "", broken_by)


LINKING = "1/(people in the smallest cluster), of linking by the identity coefficients alone"
NEWTON = "Newton, Sweeney, Malin 2005"
GROSS_2005 = "Gross, Airoldi, Malin, Sweeney 2005"
GROSS_2006 = "Gross, Sweeney, de la Torre, Baker 2006"
CHI = "Chi, Hu 2015 (002)"
MENG = "Meng, Sun 2014 (003)"
SUN = "Sun, Meng, Ariyaeeinia 2015 (000)"

_ALL = (
    _vectors(
        "k-same-m",
        "same:k_same_m",
        1,
        papers=(GROSS_2006,),
        promises="Each of at least k people alike gets their mean face: nobody is told from the others of the cluster.",
        bound=LINKING,
        broken_by="Who knows the other members subtracts them from the mean and has the last one. It bounds linking, "
        "not disclosure.",
    ),
    _vectors(
        "k-same-select",
        "same:k_same_select",
        1,
        papers=(GROSS_2005,),
        promises="k-Same-M within each class, so that what the classes stand for is kept.",
        bound=LINKING,
        broken_by="As k-Same-M; and the class of each face is published.",
        needs=("classes",),
    ),
    _vectors(
        "k-same-furthest",
        "furthest:k_same_furthest",
        2,
        papers=(MENG,),
        promises="At least k people alike get the mean face of a cluster far away; an original that is the nearest to "
        "its own new face by the same distance does not occur, but for the exceptions.",
        bound=LINKING,
        broken_by="A furthest-match attacker does better than zero; a core of one publishes a real face; several "
        "images of a person outside the clustering can be nearest.",
    ),
    _vectors(
        "k-diff-furthest",
        "diff:k_diff_furthest",
        2,
        papers=(SUN,),
        promises="Every person gets a new face of its own; by the same distance nobody is nearest to the own one, but "
        "for the exceptions.",
        bound="",
        broken_by="Each face keeps its offset from the centre of its cluster: whitened distances see through it, and "
        "who knows the others undoes the move. Lone pairs swap real faces.",
    ),
    _vectors(
        "k-diff-drawn",
        "drawn:k_diff_drawn",
        2,
        papers=(),
        promises="Every person gets a new face of its own, drawn by key: the same in every picture, and independent "
        "of the person given the cluster.",
        bound=LINKING + ", for whoever lacks the key",
        broken_by="The key known; a second release with another key; with a gallery, what skipped draws tell.",
        needs=("key",),
        takes=("gallery",),
    ),
    _vectors(
        "isd",
        "isd:k_same_isd",
        1,
        papers=(CHI,),
        promises="The m features that tell people apart best are those of a mean over k people; the rest is kept.",
        bound="",
        broken_by="The features kept are real ones: an attacker who trains on released faces uses them.",
        needs=("people", "features"),
    ),
    Method(
        "k-same-pixel",
        "elsewho.identity.images:k_same_pixel",
        "images",
        frozenset({"images"}),
        frozenset(),
        1,
        (NEWTON,),
        "Each of at least k aligned images alike becomes their mean.",
        "1/(images in the smallest cluster), of linking by the images alone",
        "As k-Same-M; several images of one person count as several people, and means of pixels show ghosts.",
    ),
    Method(
        "k-same-eigen",
        "elsewho.identity.images:k_same_eigen",
        "images",
        frozenset({"images"}),
        frozenset(),
        1,
        (NEWTON,),
        "Each of at least k aligned images alike becomes the image of their mean eigenface coefficients.",
        "1/(images in the smallest cluster), of linking by the images alone",
        "As k-same-pixel.",
    ),
    _picture("blur", "The face is smoothed.", "It hides from people at a glance; recognisers and parrots undo it."),
    _picture("pixelate", "The face becomes blocks.", "As blur: whoever pixelates known faces the same way matches."),
    _picture("mask", "The face is covered, opaquely.", "Everything outside the box; and nothing of use is left."),
)

METHODS: dict[str, Method] = {method.name: method for method in _ALL}
