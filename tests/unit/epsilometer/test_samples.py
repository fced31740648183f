"""Arrays as people have them: one rule for the functions of two arrays and for audits."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilometer as em
import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer.samples import Columns, columns_of, ends_of, pair_of, pairs_of_arrays

RNG = np.random.default_rng(6)
SIDES = RNG.laplace(0, 1, 500), RNG.laplace(1, 1, 500)
NAMES = np.array(["no", "yes"])


class Tensor:
    """What PyTorch offers: ``detach`` where a gradient is recorded, ``__array__`` after it."""

    def __init__(self, values, gradient=False):
        self.values, self.gradient = values, gradient

    def detach(self):
        return Tensor(self.values)

    def __array__(self, dtype=None, copy=None):
        if self.gradient:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return np.array(self.values, dtype)


class Packed:
    """What an array offers that has DLPack only."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class OnAnotherDevice(Packed):
    def __dlpack__(self, **options):
        raise BufferError("the array is on\na GPU")


ARRAYS = {
    "list": np.ndarray.tolist,
    "column": lambda values: values[:, None],
    "pandas": pd.Series,
    "pandas, nullable": lambda values: pd.Series(values, dtype="Float64"),
    "column of pandas, named": lambda values: pd.DataFrame({"score": values}),
    "Polars": pl.Series,
    "column of Polars, named": lambda values: pl.DataFrame({"score": values}),
    "tensor": lambda values: Tensor(values, gradient=True),
    "DLPack": Packed,
    "objects": lambda values: values.astype(object),
    "masked nowhere": np.ma.masked_array,
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_an_array_of_any_library_is_an_array(kind):
    x, x_prime = (ARRAYS[kind](side) for side in SIDES)
    pair = pair_of(x, x_prime)
    np.testing.assert_array_equal([pair.x, pair.x_prime], SIDES)
    verdict = ea.audit_outputs((x, x_prime), ea.pure(0.1), as_reals=True)
    assert verdict.bound == ea.audit_outputs(SIDES, ea.pure(0.1), as_reals=True).bound
    assert ("score" in str(verdict)) == kind.endswith("named")  # audits name columns


OUTCOMES = {
    "words": lambda bits: NAMES[bits],
    "bytes": lambda bits: NAMES[bits].astype("S"),
    "list of bytes": lambda bits: NAMES[bits].astype("S").tolist(),
    "categories": lambda bits: pd.Series(NAMES[bits], dtype="category"),
    "words of Polars": lambda bits: pl.Series(NAMES[bits]),
    "booleans": lambda bits: bits == 1,
    "booleans of pandas": lambda bits: pd.Series(bits == 1, dtype="boolean"),
    "bytes of memory": lambda bits: bits.astype(np.uint8),
    "tensor": Tensor,
}


@pytest.mark.parametrize("kind", OUTCOMES)
def test_outcomes_of_any_kind_are_outcomes(kind):
    bits = [(RNG.random(300) < chance).astype(int) for chance in (0.8, 0.3)]
    given = [OUTCOMES[kind](side) for side in bits]
    pair = pair_of(*given)
    np.testing.assert_array_equal([pair.x, pair.x_prime], bits)
    assert not pair.real
    verdicts = [ea.audit_outputs(tuple(sides), ea.pure(0.1)) for sides in (given, bits)]
    assert verdicts[0].bound == verdicts[1].bound


def test_columns_are_named():
    x, y = (pd.DataFrame({"age": side, "height": side[::-1]}) for side in SIDES)
    assert set(em.largest_loss(x, y).output) == {"age", "height"}
    rows = pl.DataFrame({"age": [1, 2], "height": [3, 4]})
    assert pair_of(rows, rows).columns == ("age", "height")
    words = pd.DataFrame({"kind": ["a", "b"], "one": ["c", "c"]})
    assert pair_of(words, words).named(np.array(1)) == {"kind": "b", "one": "c"}


TOO_LARGE = "must hold integers from -2^62 to 2^62; larger ones as strings"
REFUSED = [
    (np.ma.masked_less(np.arange(5), 3), "must have no masked entries, has 3, the first in row 0"),
    ([0.0, np.nan, np.inf], "has 2 entries that are NaN or infinite, the first in row 1"),
    (pd.DataFrame({"a": [1, 2], "b": [1, np.nan]}), "the first in row 1, column 'b'"),
    (pl.Series([1, None]), "the first in row 1"),
    (pd.Series([1, None, 3], dtype="Int64"), "the first in row 1"),
    (pd.Series(["a", None, None]), "has 2 missing entries, the first in row 1"),
    (["a", float("nan")], "has 1 missing entries, the first in row 1"),
    ([None, 1.0], "has 1 missing entries, the first in row 0"),
    (["a", 1], "must hold numbers only, or strings only; an entry in row 1 is 1"),
    (pd.DataFrame({"a": [1.5], "b": ["x"]}), "an entry in row 0, column 'a' is 1.5"),
    ([2**70], TOO_LARGE),
    ([2**62 + 1], TOO_LARGE),
    ([-(2**62) - 1], TOO_LARGE),
    ([], "must have shape (n,) or (n, d), not empty, got (0,)"),
    (3.0, "must have shape (n,) or (n, d), not empty, got ()"),
    (np.zeros((5, 2, 2)), "must have shape"),
    ([[1.0, 2.0], [3.0]], "must have shape"),
    (None, "must have shape"),
    (np.ones(5) * 1j, "must hold numbers"),
    (pd.to_datetime(pd.Series(["2020-01-01"])), "not datetime64"),
    (np.zeros(3, [("a", float)]), "must hold numbers, or booleans or strings as outcomes, not ["),
    (OnAnotherDevice(np.zeros(3)), "is no array that NumPy can read: the array is on a GPU"),
    ([Tensor(0.5, gradient=True)], "must have shape (n,) or (n, d)"),
]


@pytest.mark.parametrize(("values", "message"), REFUSED)
def test_other_arrays_are_refused_in_a_line(values, message):
    with pytest.raises(ArgumentError) as caught:
        pair_of(values, values)
    text = str(caught.value)
    assert text.startswith("x ")
    assert message in text
    assert "\n" not in text
    assert len(text) < 150


def test_integers_up_to_the_largest_are_kept():
    pair = pair_of([2**62, -(2**62)], [0, 1])
    assert (pair.x.tolist(), pair.x.dtype) == ([2**62, -(2**62)], np.int64)
    assert pair_of([1], [0.5]).n == 1  # one draw is enough where no more are asked for


def test_a_shuffle_and_its_parts_hold_every_draw_once():
    """Draws and their places have a correlation below 6 standard errors; 1 in 5e8 has more."""
    mixed = pair_of(np.arange(1000), np.arange(700.0)).shuffled()
    parts = [mixed.part(*ends) for ends in ((0, 0.3), (0.3, 0.5), (0.5, 1))]
    assert [len(part.x) for part in parts] == [300, 200, 500]
    assert [len(part.x_prime) for part in parts] == [210, 140, 350]
    for draws in (mixed.x, mixed.x_prime):
        places = np.arange(len(draws))
        assert np.array_equal(np.sort(draws), places)
        assert abs(np.corrcoef(draws, places)[0, 1]) < 6 / np.sqrt(len(draws))
    assert np.array_equal(np.concatenate([part.x for part in parts]), mixed.x)


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        (np.zeros((2, 5)), Columns((0,), (0,))),
        (np.zeros((2, 5, 2), int), Columns((0, 1))),
        (np.zeros((2, 5, 3)), Columns((0, 1, 2), (0, 1, 2), (((0,), (1,), (2,)),))),
        (np.full((2, 5, 3), "a"), Columns()),
    ],
)
def test_columns_of_numbers_are_in_one_sequence_from_three_on(sides, expected):
    assert columns_of(pair_of(*sides)) == expected


@pytest.mark.parametrize("two", ["01", 3.0, (0,), [0, 1, 2], {0: 1, 1: 0}])
def test_two_ends_and_two_sides_are_two(two):
    assert ends_of("range", [0, 2]) == (0, 2)
    with pytest.raises(ArgumentError, match="range must have two ends"):
        ends_of("range", two)
    with pytest.raises(ArgumentError, match=r"pairs\[1\] must be two arrays"):
        pairs_of_arrays([SIDES, two], least=1)


@pytest.mark.parametrize(
    ("other", "message"),
    [(np.array(["no"] * 5), "strings or numbers"), (np.zeros((5, 2), int), "has shape")],
)
def test_sides_of_different_kinds_are_refused(other, message):
    with pytest.raises(ArgumentError, match=f"^x_prime .*{message}"):
        pair_of(np.zeros(5, int), other)


def test_other_columns_are_refused():
    x = pd.DataFrame({"age": [1, 2], "height": [3, 4]})
    with pytest.raises(ArgumentError) as caught:
        pair_of(x, x[["height", "age"]])
    assert str(caught.value) == "x_prime has columns height, age; x has age, height"
    assert pair_of(x, x.to_numpy()).columns == ("age", "height")
    assert pair_of(x.to_numpy(), x).columns == ()


def test_audits_refuse_what_estimates_refuse():
    good, masked = np.zeros(500), np.ma.masked_less(np.arange(500), 3)
    with pytest.raises(ArgumentError, match=r"^outputs must have no masked entries, has 3"):
        ea.audit_outputs((masked, good), ea.pure(1.0))
    with pytest.raises(ArgumentError, match=r"^outputs is no array that NumPy can read"):
        ea.audit_outputs((OnAnotherDevice(good), good), ea.pure(1.0))


def test_reals_of_two_widths_are_compared_at_the_lesser():
    """With the low bits of one side only, its draws would be another side's in no case."""
    x = SIDES[0]
    pair = pair_of(x.astype(np.float32), x)
    np.testing.assert_array_equal(pair.x, pair.x_prime)
    assert pair.x.dtype == np.float64
    assert pair_of(np.array([0.5, 0.7]), np.array([0, 1], np.int8)).x.tolist() == [0.5, 0.7]


@pytest.mark.parametrize("name", [name for name in em.__all__ if name[0].islower()])
def test_a_signature_names_its_types(name):
    text = str(inspect.signature(getattr(em, name)))
    assert len(text) < 350
    assert "numpy" not in text
    if "lower_bound" in name:
        assert "confidence: 'float' = 0.95" in text
