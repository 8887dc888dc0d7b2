"""Galleries of one's own, and the guard that keeps donors from looking like somebody."""

from types import SimpleNamespace

import numpy as np
import pytest

from elsewho.aam.population import Population
from elsewho.errors import BadInput, TooFewFaces, TooFewPeople
from elsewho.identity.donors import ALL, arrange_gallery, sample_gallery
from elsewho.identity.screen import screen


def make_people(n, d=6, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def make_model(d=6):
    """What a gallery needs of a face model without traits."""
    return SimpleNamespace(traits=None, people_statistics=lambda: Population.independent(np.ones(d)))


class TestScreen:
    def test_the_threshold_is_that_of_strangers(self):
        people = make_people(500)
        away = np.linalg.norm(people[:, None] - people, axis=2)[np.triu_indices(500, 1)]

        found = screen(people[:5], people)

        assert (away < found.threshold).mean() == pytest.approx(1e-3, rel=0.05)
        assert found.pairs == 500 * 499 // 2

    def test_a_likeness_does_not_pass_and_a_stranger_does(self):
        people = make_people(500)

        assert screen(np.stack([people[7] + 0.01, people[7] + 50]), people).passed.tolist() == [False, True]

    def test_pictures_of_one_person_are_no_strangers(self):
        people = np.repeat(make_people(500), 2, axis=0)

        assert screen(people[:1], people, people=[str(i // 2) for i in range(1000)]).threshold > 0.1

    def test_a_share_that_cannot_be_measured_is_refused_with_one_that_can(self):
        with pytest.raises(TooFewPeople, match=r"on 100000 pairs of strangers, found 4950. Use far >= 0.02"):
            screen(make_people(3), make_people(100))

    @pytest.mark.parametrize("far", [0, 1, -1, 2])
    def test_a_share_that_is_none_is_refused(self, far):
        with pytest.raises(BadInput, match="share of pairs"):
            screen(make_people(3), make_people(500), far=far)

    def test_vectors_of_two_models_are_refused(self):
        with pytest.raises(BadInput, match="vectors have 4 values, training 6"):
            screen(make_people(3, d=4), make_people(500))


class TestSample:
    def test_samples_pass_the_screen_that_the_card_names(self):
        people = make_people(500)

        gallery = sample_gallery(make_model(), 300, 5, 0, "hash", people=people)

        card = gallery.card["screening"]
        away = np.linalg.norm(gallery.vectors[:, None] - people, axis=2)
        assert away.min() > card["threshold"]
        assert card["tried"] > 300
        assert card["people given"] == 500
        assert len(gallery.vectors) == 300

    def test_a_screen_that_lets_nobody_pass_ends(self):
        with pytest.raises(BadInput, match=r"too few of \d+ samples are unlike"):
            sample_gallery(make_model(d=1), 100, 5, 0, "hash", people=make_people(500, d=1), far=0.9)


class TestArrange:
    def test_a_model_without_traits_has_one_class(self):
        assert arrange_gallery(make_model(), make_people(12), 4, "hash", {}).classes == (ALL,)

    def test_classes_that_fill_no_cluster_are_left_out_and_named(self):
        model = make_model()
        model.traits = SimpleNamespace(class_of=lambda vector: "left" if vector[0] < 0 else "right")
        vectors = np.concatenate([-np.abs(make_people(3)), np.abs(make_people(11))])

        gallery = arrange_gallery(model, vectors, 5, "hash", {"source": "here"})

        assert gallery.classes == ("right",)
        assert np.bincount(gallery.cluster_of).tolist() == [5, 5]
        assert gallery.card["left out"] == {"left": 3}
        assert (gallery.card["given"], gallery.card["kept"], gallery.card["source"]) == (14, 10, "here")

    def test_too_few_faces_are_refused(self):
        with pytest.raises(TooFewFaces, match="no class has k=5 faces; the largest has 4"):
            arrange_gallery(make_model(), make_people(4), 5, "hash", {})
