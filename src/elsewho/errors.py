"""Every error that elsewho raises on purpose.

    ElsewhoError
    ├── BadInput (ValueError)          a value given by the caller cannot be used
    │   ├── BadPicture                 a picture that is empty, damaged, too large or of no known kind
    │   ├── BadPoints                  points that no face can have: NaN, coincident, collinear, mirrored
    │   │   └── PointsMismatch         points of another mark-up than the model's
    │   ├── BadAnnotation              a file of points that cannot be read, with file and line
    │   ├── TooFewFaces                fewer faces than the task needs
    │   └── TooFewPeople               fewer people than k asks for
    ├── BadModel                       a model or gallery file that is damaged, foreign or too new
    ├── NoFace                         no face was found where one is needed
    ├── OutputExists                   a file would be overwritten
    └── MissingPart                    a part of the installation is not there; the message names the command

Each message says what was asked, what was found, and what to do.
"""

from __future__ import annotations


class ElsewhoError(Exception):
    """The root of the tree: catch this to catch them all."""


class BadInput(ElsewhoError, ValueError):
    """A value given by the caller cannot be used."""


class BadPicture(BadInput):
    """A picture that is empty, damaged, too large or of no known kind."""


class BadPoints(BadInput):
    """Points that no face can have."""


class PointsMismatch(BadPoints):
    """Points of another mark-up than the model's."""


class BadAnnotation(BadInput):
    """A file of points that cannot be read; names file and line."""


class TooFewFaces(BadInput):
    """Fewer faces, or fewer people, than the task needs."""


class TooFewPeople(BadInput):
    """Fewer people than k asks for; the message names the largest k that works."""


class BadModel(ElsewhoError):
    """A model or gallery file that is damaged, foreign or too new."""


class NoFace(ElsewhoError):
    """No face was found where one is needed."""


class OutputExists(ElsewhoError):
    """A file would be overwritten."""


class MissingPart(ElsewhoError):
    """A part of the installation is not there."""
