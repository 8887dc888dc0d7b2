"""The gallery that ships, and clusters of faces alike."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from elsewho.aam import store
from elsewho.aam.load import PACKAGED, load_model
from elsewho.errors import BadInput, BadModel, TooFewFaces
from elsewho.identity.gallery import DEFAULT, Gallery, cluster_alike, load_gallery

packaged = pytest.mark.skipif(not DEFAULT.exists(), reason="the packaged gallery is not built")


@pytest.fixture(scope="module")
def gallery():
    return load_gallery()


@packaged
def test_each_class_has_fifty_clusters_of_five_or_more(gallery):
    for number, name in enumerate(gallery.classes):
        sizes = Counter(gallery.cluster_of[gallery.class_of == number])
        assert len(sizes) >= 50, name
        assert min(sizes.values()) >= 5, name


@packaged
def test_no_cluster_crosses_classes(gallery):
    pairs = set(zip(gallery.cluster_of.tolist(), gallery.class_of.tolist(), strict=True))

    assert len(pairs) == len(set(gallery.cluster_of.tolist()))


@packaged
def test_the_gallery_was_made_with_the_packaged_model(gallery):
    assert gallery.model == store.sha256_of(PACKAGED)


@packaged
def test_every_face_reads_as_its_class_says(gallery):
    traits = load_model().traits

    read = [traits.class_of(vector) for vector in gallery.vectors.astype(float)]

    assert read == [gallery.classes[number] for number in gallery.class_of]


@packaged
def test_no_face_is_there_twice(gallery):
    assert len(np.unique(gallery.vectors, axis=0)) == len(gallery.vectors)


@packaged
def test_an_unknown_class_is_refused(gallery):
    with pytest.raises(BadInput, match="no class 'elf'"):
        gallery.of_class("elf")


def test_a_gallery_is_read_back_as_it_was_written(tmp_path):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((10, 4)).astype(np.float16).astype(np.float32)
    made = Gallery(vectors, ("a", "b"), np.repeat([0, 1], 5), np.repeat([0, 1], 5), "abc", {"source": "test"})

    made.save(tmp_path / "g")
    read = load_gallery(tmp_path / "g")

    assert_array_equal(read.vectors, vectors, strict=True)
    assert read.classes == made.classes
    assert_array_equal(read.of_class("b"), vectors[5:])


def test_a_model_is_no_gallery():
    if not PACKAGED.exists():
        pytest.skip("the packaged face model is not built")
    with pytest.raises(BadModel, match="holds a model, asked was a gallery"):
        load_gallery(PACKAGED)


def test_clusters_have_k_faces_and_what_is_left_has_none():
    vectors = np.random.default_rng(1).standard_normal((23, 3))

    numbers = cluster_alike(vectors, 5, np.random.default_rng(2))

    assert Counter(numbers.tolist()) == {0: 5, 1: 5, 2: 5, 3: 5, -1: 3}


def test_faces_far_apart_are_clustered_apart():
    rng = np.random.default_rng(3)
    vectors = np.concatenate([rng.standard_normal((5, 2)) + place for place in ([0, 0], [50, 0], [0, 50])])

    numbers = cluster_alike(vectors, 5, rng)

    assert all(len(set(numbers[i : i + 5].tolist())) == 1 for i in (0, 5, 10))


def test_too_few_faces_for_a_cluster_are_refused():
    with pytest.raises(TooFewFaces, match="clusters of 5 faces were asked of 4"):
        cluster_alike(np.ones((4, 2)), 5, np.random.default_rng(0))
