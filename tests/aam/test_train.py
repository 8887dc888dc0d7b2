"""Training, and what a model says of people it has not seen."""

import numpy as np
import pytest
from faces import make_faces
from numpy.testing import assert_allclose

from elsewho.aam.basis import fit_basis
from elsewho.aam.train import combine, cross_validate, flip_points, train_model
from elsewho.errors import BadInput, BadPicture, BadPoints, PointsMismatch, TooFewFaces
from elsewho.media.images import write_image


@pytest.fixture(scope="module")
def cartoons():
    return make_faces(24, seed=1)


def train(pictures, points, **options):
    return train_model(
        pictures, points, **{"width": 64, "texture_modes": 12, "shape_modes": 5, "levels": False} | options
    )


@pytest.fixture(scope="module")
def model(cartoons):
    return train(*cartoons)


def test_a_training_face_decodes_to_its_own_picture(model, cartoons):
    pictures, points = cartoons
    for picture, at in zip(pictures[:5], points[:5], strict=True):
        drawn = model.paint(np.zeros_like(picture), model.encode(picture, at))

        covered = drawn.any(axis=-1)
        assert np.abs(drawn[covered].astype(float) - picture[covered]).mean() < 8


def test_what_the_model_painted_it_encodes_to_the_same_coefficients(model):
    for face in model.sample(3, seed=2):
        placed = model.from_vector(model.to_vector(face), model.portrait_pose(200))
        picture = model.portrait(placed, 200)

        found = model.encode(picture, model.decode(placed).points)

        assert_allclose(found.shape, face.shape, atol=1e-3)
        assert_allclose(found.texture, face.texture, atol=0.05 * model.texture.basis.sd[0])


def test_the_same_data_train_the_same_model(model, cartoons):
    again = train(*cartoons)

    assert_allclose(again.texture.basis.modes, model.texture.basis.modes, atol=0)
    assert_allclose(again.people_statistics().factor, model.people_statistics().factor, atol=0)


def test_pictures_may_be_named_by_path(model, cartoons, tmp_path):
    paths = []
    for i, picture in enumerate(cartoons[0]):
        paths.append(tmp_path / f"{i}.png")
        write_image(paths[-1], picture)

    assert_allclose(train(paths, cartoons[1]).texture.basis.mean, model.texture.basis.mean, atol=1e-3)


def test_grey_pictures_make_a_grey_model_and_colour_a_colour_model(model, cartoons):
    pictures = [picture.copy() for picture in cartoons[0]]
    for picture in pictures:
        picture[..., 0] //= 2

    assert model.texture.space == "grey"
    assert train(pictures, cartoons[1]).texture.space == "ycc"
    assert train(pictures, cartoons[1], colour="rgb").texture.space == "rgb"


def test_mirrored_pictures_make_the_mean_face_its_own_mirror_image(cartoons):
    from elsewho.aam.levels import mirror_map

    mean = train(*cartoons, mirror=True).shape.mean
    partner = mirror_map(mean)

    assert partner is not None
    assert_allclose(mean[partner] * [-1, 1] - (mean[partner] * [-1, 1]).mean(0), mean - mean.mean(0), atol=2e-3)


def test_flipping_points_twice_gives_them_back():
    points = np.random.default_rng(0).uniform(0, 50, (4, 2))
    partner = np.array([1, 0, 3, 2])

    assert_allclose(flip_points(flip_points(points, 50, partner), 50, partner), points)


def test_several_pictures_of_a_person_count_once_in_the_population(cartoons):
    pictures, points = cartoons
    people = [str(i // 4) for i in range(24)]

    assert train(pictures, points, people=people).people_statistics().factor.shape[1] <= 5


def test_samples_differ_by_seed_and_repeat_by_seed(model):
    first, again, other = (model.sample(2, seed=s)[0] for s in (1, 1, 2))

    assert_allclose(first.texture, again.texture, atol=0)
    assert np.abs(first.texture - other.texture).max() > 1


def test_combined_coefficients_stand_for_the_same_face(model, cartoons):
    vectors = np.stack([model.to_vector(model.encode(p, at)) for p, at in zip(*cartoons, strict=True)])

    combined = combine(model, vectors, 17)

    back = model.to_vector(combined.decode(combined.encode(model.from_vector(vectors[0]))))
    assert_allclose(back, vectors[0], atol=1e-3 * np.abs(vectors[0]).max())


def test_cross_validation_by_inner_products_equals_training_each_fold():
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((30, 50)) @ rng.standard_normal((50, 50))
    people = [str(i // 2) for i in range(30)]

    found = cross_validate(vectors, people, [0, 3, 8], folds=5, seed=1)

    names = np.array(list(dict.fromkeys(people)))
    folds = dict(zip(np.random.default_rng(1).permutation(names), np.arange(15) % 5, strict=True))
    fold = np.array([folds[person] for person in people])
    for c, count in enumerate([0, 3, 8]):
        for f in range(5):
            basis = fit_basis(vectors[fold != f], max(count, 1))
            left = vectors[fold == f]
            rebuilt = basis.decode(basis.encode(left)) if count else np.broadcast_to(basis.mean, left.shape)
            expected = np.sqrt(((left - rebuilt) ** 2).mean(axis=1))
            assert_allclose(found.error[c, fold == f], expected, rtol=1e-6)


def test_a_person_is_never_in_both_parts_of_a_fold():
    """Two equal pictures of each person: were one in training, the other would have no error."""
    rng = np.random.default_rng(4)
    vectors = np.repeat(rng.standard_normal((12, 40)), 2, axis=0)

    found = cross_validate(vectors, [str(i // 2) for i in range(24)], [9], folds=4)

    assert found.error.min() > 0.3


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        (lambda a, b: (a[:-1], b), BadInput, "23 pictures and points for 24"),
        (lambda a, b: (a[:1], b[:1]), TooFewFaces, "at least 2 pictures, found 1"),
        (lambda a, b: (a, [*b[:-1], b[-1][:-2]]), PointsMismatch, "same points"),
        (lambda a, b: (a, [*b[:-1], np.full_like(b[-1], np.nan)]), BadPoints, "finite"),
        (lambda a, b: (a, [*b[:-1], b[-1] * 0 + 7]), BadPoints, "one place"),
        (lambda a, b: (a, [*b[:-1], b[-1] * [-1, 1] + [160, 0]]), BadPoints, "mirrored"),
        (lambda a, b: (a, [*b[:-1], b[-1] + 5000]), BadInput, "outside the picture"),
        (lambda a, b: ([*a[:-1], np.zeros((0, 5, 3), np.uint8)], b), BadPicture, "no pixels"),
        (lambda a, b: ([*a[:-1], a[-1].astype(float)], b), BadPicture, "float"),
        (lambda a, b: ([p * 0 + 128 for p in a], b), BadInput, "constant"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(cartoons, spoil, error, says):
    pictures, points = spoil(list(cartoons[0]), list(cartoons[1]))

    with pytest.raises(error, match=says):
        train(pictures, points)


def test_more_modes_than_faces_are_refused_with_the_number_that_works(cartoons):
    pictures, points = cartoons

    with pytest.raises(TooFewFaces, match="1 to 23 modes"):
        train(pictures, points, texture_modes=40, mirror=False)


def test_one_person_is_no_model_of_faces(cartoons):
    with pytest.raises(TooFewFaces, match="one person"):
        train(*cartoons, people=["anna"] * 24)


def test_people_must_be_named_for_every_picture(cartoons):
    with pytest.raises(BadInput, match="one id a picture"):
        train(*cartoons, people=["anna", "ben"])


def test_pictures_of_one_channel_sixteen_bit_and_alpha_serve_alike(model, cartoons):
    picture, points = cartoons[0][0], cartoons[1][0]
    plain = model.encode(picture, points).texture

    for other in (
        picture[..., 0],
        picture[..., :1],
        picture.astype(np.uint16) * 257,
        np.dstack([picture, np.zeros(picture.shape[:2], np.uint8)]),
    ):
        assert_allclose(model.encode(other, points).texture, plain, atol=1e-2 * np.abs(plain).max())


def test_a_face_partly_outside_the_picture_is_filled_in(model, cartoons):
    picture, points = cartoons[0][1], cartoons[1][1]
    whole = model.encode(picture, points)
    cut = int(points[:, 0].min() + 0.3 * np.ptp(points[:, 0]))

    partly = model.encode(np.ascontiguousarray(picture[:, cut:]), points - [cut, 0])

    frames = [model.texture.decode(face.texture) for face in (whole, partly)]
    assert np.abs(frames[0] - frames[1]).mean() < 12


def test_coefficients_of_another_model_are_refused(model, cartoons):
    face = train(*cartoons, texture_modes=5).sample(1)[0]

    with pytest.raises(BadInput, match="12 texture modes, the coefficients 5 and 5"):
        model.decode(face)


def test_a_model_without_readings_takes_out_its_first_texture_mode(model):
    vectors = np.stack([model.to_vector(face) for face in model.sample(5, seed=3)])

    plain = model.without_brightness(vectors)

    first = len(model.shape.basis)
    assert_allclose(plain[:, first], 0, atol=1e-12)
    assert_allclose(np.delete(plain, first, axis=1), np.delete(vectors, first, axis=1), atol=0)
