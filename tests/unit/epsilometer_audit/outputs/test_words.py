"""Words have parts: characters, the numbers in them, and the values that they represent."""

import copy
import datetime
import enum
import itertools
import json
import math

import numpy as np
import pytest

from epsilometer_audit.outputs import words
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.serving.outputs import Failure


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
        ("check sum of digits", "79927398713", 70),  # Luhn's own example is valid: ends in 0
        ("digits modulo 96,030", "96031", 1),
        ("digits modulo 96,030", "9 60 29", 96029),
        ("digits modulo 96,030", "GB82 1234 5698 7654 32", 82_123_456_987_654_32 % 96030),
        ("length", "abc", 3),
        ("checksum", "123456789", 0xCBF43926),  # the check value of CRC-32
        ("checksum", b"123456789", 0xCBF43926),
        ("value", '{"a": [0.5, 2]}', {"a": [0.5, 2]}),
    ],
)
def test_parts_of_words(part, text, value):
    assert words._PARTS[part](text) == value


@pytest.mark.parametrize("modulus", [9, 10, 11, 97])
def test_usual_moduli_of_check_digits_are_held(modulus):
    number = 123_456_789_012_345_678
    assert words._PARTS["digits modulo 96,030"](str(number)) % modulus == number % modulus


@pytest.mark.parametrize(
    ("value", "later", "units"),
    [
        (datetime.time(0, 0, 1), datetime.time(0, 1), 59_000_000),
        (datetime.date(2024, 2, 28), datetime.date(2024, 3, 1), 2),
        (datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, 1), 3_600_000_000),
        (datetime.timedelta(), datetime.timedelta(1, 0, 7), 86_400_000_007),
        (np.datetime64("2024-01", "M"), np.datetime64("2025-01", "M"), 12),
        (np.timedelta64(5, "ns"), np.timedelta64(9, "ns"), 4),
        (datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), 0),
    ],
)
def test_times_are_numbers_of_their_smallest_unit(value, later, units):
    positions, numbers = words.feature(("text", "time"), [None, value, "12:30", later], [])
    assert positions == [1, 3]
    assert numbers[1] - numbers[0] == units


def whole_numbers_in(ranges):
    """Return which of some whole numbers lie in ranges."""
    held = set()
    for first, last in ranges:
        for i in range(-4, 4):
            if (first is None or first <= i) and (last is None or i <= last):
                held.add(i)
    return held


def test_ranges_with_whole_ends_hold_the_same_whole_numbers():
    ends = [None, -math.inf, -2.5, -2, -0.5, 0, 0.5, 1, 1.5, math.inf]
    for pair in itertools.product(ends, ends):
        ranges = words.whole_ranges([pair])
        held = whole_numbers_in([pair])
        assert whole_numbers_in(ranges) == held, pair
        assert len(ranges) == bool(held), pair  # none is empty
        assert all(end is None or isinstance(end, int) for end in itertools.chain(*ranges)), pair


@pytest.mark.parametrize("size", [40, 41, 53, 160])
def test_a_long_text_keeps_two_thirds_from_its_start_and_one_from_its_end(size):
    text = "".join(chr(1000 + i) for i in range(size))
    assert words.short(text, size) == text
    assert words.short(text[:-1], size) == text[:-1]
    more = text + "abc"
    start, end = words.short(more, size).split("...")
    assert len(start) + len(end) + 3 == size
    assert 0 <= len(start) - 2 * len(end) <= 2
    assert more.startswith(start)
    assert more.endswith(end)


def test_brackets_take_a_third_of_a_line():
    assert words.in_brackets(["a", "b"]) == "(a, b)"
    assert words.in_brackets(["a" * 51]) == f"({'a' * 51})"
    assert len(words.in_brackets(["a" * 52])) == 53


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (3, "3"),
        (np.True_, "True"),
        (None, "None"),
        ("a", "'a'"),
        ("a" * 500, f"'{'a' * 24}...{'a' * 11}'"),  # 40 letters
        ((1, "a", ()), "(1, 'a', ())"),
        (frozenset([2, "b", 1]), "{'b', 1, 2}"),
        (Failure("E", "message"), "failure E"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        ([1, 2], "a list"),
        (((((((((1,),),),),),),),), "((((((((1))))))))"),
        ((((((((((1,),),),),),),),),), "((((((((a tuple))))))))"),
    ],
)
def test_a_key_or_member_is_named_as_it_is_to_eight_levels(value, name):
    assert words.label(value) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ((), "output"),
        ((("entry", 3), ("key", "a")), "entry 3.key 'a'"),
        ((("key", "$"),), "type"),
        ((("text", "$"),), "$"),
        ((("character", -1),), "character -1"),
        ((("member", "$"),), "'$'"),
        ((("text", "first number"), ("part", "order of keys")), "first number.order of keys"),
    ],
)
def test_a_part_is_named_by_the_way_to_it(path, name):
    assert words.name_of(path) == name


class Level(enum.Enum):
    LOW = 1


class Letters(str):
    __slots__ = ()

    def __str__(self):
        return "other letters"


DAY = datetime.date(2024, 2, 29)
DIFFERENT = [
    None,
    "None",
    b"None",
    Failure("None"),
    Failure("ValueError", "first"),
    Failure("ValueError", "second"),
    DAY,
    "2024-02-29",
    np.datetime64("2024-02-29"),
    np.timedelta64(5, "s"),
    np.timedelta64(5, "m"),
    Level.LOW,
    "Level.LOW",
    (),
    {},
    int,
]


def test_keys_are_equal_for_equal_values_only():
    keys = [words.key_of(value) for value in DIFFERENT]
    assert len(set(keys)) == len(DIFFERENT)
    assert keys == [words.key_of(copy.copy(value)) for value in DIFFERENT]
    assert words.word_of(Letters("a")) == "a"


def features_of(values):
    """Return the names of the parts of words, and whether these determine the words."""
    steps, determined = words.features(values, list(map(words.word_of, values)))
    return [key for _, key in steps], determined


LETTERS = [a + b for a in "abcdefgh" for b in "abcdefghi"]  # 72, without digits
OF_DIGITS = [*words._OF_DIGITS]
ENDS_OF_TWO = ["length", 0, 1, -1, -2]
OUTSIDE = ["first number", "last number"]


@pytest.mark.parametrize("patterns", [64, 65])
def test_words_of_more_than_64_patterns_of_digits_are_split_into_letters(patterns):
    names, determined = features_of([f"{a}{i}" for a in LETTERS[:patterns] for i in (1, 2)])
    split = ["pattern", "numbers"] if patterns == 64 else [*OUTSIDE, "length", 0, 1, 2, -1, -2, -3]
    assert names == ["checksum", *OF_DIGITS, *split]
    assert determined


@pytest.mark.parametrize(
    ("values", "names", "determined"),
    [
        ([*LETTERS, None], ["checksum", *OUTSIDE, *ENDS_OF_TWO], True),
        ([*LETTERS, "abc", "a"], ["checksum", *OUTSIDE, "length", 0, 1, 2, -1, -2, -3], True),
        ([a.encode() for a in LETTERS], ENDS_OF_TWO, True),
        ([a.encode() * 9 for a in LETTERS], ["length", *range(8), *range(-1, -9, -1)], False),
        ([*map(str, range(65))], ["checksum", *OF_DIGITS, "pattern", "numbers"], True),
        (
            [*map(str, range(65)), b"abc"],
            ["checksum", *OF_DIGITS, "pattern", "numbers", "length", 0, 1, 2, -1, -2, -3],
            True,
        ),
        (
            [DAY + datetime.timedelta(i) for i in range(65)],
            ["time", "checksum", *OF_DIGITS, "pattern", "numbers"],
            True,
        ),
        ([Failure("E", "a"), Failure("F", "b")], [], True),
        ([Failure("E", "a"), Failure("E", "a")], [], True),
        ([Failure("E", "a"), Failure("E", "b"), "w"], ["message"], True),
    ],
)
def test_words_have_the_parts_of_their_kind(values, names, determined):
    assert features_of(values) == (names, determined)


@pytest.mark.parametrize(
    ("write", "is_looked_at"),
    [
        (lambda letters: json.dumps({letters: 1}), True),
        (lambda letters: json.dumps([letters]), True),
        (json.dumps, False),  # a text
        (lambda letters: f"[{letters}]", False),
    ],
)
def test_values_of_json_are_looked_at_where_they_have_parts(write, is_looked_at):
    texts = list(map(write, LETTERS))
    for others in ([], ["!", "~"], [None, b"a", "[[["]):  # words beside them
        names, _ = features_of([*texts, *others])
        assert ("value" in names) == is_looked_at


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


LONG = [i * "a" for i in range(70, 80)]


LISTS = [  # items, how they are listed, and the text
    ([], {}, "is nothing"),
    (["a"], {}, "is a"),
    (["a", "b", "c"], {}, "is a, b or c"),
    (["a", "b", "c"], {"comma": " and "}, "is a and b or c"),
    (["a", "b", "c"], {"unit": " letters", "most": 1}, "is a or 2 more letters"),
    (["a", "b", "c"], {"most": 2}, "is a, b or 1 more"),
    (["a"], {"most": 1, "more": 7}, "is a or 7 more"),
    (["a" * 200, "b"], {}, f"is {'a' * 200} or 1 more"),
    (["a" * 200], {}, f"is {'a' * 200}"),
    (LONG, {}, f"is {LONG[0]}, {LONG[1]} or 8 more"),
]


@pytest.mark.parametrize(("items", "options", "text"), LISTS)
def test_a_list_names_what_fits_a_line_and_how_many_are_left(items, options, text):
    assert words.listed("is ", items, **options) == text


def test_a_list_names_what_fits_a_line_to_its_last_character():
    for size, text in [(77, "a" * 77 + " or " + "b" * 79), (78, "a" * 78 + " or 1 more")]:
        assert words.listed("", ["a" * size, "b" * 79]) == text
