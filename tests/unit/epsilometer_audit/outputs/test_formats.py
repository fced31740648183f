"""Short texts of inputs and confidences."""

import numpy as np
import pytest

from epsilometer_audit.outputs.formats import input_text, pair_texts, percent_sure


@pytest.mark.parametrize(
    ("alpha", "words"),
    [(0.05, "95"), (0.001 / 26, "99.9961"), (2.03e-8, "99.9999979"), (1e-40, f"99.{'9' * 38}")],
)
def test_no_confidence_is_all(alpha, words):
    assert percent_sure(alpha) == words


KEY = {"id": 1, "key": "k" * 60}
SHOWN = [
    ([0, 1], [1, 1], "[0, 1]", "[1, 1]"),
    ([0] * 40, [0] * 39, "[39 alike, 0]", "[39 alike]"),
    ([0] * 40, [*[0] * 20, 1, *[0] * 19], "[20 alike, 0, 19 alike]", "[20 alike, 1, 19 alike]"),
    ([KEY] * 3, [KEY, {**KEY, "id": 2}, KEY], '[1 alike, {"id": 1, ...}, 1 alike]', None),
    ({"rows": [[i] for i in range(40)]}, {"rows": [[5]]}, None, '{"rows": [[5]]}'),
    ("a" * 80, "b" * 80, f'"{"a" * 55} ...', None),
    ("a" * 80, "a" * 60 + "b" + "a" * 19, '[60 letters alike, "a", 19 letters alike]', None),
    (["a" * 80, 1], ["a" * 81, 1], '[[80 letters alike, ""], 1 alike]', None),
    ([0] * 40, "a" * 80, None, f'"{"a" * 55} ...'),
    ("a" * 57 + "b", "a" * 57 + "c", f'"{"a" * 57}b"', None),
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
