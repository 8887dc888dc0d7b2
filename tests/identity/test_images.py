"""Methods on pictures: means are means of k images, and what covers a face stays inside its box."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from elsewho.errors import BadInput, BadPicture, TooFewFaces, TooFewPeople
from elsewho.identity.images import blur, k_same_eigen, k_same_pixel, mask, pixelate

BOX = (8, 5, 16, 20)


def draw_images(n=9, shape=(12, 10), seed=0):
    """Images of people who look like one of three."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 256, (3, *shape))[np.arange(n) % 3]
    return np.clip(base + rng.integers(-9, 10, (n, *shape)), 0, 255).astype(np.uint8)


def draw_picture(shape=(40, 32, 3)):
    return np.random.default_rng(1).integers(0, 256, shape).astype(np.uint8)


class TestKSame:
    @pytest.mark.parametrize("shape", [(12, 10), (12, 10, 3)])
    def test_each_image_becomes_the_mean_of_the_images_of_its_cluster(self, shape):
        images = draw_images(shape=shape)

        release = k_same_pixel(images, 3)

        assert release.faces.shape == images.shape
        for number in range(3):
            members = release.cluster == number
            assert members.sum() == 3
            mean = images[members].astype(float).mean(axis=0)
            assert_allclose(release.faces[members], np.broadcast_to(mean, (3, *shape)), atol=1e-9)

    def test_images_alike_come_together(self):
        release = k_same_pixel(draw_images(), 3)

        assert_array_equal(release.cluster[:3], release.cluster[3:6])
        assert_array_equal(release.cluster[:3], release.cluster[6:])

    def test_with_every_eigenface_eigen_gives_the_same_as_pixel(self):
        images = draw_images(n=10)

        by_pixel, by_eigen = k_same_pixel(images, 2, order=range(10)), k_same_eigen(images, 2, 9, order=range(10))

        assert_array_equal(by_eigen.cluster, by_pixel.cluster)
        assert_allclose(by_eigen.faces, by_pixel.faces, atol=1e-6)

    def test_with_few_eigenfaces_the_new_images_lie_in_their_span(self):
        images = draw_images(n=10)

        release = k_same_eigen(images, 2, 2)

        flat = release.faces.reshape(10, -1)
        assert np.linalg.matrix_rank(flat - flat.mean(axis=0), tol=1e-6) <= 2
        assert release.method == "k-same-eigen"

    @pytest.mark.parametrize("method", [k_same_pixel, lambda images, k: k_same_eigen(images, k, 3)])
    def test_the_input_is_not_changed_and_the_bound_is_that_of_the_smallest_cluster(self, method):
        images = draw_images(n=10)
        before = images.copy()

        release = method(images, 4)

        assert_array_equal(images, before)
        assert release.people_per_cluster.min() >= 4
        assert_allclose(release.bound.value, 1 / release.people_per_cluster.min())

    @pytest.mark.parametrize("method", [k_same_pixel, lambda images, k: k_same_eigen(images, k, 1)])
    def test_what_are_no_images_of_one_size_is_refused(self, method):
        ragged = [np.zeros((4, 4)), np.zeros((4, 5))]

        for wrong in (ragged, np.zeros((4, 4)), np.zeros((3, 0, 4)), np.array([["a"]])):
            with pytest.raises(BadPicture):
                method(wrong, 2)
        with pytest.raises(TooFewPeople, match="k <= 9"):
            method(draw_images(), 10)
        with pytest.raises(BadInput, match="k"):
            method(draw_images(), 1)
        with pytest.raises(BadInput, match="row 1"):
            method(np.stack([np.zeros((3, 3)), np.full((3, 3), np.nan)]), 2)

    def test_more_eigenfaces_than_images_allow(self):
        with pytest.raises(TooFewFaces, match="at most 8"):
            k_same_eigen(draw_images(), 2, 9)
        with pytest.raises(BadInput, match="at least 1"):
            k_same_eigen(draw_images(), 2, 0)


@pytest.mark.parametrize("cover", [blur, pixelate, mask])
class TestCovering:
    @pytest.mark.parametrize("shape", [(40, 32), (40, 32, 3), (40, 32, 1)])
    def test_only_the_box_changes_and_the_input_does_not(self, cover, shape):
        picture = draw_picture(shape)
        before = picture.copy()

        covered = cover(picture, BOX)

        assert_array_equal(picture, before)
        assert covered.dtype == np.uint8
        assert covered.shape == shape
        inside = np.zeros((40, 32), bool)
        inside[5:25, 8:24] = True
        assert_array_equal(covered[~inside], picture[~inside])
        assert (covered[inside] != picture[inside]).mean() > 0.9

    def test_what_is_outside_the_box_does_not_mix_in(self, cover):
        picture = draw_picture()
        other = np.full_like(picture, 255)
        other[5:25, 8:24] = picture[5:25, 8:24]

        assert_array_equal(cover(picture, BOX)[5:25, 8:24], cover(other, BOX)[5:25, 8:24])

    def test_a_box_partly_outside_is_cut_and_one_wholly_outside_refused(self, cover):
        picture = draw_picture()

        assert (cover(picture, (-10, -10, 20, 20))[:10, :10] != picture[:10, :10]).mean() > 0.9
        with pytest.raises(BadInput, match="outside the image of 32 x 40"):
            cover(picture, (100, 0, 5, 5))

    @pytest.mark.parametrize("box", [(0, 0, 0, 5), (0, 0, 5), (np.nan, 0, 5, 5), (0, 0, 5, -1)])
    def test_what_is_no_box_is_refused(self, cover, box):
        with pytest.raises(BadInput, match="a face region is a box"):
            cover(draw_picture(), box)

    def test_what_is_no_image_is_refused(self, cover):
        with pytest.raises(BadPicture):
            cover(np.zeros(5), BOX)


def test_blur_spreads_a_point_as_a_gaussian_of_the_width_asked_for():
    picture = np.zeros((101, 101))
    picture[50, 50] = 1

    covered = blur(picture, (0, 0, 101, 101), strength=5 / 101)

    row = covered.sum(axis=0)
    assert_allclose(np.sqrt((row * (np.arange(101) - 50) ** 2).sum() / row.sum()), 5, rtol=0.02)


def test_pixelate_shows_the_mean_of_each_block():
    picture = draw_picture((40, 32)).astype(float)

    covered = pixelate(picture, (0, 0, 32, 40), blocks=4)

    blocks = picture.reshape(5, 8, 4, 8).mean(axis=(1, 3))
    assert_allclose(covered, np.kron(blocks, np.ones((8, 8))))


def test_mask_leaves_one_value():
    assert_array_equal(np.unique(mask(draw_picture(), BOX, value=7)[5:25, 8:24]), [7])


def test_settings_that_would_cover_nothing_are_refused():
    with pytest.raises(BadInput, match="strength=0"):
        blur(draw_picture(), BOX, strength=0)
    with pytest.raises(BadInput, match="blocks=0"):
        pixelate(draw_picture(), BOX, blocks=0)
