"""Which looks there are at past draws, what scores learn from, and sums of entries."""

import math

import numpy as np
import pytest

from epsilometer.events import looks
from epsilometer.events.events import View
from epsilometer.events.looks import FAMILIES, Look, PastDraws, looks_at
from epsilometer.samples import Columns

NAN = math.nan


def past_of(x, x_prime=None, **layout):
    x = np.asarray(x)
    every = tuple(range(1 if x.ndim == 1 else x.shape[1]))
    known = {"numbers": every, "reals": every if x.dtype.kind == "f" else (), **layout}
    return PastDraws(x, x if x_prime is None else np.asarray(x_prime), Columns(**known))


def found(past, name):
    return [look.view for look in looks_at(past, [name])]


# --- how many draws tell what ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draws", "some"), [(4096, None), (4097, 2048), (16_392, 2049), (10**6, 10_000)]
)
def test_an_eighth_of_many_vectors_tells_looks_apart(draws, some):
    """At least 2,048 and at most 10,000."""
    assert past_of(np.broadcast_to(0.0, (draws, 2))).screened == some
    assert past_of(np.broadcast_to(0.0, draws)).screened is None


def test_what_enough_first_draws_say_stays_and_what_fewer_say_does_not():
    made = iter(range(9))

    def asked(draws, earlier=None, **layout):
        past = PastDraws(np.zeros(draws), np.zeros(draws), Columns(**layout), earlier)
        first, again = (past.once("what", 20, lambda: [next(made)]) for _ in range(2))
        assert first == again
        return first[0], past

    told, few = asked(19)
    assert told == 0
    told, enough = asked(20, few)
    assert told == 1
    assert asked(30, enough)[0] == 1
    assert asked(30, enough, numbers=(0,))[0] == 2


def numbered(size, earlier=None):
    """Return past draws of x that are their numbers, and of x' these less 2 n."""
    side = np.column_stack([np.arange(size), np.zeros(size)])
    return PastDraws(side, -side, Columns(), earlier)


def rows_taught(x, x_prime):
    """Return a view that notes the first and the last row that taught it."""
    assert (x_prime == -x).all()
    return View("score", rows=((int(x[0, 0]), int(x[-1, 0]) + 1),))


def parts_of(look):
    return [(*view.rows[0], part.start, part.stop) for view, part in look.seen]


@pytest.mark.parametrize(
    ("draws", "taught", "seen"),
    [
        (101, 400, [(50, 101, 0, 50), (0, 50, 50, 101)]),
        (101, 60, [(50, 101, 0, 50), (0, 50, 50, 101)]),
        (100, 50, [(50, 100, 0, 50), (0, 50, 50, 100)]),
        (100, 30, [(50, 80, 0, 50), (0, 30, 50, 100)]),
    ],
)
def test_each_half_is_scored_by_what_the_first_rows_of_the_other_teach(
    draws, taught, seen, monkeypatch
):
    """Later draws see an earlier score. Twice as many draws teach a new one, for those after."""
    monkeypatch.setattr(looks, "_TAUGHT", taught)
    past = numbered(draws)
    look = past.score("sum", rows_taught)
    first = min(draws, taught)
    assert past.score("sum", rows_taught) is look
    assert look.view.rows == ((0, first),)
    assert parts_of(look) == seen
    for size in (2 * draws - 1, 2 * draws):  # of which the taught ones are fewer than twice
        later = numbered(size, past).score("sum", rows_taught)
        new = min(size, taught) >= 2 * first
        assert later.view.rows == ((0, size if new else first),)
        assert parts_of(later) == [(0, first, first, size)]


@pytest.mark.parametrize(
    ("entries", "rows"), [(1, 40_000), (20, 40_000), (40, 20_000), (90, 10_000)]
)
def test_40_000_rows_or_800_000_numbers_teach_a_score_or_10_000_rows(entries, rows):
    sizes = []
    side = np.broadcast_to(0.0, (10**6, entries))
    PastDraws(side, side, Columns()).score("sum", lambda x, _: sizes.append(len(x)) or View())
    assert sizes == [rows] * 2  # the first half, and the second


@pytest.mark.parametrize("silent", [101, 50, 51])
def test_where_a_half_says_too_little_there_is_no_score(silent):
    past = past_of(np.zeros((101, 2)))
    learner = lambda x, _: None if len(x) == silent else View()  # noqa: E731
    assert past.score("sum", learner) is None
    assert list(looks._scored(past, "sum", learner)) == []


SEEN = [(View("entry", 1), slice(0, 40)), (View("entry", 2), slice(40, 100))]


@pytest.mark.parametrize(("seen", "last"), [((), 70), (SEEN, 60)])
def test_the_last_draws_are_seen_as_all_are(seen, last):
    """Of a score, those of its last part alone."""
    x = np.random.default_rng(0).integers(0, 9, (2, 100, 3))
    look = Look(View("entry", 1), past_of(*x), seen)
    numbers = np.hstack([x[:, :40, 1], x[:, 40:, 2 if seen else 1]])
    np.testing.assert_array_equal(look.sides(), numbers)
    np.testing.assert_array_equal(look.sides(30), numbers[:, -30:])
    np.testing.assert_array_equal(look.sides(70), numbers[:, -last:])
    assert look.cells(64)[0].folds[1].sum() == 100
    assert look.cells(64, 30)[0].folds[1].sum() == 30
    assert look.cells(64, 30) is look.cells(64, 30)


@pytest.mark.parametrize(("most", "size"), [(None, 100), (30, 30)])
def test_cells_of_rows_count_the_last_draws(most, size):
    x = np.random.default_rng(0).integers(0, 9, (2, 100, 2))
    (cells,) = Look(View("row"), past_of(*x)).cells(64, most)
    for side, folds in zip(x, cells.folds, strict=True):
        codes = cells.coded(side[-size:])
        assert folds.sum(axis=0).tolist() == np.bincount(codes, None, cells.size).tolist()


# --- families -------------------------------------------------------------------------------------

RNG = np.random.default_rng(1)
WIDE = RNG.integers(0, 2**14, 3000)
WIDE[0] = 0
VECTORS = RNG.normal(size=(2, 3000, 3))
BITS = RNG.integers(0, 2, (500, 3))


@pytest.mark.parametrize(
    ("x", "layout", "names"),
    [
        (VECTORS[0, :, 0], {}, {"columns"}),
        (1000 * abs(VECTORS[0, :, 0]), {}, {"columns"}),
        (np.column_stack([WIDE, 3 * WIDE[::-1]]), {}, {"rows", "columns", "sums", "regressions"}),
        (WIDE, {}, {"columns", "bits", "sums"}),
        (-WIDE, {}, {"columns"}),
        (WIDE % 1000, {}, {"columns"}),  # numbers repeat
        (BITS, {}, {"rows", "columns", "sums", "regressions"}),
        (VECTORS[0], {"groups": (((0,), (1,), (2,)),)},
         {"columns", "sums", "summaries", "regressions"}),
        (VECTORS[0, :, :1], {}, {"columns"}),
    ],
)  # fmt: skip
def test_families_look_at_outputs_of_their_kind(x, layout, names):
    past = past_of(x, **layout)
    columns = looks._of_columns(past)
    assert {name for name in FAMILIES if [*FAMILIES[name](past, columns)]} == names
    assert [look.view.entry for look in columns] == [*range(len(columns))]


def test_of_a_side_with_more_draws_the_first_ones_count():
    x, y = VECTORS
    of_both = looks_at(past_of(x[:900], y[:900]))
    for sides in ((x, y[:900]), (x[:900], y)):
        past = past_of(*sides)
        np.testing.assert_array_equal(past.sides, [x[:900], y[:900]])
        assert [look.view for look in looks_at(past)] == [look.view for look in of_both]


ENTRIES = [f"x{i}" for i in range(4)]
WORDS = np.random.default_rng(2).integers(0, 2**14, (2, 3000, 4))
EVEN, EQUAL, EVEN_SUM, ODD_WORD = (WORDS.copy() for _ in range(4))
LINE, COARSE = VECTORS.copy(), VECTORS.copy()
EVEN[1, :, 2] &= ~1
EQUAL[1, ::9, 3] = EQUAL[1, ::9, 1]
EVEN_SUM[1, :, 3] ^= (WORDS[1, :, 3] ^ WORDS[1, :, 0]) & 1
ODD_WORD[1, :, 2] ^= (WORDS[1, :, 2] >> 3 ^ WORDS[1, :, 2] >> 11 ^ 1) << 3 & 8
LINE[:, :, 2] = 3 * LINE[:, :, 0] + 0.01 * LINE[:, :, 2] + [[0.0], [0.01]]
COARSE[1, :, 1] = np.round(COARSE[1, :, 1] * 2**30) / 2**30
LEAKS = {
    "remainders": (EVEN, "x2 modulo 2"),
    "low bits": (COARSE, "the lowest bit of x1"),
    "differences": (LINE, "x2 - 3 * x0"),
    "coincidences": (EQUAL, "whether x1 equals x3"),
    "sums modulo": (EVEN_SUM, "(x0 - x3) modulo 2"),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_family_looks_at_what_differs_in_the_numbers_that_it_may_read(name):
    sides, view = LEAKS[name]

    def texts(sides, **layout):
        return [each.text(ENTRIES) for each in found(past_of(*sides, **layout), name)]

    assert view in texts(sides, as_reals=False)
    assert texts(sides[[0, 0]]) == []
    assert view not in texts(sides, numbers=(0,), as_reals=False)
    of_reals = name == "low bits"
    assert (view in texts(sides)) != of_reals
    assert (view in texts(sides, reals=(0, 2), as_reals=False)) != of_reals


def test_parities_are_of_columns_of_bits_of_words_and_of_bits_of_numbers():
    odd = np.random.default_rng(3).integers(0, 2, (2, 3000, 4))
    odd[1, :, 3] = odd[1, :, 0] ^ odd[1, :, 1]
    for sides, entries in ((odd, [0, 1, 3]), (ODD_WORD, [3, 11]), (ODD_WORD[:, :, 2], [3, 11])):
        view = found(past_of(*sides), "parities")[0]
        assert [part.view.entry for part in view.parts] == entries
        assert found(past_of(*sides[[0, 0]]), "parities") == []


def test_what_cells_of_a_number_or_tables_show_is_not_looked_at_again():
    """Parities are of two bits or three columns, remainders of numbers that do not repeat."""
    for sides in (np.stack([BITS, BITS[:, [0, 0, 2]]]), EVEN, EVEN[:, :, 2]):
        assert found(past_of(*sides), "parities") == []
    assert found(past_of(*(EVEN % 500)), "remainders") == []


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize(("x", "size"), [(WIDE % 2**13, 14), (WIDE - 1, 0)])
def test_bits_are_those_up_to_the_largest_number_of_either_side(x, size, way):
    past = past_of(*[x, WIDE][::way])
    bits = looks._of_bits(past, looks._of_columns(past))
    assert [look.view.entry for look in bits] == list(range(size))


@pytest.mark.parametrize(("compared", "rows"), [(1, 1000), (1100 * 24, 1100)])
def test_of_many_entries_those_are_looked_at_whose_shares_differ_most(compared, rows, monkeypatch):
    """By the shares below quantiles of both sides, one entry at a time, of the first rows."""
    rng = np.random.default_rng(2)
    ours, theirs = rng.normal(size=(2, 2200, 24)).round(1)
    ours[:, 18:] += np.linspace(0, 0.4, 6)
    ours[:300, 9:12] = NAN
    for entry in range(9):
        theirs[: entry + 1, entry] = (-1) ** entry * 9.0
    ours[rows:, 0] += 9
    for entry, share in enumerate((0.1, 0.25, 0.5, 0.75, 0.9), 12):  # they differ there alone
        ours[:, entry] = theirs[:, entry] = u = rng.random(2200)
        ours[:, entry] += 0.05 * ((u > share - 0.05) & (u < share))
    differ = []
    for x, y in zip(ours[:rows].T, theirs[:rows].T, strict=True):
        pooled = np.sort(np.append(x, y))
        there = pooled[~np.isnan(pooled)]
        largest = 0.0
        for share in (0, 0.003, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 0.997, 1):
            cut = there[int(share * (len(there) - 1))]
            for below in (np.less, np.less_equal):
                p, q = below(x, cut).mean(), below(y, cut).mean()
                spread = math.sqrt((p + q) / 2 * (1 - (p + q) / 2) + 1 / rows)
                largest = max(largest, abs(p - q) / spread)
        differ.append(largest)
    order = np.argsort(-np.array(differ), kind="stable")
    monkeypatch.setattr(looks, "_COMPARED", compared)
    past = past_of(ours, theirs)
    for number in range(1, 24):
        monkeypatch.setattr(looks, "ENTRIES", number)
        assert looks._different(past) == sorted(order[:number].tolist())
    assert [look.view.entry for look in looks._of_columns(past)] == sorted(order[:23].tolist())
    monkeypatch.setattr(looks, "ENTRIES", 24)
    assert len(looks._of_columns(past)) == 24


# --- sums -----------------------------------------------------------------------------------------


def test_a_sum_of_bits_adds_the_log_ratios_of_their_shares():
    rng = np.random.default_rng(3)
    x, y = (rng.random((2, 400, 4)) < [[[0.3, 0.5, 0.6, 0.2]], [[0.5, 0.5, 0.2, 0.1]]]).astype(int)
    y = y[:300]
    expected = np.zeros(400)
    for bit in (0, 1):
        shares, shares_prime = (
            ((side == bit).sum(axis=0) + 1) / (len(side) + 1) for side in (x, y)
        )
        expected += (x == bit) @ np.log(shares / shares_prime)
    assert looks.learn_sum(x, y, 4, 16).of(x) == pytest.approx(expected)
    words = [side @ (1 << np.arange(4)) for side in (x, y)]
    assert looks.learn_sum(*words, 4, 16).of(words[0]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("compared", "rows"), [(2_000_000, 2000), (4 * 600, 600), (4 * 2100, 2000), (1, 100)]
)
def test_steps_are_slopes_on_the_entry_before_that_explain_a_quarter(compared, rows, monkeypatch):
    """Of the last rows."""
    assert looks._COMPARED == 2_000_000
    monkeypatch.setattr(looks, "_COMPARED", compared)
    z = np.random.default_rng(4).normal(5, 1, (4, 2 * rows))
    first = z[0] + 0.5 * z[1]
    second = -first + 2.3 * z[2]  # a fifth is explained
    x = np.column_stack([z[0], first, second, 0.5 * second + 1.8 * z[3]])
    x[:-rows, 1] -= 100 * x[:-rows, 0]
    slopes = [np.polyfit(x[-rows:, i], x[-rows:, i + 1], 1)[0] for i in range(3)]
    correlations = np.corrcoef(x[-rows:].T)
    explained = np.array([correlations[i, i + 1] for i in range(3)]) ** 2 > 0.25
    assert rows < 2000 or explained.tolist() == [True, False, True]
    assert looks._steps(x) == (np.round(slopes, 1) * explained).tolist()


@pytest.mark.parametrize("wrong", [NAN, math.inf])
def test_an_entry_that_is_not_finite_has_no_step(wrong):
    x = np.cumsum(np.random.default_rng(4).normal(size=(2000, 4)), axis=1)
    x[-5, 3] = wrong
    assert looks._steps(x) == [1.0, 1.0, 0.0]


def test_independent_entries_have_no_steps():
    assert looks._steps(np.random.default_rng(6).normal(size=(400, 3))) == []


def test_a_sum_of_steps_is_the_sum_of_what_each_entry_adds():
    rng = np.random.default_rng(5)
    x, y = np.cumsum(rng.normal([[[0.2]], [[0.0]]], 1, (2, 4000, 5)), axis=2)
    learners = looks.sums(x, 5)
    assert learners.keys() == {"sum", "steps"}
    assert looks.sums(x[:, :1], 1).keys() == {"sum"} == looks.sums(x[:, 0], 4).keys()
    view = learners["steps"](x, y)
    added = [np.column_stack([side[:, 0], np.diff(side)]) for side in (x, y)]
    assert view.steps == (1.0,) * 4
    assert view.of(x) == pytest.approx(learners["sum"](*added).of(added[0]))
    assert [len(table.starts[0]) for table in view.tables] == [15] * 5  # sixteen cells
    assert learners["sum"](x, y).steps == ()
