"""The scikit-learn side: scikit-learn's own checks, and what transformers do beyond the functions."""

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from elsewho.errors import BadInput, BadKey, TooFewPeople
from elsewho.identity.estimators import KDiffDrawn, KDiffFurthest, KSameFurthest, KSameISD, KSameM, KSameSelect
from elsewho.identity.methods import METHODS

KEY = bytes(range(32))


@dataclass(frozen=True)
class GiveKey:
    """Gives the key. Unlike a function it reads the same in every process, as names of tests must."""

    def __call__(self):
        return KEY


ALL = [KSameM(2), KSameSelect(2), KSameFurthest(2), KDiffFurthest(2), KDiffDrawn(2, key=GiveKey()), KSameISD(2)]
every_method = pytest.mark.parametrize("method", ALL, ids=lambda method: type(method).__name__)


def expected_failures(estimator):
    """The checks that cannot hold, and why."""
    if isinstance(estimator, KSameISD):
        return {}  # these checks give two people, so that gallery and closed set average the same
    why = "fit_transform releases a closed set, transform draws from a gallery: two different things, by design"
    return {"check_transformer_general": why, "check_transformer_data_not_an_array": why}


@parametrize_with_checks(ALL, expected_failed_checks=expected_failures)
def test_scikit_learn_accepts_the_transformer(estimator, check):
    check(estimator)


def draw(n=24, d=5, seed=0):
    """Faces (n, d), two rows for each of n / 2 people of two classes."""
    rng = np.random.default_rng(seed)
    ids = np.arange(n) // 2
    faces = rng.normal(size=(n // 2, d))[ids] * 3 + rng.normal(size=(n, d)) * 0.3
    return faces, [f"p{one:02}" for one in ids], ["odd" if one % 2 else "even" for one in ids]


def labels_for(method, people, classes):
    return people if isinstance(method, KSameISD) else classes if isinstance(method, KSameSelect) else None


@every_method
class TestEveryTransformer:
    def test_fit_transform_is_the_release_of_the_function(self, method):
        faces, people, classes = draw()
        model = clone(method).set_params(k=3)
        options = {} if isinstance(method, KSameISD) else {"people": people}

        new = model.fit_transform(faces, labels_for(method, people, classes), **options)

        function = METHODS[model.release_.method]
        given = {"people": people} | ({"key": KEY} if "key" in function.needs else {})
        extra = {"classes": classes} if "classes" in function.needs else {}
        extra |= {"m": 1} if "features" in function.needs else {}
        assert_array_equal(new, function(faces, k=3, **extra, **given).faces)

    def test_a_clone_with_other_parameters_is_another_transformer(self, method):
        other = clone(method).set_params(k=4)

        assert (method.k, other.k) == (2, 4)
        assert other.get_params() == {**method.get_params(), "k": 4}

    def test_it_works_at_the_end_of_a_pipeline(self, method):
        faces, people, classes = draw()
        y = labels_for(method, people, classes)

        line = make_pipeline(PCA(3), clone(method))

        assert line.fit_transform(faces, y).shape == (24, 3)
        assert line.transform(faces[:5]).shape == (5, 3)

    def test_a_gallery_that_is_too_small_is_refused_when_fitted(self, method):
        faces, people, classes = draw()

        with pytest.raises(TooFewPeople, match="k=30"):
            clone(method).set_params(k=30).fit(faces, labels_for(method, people, classes))

    def test_transform_before_fit_is_refused(self, method):
        with pytest.raises(NotFittedError):
            clone(method).transform(draw()[0])


class TestAgainstAGallery:
    def test_furthest_gives_the_furthest_face_and_those_nearest_to_it(self):
        gallery = np.array([[0.0, 0], [1, 0], [10, 0], [9, 1], [9.5, -1]])

        new = KSameFurthest(3).fit(gallery).transform([[0.5, 0.1]])

        assert_allclose(new, [gallery[2:].mean(axis=0)])

    def test_m_gives_the_mean_of_the_nearest(self):
        gallery = np.array([[0.0, 0], [1, 0], [10, 0], [9, 1]])

        assert_allclose(KSameM(2).fit(gallery).transform([[0.4, 5]]), [[0.5, 0]])

    def test_select_stays_in_the_class_of_the_nearest(self):
        gallery = np.array([[0.0], [1], [2], [1.1], [1.2]])

        new = KSameSelect(2).fit(gallery, ["a", "a", "a", "b", "b"]).transform([[1.0], [1.3]])

        assert_allclose(new, [[0.5], [1.15]])

    def test_diff_moves_the_face_from_its_own_cluster_to_the_far_one(self):
        gallery = np.array([[0.0, 0], [1, 0], [10, 0], [9, 1]])
        face = np.array([0.2, 0.2])

        new = KDiffFurthest(2).fit(gallery).transform([face])

        own = (face + gallery[0]) / 2
        assert_allclose(new, [gallery[2:].mean(axis=0) + face - own])

    def test_drawn_gives_the_same_face_whoever_else_is_there(self):
        faces, _, _ = draw()
        model = KDiffDrawn(3, key=GiveKey()).fit(faces)

        assert_array_equal(model.transform(faces[:6])[2], model.transform(faces[2:3])[0])

    def test_isd_keeps_the_features_that_say_little(self):
        faces, people, _ = draw()
        model = KSameISD(3, m=2).fit(faces, people)

        new = model.transform(faces[:4])

        kept = model.ranking_.order[2:]
        assert_array_equal(new[:, kept], faces[:4, kept])
        assert (new[:, model.ranking_.order[:2]] != faces[:4, model.ranking_.order[:2]]).all()

    def test_people_in_the_gallery_count_once(self):
        gallery, people, _ = draw()

        assert KSameM(2).fit(gallery, people=people).gallery_.shape == (12, 5)


class TestWhatIsRefused:
    @pytest.mark.parametrize("method", [KSameSelect(2), KSameISD(2)])
    def test_labels_that_are_needed(self, method):
        with pytest.raises(ValueError, match="requires y"):
            method.fit(draw()[0])

    def test_a_key_that_is_missing(self):
        with pytest.raises(BadKey, match="found none"):
            KDiffDrawn(2).fit(draw()[0])
        with pytest.raises(BadKey, match="32 bytes"):
            KDiffDrawn(2, key=lambda: b"short").fit(draw()[0])

    def test_a_key_that_would_be_printed(self):
        with pytest.raises(BadKey, match="would be printed"):
            KDiffDrawn(2, key=KEY).fit(draw()[0])

        assert repr(KEY)[2:-1] not in repr(make_pipeline(KDiffDrawn(2, key=GiveKey())))

    def test_isd_with_people_given_twice_or_features_that_are_not_there(self):
        faces, people, _ = draw()

        with pytest.raises(BadInput, match="as y"):
            KSameISD(2).fit(faces, people, people=people)
        with pytest.raises(BadInput, match="m from 1 to 5"):
            KSameISD(2, m=6).fit(faces, people)


def test_without_scikit_learn_the_message_names_the_command():
    code = "import sys; sys.modules['sklearn'] = None; import elsewho.identity.estimators"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert run.returncode == 1
    assert "MissingPart: the transformers need scikit-learn" in run.stderr
    assert "pip install scikit-learn" in run.stderr
