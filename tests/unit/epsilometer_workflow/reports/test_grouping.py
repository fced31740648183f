"""Rows are chosen, grouped and told apart by axes of identity; test_axes.py asks all reports."""

import pandas as pd
import pytest

from epsilometer.errors import ArgumentError
from epsilometer_workflow.reports import grouping


def test_panels_and_values_that_the_data_have_not_are_refused():
    rows = pd.DataFrame({"mechanism": ["a"], "inputs": ["i"], "epsilon": [0.5]})
    with pytest.raises(ArgumentError, match="panels has 'aa', which is not in the data"):
        grouping.chosen(rows, {"aa": "title"})
    with pytest.raises(ArgumentError, match=r"epsilon must be one of the data, 0.5, got 0.6"):
        grouping.chosen(rows, epsilon=0.6)
    assert grouping.chosen(rows, {"a i": "title"}, epsilon=0.5)["panel"].tolist() == ["title"]
