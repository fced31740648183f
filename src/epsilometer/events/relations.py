"""Relations of entries that one line of a table shows: equality, sums and differences, parities.

No entry alone tells them, and no table of 16 x 16 cells: x[0] = x[3] in one output of a hundred,
an even x[0] + x[3], an odd number of ones among three bits of forty. What is seen here only chooses
views of outputs; fresh draws confirm the events. All pairs, or all sets of bits, are compared on
the first draws, and few remain, so that their number is no cost in draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, combinations

import numpy as np

from epsilometer.events import vectors
from epsilometer.events.events import Event, Number, View, remainders
from epsilometer.events.fine_cells import remainder_of, suspicious_moduli
from epsilometer.numerics.arrays import Counts, Floats, Sample
from epsilometer.numerics.ratios import ratio

COMPARED = 64  # entries of an output, of which all pairs may be equal, all triples have a parity
PAIRED = 8  # entries, whose sums and differences are divided by moduli
ALL_SETS = 20  # bits, up to which every set has a parity: 2^20 sets
_FEW = 16  # values of an entry, up to which a table shows every pair of them
_KEPT = 4  # relations of a kind
_PHASES = 64  # of a remainder, at which a half of its modulus may start
_DRAWS = 10_000  # of a side that tell which entries are equal: 10 of them at a rate of .1 %
_FIRST = 4096  # of a side that tell parities
_EQUAL = 2.5  # standard deviations, by which 25 of 2,016 pairs differ by chance: few remain
_PARITY = 5.5  # standard deviations, which one set of bits in 26 million exceeds by chance


def coincidences(sides: Sequence[Sample], entries: Sequence[int]) -> list[View]:
    """Return which pairs of entries are equal more often on one side, those that differ most first.

    Sides have shape ``(n, d)``.
    """
    columns = [side[:_DRAWS, entries[:COMPARED]].T.copy() for side in sides]
    z_scores = {}
    for i, j in combinations(range(len(columns[0])), 2):
        equal = [int(np.count_nonzero(side[i] == side[j])) for side in columns]
        z_scores[i, j] = _z_of_shares(equal, [side.shape[1] for side in columns])
    chosen = sorted(z_scores, key=lambda pair: -z_scores[pair])[:_KEPT]
    kept = [pair for pair in chosen if z_scores[pair] > _EQUAL]
    return [View("equal", entries[i], other=entries[j]) for i, j in kept]


def _z_of_shares(hits: Sequence[int], draws: Sequence[int]) -> float:
    """Return how far two shares differ, in standard deviations of equal ones."""
    share = sum(hits) / sum(draws)
    spread = np.sqrt(share * (1 - share) * (1 / draws[0] + 1 / draws[1]))
    return abs(float(ratio(hits[0] / draws[0] - hits[1] / draws[1], spread)))


def sums_modulo(
    sides: Sequence[Sample],
    entries: Sequence[int],
    groups: Sequence[Sequence[tuple[int, ...]]],
    cells: int,
    *,
    as_reals: bool,
) -> list[View]:
    """Return remainders of sums and differences that differ between the sides.

    They are sums and differences of two entries, and sums of all entries of a group, by row. With
    the one that differs most comes the board of its two entries, see `_board`. Sides have shape
    ``(n, d)``; ``cells`` and ``as_reals`` are those of `remainder_views`.
    """
    z_scores: dict[View, float] = {}
    for view in _sums(sides[0], entries, groups):
        x, x_prime = (view.of(side[:_FIRST]) for side in sides)
        if np.unique(x).size <= cells:
            continue  # each has a cell of its own
        for modulus, z in suspicious_moduli(x, x_prime, cells, as_reals=as_reals).items():
            z_scores[remainder_of(view, modulus)] = z
    views = sorted(z_scores, key=lambda view: -z_scores[view])[:_KEPT]
    most = views[0].inner if views else None
    if most is not None and most.kind == "difference":
        views.append(_board(sides, most, views[0].modulus))
    return views


def _sums(
    sample: Sample, entries: Sequence[int], groups: Sequence[Sequence[tuple[int, ...]]]
) -> Iterator[View]:
    """Yield differences and sums of two entries, at least one of them wide, and sums of groups."""
    entries = entries[:PAIRED]
    wide = [entry for entry in entries if np.unique(sample[:_FIRST, entry]).size > _FEW]
    for i, j in combinations(entries, 2):
        if i in wide or j in wide:
            yield View("difference", i, other=j, factor=1)
            yield View("difference", i, other=j, factor=-1)
    for group in groups:
        together = tuple(chain.from_iterable(group))
        yield View("summary", summary=vectors.SUM, groups=(together,))


def _board(sides: Sequence[Sample], apart: View, modulus: Number) -> View:
    """Return a chequered board of two entries whose squares are half a modulus wide.

    An output is on the squares of one colour if an odd number of the two remainders lie in the half
    of the modulus that, among 64 halves of either, shows the sides most apart.
    """
    entries = apart.entry, apart.other
    table = np.zeros((_PHASES, _PHASES))
    for sign, side in zip((1, -1), sides, strict=True):
        rests = [remainders(side[:_FIRST, entry], modulus) for entry in entries]
        there = ~np.isnan(rests[0]) & ~np.isnan(rests[1])
        places = [np.asarray(rest[there] / modulus * _PHASES, np.int64) for rest in rests]
        np.add.at(table, tuple(places), sign / max(int(np.count_nonzero(there)), 1))
    phases = np.arange(_PHASES)
    in_half = np.subtract.outer(-phases, -phases) % _PHASES < _PHASES // 2
    colours = np.where(in_half, 1, -1)  # a row for each start of a half, a column for each place
    difference = np.abs(colours @ table @ colours.T)
    starts = divmod(int(difference.argmax()), _PHASES)
    halves = []
    for entry, start in zip(entries, starts, strict=True):
        rest = View("remainder", entry, modulus=modulus)
        halves.append(Event(_half(start, modulus), view=rest))
    return View("parity", parts=tuple(halves))


def _half(start: int, modulus: Number) -> tuple[tuple[Number | None, Number | None], ...]:
    """Return the ranges of half a modulus from a phase on; they may go round its end."""
    low = start / _PHASES * modulus
    high = low + modulus / 2
    if high <= modulus:
        return ((low, math.nextafter(high, low)),)
    return ((None, math.nextafter(high - modulus, 0)), (low, None))


# --- parities -------------------------------------------------------------------------------------


def parities(sides: Sequence[Sample], bits: Sequence[Event], least: int) -> list[View]:
    """Return the parities of at least so many bits that differ most between the sides, few.

    A bit is 1 for the outputs of an event. Of 20 bits or less all sets are looked at; of more, sets
    of three of the first 64. Sides have shape ``(n,)`` or ``(n, d)``.
    """
    bits = bits[:COMPARED]
    if len(bits) < least:
        return []
    tables = []
    for side in sides:
        first = side[:_FIRST]
        tables.append(np.column_stack([bit.holds(first) for bit in bits]))
    different = _of_sets(tables) if len(bits) <= ALL_SETS else _of_triples(tables)
    spread = np.sqrt(sum(1 / len(table) for table in tables))
    views = []
    for difference, chosen in different:
        if len(chosen) >= least and difference > _PARITY * spread:
            views.append(View("parity", parts=tuple(bits[i] for i in chosen)))
    return views[:_KEPT]


def _of_sets(tables: Sequence[Sample]) -> Iterator[tuple[float, Sequence[int]]]:
    """Yield the sets of bits whose mean parities differ most, with the difference, in [0, 2].

    A fast Walsh-Hadamard transform of the shares of words is the mean of (-1)^parity of all sets.
    """
    size = tables[0].shape[1]
    shares = [_shares_of_words(table) for table in tables]
    spectrum = np.abs(walsh_hadamard(shares[0] - shares[1]))
    for word in np.argsort(-spectrum, kind="stable")[: 4 * ALL_SETS].tolist():
        yield float(spectrum[word]), [bit for bit in range(size) if word >> bit & 1]


def _shares_of_words(table: Sample) -> Floats:
    """Return the share of each word of bits, ``(2^d,)``, of outputs ``(n, d)``; bit 0 first."""
    words = table @ (1 << np.arange(table.shape[1]))
    return np.bincount(words, minlength=1 << table.shape[1]) / len(table)


def walsh_hadamard(shares: Floats) -> Floats:
    """Return the sums of shares times (-1)^(number of common ones), ``(2^d,)``, for each word."""
    sums = shares
    step = 1
    while step < shares.size:
        halves = sums.reshape(-1, 2, step)
        sums = np.stack([halves[:, 0] + halves[:, 1], halves[:, 0] - halves[:, 1]], axis=1)
        sums = sums.reshape(-1)
        step *= 2
    return sums


def _of_triples(tables: Sequence[Sample]) -> Iterator[tuple[float, Sequence[int]]]:
    """Yield the sets of three bits whose mean parities differ most, with the difference."""
    packed = [_packed(table) for table in tables]
    size = tables[0].shape[1]
    best: list[tuple[float, Sequence[int]]] = []
    for i, j in combinations(range(size - 1), 2):
        odd = []
        for table, columns in zip(tables, packed, strict=True):
            parity = columns[i] ^ columns[j] ^ columns[j + 1 :]
            odd.append(np.bitwise_count(parity).sum(axis=1, dtype=np.int64) / len(table))
        apart = 2 * np.abs(odd[0] - odd[1])
        k = int(apart.argmax())
        best.append((float(apart[k]), (i, j, j + 1 + k)))
    yield from sorted(best, key=lambda found: -found[0])


def _packed(table: Sample) -> Counts:
    """Return the bits of outputs, ``(n, d)``, as 64 in a word, a row for each of d columns."""
    whole = np.pad(table, ((0, -len(table) % 64), (0, 0)))
    return np.packbits(whole.T.copy(), axis=1).view(np.uint64)


def bits_of_words(sides: Sequence[Sample], entry: int) -> list[Event]:
    """Return the bits of an entry of outputs ``(n, d)``, if its numbers are whole, from 0 on."""
    words = np.concatenate([side[:_FIRST, entry] for side in sides])
    if np.isnan(words).any() or words.min() < 0 or words.max() >= 2**62:
        return []
    of_entry = View("entry", entry)
    size = int(words.max()).bit_length()
    return [Event(((1, 1),), view=View("bit", bit, inner=of_entry)) for bit in range(size)]


@np.errstate(over="ignore", invalid="ignore")  # numbers may be infinite
def bits_of_columns(sides: Sequence[Sample], wholes: Sequence[int]) -> list[Event]:
    """Return a bit of each column of outputs ``(n, d)``.

    Of two values it is the larger one, of more ``wholes`` the lowest bit, and of other numbers
    those above the median, or the largest if there are none. A column of one value has no bit.
    """
    bits = []
    for entry in range(sides[0].shape[1]):
        column = np.concatenate([side[:_FIRST, entry] for side in sides])
        values = np.unique(column[~np.isnan(column)] if column.dtype.kind == "f" else column)
        view = View("entry", entry)
        if values.size > 2 and entry in wholes:
            lowest = View("remainder", entry, modulus=2)
            bits.append(Event(((1, 1),), view=lowest))
        elif values.size > 1:
            above = values[values > np.nanmedian(column)]
            start = above[0] if above.size else values[-1]
            bits.append(Event(((start.item(), None),), view=view))
        if len(bits) == COMPARED:
            break
    return bits
