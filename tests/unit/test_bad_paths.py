"""Values have one spelling in paths; the error of a bad path is one line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilometer.errors import EpsilometerError
from epsilometer_workflow.files import parsing
from epsilometer_workflow.files.parsing import Batch, Draws, Reduction, spell
from tests.products import product_of

# --- numbers, draws, batches and reductions -------------------------------------------------------

positive = st.floats(0, exclude_min=True, allow_infinity=False)
sizes = st.integers(1, 10**15 - 1)
runs = st.integers(0, 10**9)
WRITTEN = {  # what is written, and how it is read
    "positive": (positive, lambda text: parsing.positive("epsilon", text)),
    "order": (st.floats(1, exclude_min=True), parsing.order),
    "whole": (sizes, lambda text: parsing.integer("runs", text)),
    "whole from 0": (st.integers(0, 99), lambda text: parsing.integer("fresh", text, minimum=0)),
    "draws": (
        st.one_of(
            st.builds(Draws, sizes),
            st.builds(Draws, sizes, searched=st.just(True)),
            st.builds(Draws, sizes, fresh=sizes),
        ),
        Draws.parse,
    ),
    "batch": (st.tuples(runs, runs).map(lambda ends: Batch(min(ends), max(ends))), Batch.parse),
    "reduction": (
        st.one_of(
            st.integers(2, 10**9).map(lambda cells: Reduction.of({"cells": cells})),
            st.tuples(st.integers(2, 10**9), positive).map(
                lambda v: Reduction.of({"points": v[0], "power": v[1]})
            ),
        ),
        Reduction.parse,
    ),
}
kinds = pytest.mark.parametrize("kind", WRITTEN)
parts = st.sampled_from(["cells=5", "points=9", "power=1.1", "power=2", "x=1", "cells"])
texts = st.one_of(  # parts of paths, and mistakes of users
    st.text(alphabet="0123456789.+-_eEinfa \n١²", max_size=12),
    st.text(max_size=12),
    st.lists(parts, min_size=1, max_size=4).map("_".join),
)


def text_of(value: object) -> str:
    return spell(value) if isinstance(value, float) else str(value)


@kinds
@given(data=st.data())
def test_what_is_written_is_read(kind, data):
    values, read = WRITTEN[kind]
    value = data.draw(values)
    assert read(text_of(value)) == value


@kinds
@given(text=texts)
def test_a_text_is_written_as_it_was_read_or_is_refused_in_a_line(kind, text):
    """One value has one path: nothing is read from a text that it is not written as."""
    try:
        value = WRITTEN[kind][1](text)
    except EpsilometerError as error:
        refusal = str(error)
        assert "\n" not in refusal
        return
    assert text == text_of(value)


NO_NUMBER = "x 1.0 01 +1 -1 nan 1_0 1e0 ٣ 0x1 1,5"
REFUSED = {  # the beginning of the refusal, and words that are refused
    "positive": ("epsilon=", f"{NO_NUMBER} 0 inf -inf Infinity 1e400 1e-400"),
    "order": ("lambda=", f"{NO_NUMBER} 1 0.5 0 -2 -inf Infinity"),
    "whole": ("runs=", f"{NO_NUMBER} 0 1.5 inf"),
    "draws": (
        "n=",
        f"{NO_NUMBER} 0 1.. ..5 1..0 2..9 1..05 1...5 1..-5 5+ +5 5+0 0+5 5+05 5++5 5+5+5 1..5+5",
    ),
    "batch": ("runs=", "- 5 0- -9 0-9-9 0--9 00-9 0-09 +0-9 0.0-9 a-b 0-٩ 1..9 9-8"),
    "reduction": (
        "",
        "cells cells= cells=1 cells=05 cells=2.0 Cells=5 cells=5_ points=9 cells=5_power=1.1 "
        "power=1.1_points=9 points=1_power=1.1 points=9_power=0 points=9_power=1.10",
    ),
}
REFUSED_BY_ALL = ["", " 5", "5\n", "9" * 5000]


@kinds
def test_other_spellings_are_refused(kind):
    start, many = REFUSED.get(kind, ("", ""))
    for text in many.split() + REFUSED_BY_ALL:
        with pytest.raises(EpsilometerError, match=f"^{start}"):
            WRITTEN[kind][1](text)


def test_the_first_stage_of_what_is_read():
    assert Draws.parse("20+50").first_stage == Draws(20)
    assert Draws.parse("1..20").first_stage == Draws(20, searched=True)


# --- paths, requested as Snakemake does it --------------------------------------------------------


def test_a_path_beyond_the_grids_is_valid(study):
    path = "results/smoke/estimates/bernoulli-pair/epsilon=3/coins/lambda=2/histogram-gamma=1"
    assert product_of(study, f"{path}/n=7_runs=9.parquet").spec()["identity"]["n"] == "7"


BASE = "truncated-laplace/epsilon=1/ends"
DISTANCE = "laplace/epsilon=1/distance=1"
DISTANCES = "laplace/epsilon=1/distances"
LOSS = "local-loss-floor=0.001"

ESTIMATES = [  # mechanism to estimator, the error
    (f"truncated-laplas/epsilon=1/ends/lambda=inf/{LOSS}", "mean 'truncated-laplace'"),
    (f"truncated-laplace/epsilon=1/end/lambda=inf/{LOSS}", "mean 'ends'"),
    (f"{BASE}/lambda=inf/histogram", "unknown estimator 'histogram'; did you mean"),
    (f"laplace/epsilon=0/distances/lambda=inf/{LOSS}", "epsilon=0 must be positive"),
    (f"laplace/epsilon=1.0/distances/lambda=inf/{LOSS}", "is written epsilon=1"),
    (f"{BASE}/lambda=1/histogram-gamma=1", "lambda=1 must be above 1"),
    (f"{DISTANCES}/lambda=inf/mpl-floor=0.001", "n must be two sizes, n+N, got 100"),
    (f"{DISTANCE}/lambda=inf/renyi-bound-draws=50", "lambda must be finite"),
    (f"{DISTANCE}/lambda=2/spectrum-knn", "lambda must be inf: a spectrum ends at the pure level"),
]
SIZES = [
    ("n=0_runs=2", "n=0 must be a whole number from 1"),
    ("n=100_runs=0", "runs=0 must be a whole number from 1"),
]
OTHERS = [  # kind to n or what stands there, the error
    (f"losses/{DISTANCES}/{LOSS}/n=5+07", "fresh=07 must be a whole number"),
    (f"losses/{DISTANCES}/{LOSS}/n=5+7+9", "n=5+7 must be one size"),
    (f"losses/{DISTANCES}/{LOSS}/n=1..5+0", "n=1..5 cannot be searched"),
    (f"losses/{DISTANCES}/mpl-floor=0.001/n=5+0", "mpl-floor=0.001 reads evidence, not losses"),
    (f"losses/{DISTANCES}/local-loss/n=5+0", "unknown estimator 'local-loss'; did you mean"),
    (f"confirmations/{DISTANCES}/{LOSS}/n=5+0", "n=5+0 must be n+N"),
    (f"evidence/{DISTANCES}/{LOSS}/n=5+0", "n=5+0 must be n+N"),
    (f"samples/{DISTANCES}/n=5+7", "n=5+7 must be one size"),
    ("histograms/svt2/epsilon=1/patterns/n=5+7/cells=9", "n=5+7 must be one size"),
    (f"histograms/{BASE}/n=100/cells=0", "cells=0 must be a whole number from 1"),
    (f"densities/{DISTANCE}/points=1_power=1/n=100", "points=1 must be a whole number from 2"),
    (f"densities/{DISTANCE}/points=9_power=1/n=1..100", "n=1..100 cannot be searched"),
    (f"verdicts/{DISTANCE}/spectrum-counting/n=100", "must be index, bits or tuple to count"),
    (f"verdicts/{DISTANCE}/mpl-floor=0.001/n=100", "mpl-floor=0.001 reads evidence, not verdicts"),
    (f"verdicts/{DISTANCE}/spectrum-knn/n=1..9", "n=1..9 cannot be searched"),
]
ELSEWHERE = [  # of no batch, other than Parquet, or of no such scale
    (f"smoke/samples/{BASE}/n=100/runs=3-1.parquet", "runs=3-1 ends before it begins"),
    ("smoke/summaries/gorla2022/serch.parquet", "unknown experiment 'serch'; did you mean"),
    ("smoke/timings/other/seconds.parquet", "unknown report 'other'; did you mean 'others'"),
    ("smoke/tables/gorla2022/tabel1.csv", "unknown artifact 'tabel1'; did you mean 'table1'"),
    ("smoke/figures/gorla2022/table1.pdf", "gorla2022: table1 has no figure"),
    ("smoke/gorla2021.html", "unknown report 'gorla2021'; did you mean 'gorla2022'"),
    ("paper/tables/gorla2022/table1.csv", "the chosen 'smoke'; add --config scale=paper"),
    ("smok/tables/gorla2022/table1.csv", "unknown scale 'smok'; did you mean 'smoke'"),
]


@pytest.mark.parametrize(
    ("path", "message"),
    [(f"smoke/estimates/{rest}/n=100_runs=2.parquet", message) for rest, message in ESTIMATES]
    + [(f"smoke/estimates/{BASE}/lambda=inf/histogram-gamma=1/{n}.parquet", m) for n, m in SIZES]
    + [(f"smoke/{rest}/runs=0-1.parquet", message) for rest, message in OTHERS]
    + ELSEWHERE,
)
def test_the_error_of_a_bad_path_is_one_line(study, path, message):
    with pytest.raises(EpsilometerError, match=re.escape(message)) as caught:
        product_of(study, f"results/{path}").spec()
    assert "\n" not in str(caught.value)
