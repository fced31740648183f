"""Short texts of numbers, inputs and confidences."""

import math
from fractions import Fraction

import numpy as np
import pytest

from epsilometer_audit.outputs.formats import as_plain, input_text, pair_texts, percent_sure, short


@pytest.mark.parametrize(
    ("alpha", "words"),
    [
        (0.05, "95"),
        (0.123456, "87.65"),  # two digits of a percentage at least
        (0.00123456, "99.87"),
        (0.000123456, "99.987"),  # and two of alpha
        (0.001 / 26, "99.9961"),
        (2.03e-8, "99.9999979"),
        (1e-40, f"99.{'9' * 38}"),
    ],
)
def test_no_confidence_is_all(alpha, words):
    assert percent_sure(alpha) == words


@pytest.mark.parametrize(
    ("number", "other", "text"),
    [
        (9.9949, None, "9.99"),
        (-9.9949, None, "-9.99"),
        (10.044, None, "10.04"),
        (-10.044, None, "-10.04"),
        (12345, None, "1.234e+04"),
        (1 / 3, 1 / 3, "0.333"),
        (0.70512, 3.0, "0.705"),
        (1.00123, 1.0, "1.001"),
        (1.25e-7, 3.0, "1.25e-07"),
        (1.0004, 1.0, "1.0004"),
        (1.00000001, 1.0, "1.00000001"),
        (1.000000001, 1.0, "1"),  # a tenth digit
    ],
)
def test_numbers_have_few_digits_but_enough_to_differ(number, other, text):
    assert short(number, other) == text


@pytest.mark.parametrize(
    ("value", "finite", "plain"),
    [
        (np.array([[1.5, math.nan]]), True, [[1.5, None]]),
        (-math.inf, True, None),
        (-math.inf, False, -math.inf),
        (np.float32(0.5), False, 0.5),
        ({1: (True, None), "a": {2}}, True, {"1": [True, None], "a": [2]}),
        ([Fraction(1, 3), "b"], True, ["Fraction(1, 3)", "b"]),
    ],
)
def test_values_in_json_are_plain(value, finite, plain):
    assert as_plain(value, finite=finite) == plain


KEY = {"id": 1, "key": "k" * 60}
KEY_CUT = f'{{"id": 1, "key": "{"k" * 38} ...'
ZEROS = f"[{'0, ' * 18}0 ..."
A = "a" * 55
SHOWN = [  # two inputs, and their texts
    ([0, 1], [1, 1], "[0, 1]", "[1, 1]"),
    ([0] * 40, [0] * 40, ZEROS, ZEROS),
    ([0] * 40, [0] * 39, "[39 alike, 0]", "[39 alike]"),
    ([0] * 40, [0] * 10, f"[10 alike, {'0, ' * 15}...", "[10 alike]"),  # one is long
    ([0] * 10, [0] * 40, "[10 alike]", f"[10 alike, {'0, ' * 15}..."),
    ([0] * 40, [*[0] * 20, 1, *[0] * 19], "[20 alike, 0, 19 alike]", "[20 alike, 1, 19 alike]"),
    ([0] * 40, [1, *[0] * 39], "[0, 39 alike]", "[1, 39 alike]"),
    (
        [KEY] * 3,
        [KEY, {**KEY, "id": 2}, KEY],
        '[1 alike, {"id": 1, ...}, 1 alike]',
        '[1 alike, {"id": 2, ...}, 1 alike]',
    ),
    (KEY, {**KEY, "more": 2}, "{...}", '{"more": 2, ...}'),
    ({"rows": [[i] for i in range(40)]}, {"rows": [[5]]}, None, '{"rows": [[5]]}'),
    ("a" * 80, "b" * 80, f'"{A} ...', f'"{"b" * 55} ...'),
    (
        "a" * 80,
        "a" * 60 + "b" + "a" * 19,
        '[60 letters alike, "a", 19 letters alike]',
        '[60 letters alike, "b", 19 letters alike]',
    ),
    ("b" + "a" * 79, "c" + "a" * 79, '["b", 79 letters alike]', '["c", 79 letters alike]'),
    (["a" * 80, 1], ["a" * 81, 1], '[[80 letters alike, ""], 1 alike]', None),
    ([0] * 40, "a" * 80, ZEROS, f'"{A} ...'),
    ("a" * 80, [0] * 40, f'"{A} ...', ZEROS),
    ([0] * 40, KEY, ZEROS, KEY_CUT),
    (KEY, [0] * 40, KEY_CUT, ZEROS),
    (KEY, "a" * 80, KEY_CUT, f'"{A} ...'),
    ("a" * 80, KEY, f'"{A} ...', KEY_CUT),
    ("a" * 57 + "b", "a" * 57 + "c", f'"{"a" * 57}b"', f'"{"a" * 57}c"'),  # 60 letters
    ("a" * 58 + "b", "a" * 58 + "c", '[58 letters alike, "b"]', '[58 letters alike, "c"]'),
]


@pytest.mark.parametrize(("x", "x_prime", "first", "second"), SHOWN)
def test_long_inputs_are_shown_by_the_part_that_differs(x, x_prime, first, second):
    texts = pair_texts(x, x_prime)
    assert first in (None, texts[0])
    assert second in (None, texts[1])
    assert max(map(len, texts)) <= 60
    assert len(input_text([x] * 40)) in (59, 60)  # no space before the dots
    assert (texts[0] == texts[1]) == (x == x_prime)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_long_tables_are_shown_by_the_part_that_differs(library):
    library = pytest.importorskip(library)
    ages, more = np.full(50, 31.0), np.repeat([31.0, 32.0], [20, 30])
    frames = [library.DataFrame({"age": side}) for side in (ages, more)]
    columns = [library.Series(side) for side in (ages, more)]
    for sides, start in ((frames, '{"age": [20 alike'), (columns, "[20 alike")):
        texts = pair_texts(*sides)
        assert texts[0].startswith(f"{start}, 31.0, 31.0")
        assert texts[1].startswith(f"{start}, 32.0, 32.0")
