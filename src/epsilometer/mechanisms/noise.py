"""Random words and noise by the block, for the compiled loops of samplers.

To ask a generator of NumPy's for one number at a time costs more than the number. So 64 generators
xoshiro256++ (Blackman and Vigna, 2021), whose states the generator of the sample draws, take their
steps together: a few instructions of a processor for eight words of 64 bits. Logarithms are
NumPy's, of a whole block; normal draws are a ziggurat (Marsaglia and Tsang, 2000) of 256 strips.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.compiled import compiled

Floats = NDArray[np.float64]
Uints = NDArray[np.uint64]

_LANES = 64
_WORDS = 1 << 15  # of a block, so that it stays in the processor's cache from one step to the next
_FIRST = 3.6541528853610088  # where the last of 256 strips of equal area under exp(-x^2 / 2) ends
_BITS = 2.0**-53
_HALF = np.uint64(1 << 63)


def blocks(size: int, rows: int = 1) -> Iterator[slice]:
    """Yield which draws are made together, where each of ``size`` draws needs ``rows`` words."""
    step = _LANES * max(_WORDS // _LANES // rows, 1)
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


class Noise:
    """Independent random numbers in arrays of any shape, all from one generator.

    >>> noise = Noise(np.random.default_rng(0))
    >>> noise.words(2, 3).shape, bool(abs(noise.normals(10_000).mean()) < 0.05)
    ((2, 3), True)
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._states = rng.integers(0, 2**64, (4, _LANES), dtype=np.uint64)

    def words(self, *shape: int) -> Uints:
        """Return words of 64 random bits each."""
        size = math.prod(shape)
        found = np.empty(-(-size // _LANES) * _LANES, np.uint64)
        _step(found, self._states)
        return found[:size].reshape(shape)

    def laplaces(self, size: int, scale: float = 1.0) -> Floats:
        """Return ``size`` draws of Laplace noise: a uniform gives the size by inversion."""
        words = self.words(size)
        found = np.empty(size)
        _uniforms_above_0(found, words)
        np.log(found, out=found)
        _signed(found, words, scale)
        return found

    def normals(self, *shape: int) -> Floats:
        """Return standard normal draws."""
        found = np.empty(shape)
        flat, words, outside = found.ravel(), self.words(found.size), np.empty(found.size, bool)
        _points(flat, words, outside)
        where, done = np.flatnonzero(outside), 0
        while done < where.size:
            done = _decide(flat, words, where, done, self.words(3 * where.size))
        return found


@compiled
def _step(words, states):  # type: ignore[no-untyped-def]
    """Let every lane take steps, until all words are filled; their number is whole in lanes."""
    for start in range(0, words.size, _LANES):
        for lane in range(_LANES):
            a, b, c, d = states[0, lane], states[1, lane], states[2, lane], states[3, lane]
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
def _uniforms_above_0(found, words):  # type: ignore[no-untyped-def]
    """Make uniform numbers in (0, 1] of the upper 53 bits of words."""
    for i in range(found.size):
        found[i] = np.float64((words[i] >> np.uint64(11)) + np.uint64(1)) * _BITS


@compiled
def _signed(found, words, scale):  # type: ignore[no-untyped-def]
    """Give exponential draws a sign, by the lowest bits of the words they are made of."""
    for i in range(found.size):
        found[i] *= scale if words[i] & np.uint64(1) else -scale


def strips() -> tuple[Floats, Floats]:
    """Return where strips of equal area end, falling, and the density there, times a constant.

    The first is the lowest, which reaches to infinity: its end is what a rectangle of its area has.
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
def _points(found, words, outside):  # type: ignore[no-untyped-def]
    """Draw a point of a strip by one word: its strip, its sign, and how far out it is.

    Tell which lie further out than the strip above reaches, where not all is below the density.
    """
    for i in range(found.size):
        strip = words[i] & np.uint64(255)
        x = np.float64(words[i] >> np.uint64(11)) * _BITS * _ENDS[strip]
        outside[i] = x >= _ENDS[strip + np.uint64(1)]
        found[i] = x * (np.float64((words[i] >> np.uint64(7)) & np.uint64(2)) - 1.0)  # 1 or -1


@compiled
def _decide(found, words, where, done, spare):  # type: ignore[no-untyped-def]
    """Decide by spare words about points outside, 1 in 80: they stay, or others take their place.

    Those before number ``done`` are decided; how many are is returned, which is not all where spare
    words are short.
    """
    used = 0
    for number in range(done, where.size):
        word = words[where[number]]
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
                low, high = _HEIGHTS[strip], _HEIGHTS[strip + np.uint64(1)]
                if low + u * (high - low) < math.exp(-0.5 * x * x):
                    break
                word = spare[used]  # a point above the density: all over again
                used += 1
        found[where[number]] = x if word & np.uint64(256) else -x
    return where.size


def noisy(x: Any, draws: Callable[[int], Floats], scale: float, shape: tuple[int, ...]) -> Floats:
    """Return answers with noise: ``draws`` gives so many draws of scale 1.

    Answers are one number for outputs of shape ``(n,)``, or d for ``(n, d)``.
    """
    found, answers = np.empty(shape), np.asarray(x, np.float64)
    for block in blocks(shape[0], answers.size):
        part = found[block]
        part[...] = draws(part.size).reshape(part.shape)
        part *= scale
        part += answers
    return found


def largest(words: Uints, groups: Any) -> tuple[Uints, NDArray[np.int32]]:
    """Return the largest word of each group of rows, and which row it is of.

    Noise that is a rising function of a word is largest where the word is, so that among equal
    answers that one alone has to be made noise of.

    Parameters
    ----------
    words
        Shape ``(rows, n)``.
    groups
        The group of each row, 0, 1, ..., of shape ``(rows,)``.

    Returns
    -------
    Both of shape ``(groups, n)``.
    """
    shape = int(np.max(groups)) + 1, words.shape[1]
    most, who = np.zeros(shape, np.uint64), np.zeros(shape, np.int32)
    _largest(most, who, words, np.asarray(groups, np.int64))
    return most, who


@compiled
def _largest(most, who, words, groups):  # type: ignore[no-untyped-def]
    for row in range(groups.size):
        best, whose, drawn = most[groups[row]], who[groups[row]], words[row]
        for i in range(drawn.size):
            better = drawn[i] > best[i]
            best[i] = drawn[i] if better else best[i]
            whose[i] = row if better else whose[i]


def laplace_of(words: Uints, scale: float) -> Floats:
    """Return Laplace noise that rises with the words it is made of, of their shape."""
    found = np.empty(words.shape)
    _tails(found.ravel(), words.ravel())
    np.log(found, out=found)
    _sided(found.ravel(), words.ravel(), scale)
    return found


@compiled
def _tails(found, words):  # type: ignore[no-untyped-def]
    """Return twice the mass that lies further out than the number of each word."""
    for i in range(found.size):
        word = words[i]
        further = word if word < _HALF else ~word
        found[i] = (np.float64(further >> np.uint64(10)) + 0.5) * _BITS


@compiled
def _sided(found, words, scale):  # type: ignore[no-untyped-def]
    for i in range(found.size):
        found[i] *= scale if words[i] < _HALF else -scale
