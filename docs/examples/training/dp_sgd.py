"""DP-SGD (Abadi et al. 2016) on scikit-learn's breast-cancer table, with canaries to audit it.

A logistic regression of 569 rows. Each step takes every row with probability ``rate``, clips the
gradient of each to norm `CLIP`, adds normal noise of ``noise_multiplier`` times that to their sum,
and goes against it. A canary is one more row, whose gradient is `GRADIENT` in a coordinate of its
own: ``included`` says which of them are in the table, which is how two neighbours differ. Scores
are made of the noisy sums of all steps, which DP-SGD's analysis takes as public.

Faults are what went wrong in libraries and in people's loops:

- ``no clipping``;
- ``noise of one microbatch``: rows are clipped one by one, but the noise is what the sum of one of
  four microbatches would need;
- ``sampling not accounted for``: batches are slices of the table, the same ones in every epoch,
  while the accountant is told that they are sampled.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CLIP = 1.0
GRADIENT = 10.0  # of a canary, before it is clipped
MICROBATCHES = 4
STEP = 0.5  # the learning rate
SCORES = ("model", "steps", "batch")
FAULTS = ("none", "no clipping", "noise of one microbatch", "sampling not accounted for")
_TOGETHER = 500  # trainings


def scores(
    included: Sequence[int],
    size: int,
    rng: np.random.Generator,
    fault: str = "none",
    rate: float = 0.05,
    steps: int = 80,
    noise_multiplier: float = 1.5,
) -> Floats:
    """Train ``size`` times; return three scores of the first canary, of shape ``(size, 3)``.

    Its inner product with the final ``model``; the log likelihood ratio of all ``steps``, if it
    was sampled; and its inner product with the steps of its own ``batch``, if batches were slices.
    """
    made = _trained(included, size, rng, fault, rate, steps, noise_multiplier)
    return np.concatenate([found[:, 0] for _, found in made])


def scores_in_one_run(
    included: Sequence[int],
    size: int,
    rng: np.random.Generator,
    fault: str = "none",
    rate: float = 0.05,
    steps: int = 80,
    noise_multiplier: float = 1.5,
    score: str = "steps",
) -> Floats:
    """Train ``size`` times; return one score of each canary, of shape ``(size, canaries)``."""
    made = _trained(included, size, rng, fault, rate, steps, noise_multiplier)
    return np.concatenate([found[:, :, SCORES.index(score)] for _, found in made])


@functools.cache
def table() -> tuple[Floats, Floats]:
    """Return the rows, of shape ``(569, 31)`` with a one in each, and labels 0 and 1."""
    data = load_breast_cancer()
    rows = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    return np.column_stack([rows, np.ones(len(rows))]), data.target.astype(float)


def _trained(
    included: Sequence[int],
    size: int,
    rng: np.random.Generator,
    fault: str,
    rate: float,
    steps: int,
    noise_multiplier: float,
) -> Iterator[tuple[Floats, Floats]]:
    """Yield models, of shape ``(some, 31)``, and scores ``(some, canaries, 3)``."""
    if fault not in FAULTS:
        raise ValueError(f"unknown fault {fault!r} (known: {', '.join(FAULTS)})")
    rows, labels = table()
    batches = round(1 / rate)  # of an epoch, where they are slices
    sliced = fault == "sampling not accounted for"
    clip = np.inf if fault == "no clipping" else CLIP
    noise = noise_multiplier * CLIP
    if fault == "noise of one microbatch":
        noise /= MICROBATCHES
    canaries = np.array(included, bool)
    own = (len(rows) + np.arange(canaries.size)) % batches  # the slice of each canary
    for start in range(0, size, _TOGETHER):
        some = min(_TOGETHER, size - start)
        weights = np.zeros((some, rows.shape[1]))
        found = np.zeros((some, canaries.size, len(SCORES)))
        for step in range(steps):
            turn = step % batches
            if sliced:
                taken = np.broadcast_to(own == turn, (some, canaries.size))
                training, row = _slice(some, len(rows), turn, batches)
            else:
                taken = rng.random((some, canaries.size)) < rate
                training, row = _sample(some, len(rows), rate, rng)
            total = _clipped_sum(weights, rows, labels, training, row, clip)
            total += rng.normal(0, noise, total.shape)
            weights -= STEP / (rate * len(rows)) * total
            inside = (taken & canaries) * min(GRADIENT, clip) + rng.normal(0, noise, taken.shape)
            seen = inside / CLIP
            ratio = (seen - 0.5) / noise_multiplier**2
            found[:, :, 0] += seen
            found[:, :, 1] += np.logaddexp(np.log1p(-rate), np.log(rate) + ratio)
            found[:, :, 2] += seen * (own == turn)
        yield weights, found


def _clipped_sum(
    weights: Floats, rows: Floats, labels: Floats, training: Integers, row: Integers, clip: float
) -> Floats:
    """Return the sum of clipped gradients of each training, of shape ``(trainings, 31)``."""
    margins = np.einsum("ij,ij->i", rows[row], weights[training])
    slopes = 1 / (1 + np.exp(-margins)) - labels[row]
    norms = np.abs(slopes) * np.linalg.norm(rows, axis=1)[row]
    slopes = slopes * np.minimum(1, clip / np.maximum(norms, 1e-300))
    ends = np.searchsorted(training, np.arange(len(weights) + 1))
    return np.asarray(csr_array((slopes, row, ends), (len(weights), len(rows))) @ rows)


def _sample(
    trainings: int, rows: int, rate: float, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Return which rows are taken, each with a probability of its own: training and row of each."""
    cells = trainings * rows
    gaps = rng.geometric(rate, int(cells * rate + 10 * np.sqrt(cells * rate) + 50))
    places = np.cumsum(gaps) - 1  # 10 standard deviations are enough to pass the last
    training, row = np.divmod(places[places < cells], rows)
    return training, row


def _slice(trainings: int, rows: int, turn: int, batches: int) -> tuple[Integers, Integers]:
    """Return the rows of a slice of the table, for all trainings."""
    row = np.arange(turn, rows, batches)
    return np.repeat(np.arange(trainings), row.size), np.tile(row, trainings)
