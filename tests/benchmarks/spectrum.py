"""kNN by a sliding window, beside scikit-learn's: `make measurements`.

The first lines are one delta of the Laplace mechanism at 2^26 samples in all, half of them to
train, k = sqrt(n_train), on one core, with each coin, then of outputs that tie; the last the window
beside scikit-learn at 2^20, of whose test points scikit-learn gets a share, its time scaled to all.
A timing is never an assertion.
"""

from __future__ import annotations

import math
import resource
import time

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from epsilometer.classifiers.neighbours import NearestNeighbours
from epsilometer.estimators.spectrum import Spectrum

CLAIM = 0.5
QUERIES = 20_000  # test points that scikit-learn gets


def drawn(total: int) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides of so many samples in all."""
    rng = np.random.default_rng(0)
    return rng.laplace(0, 1, total // 2), rng.laplace(1, 1, total // 2)


def large() -> None:
    """Time one delta, with each coin."""
    x, x_prime = drawn(2**26)
    exact = 1 - math.exp((CLAIM - 1) / 2)
    for coin in ("expected", "drawn"):
        method = Spectrum("nearest_neighbours", coin=coin, claims=[CLAIM])
        method.test(x[:1000], x_prime[:1000], np.random.default_rng(0))  # compiles
        start = time.process_time()
        forward, reverse = method.test(x, x_prime, np.random.default_rng(1))
        spent = time.process_time() - start
        errors = [abs(float(side.delta[0]) - exact) for side in (forward, reverse)]
        print(f"2^26 samples, coin {coin}: {spent:5.1f} s for both directions, errors", end=" ")
        print(", ".join(f"{error:.1e}" for error in errors))
    method = Spectrum("nearest_neighbours", claims=[CLAIM])
    for name, tied in (
        ("clamped", lambda side: np.clip(side, 0, 1)),
        ("rounded to 1e-3", lambda side: np.round(side, 3)),
        ("as 32 bits", lambda side: side.astype(np.float32).astype(float)),
    ):
        sides = tied(x), tied(x_prime)
        start = time.process_time()
        method.test(*sides, np.random.default_rng(1))
        print(f"{name}: {time.process_time() - start:5.1f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GiB")


def against_scikit_learn() -> None:
    """Time training and testing on the same samples."""
    x, x_prime = drawn(2**20)
    half = x.size // 2
    train, train_prime = x[:half], x_prime[:half]
    test = np.concatenate([x[half:], x_prime[half:]])

    start = time.process_time()
    fitted = NearestNeighbours().fit(train, train_prime, 2 * half, 0)
    fitted.votes(test)
    ours = time.process_time() - start

    queries = np.random.default_rng(2).choice(test, QUERIES, replace=False)
    points = np.concatenate([train, train_prime])[:, None]
    model = KNeighborsClassifier(fitted.k, n_jobs=1)
    start = time.process_time()
    model.fit(points, np.repeat([0, 1], half))
    trained = time.process_time() - start
    start = time.process_time()
    predicted = model.predict(queries[:, None])
    theirs = trained + (time.process_time() - start) * test.size / QUERIES

    same = int(fitted.votes(queries).above(np.zeros(1))[0])
    one_by_one = np.array(
        [fitted.votes(queries[i : i + 1]).above(np.zeros(1))[0] for i in range(2000)]
    )
    differ = int((one_by_one != predicted[:2000]).sum())
    print(f"2^20 samples, k = {fitted.k}: ours {ours:.3f} s, scikit-learn {theirs:.0f} s", end="")
    print(f" ({theirs / ours:.0f} times); taken for x': {same} and {int(predicted.sum())}", end="")
    print(f" of {QUERIES}; of 2000 one by one {differ} differ")


if __name__ == "__main__":
    large()
    against_scikit_learn()
