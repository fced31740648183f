"""Every result prints in few lines, and makes a table, a picture and a cell of a notebook."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import epsilometer as em
from epsilometer import estimates, measurement
from epsilometer.results import Result, Row

RNG = np.random.default_rng(2)
X, X_PRIME = RNG.laplace([[0], [1]], 1, (2, 2000))
KEPT, FLIPPED = RNG.random((2, 2000)) < [[0.75], [0.25]]
RESULTS = [
    em.measure(X, X_PRIME),
    em.local_loss(X, X_PRIME, [-1.0, 0.5, 40.0]),
    em.largest_loss(X, X_PRIME),
    em.loss_lower_bound(X, X_PRIME),
    em.delta_curve(KEPT, FLIPPED, epsilons=[0.0, 1.0]),
    em.histogram_level(KEPT, FLIPPED, outcomes=2, smallest_probability=0.25),
    em.local_loss(np.array(["a"] * 900 + ["b"] * 100), np.array(["b"] * 1000), ["a", "b"]),
    em.local_loss(RNG.normal(size=(500, 2)), RNG.normal(size=(500, 2)), [[0.0, 0.0]]),
    em.largest_loss(X, X + 30),
    em.histogram_level(X > 5, X > 0, outcomes=2),
]


def test_every_class_of_results_is_public_and_has_an_example():
    public = {name for name in em.__all__ if isinstance(getattr(em, name), type)}
    assert public == {type(result).__name__ for result in RESULTS}
    defined = set()
    for name, value in (vars(estimates) | vars(measurement)).items():
        if isinstance(value, type) and issubclass(value, Result) and name[0] != "_":
            defined.add(name)
    assert defined - {"Result"} == public


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_a_result_has_a_text_a_table_a_picture_and_a_cell(result):
    assert len(str(result).splitlines()) <= 8
    assert repr(result) == str(result)
    frame = result.to_frame(mechanism="m")
    assert next(iter(frame)) == "mechanism"
    assert {*Row.__dataclass_fields__} < {*frame}
    assert len(frame) == len([*result.rows()])
    assert (frame["n"] > 0).all()
    assert frame[["estimate", "low", "high"]].notna().any(axis=None)
    assert "<table>" in result._repr_html_()
    axes = Figure().subplots()
    assert result.plot(axes, claim=0.5) is axes
    assert axes.has_data()
    assert any("claim" in str(line.get_label()) for line in axes.lines)


def test_tables_of_several_results_are_put_together():
    frames = [result.to_frame(run=run) for run, result in enumerate(RESULTS)]
    assert [*pd.concat(frames)] == [*frames[0]]


def test_a_picture_of_its_own_has_the_look_of_the_figures():
    import matplotlib as mpl

    mpl.use("Agg")
    axes = em.delta_curve(KEPT, FLIPPED, epsilons=[0.0, 1.0]).plot()
    assert axes.lines[0].get_color() == "#0072b2"
    assert not axes.spines["top"].get_visible()
    import matplotlib.pyplot as plt

    plt.close(axes.figure)
