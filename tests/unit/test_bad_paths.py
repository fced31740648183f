"""The error of a bad path is one line; a good path is read as it is written.

Each is requested as Snakemake does it: by the wildcards of the one kind of product that it fits.
"""

import re

import pytest

from epsilometer.errors import EpsilometerError
from epsilometer_workflow.products.reports import PRODUCT_KINDS
from tests.products import all_products, product_of


def test_every_path_of_a_study_is_read_as_it_is_written(study):
    products = list(all_products(study))
    assert {product.rule for product in products} == {kind.rule for kind in PRODUCT_KINDS}
    for product in products:
        again = product_of(study, product.path)
        assert (again.rule, again.path) == (product.rule, product.path)
        assert again.spec() == product.spec()


def test_a_path_beyond_the_grids_is_valid(study):
    path = "results/smoke/estimates/bernoulli-pair/epsilon=3/coins/lambda=2/histogram-gamma=1"
    assert product_of(study, f"{path}/n=7_runs=9.parquet").spec()["identity"]["n"] == "7"


BASE = "truncated-laplace/epsilon=1/ends"
DISTANCE = "laplace/epsilon=1/distance=1"
DISTANCES = "laplace/epsilon=1/distances"
LOSS = "local-loss-floor=0.001"

ESTIMATES = [  # mechanism to runs, the error
    *[
        (f"{drawn}/{estimator}/n=100_runs=2", message)
        for drawn, estimator, message in [
            (
                "truncated-laplas/epsilon=1/ends/lambda=inf",
                LOSS,
                "mean 'truncated-laplace'",
            ),
            ("truncated-laplace/epsilon=1/end/lambda=inf", LOSS, "mean 'ends'"),
            (f"{BASE}/lambda=inf", "histogram", "unknown estimator 'histogram'; did you mean"),
            ("laplace/epsilon=0/distances/lambda=inf", LOSS, "epsilon=0 must be positive"),
            ("laplace/epsilon=1.0/distances/lambda=inf", LOSS, "is written epsilon=1"),
            (f"{BASE}/lambda=1", "histogram-gamma=1", "lambda=1 must be above 1"),
            (f"{DISTANCES}/lambda=inf", "mpl-floor=0.001", "n must be two sizes, n+N, got 100"),
            (f"{DISTANCE}/lambda=inf", "renyi-bound-draws=50", "lambda must be finite"),
            (
                f"{DISTANCE}/lambda=2",
                "spectrum-knn",
                "lambda must be inf: a spectrum ends at the pure level",
            ),
        ]
    ],
    *[
        (f"{BASE}/lambda=inf/histogram-gamma=1/{size}", message)
        for size, message in [
            ("n=0_runs=2", "n=0 must be a whole number from 1"),
            ("n=100_runs=0", "runs=0 must be a whole number from 1"),
        ]
    ],
]
OTHERS = [  # kind to batch, the error
    *[
        (f"{kind}/{DISTANCES}/{screen}/{n}/runs=0-1", message)
        for kind, screen, n, message in [
            ("losses", "local-loss-floor=0.001", "n=5+07", "fresh=07 must be a whole number"),
            ("losses", "local-loss-floor=0.001", "n=5+7+9", "n=5+7 must be one size"),
            ("losses", "local-loss-floor=0.001", "n=1..5+0", "n=1..5 cannot be searched"),
            ("losses", "mpl-floor=0.001", "n=5+0", "mpl-floor=0.001 chooses no pair"),
            ("losses", "local-loss", "n=5+0", "unknown estimator 'local-loss'; did you mean"),
            ("confirmations", "local-loss-floor=0.001", "n=5+0", "n=5+0 must be n+N"),
            ("evidence", "local-loss-floor=0.001", "n=5+0", "n=5+0 must be n+N"),
        ]
    ],
    (f"samples/{DISTANCES}/n=5+7/runs=0-1", "n=5+7 must be one size"),
    (f"samples/{BASE}/n=100/runs=3-1", "runs=3-1 ends before it begins"),
    ("histograms/svt2/epsilon=1/patterns/n=5+7/cells=9/runs=0-1", "n=5+7 must be one size"),
    (f"histograms/{BASE}/n=100/cells=0/runs=0-1", "cells=0 must be a whole number from 1"),
    *[
        (f"densities/{DISTANCE}/{reduction}/{n}/runs=0-1", message)
        for reduction, n, message in [
            ("points=1_power=1", "n=100", "points=1 must be a whole number from 2"),
            ("points=9_power=1", "n=1..100", "n=1..100 cannot be searched"),
        ]
    ],
    *[
        (f"verdicts/{DISTANCE}/{classifier}/{n}/runs=0-1", message)
        for classifier, n, message in [
            (
                "spectrum-counting",
                "n=100",
                "on laplace: outputs must be index, bits or tuple to count, not scalar",
            ),
            ("mpl-floor=0.001", "n=100", "mpl-floor=0.001 is not a classifier"),
            ("spectrum-knn", "n=1..9", "n=1..9 cannot be searched"),
        ]
    ],
    ("summaries/gorla2022/serch", "unknown experiment 'serch'; did you mean 'search'"),
    ("timings/other/seconds", "unknown report 'other'; did you mean 'others'"),
]
ELSEWHERE = [  # files other than Parquet, or of no such scale
    ("smoke/tables/gorla2022/tabel1.csv", "unknown artifact 'tabel1'; did you mean 'table1'"),
    ("smoke/figures/gorla2022/table1.pdf", "gorla2022: table1 has no figure"),
    ("smoke/gorla2021.html", "unknown report 'gorla2021'; did you mean 'gorla2022'"),
    ("paper/tables/gorla2022/table1.csv", "the chosen 'smoke'; add --config scale=paper"),
    ("smok/tables/gorla2022/table1.csv", "unknown scale 'smok'; did you mean 'smoke'"),
]


@pytest.mark.parametrize(
    ("path", "message"),
    [(f"smoke/estimates/{rest}.parquet", message) for rest, message in ESTIMATES]
    + [(f"smoke/{rest}.parquet", message) for rest, message in OTHERS]
    + ELSEWHERE,
)
def test_the_error_of_a_bad_path_is_one_line(study, path, message):
    with pytest.raises(EpsilometerError, match=re.escape(message)) as caught:
        product_of(study, f"results/{path}").spec()
    assert "\n" not in str(caught.value)
