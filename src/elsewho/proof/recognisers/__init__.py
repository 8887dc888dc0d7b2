"""Recognisers that attack a release, and how their success is counted.

A recogniser turns faces into rows of numbers (n, e) that are the nearer the more alike the faces are; `scores` counts
from distances of probes to a gallery, `intervals` says how sure a figure is. None of them is used by the pipeline.
"""

from elsewho.proof.recognisers.eigenfaces import Eigenfaces
from elsewho.proof.recognisers.fisherfaces import Fisherfaces
from elsewho.proof.recognisers.intervals import Interval, bootstrap_people, clopper_pearson, mean_interval
from elsewho.proof.recognisers.onnx import OnnxRecogniser
from elsewho.proof.recognisers.scores import Roc, area_under, cmc, distances, equal_error, pairs, rank1, roc, tar_at

__all__ = [
    "Eigenfaces",
    "Fisherfaces",
    "Interval",
    "OnnxRecogniser",
    "Roc",
    "area_under",
    "bootstrap_people",
    "clopper_pearson",
    "cmc",
    "distances",
    "equal_error",
    "mean_interval",
    "pairs",
    "rank1",
    "roc",
    "tar_at",
]
