"""Bad input ends in one line that names file and key, exit code not 0, nothing half-written."""

import re
import shutil
from pathlib import Path

import pytest

from epsilometer import paths
from epsilometer.asked import Wildcards
from epsilometer.errors import EpsilometerError
from epsilometer.jobs import Jobs
from epsilometer.study import Study
from tests.workflow.conftest import ROOT, Project, told

MECHANISMS, ESTIMATORS, RATES = "mechanisms.yaml", "estimators.yaml", "rates.yaml"
PAPERS = "[gorla2022, askin2022, kutta2022, lu2022]"
MAIN, SCALE, PAPER = "config.yaml", "scales/quick.yaml", "papers/gorla2022.yaml"
ASKIN, KUTTA, LU = (f"papers/{name}2022.yaml" for name in ("askin", "kutta", "lu"))
AFTER = "{after: local-loss-floor=0.001, alpha: 0.05}"
NOISY = "noisy: {runs: 60, n: 20000+50000}"
LAPLACE = "mechanism: truncated_laplace"
GAMMA_1 = "parameters: {gamma: 1.0, unguaranteed_cells: 100}"
RUNS = "search-1: {runs: 20, n: 1..524288}"

CASES = [  # file, old text, new text, what the line must say
    (MECHANISMS, LAPLACE, "mechanism: truncated_laplas", "did you mean 'truncated_laplace'"),
    (ESTIMATORS, "estimator: safety_check", "estimator: safety_chekc", "mean 'safety_check'"),
    (MAIN, "papers: [gorla2022,", "papers: [gorla2021,", "unknown paper 'gorla2021'; did you mean"),
    (MAIN, "scale: quick", "scale: quik", "unknown scale 'quik'; did you mean 'quick'"),
    (RATES, "page: {", "pagw: {", "rates.yaml: pagw: unknown rule; did you mean 'page'"),
    (RATES, "page: {seconds", "# {seconds", "rates.yaml: page: is missing"),
    (RATES, "page: {seconds: ", "page: {seconds: -", "page.seconds: .*greater than or equal to 0"),
    (RATES, "page: {seconds", "page: {second", "page.second: unknown key; did you mean 'seconds'"),
    (MAIN, "seed: 2022", "seed: -1", "seed: .*got -1"),
    (MAIN, "seed: 2022", "seed: twenty", "seed: .*integer.*'twenty'"),
    (MAIN, "seed: 2022", "sede: 2022", "unknown key; did you mean 'seed'"),
    (MAIN, "seed: 2022", "# no seed", "seed: is missing"),
    (MAIN, "seed: 2022", "seed: 2022\nseed: 1", "seed: given twice"),
    (MAIN, "seed: 2022", "seed: [2022", "config.yaml: .*expected"),
    (MAIN, "batch_bytes: 1000000000", "batch_bytes: 0", "batch_bytes: .*greater than 0"),
    (
        MAIN,
        "papers: [gorla2022, askin2022, kutta2022, lu2022]",
        "papers: []",
        "papers: .*at least 1 item",
    ),
    (PAPER, "figure: share_within", "figure: share_wihtin", "renderer .*mean 'share_within'"),
    (PAPER, "builder: searches", "builder: serches", "table builder .*mean 'searches'"),
    (PAPER, "data: [safety]", "data: [safely]", "table.data: unknown experiment 'safely'"),
    (PAPER, "mechanism: [truncated-laplace]", "mechanism: [laplas]", "grid.0.mechanism: unknown"),
    (PAPER, "mechanism: [truncated-laplace]", "mechanism: []", "grid.0.mechanism: .*at least 1"),
    (PAPER, "epsilon: [0.5, 0.7]", "epsilon: []", "grid.0.epsilon: .*at least 1 item"),
    (PAPER, "epsilon: [0.5, 0.7]", "epsilon: [0.5, 0]", "epsilon.1: must be positive.*got 0"),
    (PAPER, "epsilon: [0.5, 0.7]", "epsilon: [-0.5]", "epsilon.0: must be positive"),
    (PAPER, "epsilon: [0.5, 0.7]", "epsilon: [.inf]", "epsilon.0: must be positive and finite"),
    (PAPER, "epsilon: [0.5, 0.7]", "epsilon: [1e-1]", "epsilon.0: .*number.*'1e-1'"),
    (PAPER, "epsilon: [0.5, 0.7]", "epsilon: [1/0]", "epsilon.0: .*'1/0'"),
    (PAPER, "epsilon: [0.5, 0.7]", "epsilon: [0.5, 0.5]", "search-below-1.grid: asks twice"),
    (PAPER, "inputs: [ends]", "inputs: [endz]", "unknown inputs of truncated-laplace 'endz'; did"),
    (PAPER, "lambda: [inf]", "lambda: [1]", "lambda.0: must be above 1"),
    (PAPER, "lambda: [inf]", "order: [inf]", None),  # the field's own name is accepted
    (PAPER, "lambda: [inf]", "lamda: [inf]", "lamda: unknown key; did you mean 'lambda'"),
    (
        PAPER,
        "estimator: [histogram-gamma=1,",
        "estimator: [histogram-gamma=2,",
        "unknown estimator",
    ),
    (PAPER, "plan: {delta: 0.8, est", "plan: {delta: 1.5, est", "plan.delta: .*less than 1"),
    (PAPER, "plan: {delta: 0.8, est", "plan: {delta: 0, est", "plan.delta: .*greater than 0"),
    (
        PAPER,
        "    plan: {delta: 0.8, estimator: safety-check-claimed}",
        "   ",
        "safety.plan: is missing",
    ),
    (PAPER, "{scales: [0.5, 0.8, 1, 2, 5],", "{scales: [0.5, -1],", "options.scales.1: .*greater"),
    (PAPER, "{scales: [0.5, 0.8, 1, 2, 5],", "{scales: [],", "options.scales: .*at least 1"),
    (PAPER, "{scales: [0.5, 0.8, 1, 2, 5],", "{scale: [1],", "unknown key; did you mean 'scales'"),
    (PAPER, "options: {epsilon: 1, cells: 8", "options: {epsilon: 1, cells: 0", "options.cells"),
    (PAPER, "options: {delta: 0.9}", "options: {delta: 1}", "table5.table.options.delta: .*less"),
    (PAPER, "keys: [epsilon, gamma]", "keys: [epsilon, gama]", "unknown column 'gama'; did you"),
    (PAPER, "- [0.5, 1, 9588, 56, 6]", "- [0.5, 1, 9588, 56]", "paper.rows.0: has 4 of 5"),
    (PAPER, "  fig3b:\n", "  fig3a:\n", "fig3a: given twice"),
    (PAPER, "  fig3b:\n", "  'fig 3b':\n", "artifacts.fig 3b: .*pattern"),
    (PAPER, "caption: >-\n      Figure 6", "captain: >-\n      Figure 6", "unknown key; did you"),
    (SCALE, RUNS, "search-1: {runs: 0, n: 1..524288}", "search-1.runs: .*greater than 0"),
    (SCALE, RUNS, "search-1: {runs: 2.5, n: 8}", "search-1.runs: .*integer"),
    (SCALE, RUNS, "search-1: {runs: 20, n: 0}", "search-1.n: must be positive, got 0"),
    (SCALE, RUNS, "search-1: {runs: 20, n: -5}", "search-1.n: must be positive"),
    (SCALE, RUNS, "search-1: {runs: 20, n: 2..9}", "search-1.n: must be a positive integer"),
    (SCALE, RUNS, "search-1: {runs: 20, n: plan}", "search-1.n: must be a positive integer"),
    (SCALE, RUNS, "search-1: {runs: 20}", "search-1.n: is missing"),
    (SCALE, RUNS, "search-3: {runs: 20, n: 8}", "search-3: unknown experiment; did you mean"),
    (SCALE, RUNS, "# gone", "papers.gorla2022.search-1: is missing"),
    (SCALE, "temporary_samples: false", "temporary_samples: maybe", "temporary_samples: .*bool"),
    (
        ESTIMATORS,
        GAMMA_1,
        "parameters: {gamma: -1.0}",
        "histogram-gamma=1.parameters: gamma must be",
    ),
    (ESTIMATORS, GAMMA_1, "parameters: {gamma: 0}", "gamma must be positive, got 0"),
    (ESTIMATORS, GAMMA_1, "parameters: {gamma: one}", "gamma must be a finite number"),
    (ESTIMATORS, GAMMA_1, "parameters: {gama: 1.0}", "unknown 'gama'; did you mean 'gamma'"),
    (ESTIMATORS, GAMMA_1, "parameters: {}", "histogram-gamma=1.parameters: 'gamma' is missing"),
    (
        ESTIMATORS,
        GAMMA_1,
        "parameters: {gamma: 1.0}",
        r"estimators.yaml: histogram-gamma=1 on .*C = 4.62607 must be below 2/W\^2 = 2",
    ),
    (ESTIMATORS, "histogram-gamma=1:", "histogram-gamma=0.5:", "histogram-gamma=0.5: given twice"),
    (ESTIMATORS, "histogram-gamma=1:", "../evil:", r"\.\./evil: an id has letters"),
    (
        MECHANISMS,
        "ends: [0.0, 1.0]",
        "ends: [0.0, 1.5]",
        r"inputs.ends: input must lie in \[0.0, 1",
    ),
    (MECHANISMS, "ends: [0.0, 1.0]", "ends: [0.0]", "inputs.ends: .*at least 2"),
    (MECHANISMS, "ends: [0.0, 1.0]", "ends: [a, b]", "inputs.ends: input must be a finite number"),
    (MECHANISMS, "{lower: 0.0, upper: 1.0}", "{lower: 1.0, upper: 0.0}", "lower < upper"),
    (MECHANISMS, "{lower: 0.0, upper: 1.0}", "{lowr: 0.0}", "unknown 'lowr'; did you mean 'lower'"),
    (MECHANISMS, "{outcomes: 5}", "{outcomes: 1}", "outcomes must be at least 2"),  # in no grid
    (MECHANISMS, "lipschitz: exact", "lipschitz: -1.0", "claims: lipschitz must be positive"),
    (MECHANISMS, "lipschitz: exact", "lipschitz: exakt", "claims.lipschitz: .*'exact'"),
    (MECHANISMS, "support: [0.0, 1.0], lip", "support: [1.0, 0.0], lip", "lower < upper"),
    (
        MECHANISMS,
        "{budget: 1000, delta: 0.8}",
        "{budget: 0, delta: 0.8}",
        "budget must be at least",
    ),
    (
        MECHANISMS,
        "{budget: 1000, delta: 0.8}",
        "{budget: 10, delta: 1.8}",
        "delta must lie strictly",
    ),
    (
        MAIN,
        "papers: [gorla2022, ask",
        "papers: [gorla2022, gorla2022, ask",
        "names 'gorla2022' twice",
    ),
    (MECHANISMS, "{lower: 0.0, upper: 1.0}", "{epsilon: 3.0}", "must not hold epsilon"),
    (MECHANISMS, "{outcomes: 5}", "{outcomes: 5, keep: 1}", "unknown 'keep'"),
    (
        MECHANISMS,
        "claims: {outcomes: 6}",
        "claims: {support: [0.0, 6.0], outcomes: 6}",
        "not name both",
    ),
    (
        PAPER,
        "estimator: safety-check-claimed}",
        "estimator: safety-chek}",
        "plan.estimator: unknown",
    ),
    (
        PAPER,
        "lipschitzes: &lipschitzes [0.05,",
        "lipschitzes: &lipschitzes [2.5,",
        "fig2.*C = 2.5 must",
    ),
    (PAPER, "data: [safety]", "data: [safety, search-1]", "safety_check takes one experiment"),
    (PAPER, "data: [safety]", "data: []", "table.data: safety_check takes one experiment"),
    (PAPER, "columns: [pair, estimate]", "columns: [pair, pair]", "columns: names 'pair' twice"),
    (MECHANISMS, "points: 91}", "points: 1}", "grid-91.points: .*greater than or equal to 2"),
    (MECHANISMS, "b=1: [0.0, 0.1]", "b=1: [0.0]", "distances.pairs.b=1: .*at least 2"),
    (MECHANISMS, "b=1: [0.0, 0.1]", "b=1: [0.0, x]", "inputs.distances: input must be a finite"),
    (MECHANISMS, "entries: [0, 0.5, 1]", "entries: []", "neighbourhood.entries: .*at least 1"),
    (MECHANISMS, "entries: [0, 0.5, 1]", "entries: [0.5]", "neighbourhood: entries give no neigh"),
    (MECHANISMS, "entries: [0, 0.5, 1]", "entries: [0, 1, 1]", "neighbourhood: entries must dif"),
    (MECHANISMS, "around: [0.5, 0.5, 0.5]", "around: [0.5]", "neighbourhood: input must be a list"),
    (MECHANISMS, "region: [-1, 1]", "region: [-1]", "laplace.region"),
    (MECHANISMS, "region: [-1, 1]", "region: [1, -1]", "laplace.region: region must have lower"),
    (ESTIMATORS, AFTER, "{after: local-los, alpha: 0.05}", "unknown local loss .*did you mean"),
    (ESTIMATORS, AFTER, "{after: histogram-gamma=1}", "after: unknown local loss 'histogram-g"),
    (ESTIMATORS, AFTER, "{alpha: 0.05}", "'after' is missing"),
    (ESTIMATORS, "alpha: 0.05", "alpha: 1.5", "alpha must lie strictly between 0 and 1"),
    (ESTIMATORS, "{floor: 1.0e-3}", "{floor: 0.0}", "floor must be positive, got 0.0"),
    (ESTIMATORS, "{floor: 1.0e-3}", "{floor: 1.0e-3, points: 1}", "points must be at least 2"),
    (SCALE, NOISY, "noisy: {runs: 60, n: 20000}", "n must be two sizes, n\\+N, got 20000"),
    (SCALE, NOISY, "noisy: {runs: 60, n: 20000+}", "noisy.n: must be a positive integer, 1..N"),
    (SCALE, "n: [2000, 5000,", "n: [2000+5, 5000,", "n must be one size, got 2000\\+5"),
    (SCALE, "n: [2000, 5000,", "n: [1..2000, 5000,", "n cannot be searched"),
    (SCALE, "n: [2000, 5000,", "n: [5000, 5000,", "error.grid: asks twice"),
    (ASKIN, "mechanism: [svt2, svt4,", "mechanism: [svt3, svt4,", "on svt3 .*outputs are mixed"),
    (ASKIN, "lambda: [inf]", "lambda: [2]", "on laplace at .*lambda must be inf"),
    (ASKIN, "laplace: (a) Laplace", "laplace: [a]", "panels.laplace: .*string"),
    (ASKIN, "laplace: (a) Laplace", "laplas: (a)", "options.panels: unknown mechanism 'laplas'; d"),
    (ASKIN, "region: [-1, 2]", "region: [2, -1]", "fig3.table.options.region: must rise"),
    (ASKIN, "sigma: 1,", "sigma: 0,", "fig2.table.options.sigma: .*greater than 0"),
    (ESTIMATORS, "largest: true", "largest: 3", "largest must be true or false, got 3"),
    (ESTIMATORS, "{draws_at_floor: 50}", "{draws_at_floor: 0}", "draws_at_floor must be positive"),
    (ESTIMATORS, "{draws_at_floor: 50}", "{}", "tau or draws_at_floor must be given"),
    (ESTIMATORS, "{draws_at_floor: 50}", "{draws_at_floor: 50, tau: 0.1}", "and not both"),
    (ESTIMATORS, "correction: independent", "correction: none", "correction must be independent"),
    (
        KUTTA,
        "inputs: [every-two]",
        "inputs: [all]",
        "largest-renyi-bound-independent on .*correction must be bonferroni: these pairs share",
    ),
    (KUTTA, "lambda: [2, 5, 7]", "lambda: [inf]", "lambda must be finite"),
    (ESTIMATORS, "classifier: counting}", "classifier: conting}", "mean 'counting'"),
    (ESTIMATORS, "coin: drawn", "coin: fair", "coin must be one of expected, drawn"),
    (ESTIMATORS, "claims: [0.1, 0.5, 0.9]", "claims: [0.5, 0.1]", "claims must rise"),
    (ESTIMATORS, "MLPClassifier", "MLPClasifier", "'sklearn.*' is not in scikit-learn"),
    (ESTIMATORS, "sklearn.neural_network.MLPClassifier", "os.system", "must be of scikit-learn"),
    (ESTIMATORS, "max_iter: 30", "max_itr: 30", "unknown 'max_itr' .*did you mean 'max_iter'"),
    (LU, "[spectrum-counting]", "[spectrum-hamming]", "outputs must be bits for Hamming"),
    (LU, "svt1-first simple: all", "svt1-frist simple: all", "unknown mechanism 'svt1-frist'"),
    (MECHANISMS, "databases: [[0, 1, 1]", "databases: [[0, 1, 3]", "must hold values below 3"),
]
REFUSED_BY_ANOTHER = {  # one file asks for what another does not allow; the line names the latter
    "n must be": "estimators.yaml",
    "lambda must be finite": "estimators.yaml",
    "outputs must be": "estimators.yaml",
    "correction must be bonferroni": "estimators.yaml",
    "n cannot be": "estimators.yaml",
    "outputs are mixed": "estimators.yaml",
    "lambda must be inf": "estimators.yaml",
    "asks twice": "papers/",
}


@pytest.fixture
def config_folder(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "config"


@pytest.mark.parametrize(("file", "old", "new", "message"), CASES)
def test_a_bad_configuration_is_one_line(config_folder: Path, file, old, new, message):
    text = (config_folder / file).read_text()
    assert old in text, "the case no longer applies"
    (config_folder / file).write_text(text.replace(old, new, 1))
    if message is None:
        Study("config")
        return
    with pytest.raises(EpsilometerError) as caught:
        Study("config")
    said = str(caught.value)
    assert re.search(message, said), said
    for line in said.splitlines():
        assert re.match(r"config/[\w./]+\.yaml: ", line), line
    other = next((f for part, f in REFUSED_BY_ANOTHER.items() if part in said), file)
    assert f"config/{other}" in said
    assert not (config_folder.parent / "results").exists()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"scale": "papper"}, "unknown scale 'papper'; did you mean 'paper'"),
        ({"scal": "paper"}, "--config: scal: unknown key; did you mean 'scale'"),
        ({"seed": "x"}, "--config: seed: .*integer"),
        ({"seed": -3}, "--config: seed: "),
        ({"papers": ["lu"]}, "papers: unknown paper 'lu'"),
    ],
)
def test_bad_overrides_are_one_line(config_folder, overrides, message):
    with pytest.raises(EpsilometerError, match=message) as caught:
        Study("config", overrides=overrides)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("order", "message"), [(1000, "asks for more than 1e.40 cells"), (8, "cells, more than 1e.07")]
)
def test_an_order_out_of_reach_is_told(config_folder, order, message):
    text = (config_folder / PAPER).read_text()
    (config_folder / PAPER).write_text(text.replace("lambda: [2]", f"lambda: [{order}]", 1))
    with pytest.raises(EpsilometerError, match=f"histogram-gamma=.* on truncated-l.*{message}"):
        Study("config")


def test_missing_files_are_told(config_folder):
    (config_folder / "estimators.yaml").unlink()
    with pytest.raises(EpsilometerError, match=r"config/estimators.yaml: no such file"):
        Study("config")
    (config_folder / "estimators.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(EpsilometerError, match=r"config/estimators.yaml: cannot be read"):
        Study("config")
    (config_folder / "estimators.yaml").write_text("- a list\n")
    with pytest.raises(EpsilometerError, match=r"config/estimators.yaml: must map ids"):
        Study("config")


def test_results_must_be_writable(config_folder, monkeypatch):
    (config_folder.parent / "results").write_text("a file")
    with pytest.raises(EpsilometerError, match="results: is not a folder"):
        Study("config")
    (config_folder.parent / "results").unlink()
    (config_folder.parent / "results").mkdir()
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(EpsilometerError, match="results: is not writable"):
        Study("config")


def said_by(run) -> str:
    assert run.returncode != 0
    assert "Traceback (most recent call last)" not in run.stderr + run.stdout
    return run.stderr + run.stdout


def test_snakemake_shows_the_line_and_writes_nothing(project: Project):
    project.replace("config/mechanisms.yaml", LAPLACE, "mechanism: truncated_laplas")
    said = said_by(project.snakemake("--config", "scale=smoke"))
    assert "config/mechanisms.yaml: truncated-laplace.mechanism: unknown mechanism" in said
    assert not (project.folder / "results").exists()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "estimates/truncated-laplas/epsilon=1/ends/lambda=inf/histogram-gamma=1",
            "mean 'truncated-laplace'",
        ),
        ("estimates/truncated-laplace/epsilon=1/end/lambda=inf/histogram-gamma=1", "mean 'ends'"),
        ("estimates/truncated-laplace/epsilon=1/ends/lambda=inf/histogram", "unknown estimator"),
        ("estimates/truncated-laplace/epsilon=0/ends/lambda=inf/histogram-gamma=1", "be positive"),
        ("estimates/truncated-laplace/epsilon=1.0/ends/lambda=inf/histogram-gamma=1", "is written"),
        ("estimates/truncated-laplace/epsilon=x/ends/lambda=inf/histogram-gamma=1", "not a number"),
        ("estimates/truncated-laplace/epsilon=1/ends/lambda=1/histogram-gamma=1", "be above 1"),
    ],
)
def test_a_path_that_means_nothing_is_told(project: Project, target, message):
    path = f"results/smoke/{target}/n=100_runs=2.parquet"
    said = said_by(project.snakemake("-n", path, "--config", "scale=smoke"))
    assert any(message in line for line in said.splitlines())


BASE = "truncated-laplace/epsilon=1/ends"
SIZES = [
    *[
        (f"estimates/{BASE}/lambda=inf/histogram-gamma=1/{size}", message)
        for size, message in [
            ("n=0_runs=2", "n=0 must be a whole number from 1"),
            ("n=1..0_runs=2", "n=0 must be a whole number from 1"),
            ("n=-5_runs=2", "n=-5 must be a whole number"),
            ("n=0100_runs=2", "n=0100 must be a whole number"),
            ("n=1e3_runs=2", "n=1e3 must be a whole number"),
            ("n=5..10_runs=2", "n=5..10 must be a whole number"),
            ("n=100_runs=0", "runs=0 must be a whole number from 1"),
            ("n=100_runs=x", "runs=x must be a whole number"),
        ]
    ],
    *[
        (f"{kind}/laplace/epsilon=1/distances/{screen}/{size}/runs=0-1", message)
        for kind, screen, size, message in [
            ("losses", "local-loss-floor=0.001", "n=0", "n=0 must be a whole number from 1"),
            ("losses", "local-loss-floor=0.001", "n=5+0", "n=0 must be a whole number from 1"),
            ("losses", "mpl-floor=0.001", "n=5", "mpl-floor=0.001 is no local loss"),
            ("losses", "local-loss", "n=5", "unknown estimator 'local-loss'; did you mean"),
            ("confirmations", "local-loss-floor=0.001", "n=5", "n=5 must be n+N"),
            ("evidence", "local-loss-floor=0.001", "n=5", "n=5 must be n+N"),
            ("losses", "local-loss-floor=0.001", "n=1..5", "n=1..5 cannot be searched"),
            ("losses", "local-loss-floor=0.001", "n=5+7x", "n=7x must be a whole number"),
        ]
    ],
    (
        "estimates/laplace/epsilon=1/distances/lambda=inf/mpl-floor=0.001/n=100_runs=2",
        "n must be two sizes, n+N, got 100",
    ),
    ("samples/laplace/epsilon=1/distances/n=5+7/runs=0-1", "n=5+7 must be one size"),
    ("histograms/svt2/epsilon=1/patterns/n=5+7/cells=9/runs=0-1", "n=5+7 must be one size"),
    (
        "estimates/laplace/epsilon=1/distances/lambda=inf/mpl-floor=0.001/n=5+7x_runs=2",
        "n=7x must be a whole number",
    ),
    (
        "losses/svt3/epsilon=1/patterns/local-loss-floor=0.001/n=5/runs=0-1",
        "local-loss-floor=0.001 on svt3: outputs are mixed, neither discrete nor continuous",
    ),
    (
        "estimates/svt3/epsilon=1/patterns/lambda=inf/mpl-floor=0.001/n=100+100_runs=2",
        "outputs are mixed, neither discrete nor continuous",
    ),
    (
        "estimates/svt3/epsilon=1/patterns/lambda=inf/histogram-gamma=1/n=100_runs=2",
        "outputs must be scalar or index for a histogram, not mixed",
    ),
    (
        "estimates/laplace/epsilon=1/distance=1/lambda=inf/renyi-bound-draws=50/n=100_runs=2",
        "lambda must be finite",
    ),
    (
        "densities/laplace/epsilon=1/distance=1/points=1_power=1/n=100/runs=0-1",
        "points=1 must be a whole number from 2",
    ),
    (
        "densities/laplace/epsilon=1/distance=1/points=9_power=1/n=1..100/runs=0-1",
        "n=1..100 cannot be searched",
    ),
    (
        "densities/laplace/epsilon=1/distance=1/points=9_power=-1/n=100/runs=0-1",
        "power=-1 must be positive and finite",
    ),
    (
        "verdicts/laplace/epsilon=1/distance=1/spectrum-counting/n=100/runs=0-1",
        "spectrum-counting on laplace: outputs must be index, bits or tuple to count, not scalar",
    ),
    (
        "verdicts/laplace/epsilon=1/distance=1/mpl-floor=0.001/n=100/runs=0-1",
        "mpl-floor=0.001 is no classifier",
    ),
    (
        "verdicts/laplace/epsilon=1/distance=1/spectrum-knn/n=1..9/runs=0-1",
        "n=1..9 cannot be searched",
    ),
    (
        "estimates/laplace/epsilon=1/distance=1/lambda=2/spectrum-knn/n=100_runs=2",
        "lambda must be inf: a spectrum ends at the pure level",
    ),
    (f"samples/{BASE}/n=100/runs=3-1", "runs=3-1 ends before it begins"),
    (f"histograms/{BASE}/n=100/cells=0/runs=0-1", "cells=0 must be a whole number from 1"),
]


@pytest.mark.parametrize(("target", "message"), SIZES)
def test_a_size_that_means_nothing_is_told(target, message, monkeypatch):
    """Asked directly, as starting Snakemake for each would take a minute."""
    monkeypatch.chdir(ROOT)
    jobs = Jobs(Study("config", overrides={"scale": "smoke"}))
    path = f"results/smoke/{target}.parquet"
    kinds = [
        (paths.SAMPLE, jobs.sample_spec),
        (paths.HISTOGRAM, jobs.histogram_spec),
        (paths.ESTIMATE, jobs.estimate_spec),
        (paths.DENSITY, jobs.density_spec),
        (paths.VERDICTS, jobs.verdict_spec),
        (paths.LOSSES, jobs.losses_spec),
        (paths.CONFIRMATION, jobs.confirmation_spec),
        (paths.EVIDENCE, jobs.evidence_spec),
    ]
    for template, ask in kinds:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(template))
        match = re.fullmatch(pattern, path)
        if match:
            with pytest.raises(EpsilometerError, match=re.escape(message)):
                ask(Wildcards(match.groupdict()))
            return
    pytest.fail(f"{path} is of no known kind")


def test_a_path_of_another_scale_is_told(project: Project):
    path = "results/paper/tables/gorla2022/table1.csv"
    said = said_by(project.snakemake("-n", path, "--config", "scale=smoke"))
    assert "add --config scale=paper" in said


BROKEN = {
    "raises": (
        "raise RuntimeError('no noise\\nleft')",
        "sample() raised RuntimeError: no noise left",
    ),
    "returns-nan": ("return np.full(size, np.nan)", "returned 100 NaN or infinite outputs"),
    "wrong-length": ("return np.zeros(size - 1)", "returned 99 outputs, not 100"),
    "wrong-shape": ("return np.zeros((size, 2))", "returned shape (100, 2), not (100,)"),
    "outside": ("return np.full(size, 3.0)", "outside the claimed support [0, 1]"),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_sampler_fails_its_job_in_one_line(project: Project, name):
    body, message = BROKEN[name]
    module = "src/epsilometer/mechanisms/truncated_laplace.py"
    project.replace(module, "outputs = rng.random(size)\n", body + "\n")
    target = "estimates/truncated-laplace/epsilon=1/ends/lambda=inf/histogram-gamma=1"
    path = f"results/smoke/{target}/n=100_runs=2.parquet"
    said = said_by(project.snakemake(path, "--config", "scale=smoke"))
    (line,) = set(told(said))
    assert message in line
    made = {file.suffix for file in (project.folder / "results").rglob("*") if file.is_file()}
    assert ".parquet" not in made or name == "outside"  # there the samples as such are sound
    assert not list(project.folder.rglob("*.part*"))
    assert not (project.folder / path).exists()


@pytest.mark.parametrize("damage", ["truncated", "foreign", "stale"])
def test_a_bad_file_of_samples_is_told(project: Project, damage):
    base = "truncated-laplace/epsilon=1/ends"
    samples = f"results/smoke/samples/{base}/n=100/runs=0-1.parquet"
    target = f"results/smoke/estimates/{base}/lambda=inf/histogram-gamma=1/n=100_runs=2.parquet"
    assert project.snakemake(samples, "--config", "scale=smoke").returncode == 0
    file = project.folder / samples
    if damage == "truncated":
        file.write_bytes(file.read_bytes()[:-200])
    elif damage == "foreign":
        other = f"results/smoke/summaries/x/{damage}.parquet"
        (project.folder / other).parent.mkdir(parents=True)
        file.write_bytes(_foreign())
    else:  # the samples of another seed, put in place behind Snakemake's back
        shutil.move(file, project.folder / "kept.parquet")
        assert project.snakemake(samples, "--config", "scale=smoke", "seed=7").returncode == 0
        seven = file.read_bytes()
        file.unlink()
        assert project.snakemake(samples, "--config", "scale=smoke").returncode == 0
        file.write_bytes(seven)
    said = said_by(project.snakemake(target, "--config", "scale=smoke"))
    (line,) = set(told(said))
    assert samples in line
    expected = {
        "truncated": "truncated or damaged",
        "foreign": "is not an epsilometer file",
        "stale": "is stale: seed is 7, not 2022",
    }
    assert expected[damage] in line
    assert not (project.folder / target).exists()


def _foreign() -> bytes:
    import io

    import pandas as pd

    buffer = io.BytesIO()
    pd.DataFrame({"output": [0.5, 0.7]}).to_parquet(buffer)
    return buffer.getvalue()
