"""A second opinion: the same faces in the packaged model, which was learned from other people."""

from __future__ import annotations

import numpy as np

from elsewho.aam.load import load_model
from elsewho.errors import ElsewhoError
from elsewho.media.images import read_image
from elsewho.papers.faces import Photos
from elsewho.types import Array


def encode_by_packaged(photos: Photos, shapes: int, textures: int) -> Array | None:
    """Vectors (n, shapes + textures), the first texture mode set to zero; None where a face is not found.

    The packaged model knows the points of the found mesh, not those of the data set.
    """
    from elsewho.find import find_faces

    try:
        model = load_model()
        vectors = []
        for one in photos.records:
            image = read_image(one.image)
            sure = [points for _, points in find_faces(image) if points.trustworthy]
            if not sure:
                return None
            vectors.append(model.to_vector(model.encode(image, sure[0].points)))
    except ElsewhoError:  # it is evidence that can be done without
        return None
    first = len(model.shape.basis)
    use = np.r_[0 : min(shapes, first), first : min(first + textures, len(vectors[0]))]
    chosen = np.stack(vectors)[:, use]
    chosen[:, min(shapes, first)] = 0
    return np.asarray(chosen)
