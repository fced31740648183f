"""Words have parts: characters, the numbers in them, and the values that they represent."""

import json

import numpy as np
import pytest

from epsilometer_audit.outputs import words
from epsilometer_audit.outputs.outcomes import learn_layout


@pytest.mark.parametrize(
    ("part", "text", "value"),
    [
        ("pattern", "it is 12.50 of 007 or 1e-5", "it is #.## of 00# or #e"),
        ("numbers", "it is 12.50 of 007", (12.5, 7)),
        ("first number", "1 of 2 of 3", 1),
        ("last number", "1 of 2 of 3", 3),
        ("digits times 1 and 3", "1-2345", 5 + 3 * 4 + 3 + 3 * 2 + 1),
        ("digits times their places", "12X", 10 + 2 * 2 + 3 * 1),
        ("digits times their places", "x12", 2 + 2 * 1),
        ("check sum of digits", "9-5678", 8 + (1 + 4) + 6 + (1 + 0) + 9),
        ("digits modulo 96,030", "96031", 1),
    ],
)
def test_parts_of_words(part, text, value):
    assert words._PARTS[part](text) == value


def test_more_than_64_different_words_are_split_into_parts():
    texts = [str(i) for i in range(65)]
    assert words.features(texts[:64], texts[:64]) == ([], True)
    assert words.features(texts, texts)[0]


@pytest.mark.parametrize("size", [5, 16, 17])
def test_letters_at_both_ends_tell_words_of_up_to_sixteen_apart(size):
    """Words that differ in one letter, wherever it is; of longer ones the middle is left out."""
    word = "abcdefghijklmnopq"[:size]
    texts = []
    for i in range(size):
        texts += [word[:i] + letter + word[i + 1 :] for letter in "rstuvwxyzRSTUVWXYZ"]
    steps, determined = words.features(texts, texts)
    letters = [words.feature(step, texts, texts)[1] for step in steps if step[0] == "character"]
    assert determined == (size <= 16)
    different = set(zip(*letters, strict=True))
    assert len(texts) - len(different) == (17 if size == 17 else 0)


def test_parts_of_texts_are_the_same_beside_missing_ones():
    letters = np.random.default_rng(0).choice([*"abcdefgh"], (200, 6))
    texts = [json.dumps({"id": "".join(row), "value": i}) for i, row in enumerate(letters)]
    columns = {column.path for column in learn_layout(texts).columns if column.path}
    beside = {column.path for column in learn_layout([*texts, None, b"a"]).columns}
    assert any(("text", "value") in path for path in columns)
    assert columns <= beside


def test_a_list_names_what_fits_a_line_to_its_last_character():
    for size, text in [(77, "a" * 77 + " or " + "b" * 79), (78, "a" * 78 + " or 1 more")]:
        assert words.listed("", ["a" * size, "b" * 79]) == text
