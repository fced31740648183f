"""Grids of inputs, and numbers and entries as people write them."""

import math

import pytest

from epsilometer.errors import ConfigError
from epsilometer.settings.models import parse
from epsilometer_workflow.configuration import config


def grid(**more):
    return parse(config.Grid, {"from": 0.0, "to": 1.0, "points": 4} | more, "here")


def test_grids_of_inputs():
    assert grid().sides() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert grid(at="midpoints").sides() == pytest.approx([0.125, 0.375, 0.625, 0.875])
    fresh = grid(points=3, samples="fresh").sides()
    assert fresh == [0, 0.5, 0, 1, 0.5, 1]  # three pairs, two sides each


def test_pairs_and_neighbourhoods():
    pairs = parse(config.Pairs, {"pairs": {"near": [0, 1], "far": [0, 2]}}, "here")
    assert pairs.sides() == [0, 1, 0, 2]
    assert pairs.names == ["near", "far"]
    neighbours = parse(config.Neighbourhood, {"around": [0, 0.5], "entries": [0, 0.5]}, "here")
    assert neighbours.sides()[::2] == [[0, 0.5]] * 3
    assert neighbours.sides()[1::2] == [[0, 0], [0.5, 0], [0.5, 0.5]]
    assert neighbours.names == ["0 0", "0.5 0", "0.5 0.5"]


def test_every_row_of_a_database_is_removed_in_turn():
    rows = parse(config.RowsRemoved, {"databases": [[0, 1, 1], [2]]}, "here")
    assert rows.sides() == [[0, 1, 1], [1, 1], [0, 1, 1], [0, 1], [0, 1, 1], [0, 1], [2], []]
    assert rows.names == ["1-1", "1-2", "1-3", "2-1"]
    with pytest.raises(ConfigError, match=r"here: databases.0: "):
        parse(config.RowsRemoved, {"databases": [[]]}, "here")


def test_each_row_of_a_distribution_is_known_in_turn():
    rows = parse(config.Distributions, {"distributions": [[0.5, 0.1], [0.9]]}, "here")
    assert rows.sides() == [[0, 0.1], [1, 0.1], [0.5, 0], [0.5, 1], [0], [1]]
    assert rows.names == ["1-1", "1-2", "2-1"]


def block(**values):
    keys = {"mechanism": ["m"], "epsilon": [1], "inputs": ["i"], "estimator": ["e"]}
    return parse(config.Block, keys | {"lambda": ["inf"]} | values, "here")


def test_numbers_as_people_write_them():
    assert block(epsilon=["1/3", 2]).epsilon == [1 / 3, 2]
    assert block(**{"lambda": ["inf", 2, 1.5]}).order == [math.inf, 2, 1.5]
    for wrong in ["1/0", "a", "0x1", "-1/3", True, None, math.nan]:
        with pytest.raises(ConfigError, match=r"here: epsilon.0: "):
            block(epsilon=[wrong])


ENTRIES = "a: {mechanism: m, inputs: {i: [0, 1]}, parameters: {p: 1, q: 2}}\n"


def test_an_entry_is_like_another_but_for_its_own_keys(tmp_path):
    file = tmp_path / "mechanisms.yaml"
    file.write_text("b: {like: a, parameters: {p: 3}}\n" + ENTRIES)
    entries = config.read_entries(file, config.MechanismEntry)
    assert entries["b"].inputs["i"].sides() == [0, 1]
    assert entries["b"].parameters == {"p": 3}
    assert entries["a"].parameters == {"p": 1, "q": 2}


@pytest.mark.parametrize("like", ["aa", "b", "[a]", "c", "5"])
def test_an_entry_is_like_one_that_has_all_keys_itself(tmp_path, like):
    file = tmp_path / "mechanisms.yaml"
    file.write_text(f"b: {{like: {like}}}\nc: {{like: a}}\n" + ENTRIES)
    message = "b.like: no entry .* without `like` of its own"
    with pytest.raises(ConfigError, match=message):
        config.read_entries(file, config.MechanismEntry)
