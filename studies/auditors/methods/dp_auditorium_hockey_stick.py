"""The hockey-stick tester of dp-auditorium: Kong, Munoz Medina, Ribero and Syed 2023."""

from __future__ import annotations

import math
import warnings

import numpy as np

name = "hockey stick"
needs = {
    "claims": ["pure", "approximate"],
    "outputs": ["scalar", "index", "bits", "vector"],
    "packages": ["scikit-learn"],
}


def lower_bound(x, y, claim, alpha, rng):
    """Find the largest level that its test refutes, of a grid, at half of alpha in each direction.

    Half of the draws train a network of three layers of 12 on a mixture of both sides, weighted 1
    to exp(level) of the claim. Its accuracy on the others, less Hoeffding's margin, is above
    (exp(level) + delta) / (1 + exp(level)) only if the claim is false.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    if claim.bits:
        x, y = (side[:, None] >> np.arange(claim.bits) & 1 for side in (x, y))
    x, y = (side.reshape(len(side), -1).astype(float) for side in (x, y))
    n, left = len(x) // 2, len(x) - len(x) // 2
    centre, scale = np.mean(x[:n], 0), np.std(x[:n], 0) + 1e-300
    levels = np.arange(1, 20_001) / 1000
    first = (left / (1 + np.exp(levels))).astype(int)  # draws of the side of the smaller weight
    margin, best = math.sqrt(math.log(2 / alpha) / 2 / left), 0.0
    for a, b in ((x, y), (y, x)):
        cut = max(int(n / (1 + math.exp(claim.level))), 1)
        network = MLPClassifier(
            (12, 12, 12),
            alpha=0,
            batch_size=100,
            learning_rate_init=0.01,
            max_iter=2,
            random_state=rng.bit_generator.seed_seq.entropy % 2**32,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            both = np.concatenate([a[:cut], b[cut:n]])
            network.fit((both - centre) / scale, np.repeat([0, 1], [cut, n - cut]))
        of_a, of_b = (network.predict((side[n:] - centre) / scale) for side in (a, b))
        hits = np.append(0, np.cumsum(of_a == 0))[first]
        hits = hits + np.append(0, np.cumsum(of_b[::-1]))[left - first]
        accuracy = hits / left - margin
        fails = accuracy * (1 + np.exp(levels)) - np.exp(levels) <= claim.delta
        best = max(best, levels[fails.argmax() - 1] if fails.argmax() else 0.0)
    return best
