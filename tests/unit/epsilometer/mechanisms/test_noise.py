"""Random words and noise by the block, against naive versions and their laws."""

import math

import numpy as np
import pytest
from scipy import stats

from epsilometer.mechanisms.noise import (
    Noise,
    _decide,
    _step,
    _uniforms_above_0,
    blocks,
    laplace_of,
    largest,
    strips,
)

N = 100_000


def xoshiro(state, count):
    """Take the steps of one generator as Blackman and Vigna write them, in whole numbers."""

    def rotated(word, by):
        return ((word << by) | (word >> (64 - by))) % 2**64

    words = []
    for _ in range(count):
        words.append((rotated((state[0] + state[3]) % 2**64, 23) + state[0]) % 2**64)
        shifted = (state[1] << 17) % 2**64
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= shifted
        state[3] = rotated(state[3], 45)
    return words


def test_the_naive_generator_gives_the_published_words():
    assert xoshiro([1, 2, 3, 4], 3) == [41943041, 58720359, 3588806011781223]


def test_every_lane_is_a_generator_of_its_own():
    states = np.random.default_rng(1).integers(0, 2**64, (4, 64), dtype=np.uint64)
    expected = [xoshiro(state, 5) for state in states.T.tolist()]
    words = np.empty(5 * 64, np.uint64)
    _step(words, states)
    assert words.reshape(5, 64).T.tolist() == expected


def test_every_bit_of_first_words_is_set_in_half_of_them():
    """Of 6400 words; the chance of a false alarm is 1e-7, 2e-9 for each of 64 bits."""
    words = np.array([Noise(np.random.default_rng(seed)).words(64) for seed in range(100)])
    ones = (words.ravel() >> np.arange(64, dtype=np.uint64)[:, None]) & np.uint64(1)
    assert ones.mean(axis=1) == pytest.approx(np.full(64, 0.5), abs=6 * 0.5 / math.sqrt(6400))


@pytest.mark.parametrize("size", [0, 1, 12_345, 100_000])
@pytest.mark.parametrize("rows", [1, 11, 100_000])
def test_blocks_hold_every_draw_once(size, rows):
    """All but the last are of whole lanes, as many as 2^15 words are enough for."""
    ends = [(block.start, block.stop) for block in blocks(size, rows)]
    step = 64 * max(2**15 // 64 // rows, 1)
    assert ends == [(start, min(start + step, size)) for start in range(0, size, step)]


def test_noise_of_a_word_rises_with_it_and_follows_its_law():
    words = np.sort(Noise(np.random.default_rng(5)).words(N))
    words[:2], words[-2:] = (0, 1), (2**64 - 2, 2**64 - 1)
    drawn = laplace_of(words, 2.0)
    assert np.isfinite(drawn).all()
    assert (np.diff(drawn) >= 0).all()
    expected = stats.laplace(scale=2).ppf((words[2:-2].astype(float) + 0.5) / 2**64)
    np.testing.assert_allclose(drawn[2:-2], expected, atol=1e-10)


def test_strips_have_the_same_area_and_the_last_ends_at_the_mode():
    ends, heights = strips()
    np.testing.assert_allclose(heights, np.exp(-(ends**2) / 2))
    areas = ends[1:-1] * np.diff(heights)[1:]
    lowest = ends[1] * heights[1] + math.sqrt(2 * math.pi) * stats.norm.sf(ends[1])
    np.testing.assert_allclose([*areas, ends[0] * heights[1]], lowest, rtol=1e-9)
    assert areas.size == 255


def test_uniform_numbers_of_words_are_above_0_and_at_most_1():
    words = np.array([0, 2**11 - 1, 2**11, 2**63, 2**64 - 1], np.uint64)
    uniforms = np.empty(words.size)
    _uniforms_above_0(uniforms, words)
    assert uniforms.tolist() == [2.0**-53, 2.0**-53, 2.0**-52, 0.5 + 2.0**-53, 1.0]


def test_normal_draws_follow_their_law_in_the_bulk_and_in_the_tail():
    """A false alarm: 2 in 1000 seeds."""
    drawn = Noise(np.random.default_rng(6)).normals(4, 500_000).ravel()
    assert stats.kstest(drawn[:N], "norm").pvalue > 1e-3
    ends, _ = strips()
    edges = np.sort(np.concatenate([ends[1:-1:16], -ends[1:-1:16], [-4, 4, 0, np.inf, -np.inf]]))
    counts = np.histogram(drawn, edges)[0]
    assert stats.chisquare(counts, drawn.size * np.diff(stats.norm.cdf(edges))).pvalue > 1e-3


def test_points_beyond_the_strips_follow_the_normal_tail():
    """Words of the lowest strip whose points are far out; a false alarm: 1 in 1000 seeds."""
    noise = Noise(np.random.default_rng(8))
    words = np.uint64(2**64 - 512) | (noise.words(N) & np.uint64(256))  # with either sign
    drawn = np.empty(N)
    accepted = np.array([0, 2**63, 0], np.uint64)  # the first point of the tail is kept
    for spare, done in ((accepted, 8), (accepted[:2], 7)):  # a draw may need three
        assert _decide(drawn, words, np.arange(N), 7, spare) == done
    assert _decide(drawn, words, np.arange(N), 0, noise.words(3 * N)) == N
    assert np.array_equal(drawn > 0, words & np.uint64(256) > 0)
    ends, _ = strips()
    share = stats.norm.sf(np.abs(drawn)) / stats.norm.sf(ends[1])
    assert stats.kstest(share, "uniform").pvalue > 1e-3


def test_the_largest_word_of_each_group():
    words = Noise(np.random.default_rng(7)).words(5, 100)
    most, places = largest(words, np.array([1, 0, 1, 1, 0]))
    for group, rows in ((0, [1, 4]), (1, [0, 2, 3])):
        np.testing.assert_array_equal(most[group], words[rows].max(axis=0))
        np.testing.assert_array_equal(words[places[group], np.arange(100)], most[group])


def test_laplace_noise_is_as_wide_on_either_side():
    """The mean of an exponential draw is 1; the chance of a false alarm is 1e-6 on each side."""
    draws = Noise(np.random.default_rng(5)).laplaces(200_000)
    for side in (draws[draws > 0], -draws[draws < 0]):
        assert side.mean() == pytest.approx(1, abs=stats.norm.isf(5e-7) / np.sqrt(side.size))
