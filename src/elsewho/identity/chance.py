"""Chance that only the key can repeat, the same on every machine and with every version of the libraries.

A label is a list of words. The stream of a label is keyed with HMAC-SHA256(key, words, each after its length in eight
bytes); its block number i is HMAC-SHA256(that, i in eight bytes). All integers are big-endian. A block gives four
words of 64 bits; the upper 52 bits of each, plus a half, over 2**52, are a number between 0 and 1, both excluded.
"""

from __future__ import annotations

import hmac

import numpy as np
from scipy.special import ndtri

from elsewho.types import Array

FURTHEST = 2.5  # standard deviations; a normal number is never further out


def uniforms(key: bytes, *label: str, n: int) -> Array:
    """The first `n` numbers (n,) of the label's stream, evenly spread over (0, 1)."""
    words = [word.encode("utf-8", "surrogateescape") for word in ("elsewho draw 1", *label)]
    stream = hmac.digest(key, b"".join(len(word).to_bytes(8, "big") + word for word in words), "sha256")
    blocks = (hmac.digest(stream, i.to_bytes(8, "big"), "sha256") for i in range(-(-n // 4)))
    bits = np.frombuffer(b"".join(blocks), ">u8")[:n] >> np.uint64(12)
    return np.asarray((bits.astype(np.float64) + 0.5) / 2.0**52)


def normal(uniform: Array) -> Array:
    """Standard normal numbers, clipped, from even ones of the same shape."""
    return np.asarray(np.clip(ndtri(uniform), -FURTHEST, FURTHEST))


def snap(values: Array, scale: float) -> Array:
    """Values rounded to a hundred-millionth of `scale`, where the rounding of different processors is not seen."""
    grid = np.ldexp(1.0, int(np.frexp(scale)[1]) - 27)
    return np.asarray(np.round(values / grid) * grid + 0.0)  # + 0.0 turns -0 into 0
