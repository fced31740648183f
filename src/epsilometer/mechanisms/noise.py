"""Blocks of random words (64 bits each) and of noise, for the compiled loops of samplers.

One call of a NumPy generator for each number is slow. So 64 generators xoshiro256++ (Blackman and
Vigna, 2021) step together; the sample's generator draws their states. NumPy takes the logarithms of
a block. Normal draws are a ziggurat (Marsaglia and Tsang, 2000) of 256 strips.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.numerics.arrays import Floats, Indices
from epsilometer.numerics.compiled import compiled

Uints = NDArray[np.uint64]

_LANES = 64
_WORDS = 1 << 15  # words of a block; it stays in the processor's cache
_FIRST = 3.6541528853610088  # where the last of 256 strips of equal area under exp(-x^2 / 2) ends
_BITS = 2.0**-53
_HALF = np.uint64(1 << 63)


def blocks(size: int, rows: int = 1) -> Iterator[slice]:
    """Yield slices of ``size`` draws that fit into the cache; each draw needs ``rows`` words."""
    step = _LANES * max(_WORDS // _LANES // rows, 1)
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


class Noise:
    """Arrays of independent random numbers of any shape, from one generator.

    >>> noise = Noise(np.random.default_rng(0))
    >>> noise.words(2, 3).shape, bool(abs(noise.normals(10_000).mean()) < 0.05)
    ((2, 3), True)
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._states = rng.integers(0, 2**64, (4, _LANES), dtype=np.uint64)

    def words(self, *shape: int) -> Uints:
        """Return words of 64 random bits each."""
        size = math.prod(shape)
        words = np.empty(-(-size // _LANES) * _LANES, np.uint64)
        _step(words, self._states)
        return words[:size].reshape(shape)

    def laplaces(self, size: int, scale: float = 1.0) -> Floats:
        """Return ``size`` draws of Laplace noise, by inversion."""
        words = self.words(size)
        draws = np.empty(size)
        _uniforms_above_0(draws, words)
        np.log(draws, out=draws)
        _signed(draws, words, scale)
        return draws

    def normals(self, *shape: int) -> Floats:
        """Return standard normal draws."""
        draws = np.empty(shape)
        flat = draws.ravel()
        words = self.words(draws.size)
        outside = np.empty(draws.size, bool)
        _points(flat, words, outside)
        positions = np.flatnonzero(outside)
        done = 0
        while done < positions.size:
            done = _decide(flat, words, positions, done, self.words(3 * positions.size))
        return draws


@compiled
def _step(words, states):  # type: ignore[no-untyped-def]
    """Fill words with the steps of all lanes; the number of words is a multiple of the lanes."""
    for start in range(0, words.size, _LANES):
        for lane in range(_LANES):
            a = states[0, lane]
            b = states[1, lane]
            c = states[2, lane]
            d = states[3, lane]
            total = a + d
            words[start + lane] = ((total << np.uint64(23)) | (total >> np.uint64(41))) + a
            shifted = b << np.uint64(17)
            c ^= a
            d ^= b
            states[0, lane] = a ^ d
            states[1, lane] = b ^ c
            states[2, lane] = c ^ shifted
            states[3, lane] = (d << np.uint64(45)) | (d >> np.uint64(19))


@compiled
def _uniforms_above_0(uniforms, words):  # type: ignore[no-untyped-def]
    """Turn the upper 53 bits of words into uniform numbers in (0, 1]."""
    for i in range(uniforms.size):
        uniforms[i] = np.float64((words[i] >> np.uint64(11)) + np.uint64(1)) * _BITS


@compiled
def _signed(draws, words, scale):  # type: ignore[no-untyped-def]
    """Give exponential draws a sign by the lowest bits of their words."""
    for i in range(draws.size):
        draws[i] *= scale if words[i] & np.uint64(1) else -scale


def strips() -> tuple[Floats, Floats]:
    """Return the falling ends of strips of equal area, and the unnormalised density there.

    The first strip is the lowest and reaches to infinity; its end is that of a rectangle of its
    area.
    """

    def density(x: float) -> float:
        return math.exp(-0.5 * x * x)

    tail = math.sqrt(math.pi / 2) * math.erfc(_FIRST / math.sqrt(2))
    area = _FIRST * density(_FIRST) + tail
    ends = [area / density(_FIRST), _FIRST]
    while len(ends) < 256:
        ends.append(math.sqrt(-2 * math.log(area / ends[-1] + density(ends[-1]))))
    ends.append(0.0)
    return np.array(ends), np.array([density(end) for end in ends])


_ENDS, _HEIGHTS = strips()  # constants of the compiled loops, which may then read eight at a time


@compiled
def _points(draws, words, outside):  # type: ignore[no-untyped-def]
    """Turn words into points of a strip; those ``outside`` may lie above the density."""
    for i in range(draws.size):
        strip = words[i] & np.uint64(255)
        x = np.float64(words[i] >> np.uint64(11)) * _BITS * _ENDS[strip]
        outside[i] = x >= _ENDS[strip + np.uint64(1)]
        draws[i] = x * (np.float64((words[i] >> np.uint64(7)) & np.uint64(2)) - 1.0)  # 1 or -1


@compiled
def _decide(draws, words, positions, done, spare):  # type: ignore[no-untyped-def]
    """Keep or redraw the points outside, 1 in 80, from ``done`` until spare words run out."""
    used = 0
    for number in range(done, positions.size):
        word = words[positions[number]]
        while True:
            strip = word & np.uint64(255)
            x = np.float64(word >> np.uint64(11)) * _BITS * _ENDS[strip]
            if x < _ENDS[strip + np.uint64(1)]:
                break
            if used + 3 > spare.size:
                return number
            u = np.float64(spare[used] >> np.uint64(11)) * _BITS
            v = np.float64(spare[used + 1] >> np.uint64(11)) * _BITS
            used += 2
            if strip == 0:  # the tail, as Marsaglia draws it
                beyond = -math.log1p(-u) / _FIRST
                if -2.0 * math.log1p(-v) > beyond * beyond:
                    x = _FIRST + beyond
                    break
            else:
                low = _HEIGHTS[strip]
                high = _HEIGHTS[strip + np.uint64(1)]
                if low + u * (high - low) < math.exp(-0.5 * x * x):
                    break
                word = spare[used]  # the point lies above the density: draw again
                used += 1
        draws[positions[number]] = x if word & np.uint64(256) else -x
    return positions.size


def noisy(x: Any, draws: Callable[[int], Floats], scale: float, size: int) -> Floats:
    """Return ``size`` times the answers plus noise; ``draws(n)`` returns n draws of scale 1.

    Answers are one number for outputs of shape ``(size,)``, or d for ``(size, d)``.
    """
    answers = np.asarray(x, np.float64)
    outputs = np.empty((size, *answers.shape))
    for block in blocks(size, answers.size):
        part = outputs[block]
        part[...] = draws(part.size).reshape(part.shape)
        part *= scale
        part += answers
    return outputs


def largest(words: Uints, groups: Any) -> tuple[Uints, Indices]:
    """Return the largest word of each group of rows, and its row.

    Noise that rises with the word is largest there. Words have shape ``(rows, n)``; ``groups``,
    ``(rows,)``, numbers the group of each row from 0. Both results have shape ``(groups, n)``.
    """
    shape = int(np.max(groups)) + 1, words.shape[1]
    maxima = np.zeros(shape, np.uint64)
    winners = np.zeros(shape, np.int32)
    _largest(maxima, winners, words, np.asarray(groups, np.int64))
    return maxima, winners


@compiled
def _largest(maxima, winners, words, groups):  # type: ignore[no-untyped-def]
    for row in range(groups.size):
        best = maxima[groups[row]]
        winner = winners[groups[row]]
        word = words[row]
        for i in range(word.size):
            better = word[i] > best[i]
            best[i] = word[i] if better else best[i]
            winner[i] = row if better else winner[i]


def laplace_of(words: Uints, scale: float) -> Floats:
    """Return Laplace noise that rises with the words, of their shape."""
    noise = np.empty(words.shape)
    _tails(noise.ravel(), words.ravel())
    np.log(noise, out=noise)
    _sided(noise.ravel(), words.ravel(), scale)
    return noise


@compiled
def _tails(tails, words):  # type: ignore[no-untyped-def]
    """Write twice the mass of the tail beyond the number of each word."""
    for i in range(tails.size):
        word = words[i]
        tail = word if word < _HALF else ~word
        tails[i] = (np.float64(tail >> np.uint64(10)) + 0.5) * _BITS


@compiled
def _sided(noise, words, scale):  # type: ignore[no-untyped-def]
    for i in range(noise.size):
        noise[i] *= scale if words[i] < _HALF else -scale
