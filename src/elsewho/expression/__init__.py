"""Expressions: carried from one identity to another, taken away, measured.

rest = load_neutral().rest(model, look)         the person's face without its expression
result = prepare(model)(look, rest, new)        the new identity with it
"""

from __future__ import annotations

from elsewho.expression.marks import MARKS, Marks, find_marks
from elsewho.expression.measure import MEASURES, measure
from elsewho.expression.neutral import NeutralEstimator, fit_neutral, load_neutral, retrieve_neutral
from elsewho.expression.transfer import ExpressionTransfer, Look, Steps, look_at, look_of, prepare, to_vector

__all__ = [
    "MARKS",
    "MEASURES",
    "ExpressionTransfer",
    "Look",
    "Marks",
    "NeutralEstimator",
    "Steps",
    "find_marks",
    "fit_neutral",
    "load_neutral",
    "look_at",
    "look_of",
    "measure",
    "prepare",
    "retrieve_neutral",
    "to_vector",
]
