"""From a decoded face to pixels of the photo: shape, light, seam. Functions from arrays to arrays."""

from elsewho.paint.blend import blend, keep_own
from elsewho.paint.conceal import conceal
from elsewho.paint.light import add_grain, carry_expression, limit_colour, match_light, match_tone
from elsewho.paint.masks import Masks, make_masks
from elsewho.paint.render import Window, carry_shape, draw, open_window, pull

__all__ = [
    "Masks",
    "Window",
    "add_grain",
    "blend",
    "carry_expression",
    "carry_shape",
    "conceal",
    "draw",
    "keep_own",
    "limit_colour",
    "make_masks",
    "match_light",
    "match_tone",
    "open_window",
    "pull",
]
