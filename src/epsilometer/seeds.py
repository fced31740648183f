"""Random generators from the identity of what is drawn.

A draw depends on the root seed and on the words that name it (mechanism, epsilon, inputs, side,
run, stage), and on nothing else: not on batches, cores, order or machine.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np


def generator(root: int, *identity: str | int) -> np.random.Generator:
    """Return the generator of one named draw.

    The words are encoded as JSON, so that ("a", "bc") and ("ab", "c") differ, hashed by SHA-256,
    and the 256 bits seed a `numpy.random.SeedSequence`.
    """
    digest = hashlib.sha256(json.dumps([root, *identity]).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence(int.from_bytes(digest, "big")))
