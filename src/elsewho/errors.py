"""Every error that elsewho raises on purpose.

    ElsewhoError
    ├── BadInput (ValueError)          a value given by the caller cannot be used
    │   ├── BadPicture                 a picture that is empty, damaged, too large or of no known kind
    │   ├── BadPoints                  points that no face can have: NaN, coincident, collinear, mirrored
    │   │   └── PointsMismatch         points of another mark-up than the model's
    │   ├── BadAnnotation              a file of points that cannot be read, with file and line
    │   ├── BadKey                     a key that is missing, of the wrong size, or open to others
    │   ├── TooFewFaces                fewer faces than the task needs
    │   └── TooFewPeople               fewer people than k asks for
    ├── BadModel                       a model or gallery file that is damaged, foreign or too new
    ├── LedgerError                    a ledger that cannot be read or written; what it holds is left as it is
    │   ├── LedgerBusy                 another run has held it for too long
    │   ├── LedgerDamaged              cut short, changed, or no ledger at all
    │   ├── LedgerForeign              made with another key
    │   ├── LedgerReadOnly             it may be read but not written
    │   └── LedgerTooNew               made by a newer version
    ├── SecondRelease                  pictures would be released again under other settings
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


class BadKey(BadInput):
    """A key that is missing, of the wrong size, or open to others."""


class TooFewFaces(BadInput):
    """Fewer faces, or fewer people, than the task needs."""


class TooFewPeople(BadInput):
    """Fewer people than k asks for; the message names the largest k that works."""


class BadModel(ElsewhoError):
    """A model or gallery file that is damaged, foreign or too new."""


class LedgerError(ElsewhoError):
    """A ledger that cannot be read or written; what it holds is left as it is."""


class LedgerBusy(LedgerError):
    """Another run has held the ledger for too long."""


class LedgerDamaged(LedgerError):
    """A ledger that is cut short, changed, or none at all."""


class LedgerForeign(LedgerError):
    """A ledger made with another key."""


class LedgerReadOnly(LedgerError):
    """A ledger that may be read but not written."""


class LedgerTooNew(LedgerError):
    """A ledger made by a newer version."""


class SecondRelease(ElsewhoError):
    """Pictures would be released again under other settings, which tells more about them."""


class NoFace(ElsewhoError):
    """No face was found where one is needed."""


class OutputExists(ElsewhoError):
    """A file would be overwritten."""


class MissingPart(ElsewhoError):
    """A part of the installation is not there."""
