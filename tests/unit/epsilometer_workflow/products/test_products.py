"""Every file of the configuration: its path names it, and it names its inputs.

Nothing is drawn and nothing is run.
"""

import json
import re
from collections.abc import Iterator

import pytest

from epsilometer.errors import DataError, EpsilometerError
from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.identities import SamplesIdentity, plain, read
from epsilometer_workflow.products.checking import checked
from epsilometer_workflow.products.jobs import Jobs
from epsilometer_workflow.products.products import Product
from epsilometer_workflow.products.reductions import Confirmation, Estimates, Samples
from epsilometer_workflow.products.reports import PRODUCT_KINDS
from tests.products import all_products, pattern, product_of, read_by
from tests.unit.loading import EVERY_STAGE

PATTERNS = {  # of the files of each rule
    kind.rule: [pattern(path) for path in kind.templates.values()] for kind in PRODUCT_KINDS
}


@pytest.fixture(scope="module")
def real() -> Study:
    """The configuration as it is, at the largest scale; all scales have the same jobs."""
    return Study("config", {"scale": "paper"})


@pytest.fixture(scope="module")
def walk(real: Study) -> list[Product]:
    """All that is made, in an order in which it can be."""
    return list(all_products(real))


def some(walk: list[Product]) -> Iterator[Product]:
    """Every 20th job of each rule."""
    by_rule: dict[str, list[Product]] = {}
    for product in walk:
        by_rule.setdefault(product.rule, []).append(product)
    for products in by_rule.values():
        yield from products[::20]


@pytest.mark.slow(seconds=10)
def test_the_configuration_is_sound_at_each_scale():
    """Whole runs check the smallest one."""
    for scale in ("quick", "paper"):
        assert checked("config", {"scale": scale}).scale == scale


def test_rules_and_stages_have_one_name():
    assert sorted(kind.rule for kind in PRODUCT_KINDS) == EVERY_STAGE


def test_a_path_gives_its_product_back(real, walk):
    """As Snakemake takes it apart, with the same spec to the letter: 1 here is not 1.0 there."""
    for product in some(walk):
        match = PATTERNS[product.rule][0].match(product.path)
        assert match, product.path
        again = type(product).from_wildcards(real, match.groupdict())
        assert again == product
        assert hash(again) == hash(product)
        assert again.path == product.path
        assert json.dumps(again.spec()) == json.dumps(product.spec()), product.path
        assert again.modules() == product.modules()


def test_a_path_is_of_one_rule(walk):
    for path in {path for product in walk for path in (product.path, product.file)}:
        fits = [rule for rule, every in PATTERNS.items() if any(p.match(path) for p in every)]
        assert len(fits) <= 1, f"{path} may be of {fits}"


def test_every_job_is_in_the_walk_once_and_its_inputs_before_it(walk):
    outputs = [product.path for product in walk]
    assert len({*map(paths.log, outputs), *outputs}) == 2 * len(outputs)
    before: set[tuple[str, str]] = set()
    for product in walk:
        assert any(p.match(product.path) for p in PATTERNS[product.rule])
        assert {(need.rule, need.path) for need in read_by(product)} <= before, product.path
        before.add((product.rule, product.path))


def test_functions_of_rules_agree_with_the_product(real, walk):
    """Snakemake calls them with wildcards; a job of two files is the same for either."""
    jobs = Jobs(real)
    for product in walk[:: len(walk) // 50]:
        rule, wildcards = product.rule, product.wildcards
        assert jobs.spec(rule)(wildcards) == product.spec()
        assert jobs.code(rule)(wildcards) == product.code()
        memory = jobs.memory(rule, beside=1000)
        assert memory(wildcards, 1) - 1000 == 100 * product.samples_held() // 10**6
        assert memory(wildcards, 2) == 2 * memory(wildcards, 1) > 0
    for rule in ("estimate", "summarise", "tabulate", "page"):
        product = next(p for p in walk if p.rule == rule and p.needs())
        for name, group in product.needs().items():
            assert jobs.needs(rule, name)(product.wildcards) == [need.file for need in group] != []


@pytest.mark.slow(seconds=3)
def test_specs_are_plain_and_differ(walk):
    """It goes through a file to the job, and other inputs make another spec."""
    specs: dict[tuple[str, str, int], str] = {}
    for product in walk:
        spec = json.dumps(product.spec(), allow_nan=False, sort_keys=True)
        fresh = getattr(product, "fresh", 0)  # losses are those of the first draws alone
        assert specs.setdefault((product.rule, spec, fresh), product.path) == product.path


def test_jobs_read_what_products_say_and_name_what_is_wrong(walk):
    """Through JSON, in which a key may be left out where there is nothing to say."""
    for product in {product.rule: product for product in walk}.values():
        spec = json.loads(json.dumps(product.spec()))
        job = read(type(product.job()), spec, product.path)
        assert json.loads(json.dumps(plain(job))) == spec, product.path
        with pytest.raises(DataError, match=r"unknown 'scales' in its identity"):
            read(type(job), spec | {"scales": "smoke"}, product.path)
    (samples, *_) = (p for p in walk if isinstance(p, Samples))
    spec = samples.spec()
    del spec["inputs"]
    with pytest.raises(DataError) as missing:
        read(SamplesIdentity, spec, samples.path)
    assert str(missing.value) == f"{samples.path}: 'inputs' is missing in its identity"
    with pytest.raises(DataError, match=r"'inputs.value' in its identity; did you mean 'values'"):
        read(SamplesIdentity, spec | {"inputs": {"id": "ends", "value": []}}, samples.path)


def test_batches_are_all_runs_once_and_no_larger_than_configured(real, walk):
    """Unless a single run is."""
    for product in walk:
        if isinstance(product, Estimates):
            batches = [need.batch for need in product.needs()["reductions"]]
            runs = [run for b in batches for run in range(b.first, b.last + 1)]
            assert runs == list(range(product.runs))
        runs_held = product.batch.last - product.batch.first + 1 if hasattr(product, "batch") else 0
        if isinstance(product, Samples | Confirmation) and runs_held > 1:
            size = real.numbers(product.mechanism, product.epsilon)[1]
            sides = product.sides if isinstance(product, Samples) else 2
            held = size * sides * product.samples_held() * runs_held
            assert held <= real.main.batch_bytes, product.path


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
    (f"losses/{DISTANCES}/{LOSS}/n=1..5+0", "n=1..5 cannot be searched"),
    (f"losses/{DISTANCES}/mpl-floor=0.001/n=5+0", "mpl-floor=0.001 reads evidence, not losses"),
    (f"losses/{DISTANCES}/local-loss/n=5+0", "unknown estimator 'local-loss'; did you mean"),
    (f"confirmations/{DISTANCES}/{LOSS}/n=5+0", "n=5+0 must be n+N"),
    (f"samples/{DISTANCES}/n=5+7", "n=5+7 must be one size"),
    (f"histograms/{BASE}/n=100/cells=0", "cells=0 must be a whole number from 1"),
    (f"densities/{DISTANCE}/points=1_power=1/n=100", "points=1 must be a whole number from 2"),
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
