"""The hot paths as one writes them first: a loop that draws one random number at a time, a sort.

What `hot_paths` compares with, in the same process. Numba compiles the loops, too.
"""

import math

import numba
import numpy as np


@numba.njit
def laplace(scale, rng):
    """Draw Laplace noise by inversion."""
    u = 2.0 * rng.random() - 1.0
    return math.copysign(scale * math.log(1.0 - abs(u)), u)


@numba.njit
def noisy_sums(size, people, included, scale, rng):
    """Draw sums of random subsets, with Laplace noise."""
    sums = np.empty(size)
    for i in range(size):
        total = 0.0
        for person in people:
            total += person * (rng.random() < included)
        sums[i] = total + laplace(scale, rng)
    return sums


@numba.njit
def descents(size, people, steps, rate, noise, rng):
    """Draw last iterates of noisy gradient descents."""
    outputs = np.empty(size)
    for i in range(size):
        theta = 0.0
        for _ in range(steps):
            gradient = people.size * theta - people.sum()
            theta += -rate / people.size * gradient + noise * rng.standard_normal()
        outputs[i] = theta
    return outputs


@numba.njit
def shuffled_bits(size, bits, truthful, rng):
    """Draw randomised bits of everybody, and shuffle them."""
    outputs = np.zeros(size, np.int32)
    for i in range(size):
        answers = 0
        for j in range(bits.size):
            answers |= (bits[j] ^ (rng.random() >= truthful)) << j
        for j in range(bits.size - 1, 0, -1):
            k = int(rng.random() * (j + 1))
            differ = ((answers >> j) ^ (answers >> k)) & 1
            answers ^= (differ << j) | (differ << k)
        outputs[i] = answers
    return outputs


def in_event(firsts: np.ndarray, lasts: np.ndarray, sample: np.ndarray) -> int:
    """Count the outputs in some ranges by a search among them."""
    at = np.searchsorted(firsts, sample, side="right") - 1
    return int(((at >= 0) & (sample <= lasts[at])).sum())
