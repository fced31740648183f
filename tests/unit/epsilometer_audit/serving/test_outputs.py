"""Outputs become plain values with all their labels, and cross the protocol as they are."""

import collections
import json

import pandas as pd
import polars as pl
import pytest

from epsilometer_audit.serving.outputs import Broken, as_json, from_json, plain, rows

Red = collections.namedtuple("Red", "a")


@pytest.mark.parametrize("value", [pd.Categorical(["a"]), pd.Interval(1, 2)])
def test_values_of_unknown_types_are_refused(value):
    with pytest.raises(Broken, match=f"type {type(value).__name__}; return numbers, strings"):
        plain(value)


def test_tables_of_polars_become_plain_with_their_labels():
    table = pl.DataFrame({"a": [1, 2]})
    assert plain(table)["a"] == (1, 2)
    assert plain(table["a"]) == ("Series of Int64 'a'", (1, 2))
    assert rows(table) == [{"a": 1}, {"a": 2}]


def test_tables_of_pandas_become_plain_with_labels_that_are_there_twice():
    assert plain(pd.Series([1, 2], index=["a", "a"]))[1:] == (("a", 1), ("a", 2))
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert plain(frame)[1][0] == "a"
    assert len(rows(frame)[0]) == 3
    assert rows(pd.Series([1.0, 2.0], index=[3, 4]), index=True)[0]["index"] == 3


def test_keys_that_are_records_become_plain():
    assert plain({Red(1): Red(2)}) == {(("a", 1), ("$", "Red")): {"a": 2, "$": "Red"}}


@pytest.mark.parametrize("value", [b"\x00\xff", {Red(1): 2}, {1: -0.0}, frozenset({1, 2})])
def test_plain_values_cross_the_protocol(value):
    value = plain(value)
    back = plain(json.loads(json.dumps(as_json(value)), object_hook=from_json))
    assert repr(back) == repr(value)
