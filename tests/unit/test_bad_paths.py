"""The error of a bad path is one line; a good path is read as it is written.

Each is requested as Snakemake does it: by the wildcards of the one kind of product that it fits.
"""

import re

import pytest

from epsilometer.errors import EpsilometerError
from tests.products import product_of


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
