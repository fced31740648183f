"""Random generators from the identity of a draw.

A draw depends on the root seed and on its identity (mechanism, epsilon, inputs, side, run, stage)
only: not on batches, cores, order or machine.
"""

import hashlib
import json

import numpy as np


def generator(root: int, *identity: str | int) -> np.random.Generator:
    """Return the generator of one named draw.

    The identity is encoded as JSON, so that ("a", "bc") and ("ab", "c") differ, and its SHA-256
    hash seeds a `numpy.random.SeedSequence`.
    """
    digest = hashlib.sha256(json.dumps([root, *identity]).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence(int.from_bytes(digest, "big")))
