"""102 people, neutral and smiling: skipped where the portraits are not beside the checkout."""

import numpy as np
import pytest


@pytest.mark.slow
def test_every_neutral_portrait_holds_exactly_one_face_that_can_be_trusted(london, finder, mesh, read_picture):
    for path in london[0]:
        picture = read_picture(path)
        faces = finder.find(picture)
        assert len(faces) == 1, path.name
        assert mesh.points(picture, faces[0]).trustworthy, path.name


def test_forty_people_who_smile_are_all_nearest_to_their_neutral_selves(london, finder, mesh, embedder, read_picture):
    rows = []
    for paths in london:
        faces = []
        for path in paths[:40]:
            picture = read_picture(path)
            faces.append((picture, mesh.points(picture, finder.find(picture)[0])))
        rows.append(embedder.embed_many(faces))
    neutral, smiling = rows
    apart = np.linalg.norm(smiling[:, None] - neutral[None], axis=2)

    assert apart.argmin(1).tolist() == list(range(40))
